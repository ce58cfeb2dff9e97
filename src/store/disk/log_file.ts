/**
 * The file of the write-ahead log (https://sqlite.org/fileformat2.html#walformat). When the log restarts, SQLite writes
 * from the beginning of the file, under new salts, and leaves the older frames behind the new ones.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import type { Database } from 'better-sqlite3'

/** The maximum size of the file after a restart, in bytes. */
export const MAX_RESTARTED_BYTES = 67_108_864

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_SIZE_AT = 8
const SALTS_AT = 16
const FRAME_SALTS_AT = 8
const SALTS_BYTES = 8

export type LogFile = ReturnType<typeof openLogFile>

/** Opens the log of the database `db` in `file`. SQLite has no locks on the log itself, so closing it releases none. */
export function openLogFile(db: Database, file: string) {
  const path = `${file}-wal`

  /** The salts of the log, which change at each restart; empty if the log is empty. */
  function salts(): string {
    if (bytes() < HEADER_BYTES) return ''
    const handle = openSync(path, 'r')
    try {
      return saltsIn(handle, SALTS_AT)
    } finally {
      closeSync(handle)
    }
  }

  /**
   * Checkpoints the log and truncates the file to zero bytes. Returns false if another connection prevents it, which
   * Litestream always does. Call it between transactions.
   */
  const empty = (): boolean => db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0

  /**
   * Cuts off the frames that were written before the last restart, as SQLite does when a connection with a
   * `journal_size_limit` restarts the log. Their pages are in the database file, and no reader uses them. Call it inside
   * a transaction that writes, so that no other connection appends or restarts.
   */
  function trim(): void {
    if (!existsSync(path)) return
    const handle = openSync(path, 'r+')
    try {
      const end = endOfNewFrames(handle)
      if (end >= fstatSync(handle).size) return
      ftruncateSync(handle, end)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  }

  /** Like `trim`, if the file is larger than it has to be after a restart. */
  function trimLarge(): void {
    if (bytes() > MAX_RESTARTED_BYTES) trim()
  }

  /** The size of the file; 0 if it does not exist. */
  const bytes = (): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

  return { salts, empty, trim, trimLarge }
}

/** The offset of the first frame whose salts are not those of the header. Such frames are all at the end. */
function endOfNewFrames(handle: number): number {
  const { size } = fstatSync(handle)
  if (size < HEADER_BYTES) return size
  const frame_bytes = FRAME_HEADER_BYTES + readAt(handle, PAGE_SIZE_AT, 4).readUInt32BE()
  const salts = saltsIn(handle, SALTS_AT)
  const startOf = (frame: number): number => HEADER_BYTES + frame * frame_bytes
  let [isNew, isOld] = [-1, Math.ceil((size - HEADER_BYTES) / frame_bytes)]
  while (isOld - isNew > 1) {
    const frame = Math.floor((isNew + isOld) / 2)
    if (saltsIn(handle, startOf(frame) + FRAME_SALTS_AT) === salts) isNew = frame
    else isOld = frame
  }
  return startOf(isOld)
}

const saltsIn = (handle: number, at: number): string => readAt(handle, at, SALTS_BYTES).toString('hex')

function readAt(handle: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  readSync(handle, bytes, 0, length, at)
  return bytes
}
