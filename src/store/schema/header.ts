/**
 * Reads the header of a database file (https://sqlite.org/fileformat2.html#the_database_header) before SQLite opens it.
 * Closing a file releases all locks of this process on it, so never call these functions while a connection is open.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { Refusal } from '../../errors.ts'
import { isReplacedBesideLog } from '../disk/log_base.ts'

const HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'
/** The value of the read version and the write version in the header of a file that uses a write-ahead log. */
const WAL = 2

type Header = { isSqlite: boolean; isWal: boolean; version: number }

/** The header of `file`; null if the file is missing or empty. */
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

/** The size of a file; 0 if it is missing. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/**
 * Checks that the write-ahead log next to `file` belongs to it. SQLite replays any log with the right name, even if
 * another database wrote it.
 *
 * @throws Refusal 409 `foreign_log` when the log next to `file` belongs to another database.
 */
export function assertOwnLog(file: string): void {
  if (sizeOf(`${file}-wal`) === 0) return
  const header = readHeader(file)
  if (header?.isWal && !isReplacedBesideLog(file)) return
  const what = header === null ? 'is missing or empty' : 'is a copy that was made without it'
  throw new Refusal(
    409,
    'foreign_log',
    `${file}-wal is the log of another database: ${file} ${what}. ` +
      'Starting would damage the database or lose the data in the log. ' +
      `To restore a backup, run windfall restore BACKUP. To keep the old data, put the database file back next to its log.`,
  )
}
