/** Sends requests to a bucket, signed with AWS Signature Version 4, and reads their answers. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { Clock } from '../clock.ts'
import type { Failure } from '../outgoing/failures.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { StreamedAnswer } from '../outgoing/requests.ts'
import { reasonOf } from '../store/warnings.ts'
import type { Place } from './place.ts'
import { openQuietWatch } from './quiet.ts'
import { refusedError, S3Error } from './s3_errors.ts'

/** A file with its size and its SHA-256 in hexadecimal. */
export type HashedFile = Readonly<{ file: string; bytes: number; sha256: string }>

export type BucketDeps = Readonly<{
  dispatcher: Pick<Outgoing['dispatcher'], 'stream'>
  clock: Clock
  /** Aborts all requests. */
  signal: AbortSignal
  /** How long nothing may move over a connection, in milliseconds. By default a minute, and longer for large objects. */
  quiet_ms?: number
  /** How long a request that is not for a large object may take, in milliseconds. By default five minutes. */
  limit_ms?: number
}>

/** A request. `key` is that of an object; without one, the request concerns the bucket. */
type BucketRequest = Readonly<{
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** What the request does, as an infinitive. */
  action: string
  key?: string
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  /** The file that is uploaded. */
  file?: HashedFile
  /** Whether the service handles a whole object before it answers. */
  isLarge?: boolean
}>

export type Received = Readonly<{ headers: StreamedAnswer['headers']; body: AsyncIterable<Uint8Array> }>

export type SendToBucket = ReturnType<typeof openBucketRequests>

const NOTHING_SHA256 = createHash('sha256').digest('hex')
const CHUNK_BYTES = 262_144
const MAX_TEXT_BYTES = 8_388_608
const QUIET_MS = 60_000
const LARGE_QUIET_MS = 900_000
const SMALL_LIMIT_MS = 300_000
/** A request for a large object is limited by its silence alone. */
const LIMIT_MS = 86_400_000
const WITHOUT_CONFIG =
  ' On a machine without a config file, set the variable WINDFALL_OUTBOUND_ALLOW to the entry in the brackets, without quotes.'

/** Opens requests to the bucket of `place`, which is the first part of the path in the address of the service. */
export function openBucketRequests(deps: BucketDeps, place: Place) {
  const { dispatcher, clock, signal, limit_ms = SMALL_LIMIT_MS } = deps
  /** Sends a request, and reads the answer with `read`. @throws S3Error; the reason of `signal` */
  return async <Result>(
    wanted: BucketRequest,
    read: (received: Received) => Promise<Result>,
  ): Promise<Result> => {
    const { method, action, file, isLarge = false } = wanted
    const quiet_ms = deps.quiet_ms ?? (isLarge ? LARGE_QUIET_MS : QUIET_MS)
    const watch = openQuietWatch(place.host, { quiet_ms, limit_ms: isLarge ? null : limit_ms }, signal)
    const body = file === undefined ? null : bodyOf(file, watch.passing)
    try {
      const signed = await sign(wanted, place, clock())
      const sent = { method, ...signed, body, signal: watch.signal, timeoutMs: LIMIT_MS }
      const answer = await dispatcher.stream(sent)
      if ('kind' in answer) throw unsentError(answer)
      try {
        const { status, headers } = answer
        const received = watch.receiving(answer.body)
        if (status < 300) return await read({ headers, body: received })
        const date = headerOf(headers, 'date')
        throw refusedError({ status, date, action, text: await textOf(received) }, place, clock())
      } finally {
        answer.body.destroy()
      }
    } finally {
      body?.destroy()
      watch.end()
    }
  }
}

const unsentError = ({ kind, words }: Failure): S3Error =>
  new S3Error(kind === 'address' ? `${words}${WITHOUT_CONFIG}` : words)

/** The URL and the signed headers of a request that is sent at `now`. */
async function sign(
  { method, key, query = {}, headers = {}, file }: BucketRequest,
  place: Place,
  now: number,
) {
  const pairs = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='))
  const path = key === undefined ? place.bucket : `${place.bucket}/${key}`
  const { AwsV4Signer } = await import('aws4fetch')
  const signer = new AwsV4Signer({
    method,
    url: `${place.endpoint}/${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`,
    accessKeyId: place.access_key_id,
    secretAccessKey: place.secret_access_key,
    region: place.region,
    service: 's3',
    headers: {
      ...headers,
      'x-amz-content-sha256': file?.sha256 ?? NOTHING_SHA256,
      ...(file && { 'content-length': String(file.bytes) }),
    },
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d+/g, ''),
  })
  const signed = await signer.sign()
  return { url: signed.url.href, headers: Object.fromEntries(signed.headers) }
}

const bodyOf = (
  { file }: HashedFile,
  passing: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): Readable => Readable.from(passing(contentOf(file)), { objectMode: false })

/** The content of a file, which is opened when it is read: a request can fail before that. */
async function* contentOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark: CHUNK_BYTES })
  } catch (error) {
    throw new S3Error(`It cannot be read: ${reasonOf(error)}`)
  }
}

/** A whole body as text. @throws S3Error if it is longer than any answer of S3 */
export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_TEXT_BYTES) throw new S3Error('The answer of the bucket is longer than 8 MB.')
  }
  return Buffer.concat(chunks).toString()
}

/** A header of an answer as text; empty if it is missing. */
export const headerOf = (headers: Received['headers'], name: string): string => String(headers[name] ?? '')
