/** Uploads backups to a bucket, verifies them there, and deletes those that have expired. */
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { commandName } from '../program/form.ts'
import type { Store } from '../store/store.ts'
import { removeExpired } from './expiry.ts'
import { placeAt, urlOf } from './place.ts'
import { openRecordedUploads } from './recorded_uploads.ts'
import { UNFINISHED } from './remote_backups.ts'
import type { HashedFile } from './requests.ts'
import { openS3 } from './s3.ts'

type Deps = {
  store: Pick<Store, 'commit' | 'prepare'>
  clock: Clock
  outgoing: Pick<Outgoing, 'dispatcher' | 'held'>
}

/** Opens the uploading of backups. */
export function openUploads({ store, clock, outgoing: { dispatcher, held } }: Deps) {
  const { put } = openRecordedUploads({ store, clock })
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
      return `uploaded to ${url}, verified; ${await removeExpired({ s3, place }, store, { url, keep: settings })}`
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
