/** A strict parser of compact JWS (RFC 7515 §7.1): each signed statement has exactly one accepted text. */
import { SignatureError } from './signature_error.ts'

/** Apple's header has about 4,200 characters, almost all of them certificates. */
const MAX_HEADER_LENGTH = 32_768

/** The three encoded parts of a JWS. `input` is the text that was signed: header, dot and payload. */
export type Compact = { header: string; payload: string; signature: string; input: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Recognizes other texts that are often sent by mistake, so that the error can say what to send. */
function guessFormat(text: string): string {
  if (text.trim() !== text) return 'there is white space around it'
  if (text.startsWith('{')) return 'this is plain JSON; send the text that Apple signed (jwsRepresentation)'
  if (text.startsWith('MI'))
    return 'this looks like an app receipt; send the transaction as jwsRepresentation'
  if (text.startsWith('ey') && !text.includes('.')) {
    return 'this looks like unsigned JSON in base64; send jwsRepresentation'
  }
  return `got ${text.split('.', 9).length}`
}

function notCompact(text: string): SignatureError {
  const expected = 'invalid JWS: expected three dot-separated parts of base64url (RFC 7515)'
  return new SignatureError('not_a_jws', `${expected}; ${guessFormat(text)}`)
}

/**
 * Decodes one part. Accepts only the canonical encoding: with other alphabets, padding, white space or stray bits, one
 * signed statement could have many texts. Throws SignatureError `not_a_jws`.
 */
export function decodePart(text: string, name: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length > 0 && bytes.toString('base64url') === text) return bytes
  throw new SignatureError('not_a_jws', `the ${name} is not base64url without padding (RFC 7515 §2)`)
}

/**
 * Decodes the payload. Checks only that no character is skipped, which is fast for long texts. That is enough, because
 * the signature covers the encoded text. Throws SignatureError `not_a_jws`.
 */
export function decodePayload(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (text.length % 4 !== 1 && bytes.length === Math.floor((text.length * 3) / 4)) return bytes
  throw new SignatureError('not_a_jws', 'the payload is not base64url without padding (RFC 7515 §2)')
}

/** Splits the text without decoding it. Throws SignatureError `not_a_jws`. */
export function splitCompact(jws: string): Compact {
  const first = jws.indexOf('.')
  const second = jws.indexOf('.', first + 1)
  if (first < 1 || second <= first + 1 || second === jws.length - 1) throw notCompact(jws)
  if (jws.indexOf('.', second + 1) !== -1) throw notCompact(jws)
  const [header, payload] = [jws.slice(0, first), jws.slice(first + 1, second)]
  return { header, payload, signature: jws.slice(second + 1), input: jws.slice(0, second) }
}

/** Parses a JSON object; null for arrays, other values, invalid UTF-8 and a byte order mark. */
export function decodeObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The certificates in an encoded header, in base64, leaf first. Throws SignatureError: `algorithm` for anything but
 * ES256, `xcode` for the single certificate of Xcode's local signer, `chain_length` for any number other than three.
 */
export function readHeader(encoded: string): [string, string, string] {
  if (encoded.length > MAX_HEADER_LENGTH)
    throw new SignatureError('header', 'the header is too long to be from Apple')
  const header = decodeObject(decodePart(encoded, 'header'))
  if (header === null) throw new SignatureError('header', 'the header is not a JSON object in UTF-8')
  if (header.alg !== 'ES256') {
    throw new SignatureError('algorithm', `expected the algorithm ES256, got ${JSON.stringify(header.alg)}`)
  }
  if ('crit' in header) {
    throw new SignatureError('header', 'the header requires extensions (crit) that Apple does not use')
  }
  return certificateChainOf(header.x5c)
}

function certificateChainOf(x5c: unknown): [string, string, string] {
  const list: unknown[] = Array.isArray(x5c) ? x5c : []
  const [leaf, intermediate, root] = list
  if (list.length === 1) {
    const detail = 'signed by Xcode’s local key, which proves nothing about the App Store'
    throw new SignatureError('xcode', detail)
  }
  if (list.length !== 3) {
    const detail = `expected three certificates in x5c, got ${list.length}`
    throw new SignatureError('chain_length', detail)
  }
  if (typeof leaf === 'string' && typeof intermediate === 'string' && typeof root === 'string') {
    return [leaf, intermediate, root]
  }
  throw new SignatureError('chain', 'the certificates in x5c are not strings')
}
