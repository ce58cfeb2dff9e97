/** Signatures of requests to S3, computed as Amazon's documentation describes it (AWS Signature Version 4). */
import { createHash, createHmac } from 'node:crypto'

type Signed = Readonly<{
  method: string
  /** The path and the query as they were sent. */
  target: string
  /** By lowercase name. */
  headers: Readonly<Record<string, string | string[] | undefined>>
}>

/** The parts of the header `authorization`; null if it is none of this version. */
export function parseAuthorization(text: string | undefined) {
  const [, id = '', date = '', region = '', names = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      text ?? '',
    ) ?? []
  return signature === '' ? null : { id, date, region, names: names.split(';'), signature }
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The signature that a request has if `secret` signs it. */
export function signatureOf(
  { method, target, headers }: Signed,
  { date, region, names }: { date: string; region: string; names: readonly string[] },
  secret: string,
): string {
  const [path = '', query = ''] = target.split('?')
  const pairs = query === '' ? [] : query.split('&').map((pair) => (pair.includes('=') ? pair : `${pair}=`))
  const canonical = [
    method,
    path,
    pairs.sort().join('&'),
    ...names.map((name) => `${name}:${String(headers[name] ?? '').trim()}`),
    '',
    names.join(';'),
    String(headers['x-amz-content-sha256']),
  ].join('\n')
  const scope = `${date}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, hashOf(canonical)].join('\n')
  const key = [region, 's3', 'aws4_request'].reduce<Buffer>(
    (above, part) => hmac(above, part),
    hmac(`AWS4${secret}`, date),
  )
  return hmac(key, text).toString('hex')
}
