/** What backups need of a bucket: to list, write, verify, copy, read and delete objects. */
import type { Place } from './place.ts'
import {
  type BucketDeps,
  type HashedFile,
  headerOf,
  openBucketRequests,
  type Received,
  type SendToBucket,
  textOf,
} from './requests.ts'
import { refusedError, S3Error } from './s3_errors.ts'
import { fieldOf, readListing, type StoredObject } from './xml.ts'

/** What a bucket knows of an object. `sha256` is in hexadecimal, and null if the service keeps none. */
export type ObjectFacts = Readonly<{ bytes: number; sha256: string | null; etag: string }>

export type S3 = ReturnType<typeof openS3>

/** Opens the bucket of `place`. Every function throws S3Error if the bucket refuses, or the reason of `deps.signal`. */
export function openS3(deps: BucketDeps, place: Place) {
  const send = openBucketRequests(deps, place)
  return {
    /** The objects whose keys begin with `prefix` and have no slash after it. */
    list: (prefix: string) => listObjects(send, place, prefix),
    /** Uploads a file under `key`. The service compares what arrives with the SHA-256. */
    put: (key: string, file: HashedFile) => putFile(send, key, file),
    /** What the bucket knows of an object; null if there is none. */
    head: (key: string) => factsAt(send, key),
    /** Copies an object inside the bucket. Returns the tag of the copy; empty if the service tells none. */
    copy: (from: string, to: string) => copyObject(send, place, from, to),
    /** Deletes an object. It need not exist. */
    remove: (key: string) =>
      send(
        { method: 'DELETE', action: 'delete objects', key },
        async ({ body }) => void (await textOf(body)),
      ),
    /** Reads an object, or its first `bytes` bytes, with `read`. */
    get: <Result>(key: string, read: (received: Received) => Promise<Result>, bytes?: number) => {
      const headers = bytes === undefined ? {} : { range: `bytes=0-${bytes - 1}` }
      return send({ method: 'GET', action: 'read objects', key, headers, isLarge: true }, read)
    },
  }
}

/** A page has up to a thousand objects. */
const MAX_PAGES = 1_000

async function listObjects(send: SendToBucket, { host }: Place, prefix: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = []
  let next: string | null = null
  for (let count = 1; count <= MAX_PAGES; count += 1) {
    const query = { 'list-type': '2', prefix, delimiter: '/', ...(next && { 'continuation-token': next }) }
    const text: string = await send({ method: 'GET', action: 'list objects', query }, ({ body }) =>
      textOf(body),
    )
    const page = readListing(text)
    if (page === null) throw new S3Error(`${host} does not answer as S3 does. Correct endpoint in [backup].`)
    objects.push(...page.objects)
    if (page.next !== null && page.next === next)
      throw new S3Error(`${host} answers with the same page again.`)
    if (page.next === null) return objects
    next = page.next
  }
  throw new S3Error(
    `${host} lists more than ${MAX_PAGES.toLocaleString('en-US')} pages. Set to in [backup] to another prefix.`,
  )
}

async function putFile(send: SendToBucket, key: string, file: HashedFile): Promise<void> {
  const headers = {
    'content-type': 'application/octet-stream',
    'x-amz-checksum-sha256': Buffer.from(file.sha256, 'hex').toString('base64'),
  }
  const request = { method: 'PUT', action: 'write objects', key, headers, file, isLarge: true } as const
  await send(request, ({ body }) => textOf(body))
}

/** The answer to a HEAD request has no body. Why it is refused, the first byte of the object tells. */
async function factsAt(send: SendToBucket, key: string): Promise<ObjectFacts | null> {
  const action = 'read objects'
  const headers = { 'x-amz-checksum-mode': 'ENABLED' }
  try {
    return await send({ method: 'HEAD', action, key, headers }, async (received) => {
      await textOf(received.body)
      return factsOf(received.headers)
    })
  } catch (error) {
    if (!(error instanceof S3Error) || error.status === null) throw error
    if (error.status === 404) return null
    await send({ method: 'GET', action, key, headers: { range: 'bytes=0-0' } }, async () => {})
    throw error
  }
}

function factsOf(headers: Received['headers']): ObjectFacts {
  const base64 = headerOf(headers, 'x-amz-checksum-sha256')
  return {
    bytes: Number(headerOf(headers, 'content-length')),
    // An object of several parts has a checksum of checksums, with the number of parts after a hyphen.
    sha256: /^[A-Za-z0-9+/]{43}=$/.test(base64) ? Buffer.from(base64, 'base64').toString('hex') : null,
    etag: headerOf(headers, 'etag'),
  }
}

async function copyObject(send: SendToBucket, place: Place, from: string, to: string): Promise<string> {
  const action = 'write objects'
  const headers = { 'x-amz-copy-source': `/${place.bucket}/${from}` }
  const text = await send({ method: 'PUT', action, key: to, headers, isLarge: true }, ({ body }) =>
    textOf(body),
  )
  // S3 can send status 200 before it copies, so that an error follows it.
  if (fieldOf(text, 'Code') !== null) throw refusedError({ status: 500, date: '', text, action }, place, 0)
  return fieldOf(text, 'ETag') ?? ''
}
