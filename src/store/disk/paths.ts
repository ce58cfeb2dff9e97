/** Resolves symbolic links, so that two paths to one file are equal. */
import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * The absolute path of `file` with all symbolic links resolved. The file and its folder need not exist.
 *
 * @throws Error `ELOOP` when links form a cycle, `EACCES` when a folder is not accessible.
 */
export function realPathOf(file: string): string {
  const absolute = resolve(file)
  try {
    return realpathSync(absolute)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const folder = realPathOf(dirname(absolute))
  // A link to a missing file: SQLite would create the file at the target.
  return statsAt(absolute)?.isSymbolicLink()
    ? realPathOf(resolve(folder, readlinkSync(absolute)))
    : join(folder, basename(absolute))
}

/** The stats of a path, without following a symbolic link; null if nothing exists there. */
export function statsAt(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/**
 * The text of a file; null if it does not exist.
 *
 * @throws Error if the file cannot be read.
 */
export function textAt(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Whether the path does not exist. ENOTDIR counts, too: a later open of the path gives a better error message. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
