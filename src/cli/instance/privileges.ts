/** Drops root's rights before a command opens a database, so that root does not own any of the database files. */
import { chownSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { realPathOf, statsAt } from '../../store/disk/paths.ts'

const ROOT = 0

/**
 * Drops root's rights and acts as the owner of `databaseFile` (or of its nearest existing parent folder) until the
 * process ends. Does nothing for other users, and for a file that root owns.
 */
export function actAsOwnerOf(databaseFile: string): void {
  if (process.geteuid?.() !== ROOT) return
  const owner = nearest(realPathOf(databaseFile))
  if (owner.uid === ROOT) return
  process.setgroups?.([owner.gid])
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
}

/** The owner of a database, or of the folder that it would be created in. */
export type Owner = Pick<Stats, 'uid' | 'gid'>

/** The owner of `databaseFile`, or of its nearest existing parent folder. */
export const ownerOf = (databaseFile: string): Owner => nearest(realPathOf(databaseFile))

/**
 * Gives files that root created to `owner`, with the folders that root created for them below `folder`. Does nothing
 * for other users.
 */
export function giveTo({ uid, gid }: Owner, files: readonly string[], folder: string): void {
  if (process.geteuid?.() !== ROOT || uid === ROOT) return
  for (const file of files) {
    chownSync(file, uid, gid)
    const above = dirname(file)
    if (above !== folder && statsAt(above)?.uid === ROOT) chownSync(above, uid, gid)
  }
}

const nearest = (path: string): Stats => statsAt(path) ?? nearest(dirname(path))
