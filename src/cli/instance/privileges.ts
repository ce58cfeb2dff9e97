/** Drops root's rights before a command opens a database, so that root does not own any of the database files. */
import { chownSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { realPathOf, statsAt } from '../../store/disk/paths.ts'

const ROOT = 0

/**
 * Drops root's rights and acts as the owner of `databaseFile` (or of its nearest existing parent folder) until the
 * process ends. Does nothing if the process does not run as root, or if root owns the file.
 */
export function actAsOwnerOf(databaseFile: string): void {
  if (process.geteuid?.() !== ROOT) return
  const owner = nearestStats(realPathOf(databaseFile))
  if (owner.uid === ROOT) return
  process.setgroups?.([owner.gid])
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
}

/** The owner of a database, or of the folder that it would be created in. */
export type Owner = Pick<Stats, 'uid' | 'gid'>

/** The owner of `databaseFile`, or of its nearest existing parent folder. */
export const ownerOf = (databaseFile: string): Owner => nearestStats(realPathOf(databaseFile))

/**
 * Makes `owner` the owner of files that root created, and of the folders below `folder` that root created for them.
 * Does nothing if the process does not run as root.
 */
export function changeOwner({ uid, gid }: Owner, files: readonly string[], folder: string): void {
  if (process.geteuid?.() !== ROOT || uid === ROOT) return
  for (const file of files) {
    chownSync(file, uid, gid)
    const parent = dirname(file)
    if (parent !== folder && statsAt(parent)?.uid === ROOT) chownSync(parent, uid, gid)
  }
}

const nearestStats = (path: string): Stats => statsAt(path) ?? nearestStats(dirname(path))
