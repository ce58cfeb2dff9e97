/** How a command that root runs opens a database: as the owner of the file, so that none of the files beside it is root's. */
import { chownSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { realPathOf, statsAt } from '../../store/disk/paths.ts'

const ROOT = 0

/**
 * Gives up root's rights for those of the owner of `databaseFile` (or, where the file does not exist yet, of the nearest folder above it),
 * until the process ends. Does nothing for other users, and for a file that is root's.
 */
export function actAsOwnerOf(databaseFile: string): void {
  if (process.geteuid?.() !== ROOT) return
  const owner = nearest(realPathOf(databaseFile))
  if (owner.uid === ROOT) return
  process.setgroups?.([owner.gid])
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
}

/** Who a database belongs to, or would belong to. */
export type Owner = Pick<Stats, 'uid' | 'gid'>

/** The owner of `databaseFile`, or of the nearest folder above it. */
export const ownerOf = (databaseFile: string): Owner => nearest(realPathOf(databaseFile))

/**
 * Gives files that root made to `owner`, with the folders that root made for them below `folder`. Does nothing for other
 * users.
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
