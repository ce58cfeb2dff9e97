/** A small S3 on 127.0.0.1, which checks signatures, clocks and checksums, and fails as a test demands. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../src/clock.ts'
import { parseAuthorization, signatureOf } from './signature.ts'

export const KEY = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
export const BUCKET = 'example-backups'
export const REGION = 'eu-central-1'
const MAX_SKEW_MS = 900_000
const PAGE = 3

type Stored = { bytes: Buffer; modified_at: number }
type Fault = { status: number; code: string; more?: string }
/** `name` is the method, and `COPY` and `LIST` for these two. */
export type BucketRequest = { name: string; key: string; headers: IncomingMessage['headers'] }

export type BucketService = Awaited<ReturnType<typeof openBucketService>>

const tagOf = (bytes: Buffer): string => `"${createHash('md5').update(bytes).digest('hex')}"`
const sha256Of = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

/**
 * Opens the service with one empty bucket.
 *
 * - `before` is called for each signed request, before its effect; it can delay it, and refuse it with a fault.
 * - `store` changes what is stored of an upload or a copy.
 * - `tellsChecksums` and `tellsTags`: whether a HEAD request gets the SHA-256, and the ETag.
 */
export async function openBucketService(clock: Clock = Date.now) {
  const objects = new Map<string, Stored>()
  const requests: string[] = []
  const behaviour = {
    before: (async () => null) as (request: BucketRequest) => Promise<Fault | null>,
    store: (_name: string, bytes: Buffer): Buffer => bytes,
    tellsChecksums: true,
    tellsTags: true,
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://bucket')
    const [, bucket = '', key = ''] = /^\/([^/]+)(?:\/(.+))?$/.exec(url.pathname) ?? []
    const { method = '', headers } = request
    const name = nameOf(method, key, headers)
    requests.push(`${name} ${key}`.trim())
    const body = await bodyOf(request)
    response.setHeader('date', new Date(clock()).toUTCString())
    const refusal = refusalOf({ method, target: request.url ?? '', headers }, body, bucket)
    const fault = refusal ?? (await behaviour.before({ name, key, headers }))
    if (fault !== null) return answerFault(response, fault, method)
    const source = String(headers['x-amz-copy-source']).slice(`/${BUCKET}/`.length)
    const effects: Record<string, () => void> = {
      LIST: () => list(response, url.searchParams),
      PUT: () => write(response, name, key, body),
      COPY: () => write(response, name, key, objects.get(source)?.bytes),
      DELETE: () => remove(response, key),
    }
    const effect = effects[name] ?? (() => read(response, method, key, headers.range))
    effect()
  }

  const refusalOf = (head: Head, body: Buffer, bucket: string): Fault | null =>
    faultOf(head, body, clock()) ?? (bucket === BUCKET ? null : { status: 404, code: 'NoSuchBucket' })

  function write(response: ServerResponse, name: string, key: string, bytes: Buffer | undefined): void {
    if (bytes === undefined) return answerFault(response, { status: 404, code: 'NoSuchKey' }, name)
    objects.set(key, { bytes: behaviour.store(name, bytes), modified_at: clock() })
    response
      .writeHead(200)
      .end(
        name === 'COPY'
          ? `<CopyObjectResult><ETag>${tagOf(behaviour.store(name, bytes))}</ETag></CopyObjectResult>`
          : '',
      )
  }

  function remove(response: ServerResponse, key: string): void {
    objects.delete(key)
    response.writeHead(204).end()
  }

  function read(response: ServerResponse, method: string, key: string, range: string | undefined): void {
    const stored = objects.get(key)
    if (stored === undefined) return answerFault(response, { status: 404, code: 'NoSuchKey' }, method)
    const { bytes } = stored
    if (behaviour.tellsTags) response.setHeader('etag', tagOf(bytes))
    if (behaviour.tellsChecksums)
      response.setHeader('x-amz-checksum-sha256', sha256Of(bytes).toString('base64'))
    const last = Number(/^bytes=0-(\d+)$/.exec(range ?? '')?.[1] ?? bytes.length)
    const part = bytes.subarray(0, last + 1)
    response.setHeader('content-length', part.length)
    response.writeHead(range === undefined ? 200 : 206).end(method === 'HEAD' ? undefined : part)
  }

  /** Pages are small, so that tests see several. */
  function list(response: ServerResponse, query: URLSearchParams): void {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('continuation-token')?.replace(/^after /, '') ?? ''
    const found = [...objects]
      .filter(([key]) => key.startsWith(prefix) && !key.slice(prefix.length).includes('/') && key > after)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const page = found.slice(0, PAGE)
    const contents = page.map(
      ([key, { bytes, modified_at }]) =>
        `<Contents><Key>${key}</Key><LastModified>${new Date(modified_at).toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`,
    )
    const isTruncated = found.length > PAGE
    // A token can have any characters.
    const next = `<NextContinuationToken>after ${page.at(-1)?.[0]}</NextContinuationToken>`
    response.end(
      `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${isTruncated}</IsTruncated>${contents.join('')}${isTruncated ? next : ''}</ListBucketResult>`,
    )
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  async function close(): Promise<void> {
    server.closeAllConnections()
    server.close()
  }
  const { port } = server.address() as AddressInfo
  return { endpoint: `http://127.0.0.1:${port}`, port, objects, requests, behaviour, close }
}

function nameOf(method: string, key: string, headers: IncomingMessage['headers']): string {
  if ('x-amz-copy-source' in headers) return 'COPY'
  return key === '' ? 'LIST' : method
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

type Head = { method: string; target: string; headers: IncomingMessage['headers'] }

/** Why the signature or the checksums of a request are not accepted. */
function faultOf(head: Head, body: Buffer, now: number): Fault | null {
  const { headers } = head
  const authorization = parseAuthorization(headers.authorization)
  if (authorization === null) return { status: 403, code: 'AccessDenied' }
  if (authorization.id !== KEY.id) return { status: 403, code: 'InvalidAccessKeyId' }
  if (authorization.region !== REGION)
    return { status: 400, code: 'AuthorizationHeaderMalformed', more: `<Region>${REGION}</Region>` }
  const date = String(headers['x-amz-date'])
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3:$4:$5Z'))
  if (!(Math.abs(at - now) <= MAX_SKEW_MS)) return { status: 403, code: 'RequestTimeTooSkewed' }
  const mustBeSigned = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  if (
    mustBeSigned.some((name) => !authorization.names.includes(name)) ||
    signatureOf(head, authorization, KEY.secret) !== authorization.signature
  )
    return { status: 403, code: 'SignatureDoesNotMatch' }
  if (headers['x-amz-content-sha256'] !== sha256Of(body).toString('hex'))
    return { status: 400, code: 'XAmzContentSHA256Mismatch' }
  const checksum = headers['x-amz-checksum-sha256']
  return checksum === undefined || checksum === sha256Of(body).toString('base64')
    ? null
    : { status: 400, code: 'BadDigest' }
}

function answerFault(response: ServerResponse, { status, code, more = '' }: Fault, method: string): void {
  const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>What ${code} means</Message>${more}</Error>`
  response.writeHead(status).end(method === 'HEAD' ? undefined : text)
}

/** The bytes with another last byte. */
export function withOtherEnd(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes)
  other[other.length - 1] = (other.at(-1) ?? 0) ^ 1
  return other
}
