/** Decodes a verified JWS for display: its payload, its nested texts and its certificate chain. */
import { hash, X509Certificate } from 'node:crypto'
import { decodeObject, decodePayload, isObject, readHeader, splitCompact } from './jws/compact.ts'

/** Times are in milliseconds since the epoch. `sha256` is the hash of the certificate's DER, in hex. */
type CertificateSummary = {
  subject: string
  issuer: string
  not_before: number
  not_after: number
  sha256: string
}

/** A signed text within another, and its path, such as `data.signedTransactionInfo`. */
type Nested = { in: string; sha256: string; payload: Record<string, unknown> }

export type ExplainedJws = {
  payload: Record<string, unknown>
  nested: Nested[]
  signed_at: number | null
  /** The leaf first. */
  chain: CertificateSummary[]
  /** Whether the last certificate is one of the roots, byte for byte. */
  root_trusted: boolean
}

/** Decodes a text that was verified before it was stored. `roots` are PEM. Throws SignatureError if it is damaged. */
export function explainJws(jws: string, roots: readonly string[]): ExplainedJws {
  const { header, payload: text } = splitCompact(jws)
  const payload = decodeObject(decodePayload(text)) ?? {}
  const chain = readHeader(header).map((base64) => new X509Certificate(Buffer.from(base64, 'base64')))
  const { signedDate } = payload
  return {
    payload,
    nested: nestedIn(payload),
    signed_at: typeof signedDate === 'number' ? signedDate : null,
    chain: chain.map(describeCertificate),
    root_trusted: roots.some((pem) => chain.at(-1)?.raw.equals(new X509Certificate(pem).raw) ?? false),
  }
}

function nestedIn(payload: Record<string, unknown>, prefix = ''): Nested[] {
  return Object.entries(payload).flatMap(([key, value]) => {
    if (isObject(value)) return nestedIn(value, `${prefix}${key}.`)
    if (typeof value !== 'string' || !isSigned(key)) return []
    const { payload: text } = splitCompact(value)
    const inner = decodeObject(decodePayload(text)) ?? {}
    return [{ in: prefix + key, sha256: hash('sha256', text, 'hex'), payload: inner }]
  })
}

/** Whether a field contains a signed text, by its name. */
export const isSigned = (key: string): boolean => /^signed(Transaction|Renewal|AppTransaction)Info$/.test(key)

const describeCertificate = ({
  subject,
  issuer,
  validFromDate,
  validToDate,
  raw,
}: X509Certificate): CertificateSummary => ({
  subject: oneLine(subject),
  issuer: oneLine(issuer),
  not_before: validFromDate.getTime(),
  not_after: validToDate.getTime(),
  sha256: hash('sha256', raw, 'hex'),
})

/** Node separates the parts of a name by line breaks. */
const oneLine = (name: string): string => name.replaceAll('\n', ', ')
