/** Reads a key file, and the key id from its name, for `windfall connect`. */
import { basename, join, resolve } from 'node:path'
import { problemOfKey } from '../../apple/api/keys.ts'
import { readFile } from '../../config/sources/files.ts'

/** A key file that was read; `guessed_id` is the id in its name, as in AuthKey_2X9R4HXF34.p8. */
export type KeyFile = { path: string; pem: string; guessed_id: string | null }

/** Reads the key file at `written`. Returns a text if it cannot be one of Apple's keys. */
export function readKeyFile(
  written: string,
  { cwd, home }: { cwd: string; home: string | undefined },
): KeyFile | string {
  const path = resolve(cwd, pathFrom(written, home))
  const read = readFile(path)
  if ('problem' in read) return `${path} ${read.problem}.`
  const problem = problemOfKey(read.text)
  if (problem !== null) return `${path}: ${problem}`
  const [, guessed_id = null] = /_([A-Z0-9]{8,20})(?: ?\(\d+\))?\.p8$/.exec(basename(path)) ?? []
  return { path, pem: read.text, guessed_id }
}

/** A file dragged into a terminal is quoted, or has a backslash before each space. */
function pathFrom(written: string, home: string | undefined): string {
  const bare = written
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .replaceAll('\\ ', ' ')
  return home !== undefined && bare.startsWith('~/') ? join(home, bare.slice(2)) : bare
}
