/**
 * Recognizes a database file that was replaced beside its write-ahead log. SQLite replays a log into any file with the
 * right name, also into an older copy: the copy would then have the newest data again, or a mixture of both.
 *
 * The file `windfall.db.base` has the salts of the log, and the header that the database file had when the log began.
 * Until the log restarts, the file has this header, or one that a checkpoint copied from the log. This holds at each
 * moment, also after a crash and beside other programs that write. So a file with a third header is another one.
 */
import { closeSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { codeOf } from '../sqlite_errors.ts'
import { newFrames, PAGE_BEGINNING_BYTES, readAt, saltsOf } from './log_file.ts'
import { textAt } from './paths.ts'

/** A longer log that has just begun is not searched, which would take too long between two batches. */
const MAX_FRAMES = 2_000

const LINE = /^([0-9a-f]{16}) ([0-9a-f]{200})\n$/

const pathOf = (file: string): string => `${file}.base`

/**
 * Whether `file` is another one than that which the log beside it continues. False if that is not known. Closes the
 * file, so no connection may be open.
 */
export function isReplacedBesideLog(file: string): boolean {
  const [, salts, header] = LINE.exec(textAt(pathOf(file)) ?? '') ?? []
  if (salts === undefined) return false
  return reading(`${file}-wal`, (log) => {
    if (saltsOf(log) !== salts) return false
    const found = reading(file, headerIn)
    return found !== header && !headersInLog(log).includes(found)
  })
}

/** Opens the notes of what the log of `file` continues. Call it right after a connection was opened. */
export function openLogBase(file: string) {
  // The paths can name other files later.
  const [database, log] = [openSync(file, 'r'), openSync(`${file}-wal`, 'r')]
  let noted = ''

  /**
   * Notes a log that has begun since the last call. Call it between transactions. A failure is not an error: a later
   * start then cannot recognize another file.
   */
  function note(): void {
    try {
      const salts = saltsOf(log)
      if (salts === noted || salts === '') return
      noted = salts
      const header = headerIn(database)
      const inLog = headersInLog(log, MAX_FRAMES)
      // Another program checkpoints already, and a power failure could bring the header before back.
      if (inLog === null || inLog.includes(header)) return
      writeFileSync(`${pathOf(file)}.partial`, `${salts} ${header}\n`, { mode: 0o600 })
      renameSync(`${pathOf(file)}.partial`, pathOf(file))
    } catch {
      rmSync(`${pathOf(file)}.partial`, { force: true })
    }
  }

  /** Call it after the connection was closed: closing the database file releases all locks of this process on it. */
  function close(): void {
    for (const handle of [database, log]) closeSync(handle)
    if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0)
      rmSync(pathOf(file), { force: true })
  }

  return { note, close }
}

/**
 * Changes the header of the database file, so that it is no longer that of a copy which was made while nothing served.
 * Call it before the log begins. A start does not need it: the disk may be full, and another program may write.
 */
export function renewHeader(db: Database): void {
  try {
    // SQLite counts each change of the first page in the header, also one to the same value.
    db.pragma(`user_version = ${Number(db.pragma('user_version', { simple: true }))}`)
    db.pragma('wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (codeOf(error) === '') throw error
  }
}

const headerIn = (database: number): string => readAt(database, 0, PAGE_BEGINNING_BYTES).toString('hex')

/** The headers of the database in a log, each at the beginning of page 1; null if there are more than `most` frames. */
function headersInLog(log: number): string[]
function headersInLog(log: number, most: number): string[] | null
function headersInLog(log: number, most = Number.POSITIVE_INFINITY): string[] | null {
  const headers: string[] = []
  let count = 0
  for (const { page, beginning } of newFrames(log)) {
    count += 1
    if (count > most) return null
    if (page === 1) headers.push(beginning.toString('hex'))
  }
  return headers
}

function reading<Result>(path: string, read: (handle: number) => Result): Result {
  const handle = openSync(path, 'r')
  try {
    return read(handle)
  } finally {
    closeSync(handle)
  }
}
