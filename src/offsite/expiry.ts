/** Deletes backups in a bucket that have expired. */
import { expiredBackups, type Keep, madeAtOf } from '../store/backup/files.ts'
import type { Store } from '../store/store.ts'
import type { Bucket } from './recorded_uploads.ts'
import { listBackups } from './remote_backups.ts'
import { openUploadLog } from './upload_log.ts'

/** The backup that was just verified, and what is kept besides. */
type Verified = Readonly<{ url: string; keep: Readonly<Keep> }>

/**
 * Deletes the expired ones of the backups that this server verified, but never the one at `url`. All others stay, and do
 * not count: another server may need them. Returns what happened as text.
 */
export async function removeExpired(
  { s3, place }: Bucket,
  store: Pick<Store, 'commit' | 'prepare'>,
  { url, keep }: Verified,
): Promise<string> {
  const uploads = openUploadLog(store)
  const above = url.slice(0, url.lastIndexOf('/') + 1)
  const { backups } = await listBackups(s3, place)
  const { verified } = uploads.read()
  const own = backups.filter((backup) => verified[backup.url] === backup.bytes)
  const newest = own.find((backup) => backup.url === url)
  const names = own.map(({ name }) => name)
  const expired = new Set(expiredBackups(names, keep, madeAtOf(url.slice(above.length)) ?? 0))
  const gone = own.filter((backup) => backup !== newest && expired.has(backup.name))
  for (const { key } of gone) await s3.remove(key)
  const left = new Set(backups.filter((backup) => !gone.includes(backup)).map((backup) => backup.url))
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
