/** What we remember: which file a path means, so that two paths to one file are taken for one. */
import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * The absolute path of `file` without any symbolic link in it, whether or not the file, or its folder, exists yet.
 *
 * @throws Error (`ELOOP`, `EACCES`) where links go in a circle or a folder may not be entered.
 */
export function realPathOf(file: string): string {
  const written = resolve(file)
  try {
    return realpathSync(written)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const folder = realPathOf(dirname(written))
  // A link to a file that does not exist yet: SQLite would make the file where the link points.
  return statsAt(written)?.isSymbolicLink()
    ? realPathOf(resolve(folder, readlinkSync(written)))
    : join(folder, basename(written))
}

/** What is at a path, without following a link there; null where nothing is. */
export function statsAt(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Also where a file stands in the way of a folder: whoever opens the path says so in better words. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
