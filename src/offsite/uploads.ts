/** Uploads backups to a bucket, verifies them there, and deletes those that have expired. */
import { basename } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { commandName } from '../program/form.ts'
import { backupName, expiredBackups, madeAtOf } from '../store/backup/files.ts'
import { openBackupLog } from '../store/backup/log.ts'
import type { Store } from '../store/store.ts'
import { type Place, placeAt } from './place.ts'
import { listBackups, type RemoteBackup, UNFINISHED, type Unfinished } from './remote_backups.ts'
import type { HashedFile } from './requests.ts'
import { openS3, type S3 } from './s3.ts'
import { type BegunUpload, openUploadLog } from './upload_log.ts'
import { hasContent, putVerified } from './verified_upload.ts'

/** After this time, nothing is uploaded to a temporary key any more. */
const ABANDONED_MS = 2 * 86_400_000

type Deps = {
  store: Pick<Store, 'commit' | 'prepare'>
  clock: Clock
  outgoing: Pick<Outgoing, 'dispatcher' | 'held'>
}

type Bucket = Readonly<{ s3: S3; place: Place }>

/** Opens the uploading of backups. */
export function openUploads({ store, clock, outgoing: { dispatcher, held } }: Deps) {
  const log = openBackupLog(store)
  const uploads = openUploadLog(store)
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
    const key = await explained(`${backup.file} is verified, but is not in ${to}`, () =>
      put({ s3, place }, backup),
    )
    const url = urlOf(place, key)
    return explained(`${url} is verified, but what is no longer needed in ${to} is not deleted`, async () => {
      await s3.remove(`${key}${UNFINISHED}`)
      return `uploaded to ${url}, verified; ${await removeExpired({ s3, place }, url, settings)}`
    })
  }

  /** Puts a backup into the bucket, unless a run that was interrupted has done so. Returns its key. */
  async function put({ s3, place }: Bucket, backup: HashedFile): Promise<string> {
    const { backups, unfinished } = await listBackups(s3, place)
    for (const { key } of unfinished.filter((one) => isLeft(place, one))) await s3.remove(key)
    const whole = await endBegun(s3, backups)
    if (whole?.sha256 === backup.sha256) return whole.url.slice(urlOf(place, '').length)
    const name = freeName(basename(backup.file), new Set(backups.map((other) => other.name)))
    const key = place.path === '' ? name : `${place.path}/${name}`
    const begun = { url: urlOf(place, key), bytes: backup.bytes, sha256: backup.sha256, isCopying: false }
    await store.commit(() => uploads.noteBegun(begun))
    await putVerified(s3, backup, key, () =>
      store.commit(() => uploads.noteBegun({ ...begun, isCopying: true })),
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
   * Ends the upload that was interrupted: its object was perhaps not verified yet. If it is not whole, it is deleted.
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
    await s3.remove(copy.key)
    return null
  }

  const noteVerified = (upload: BegunUpload): Promise<void> =>
    store.commit(() => {
      uploads.noteVerified(upload)
      log.noteCopied({ at: clock(), file: upload.url })
    })

  /**
   * Deletes the expired ones of the backups that this server verified, but never the one at `url`. All others stay, and do
   * not count: another server may need them. Returns what happened as text.
   */
  async function removeExpired({ s3, place }: Bucket, url: string, keep: Config['backup']): Promise<string> {
    const { backups } = await listBackups(s3, place)
    const { verified } = uploads.read()
    const own = backups.filter((backup) => verified[backup.url] === backup.bytes)
    const newest = own.find((backup) => backup.url === url)
    const names = own.map(({ name }) => name)
    const expired = new Set(expiredBackups(names, keep, madeAtOf(newest?.name ?? '') ?? clock()))
    const gone = own.filter((backup) => backup !== newest && expired.has(backup.name))
    for (const { key } of gone) await s3.remove(key)
    const left = new Set(backups.filter((backup) => !gone.includes(backup)).map((backup) => backup.url))
    const above = url.slice(0, url.lastIndexOf('/') + 1)
    await store.commit(() =>
      uploads.forget(
        (other) => other.startsWith(above) && !other.slice(above.length).includes('/') && !left.has(other),
      ),
    )
    const others = backups.length - own.length
    const outcome = `${gone.length} expired ${gone.length === 1 ? 'backup' : 'backups'} deleted there`
    if (others === 0) return outcome
    return `${outcome}; ${others} that this server did not upload ${others === 1 ? 'is' : 'are'} kept`
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

const urlOf = ({ bucket }: Place, key: string): string => `s3://${bucket}/${key}`

/** The name of an encrypted backup, or the first of the seconds after it that is not taken: another server can have it. */
const freeName = (name: string, taken: ReadonlySet<string>): string =>
  taken.has(name) ? freeName(backupName((madeAtOf(name) ?? 0) + 1_000, true), taken) : name
