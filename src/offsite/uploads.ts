/** Uploads backups to a bucket, verifies them there, and deletes those that have expired. */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { commandName } from '../program/form.ts'
import { expiredBackups, type Keep } from '../store/backup/files.ts'
import { openBackupLog } from '../store/backup/log.ts'
import type { Store } from '../store/store.ts'
import { placeAt } from './place.ts'
import { listBackups, UNFINISHED } from './remote_backups.ts'
import type { HashedFile } from './requests.ts'
import { type ObjectFacts, openS3, type S3 } from './s3.ts'

/** The largest object that S3 accepts in one request, and copies in one: 5 GiB. */
const MAX_BYTES = 5 * 1_073_741_824

type Deps = {
  store: Pick<Store, 'commit' | 'prepare'>
  clock: Clock
  outgoing: Pick<Outgoing, 'dispatcher' | 'held'>
}

/** Opens the uploading of backups. */
export function openUploads({ store, clock, outgoing: { dispatcher, held } }: Deps) {
  const log = openBackupLog(store)
  const closing = new AbortController()
  let running: Promise<unknown> = Promise.resolve()

  /**
   * Uploads a backup to the bucket of the settings and returns what happened as text. While outgoing requests are held,
   * it uploads nothing: the original of a copied database may use the same bucket.
   *
   * @throws Error that says why the backup is not in the bucket, or what is left there
   */
  async function upload(backup: HashedFile, to: string, settings: Config['backup']): Promise<string> {
    if (held.state() !== null)
      return `not uploaded, because outgoing requests are held (${commandName} outgoing resume)`
    const uploading = uploadTo(backup, to, settings)
    running = uploading.catch(() => {})
    return uploading
  }

  async function uploadTo(backup: HashedFile, to: string, settings: Config['backup']): Promise<string> {
    const place = placeAt(to, settings)
    const s3 = openS3({ dispatcher, clock, signal: closing.signal }, place)
    const name = basename(backup.file)
    const key = place.path === '' ? name : `${place.path}/${name}`
    const url = `s3://${place.bucket}/${key}`
    const { file } = backup
    await explained(`${file} is verified, but is not in ${to}`, async () => {
      const { backups, unfinished } = await listBackups(s3, place)
      for (const left of unfinished) await s3.remove(left)
      if (backups.some((other) => other.key === key)) throw new Error('A backup with this name is there.')
      await putVerified(s3, backup, key)
    })
    await store.commit(() => log.noteCopied({ at: clock(), file: url }))
    return explained(`${url} is verified, but what is no longer needed in ${to} is not deleted`, async () => {
      await s3.remove(`${key}${UNFINISHED}`)
      const count = await removeExpired(s3, (await listBackups(s3, place)).backups, { name, keep: settings })
      return `uploaded to ${url}, verified; ${count} expired ${count === 1 ? 'backup' : 'backups'} deleted there`
    })
  }

  /** Runs a step. Its error says what the step means for the backup, unless the server stops. */
  async function explained<Result>(meaning: string, step: () => Promise<Result>): Promise<Result> {
    try {
      return await step()
    } catch (error) {
      closing.signal.throwIfAborted()
      throw new Error(`${meaning}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Ends an upload. What it left in the bucket is deleted by the next. */
  async function close(): Promise<void> {
    closing.abort(new Error('the server stopped before the backup was uploaded'))
    await running
  }

  return { upload, close }
}

/** Uploads a file under a temporary key, verifies it, and gives it its key. A file that is under `key` is whole. */
async function putVerified(s3: S3, backup: HashedFile, key: string): Promise<void> {
  if (backup.bytes > MAX_BYTES)
    throw new Error(
      'It is larger than 5 GiB, which S3 does not accept in one request. Set command in place of to, with a program such as rclone.',
    )
  const temporary = `${key}${UNFINISHED}`
  await s3.put(temporary, backup)
  const uploaded = await s3.head(temporary)
  await assertSame(s3, temporary, uploaded, backup)
  await s3.copy(temporary, key)
  const copied = await s3.head(key)
  try {
    // The tag of an object follows from its content, where a service keeps no checksum.
    if (copied?.sha256 === null && copied.etag === uploaded?.etag && copied.bytes === backup.bytes) return
    await assertSame(s3, key, copied, backup)
  } catch (error) {
    await s3.remove(key)
    throw error
  }
}

/** Compares an object with the file. Where the service keeps no checksum, it reads the object back. @throws Error */
async function assertSame(s3: S3, key: string, facts: ObjectFacts | null, backup: HashedFile): Promise<void> {
  if (facts?.bytes !== backup.bytes)
    throw new Error(`The bucket has ${facts?.bytes ?? 0} of ${backup.bytes} bytes of it. Try again.`)
  const sha256 = facts.sha256 ?? (await s3.get(key, ({ body }) => digestOf(body)))
  if (sha256 !== backup.sha256)
    throw new Error(
      `The bucket has other bytes: their SHA-256 is ${sha256}, not ${backup.sha256}. Try again.`,
    )
}

async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

/** Deletes expired backups, but never the one with this name. Returns how many. */
async function removeExpired(
  s3: S3,
  backups: readonly { name: string; key: string }[],
  { name, keep }: { name: string; keep: Readonly<Keep> },
): Promise<number> {
  const expired = new Set(
    expiredBackups(
      backups.map((one) => one.name),
      keep,
    ),
  )
  expired.delete(name)
  const keys = backups.filter((one) => expired.has(one.name)).map(({ key }) => key)
  for (const key of keys) await s3.remove(key)
  return keys.length
}
