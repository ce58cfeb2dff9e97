/** Compares the pages of two database files. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'

const CHUNK_BYTES = 1_048_576

/**
 * The bytes of the header that differ in a copy: the journal mode, the change counter, the schema cookie, and the
 * version-valid-for number with the SQLite version (https://sqlite.org/fileformat2.html#the_database_header).
 */
const OWN_BYTES: readonly [from: number, to: number][] = [
  [18, 20],
  [24, 28],
  [40, 44],
  [92, 100],
]

/**
 * True when a copy made by SQLite's backup still equals the database. Neither may be open or have a write-ahead log:
 * closing a file drops this process's locks on it.
 */
export function isSameDatabase(one: string, other: string): boolean {
  const { size } = statSync(one)
  if (statSync(other).size !== size) return false
  const files = [openSync(one, 'r'), openSync(other, 'r')]
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
  if (at === 0) for (const [from, to] of OWN_BYTES) chunk.fill(0, from, to)
  return chunk.subarray(0, length)
}
