/** Gives a backup its key in a bucket only once its size and its SHA-256 were read back. */
import { createHash } from 'node:crypto'
import { UNFINISHED } from './remote_backups.ts'
import type { HashedFile } from './requests.ts'
import type { ObjectFacts, S3 } from './s3.ts'

/** The largest object that S3 accepts in one request, and copies in one: 5 GiB. */
const MAX_BYTES = 5 * 1_073_741_824

type Content = Pick<HashedFile, 'bytes' | 'sha256'>

/**
 * Uploads a file under a temporary key, verifies it, and gives it its key. `noteCopy` runs before there can be an object
 * under `key`, and with the tag of that object once there is one. If this throws, there is none of this server, unless
 * the bucket tells no tags or no longer answers, or the process ends.
 *
 * @throws Error
 */
export async function putVerified(
  s3: S3,
  backup: HashedFile,
  key: string,
  noteCopy: (etag: string) => Promise<void>,
): Promise<void> {
  if (backup.bytes > MAX_BYTES)
    throw new Error(
      'It is larger than 5 GiB, which S3 does not accept in one request. Set command in place of to, with a program such as rclone.',
    )
  const temporary = `${key}${UNFINISHED}`
  await s3.put(temporary, backup)
  const uploaded = await s3.head(temporary)
  await assertSame(s3, temporary, uploaded, backup)
  await noteCopy('')
  const etag = await s3.copy(temporary, key)
  await noteCopy(etag)
  const copied = await s3.head(key)
  try {
    // The tag of an object follows from its content, where a service keeps no checksum.
    const isTagged = copied !== null && copied.etag !== '' && copied.etag === uploaded?.etag
    if (isTagged && copied.sha256 === null && copied.bytes === backup.bytes) return
    await assertSame(s3, key, copied, backup)
  } catch (error) {
    // Another server that uses the same temporary key can have replaced what was copied.
    const isSource = uploaded !== null && (await s3.head(temporary))?.etag === uploaded.etag
    if (isSource && (await removeOwn(s3, key, etag))) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `${reason} What is at ${key} stays there, because another server may have written it. Give each server a prefix of its own.`,
    )
  }
}

/** Deletes the object with this tag. Returns whether there is none, or it was deleted. */
export async function removeOwn(s3: S3, key: string, etag: string): Promise<boolean> {
  const facts = await s3.head(key)
  if (facts === null) return true
  if (etag === '' || facts.etag !== etag) return false
  await s3.remove(key)
  return true
}

/** Whether the bucket has this content under `key`. */
export async function hasContent(s3: S3, key: string, content: Content): Promise<boolean> {
  const facts = await s3.head(key)
  return facts?.bytes === content.bytes && (await sha256At(s3, key, facts)) === content.sha256
}

/** Compares an object with the file. @throws Error */
async function assertSame(s3: S3, key: string, facts: ObjectFacts | null, backup: Content): Promise<void> {
  if (facts?.bytes !== backup.bytes)
    throw new Error(`The bucket has ${facts?.bytes ?? 0} of ${backup.bytes} bytes of it. Try again.`)
  const sha256 = await sha256At(s3, key, facts)
  if (sha256 !== backup.sha256)
    throw new Error(
      `The bucket has other bytes: their SHA-256 is ${sha256}, not ${backup.sha256}. Try again.`,
    )
}

/** The SHA-256 of an object. Where the service keeps no checksum, it reads the object back. */
const sha256At = async (s3: S3, key: string, { sha256, bytes }: ObjectFacts): Promise<string> =>
  sha256 ?? (await s3.get(key, ({ body }) => digestOf(body, bytes)))

async function digestOf(chunks: AsyncIterable<Uint8Array>, bytes: number): Promise<string> {
  const hash = createHash('sha256')
  let received = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    received += chunk.length
    // A service that does not end its answer has other bytes.
    if (received > bytes) break
  }
  return hash.digest('hex')
}
