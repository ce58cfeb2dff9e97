/** Reads a key file, and the key id from its name, for `windfall connect`. */
import { basename, join, resolve } from 'node:path'
import { problemOfKey } from '../../apple/api/keys.ts'
import { keyIdInName } from '../../apps/key_file_name.ts'
import { readFile } from '../../config/sources/files.ts'

/** The content of a key file. `guessed_id` is the key id in the file name, as in AuthKey_2X9R4HXF34.p8, or null. */
export type KeyFile = { path: string; pem: string; guessed_id: string | null }

/** Reads the key file at `enteredPath`. Returns the problem as text if the file cannot be one of Apple's keys. */
export function readKeyFile(
  enteredPath: string,
  { cwd, home }: { cwd: string; home: string | undefined },
): KeyFile | string {
  const path = resolve(cwd, unescapedPath(enteredPath, home))
  const read = readFile(path)
  if ('problem' in read) return `${path} ${read.problem}.`
  const problem = problemOfKey(read.text)
  if (problem !== null) return `${path}: ${problem}`
  return { path, pem: read.text, guessed_id: keyIdInName(basename(path)) }
}

/** Removes the quotes or backslashes that a terminal adds to the path of a dragged file, and expands `~/`. */
function unescapedPath(enteredPath: string, home: string | undefined): string {
  const unescaped = enteredPath
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .replaceAll('\\ ', ' ')
  return home !== undefined && unescaped.startsWith('~/') ? join(home, unescaped.slice(2)) : unescaped
}
