/** Compares the pages of two database files. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'

const CHUNK_BYTES = 1_048_576

/**
 * The ranges of header bytes that may differ between a database and its copy: the journal mode, the change counter, the
 * schema cookie, and the version-valid-for number with the SQLite version
 * (https://sqlite.org/fileformat2.html#the_database_header).
 */
const IGNORED_HEADER_RANGES: readonly [from: number, to: number][] = [
  [18, 20],
  [24, 28],
  [40, 44],
  [92, 100],
]

/**
 * Whether a database and a copy that SQLite's backup created contain the same pages. Neither file may be open, because
 * closing a file releases all locks of this process on it. Neither may have a write-ahead log.
 */
export function isSameDatabase(database: string, copy: string): boolean {
  const { size } = statSync(database)
  if (statSync(copy).size !== size) return false
  const files = [openSync(database, 'r'), openSync(copy, 'r')]
  try {
    for (let at = 0; at < size; at += CHUNK_BYTES) {
      const [a, b] = files.map((handle) => chunkOf(handle, at))
      if (a === undefined || b === undefined || !a.equals(b)) return false
    }
    return true
  } finally {
    for (const handle of files) closeSync(handle)
  }
}

function chunkOf(handle: number, at: number): Buffer {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const length = readSync(handle, chunk, 0, CHUNK_BYTES, at)
  if (at === 0) for (const [from, to] of IGNORED_HEADER_RANGES) chunk.fill(0, from, to)
  return chunk.subarray(0, length)
}
