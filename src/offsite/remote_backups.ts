/** The backups in a bucket. */
import { Refusal } from '../errors.ts'
import { madeAtOf } from '../store/backup/files.ts'
import { type Place, urlOf } from './place.ts'
import type { S3 } from './s3.ts'

/**
 * A backup in a bucket. Instants are in ms since the epoch: `made_at` by its name, but not after `uploaded_at`, which is by
 * the service. A name can be of a clock that was ahead.
 */
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

/** A temporary object. `uploaded_at` is in ms since the epoch. */
export type Unfinished = Readonly<{ key: string; uploaded_at: number }>

/** The backups directly under the path of `place`, the newest first, and the uploads that did not end. */
export async function listBackups(
  s3: Pick<S3, 'list'>,
  place: Place,
): Promise<{ backups: RemoteBackup[]; unfinished: Unfinished[] }> {
  const folder = place.path === '' ? '' : `${place.path}/`
  const objects = await s3.list(`${folder}windfall-`)
  const named = objects.map((object) => ({ ...object, name: object.key.slice(folder.length) }))
  const backups = named
    .flatMap(({ name, key, bytes, modified_at: uploaded_at }) => {
      const named_at = madeAtOf(name)
      if (named_at === null) return []
      const made_at = Math.min(named_at, uploaded_at)
      return [{ name, key, url: urlOf(place, key), bytes, made_at, uploaded_at }]
    })
    .sort((a, b) => b.made_at - a.made_at)
  const unfinished = named.filter(
    ({ name }) => name.endsWith(UNFINISHED) && madeAtOf(name.slice(0, -UNFINISHED.length)) !== null,
  )
  return {
    backups,
    unfinished: unfinished.map(({ key, modified_at }) => ({ key, uploaded_at: modified_at })),
  }
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
