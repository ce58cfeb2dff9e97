/**
 * The first bytes of a database file (https://sqlite.org/fileformat2.html#the_database_header), read before SQLite opens
 * it. Closing a file drops the locks that this process has on it, so never call this while a connection is open.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { Refusal } from '../../errors.ts'

const HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'
/** Read and write version 2: the file expects a write-ahead log. */
const WAL = 2

type Header = { isSqlite: boolean; isWal: boolean; version: number }

/** The header of `file`; null where there is no file, or an empty one. */
export function readHeader(file: string): Header | null {
  const bytes = Buffer.alloc(HEADER_BYTES)
  if (sizeOf(file) === 0) return null
  const handle = openSync(file, 'r')
  try {
    readSync(handle, bytes, 0, HEADER_BYTES, 0)
  } finally {
    closeSync(handle)
  }
  return {
    isSqlite: bytes.toString('latin1', 0, 16) === MAGIC,
    isWal: bytes[18] === WAL && bytes[19] === WAL,
    version: bytes.readUInt32BE(60),
  }
}

/** 0 where there is no file. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/**
 * SQLite replays any write-ahead log that it finds beside a file, also into another database of the same name.
 *
 * @throws Refusal 409 `foreign_log` when the log beside `file` belongs to another database.
 */
export function assertOwnLog(file: string): void {
  if (sizeOf(`${file}-wal`) === 0) return
  const header = readHeader(file)
  if (header?.isWal) return
  const what = header === null ? 'is missing or empty' : 'is a copy that was made without it'
  throw new Refusal(
    409,
    'foreign_log',
    `${file}-wal is the log of another database: ${file} ${what}. ` +
      'Starting would damage the database or lose what the log holds. ' +
      `To put a backup in place: windfall restore BACKUP. To keep the old data, put the database file back beside its log.`,
  )
}
