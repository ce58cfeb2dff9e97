/**
 * Checkpoints the write-ahead log between two batches, when enough was written since the last checkpoint, and never
 * within a commit.
 */
import type { Database } from 'better-sqlite3'
import { reasonOf, silent, throttled, type Warn } from '../warnings.ts'

/** The number of pages in the log, and how many of them are checkpointed. */
type Frames = { busy: number; log: number; checkpointed: number }

/** About 1,000 pages, SQLite's default. Longer logs save little and make the slowest request slower. */
const BEGIN_AT_BYTES = 4 * 1024 * 1024

/** The log restarts long before this size, unless a reader blocks it. */
const TOO_LONG_BYTES = 64 * 1024 * 1024

const LOOK_EVERY_BATCHES = 16
const WARN_EVERY_MS = 60_000

/**
 * Watches the write-ahead log of `db`. Call `afterBatch` between transactions; it never throws. After a failed
 * checkpoint the data is safe in the log, a warning is logged, and it is tried again when enough has been written.
 */
export function openCheckpoints(db: Database, warn: Warn = silent) {
  const frameBytes = Number(db.pragma('page_size', { simple: true }))
  // Reads the state without a checkpoint.
  const readFrames = db.prepare<[], Frames>('pragma wal_checkpoint(NOOP)')
  const move = db.prepare<[], Frames>('pragma wal_checkpoint(PASSIVE)')
  const warnFault = throttled(WARN_EVERY_MS, warn)
  const warnStuck = throttled(WARN_EVERY_MS, warn)
  let batches = 0
  /** The length of the log after the last attempt, and the length at which that failed or was blocked. */
  let last = { log: 0, stuck: 0 }

  function checkpoint(length: number): void {
    try {
      const { log, checkpointed } = move.get() ?? { log: 0, checkpointed: 0 }
      last = { log, stuck: checkpointed < log ? log : 0 }
    } catch (error) {
      last = { log: length, stuck: length }
      warnFault('the write-ahead log could not be checkpointed; nothing is lost', { reason: reasonOf(error) })
    }
  }

  function checkLogSize(): void {
    const { log, checkpointed } = readFrames.get() ?? { log: 0, checkpointed: 0 }
    if (log > last.log && last.log * frameBytes > TOO_LONG_BYTES) {
      warnStuck('the write-ahead log cannot restart: a reader keeps the database open', {
        bytes: log * frameBytes,
      })
    }
    // A shorter log has restarted.
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

  /** Checkpoints immediately, however short the log is: on a full disk only the log can shrink. */
  function now(): void {
    checkpoint(last.log)
  }

  return { afterBatch, now }
}
