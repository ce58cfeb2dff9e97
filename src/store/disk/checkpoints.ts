/**
 * What we remember: how long the write-ahead log is. It is moved into the database between two batches, when so much
 * was written since the last time that it is worth it, and never within anybody's commit.
 */
import type { Database } from 'better-sqlite3'
import { reasonOf, silent, throttled, type Warn } from '../warnings.ts'

/** Pages in the log, and how many of them are in the database already. */
type Frames = { busy: number; log: number; checkpointed: number }

/** Four megabytes: 1,000 pages, as SQLite itself has it. Longer logs save little and make the slowest request slower. */
const BEGIN_AT_BYTES = 4 * 1024 * 1024

/** The log starts again long before, unless somebody reads what is in it. */
const TOO_LONG_BYTES = 64 * 1024 * 1024

const LOOK_EVERY_BATCHES = 16
const WARN_EVERY_MS = 60_000

/**
 * Watches the write-ahead log of `db`. `afterBatch` is to be called between transactions and never throws: what fails
 * here is safe in the log, is told, and is tried again when as much has been written as makes it worth it.
 */
export function openCheckpoints(db: Database, warn: Warn = silent) {
  const frameBytes = Number(db.pragma('page_size', { simple: true }))
  // Looks without doing anything.
  const readFrames = db.prepare<[], Frames>('pragma wal_checkpoint(NOOP)')
  const move = db.prepare<[], Frames>('pragma wal_checkpoint(PASSIVE)')
  const warnFault = throttled(WARN_EVERY_MS, warn)
  const warnStuck = throttled(WARN_EVERY_MS, warn)
  let batches = 0
  /** How long the log was after the last attempt, and up to where that failed or was held up. */
  let last = { log: 0, stuck: 0 }

  function checkpoint(length: number): void {
    try {
      const { log, checkpointed } = move.get() ?? { log: 0, checkpointed: 0 }
      last = { log, stuck: checkpointed < log ? log : 0 }
    } catch (error) {
      last = { log: length, stuck: length }
      warnFault('the write-ahead log could not be moved into the database; nothing is lost', {
        reason: reasonOf(error),
      })
    }
  }

  function checkLogSize(): void {
    const { log, checkpointed } = readFrames.get() ?? { log: 0, checkpointed: 0 }
    if (log > last.log && last.log * frameBytes > TOO_LONG_BYTES) {
      warnStuck('the write-ahead log cannot start again: somebody keeps reading the database', {
        bytes: log * frameBytes,
      })
    }
    // Shorter than it was: it has started again.
    const done = log < last.stuck ? checkpointed : Math.max(checkpointed, last.stuck)
    if ((log - done) * frameBytes >= BEGIN_AT_BYTES) checkpoint(log)
  }

  function afterBatch(): void {
    batches += 1
    if (batches % LOOK_EVERY_BATCHES !== 0) return
    try {
      checkLogSize()
    } catch (error) {
      warnFault('the length of the write-ahead log could not be read', { reason: reasonOf(error) })
    }
  }

  /** Tries at once, however short the log is: on a full disk it is the only part that can shrink. */
  function now(): void {
    checkpoint(last.log)
  }

  return { afterBatch, now }
}
