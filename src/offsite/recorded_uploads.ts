/** Puts backups into a bucket, and records in the database what was verified there and what has begun. */
import { basename } from 'node:path'
import type { Clock } from '../clock.ts'
import { backupName, madeAtOf } from '../store/backup/files.ts'
import { openBackupLog } from '../store/backup/log.ts'
import type { Store } from '../store/store.ts'
import { type Place, urlOf } from './place.ts'
import { listBackups, type RemoteBackup, UNFINISHED, type Unfinished } from './remote_backups.ts'
import type { HashedFile } from './requests.ts'
import type { S3 } from './s3.ts'
import { S3Error } from './s3_errors.ts'
import { type BegunUpload, openUploadLog } from './upload_log.ts'
import { hasContent, putVerified, removeOwn } from './verified_upload.ts'

/** After this time, nothing is uploaded to a temporary key any more. */
const ABANDONED_MS = 2 * 86_400_000

type Deps = { store: Pick<Store, 'commit' | 'prepare'>; clock: Clock }

/** A bucket, and the place in it. */
export type Bucket = Readonly<{ s3: S3; place: Place }>

/** Opens uploads that are recorded. */
export function openRecordedUploads({ store, clock }: Deps) {
  const log = openBackupLog(store)
  const uploads = openUploadLog(store)

  /** Puts a backup into the bucket, unless an earlier run has done so. Returns its key. */
  async function put({ s3, place }: Bucket, backup: HashedFile): Promise<string> {
    const { backups, unfinished } = await listBackups(s3, place)
    for (const { key } of unfinished.filter((one) => isLeft(place, one)))
      await s3.remove(key).catch(ignoreRefusal)
    const last = log.lastCopied()?.file
    const copied = backups.find(({ url, name }) => url === last && name === basename(backup.file))
    if (copied?.bytes === backup.bytes && uploads.read().verified[copied.url] === backup.bytes)
      return copied.key
    const whole = await endBegun(s3, backups)
    if (whole?.sha256 === backup.sha256) return whole.url.slice(urlOf(place, '').length)
    const name = freeName(basename(backup.file), new Set(backups.map((other) => other.name)))
    const key = place.path === '' ? name : `${place.path}/${name}`
    const begun = { url: urlOf(place, key), bytes: backup.bytes, sha256: backup.sha256, isCopying: false }
    await store.commit(() => uploads.noteBegun(begun))
    await putVerified(s3, backup, key, (etag) =>
      store.commit(() => uploads.noteBegun({ ...begun, isCopying: true, etag })),
    )
    await noteVerified(begun)
    return key
  }

  /** Whether this server left a temporary object, or another one that no longer writes it. */
  function isLeft(place: Place, { key, uploaded_at }: Unfinished): boolean {
    const url = urlOf(place, key).slice(0, -UNFINISHED.length)
    const { begun, verified } = uploads.read()
    return begun?.url === url || Object.hasOwn(verified, url) || uploaded_at < clock() - ABANDONED_MS
  }

  /**
   * Ends the upload that was interrupted: its object was perhaps not verified yet. If it is not whole, it is deleted,
   * unless another server can have written it.
   * Returns the upload if its object is whole.
   */
  async function endBegun(s3: S3, backups: readonly RemoteBackup[]): Promise<BegunUpload | null> {
    const { begun } = uploads.read()
    const copy = begun?.isCopying ? backups.find(({ url }) => url === begun.url) : undefined
    if (begun === null || copy === undefined) return null
    if (await hasContent(s3, copy.key, begun)) {
      await noteVerified(begun)
      return begun
    }
    await removeOwn(s3, copy.key, begun.etag ?? '')
    return null
  }

  const noteVerified = (upload: BegunUpload): Promise<void> =>
    store.commit(() => {
      uploads.noteVerified(upload)
      log.noteCopied({ at: clock(), file: upload.url })
    })

  return { put }
}

/** What cannot be deleted prevents no upload. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof S3Error)) throw error
}

/** The name of an encrypted backup, or the first of the seconds after it that is not taken: another server can have it. */
const freeName = (name: string, taken: ReadonlySet<string>): string =>
  taken.has(name) ? freeName(backupName((madeAtOf(name) ?? 0) + 1_000, true), taken) : name
