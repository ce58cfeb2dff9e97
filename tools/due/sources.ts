/** The files that the tests of an SDK depend on, as one hash. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

function git(folder: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 })
  return status === 0 ? stdout : null
}

/** What Git lists with `-z`, which leaves names as they are. */
const listIn = (text: string): string[] => text.split('\0').filter((one) => one !== '')
const hashOf = (lines: readonly string[]): string =>
  createHash('sha256')
    .update([...lines].sort().join('\n'))
    .digest('hex')

/** The id that Git gives a file. */
function blobOf(path: string): string {
  const bytes = readFileSync(path)
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

/** The hash of the files below `paths` as they are in `folder`. @throws Error outside a Git repository. */
export function hashOfCheckout(folder: string, paths: readonly string[]): string {
  const listed = git(
    folder,
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '--deduplicate',
    '--',
    ...paths,
  )
  if (listed === null) throw new Error(`${folder} is not a Git repository`)
  const deleted = new Set(listIn(git(folder, 'ls-files', '-z', '--deleted', '--', ...paths) ?? ''))
  const names = listIn(listed).filter((name) => !deleted.has(name))
  return hashOf(names.map((name) => `${name} ${blobOf(join(folder, name))}`))
}

/** The commit where HEAD left the main branch; `isHead` on that branch itself. Null if it is not known. */
function baseOf(folder: string): { commit: string; isHead: boolean } | null {
  const main = ['origin/main', 'main'].find(
    (name) => git(folder, 'rev-parse', '-q', '--verify', name) !== null,
  )
  if (main === undefined) return null
  const commit = git(folder, 'merge-base', 'HEAD', main)?.trim()
  if (commit === undefined) return null
  return { commit, isHead: commit === git(folder, 'rev-parse', 'HEAD')?.trim() }
}

/** The hash of the files below `paths` where HEAD left the main branch. Null on that branch itself, or if it is not known. */
export function hashOfBase(folder: string, paths: readonly string[]): string | null {
  const base = baseOf(folder)
  return base === null || base.isHead ? null : hashOfCommit(folder, base.commit, paths)
}

/**
 * The hash of the files below `paths` before this change: where it left the main branch, or the commit before, on that branch. Null if
 * that is not known.
 */
export function hashOfLanded(folder: string, paths: readonly string[]): string | null {
  const base = baseOf(folder)
  return base === null ? null : hashOfCommit(folder, base.isHead ? 'HEAD^' : base.commit, paths)
}

function hashOfCommit(folder: string, commit: string, paths: readonly string[]): string | null {
  const tree = git(folder, 'ls-tree', '-r', '-z', commit, '--', ...paths)
  if (tree === null) return null
  return hashOf(listIn(tree).map((line) => line.replace(/^\d+ blob ([0-9a-f]+)\t(.*)$/s, '$2 $1')))
}
