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
/** How much of each page `newFrames` reads: the header of the database, if it is the first page. */
export const PAGE_BEGINNING_BYTES = 100

export type LogFile = ReturnType<typeof openLogFile>

/** Opens the log of the database `db` in `file`. SQLite has no locks on the log itself, so closing it releases none. */
export function openLogFile(db: Database, file: string) {
  const path = `${file}-wal`

  /** The salts of the log, which change at each restart; empty if the log is empty. */
  function salts(): string {
    if (!existsSync(path)) return ''
    const handle = openSync(path, 'r')
    try {
      return saltsOf(handle)
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
  const { frame_bytes, startOf } = framesOf(handle)
  const salts = saltsOf(handle)
  let [isNew, isOld] = [-1, Math.ceil((size - HEADER_BYTES) / frame_bytes)]
  while (isOld - isNew > 1) {
    const frame = Math.floor((isNew + isOld) / 2)
    if (saltsIn(handle, startOf(frame) + FRAME_SALTS_AT) === salts) isNew = frame
    else isOld = frame
  }
  return startOf(isOld)
}

/** The length of each frame, and where they begin. */
function framesOf(handle: number) {
  const frame_bytes = FRAME_HEADER_BYTES + readAt(handle, PAGE_SIZE_AT, 4).readUInt32BE()
  return { frame_bytes, startOf: (frame: number): number => HEADER_BYTES + frame * frame_bytes }
}

/** The salts of an open log; empty if the log is empty. */
export const saltsOf = (handle: number): string =>
  fstatSync(handle).size < HEADER_BYTES ? '' : saltsIn(handle, SALTS_AT)

/** The frames that were written since the last restart: the number of the page, and how its content begins. */
export function* newFrames(handle: number): Generator<{ page: number; beginning: Buffer }> {
  const { size } = fstatSync(handle)
  if (size < HEADER_BYTES) return
  const { frame_bytes, startOf } = framesOf(handle)
  const salts = saltsOf(handle)
  for (let frame = 0; startOf(frame) + frame_bytes <= size; frame += 1) {
    const bytes = readAt(handle, startOf(frame), FRAME_HEADER_BYTES + PAGE_BEGINNING_BYTES)
    if (bytes.toString('hex', FRAME_SALTS_AT, FRAME_SALTS_AT + SALTS_BYTES) !== salts) return
    yield { page: bytes.readUInt32BE(), beginning: bytes.subarray(FRAME_HEADER_BYTES) }
  }
}

const saltsIn = (handle: number, at: number): string => readAt(handle, at, SALTS_BYTES).toString('hex')

export function readAt(handle: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  readSync(handle, bytes, 0, length, at)
  return bytes
}
