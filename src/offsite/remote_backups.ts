/** The backups in a bucket. */
import { Refusal } from '../errors.ts'
import { madeAtOf } from '../store/backup/files.ts'
import type { Place } from './place.ts'
import type { S3 } from './s3.ts'

/** A backup in a bucket. Instants are in ms since the epoch, `made_at` by its name, `uploaded_at` by the service. */
export type RemoteBackup = Readonly<{
  name: string
  key: string
  url: string
  bytes: number
  made_at: number
  uploaded_at: number
}>

/** The end of the key of a backup that is not yet verified in the bucket. */
export const UNFINISHED = '.partial'

/** The backups directly under the path of `place`, the newest first, and the keys of uploads that did not end. */
export async function listBackups(
  s3: Pick<S3, 'list'>,
  place: Place,
): Promise<{ backups: RemoteBackup[]; unfinished: string[] }> {
  const folder = place.path === '' ? '' : `${place.path}/`
  const objects = await s3.list(`${folder}windfall-`)
  const named = objects.map((object) => ({ ...object, name: object.key.slice(folder.length) }))
  const backups = named
    .flatMap(({ name, key, bytes, modified_at: uploaded_at }) => {
      const made_at = madeAtOf(name)
      return made_at === null
        ? []
        : [{ name, key, url: `s3://${place.bucket}/${key}`, bytes, made_at, uploaded_at }]
    })
    .sort((a, b) => b.made_at - a.made_at)
  const unfinished = named.filter(
    ({ name }) => name.endsWith(UNFINISHED) && madeAtOf(name.slice(0, -UNFINISHED.length)) !== null,
  )
  return { backups, unfinished: unfinished.map(({ key }) => key) }
}

/** A backup to fetch. */
export type FoundBackup = Pick<RemoteBackup, 'key' | 'url' | 'bytes'>

/**
 * The backup that the path of `place` names, or the newest one under it.
 *
 * @throws Refusal 404 `no_backup`
 */
export async function findBackup(s3: Pick<S3, 'list' | 'head'>, place: Place): Promise<FoundBackup> {
  const { path: key, url } = place
  const name = key.slice(key.lastIndexOf('/') + 1)
  const [newest] = madeAtOf(name) !== null ? [] : (await listBackups(s3, place)).backups
  if (newest !== undefined) return newest
  const facts = key === '' ? null : await s3.head(key)
  if (facts === null)
    throw new Refusal(404, 'no_backup', `there is no backup ${url}, and none under this prefix`)
  return { key, url, bytes: facts.bytes }
}
