/**
 * Checkpoints the write-ahead log after enough was written since the last checkpoint. A checkpoint runs between two
 * batches, never within a commit.
 */
import type { Database } from 'better-sqlite3'
import { reasonOf, silent, throttled, type Warn } from '../warnings.ts'

/** The number of pages in the log, and how many of them are checkpointed; -1 if another process is checkpointing. */
type Frames = { busy: number; log: number; checkpointed: number }

/** About 1,000 pages, SQLite's default. A longer log saves little time and makes the slowest request slower. */
const CHECKPOINT_AFTER_BYTES = 4 * 1024 * 1024

/** A longer log causes a warning. The log restarts long before it has this size, unless a reader prevents that. */
const WARN_ABOVE_BYTES = 64 * 1024 * 1024

const CHECK_EVERY_BATCHES = 16
const WARN_EVERY_MS = 60_000

/**
 * Watches the write-ahead log of `db`. Call `afterBatch` between transactions; it never throws. After a failed
 * checkpoint the data is safe in the log, a warning is logged, and the next checkpoint runs after enough new writes.
 */
export function openCheckpoints(db: Database, warn: Warn = silent) {
  const frameBytes = Number(db.pragma('page_size', { simple: true }))
  // Reads the state without a checkpoint.
  const readFrames = db.prepare<[], Frames>('pragma wal_checkpoint(NOOP)')
  const checkpointPages = db.prepare<[], Frames>('pragma wal_checkpoint(PASSIVE)')
  const warnFault = throttled(WARN_EVERY_MS, warn)
  const warnStuck = throttled(WARN_EVERY_MS, warn)
  let batches = 0
  /** In frames. `log`: the length after the last attempt. `stuck`: the length if that attempt was incomplete, or 0. */
  let last = { log: 0, stuck: 0 }

  function checkpoint(length: number): void {
    try {
      const { log, checkpointed } = checkpointPages.get() ?? { log: 0, checkpointed: 0 }
      last = log < 0 ? { log: length, stuck: length } : { log, stuck: checkpointed < log ? log : 0 }
    } catch (error) {
      last = { log: length, stuck: length }
      warnFault('the write-ahead log could not be checkpointed; nothing is lost', { reason: reasonOf(error) })
    }
  }

  function checkLogSize(): void {
    const { log, checkpointed } = readFrames.get() ?? { log: 0, checkpointed: 0 }
    if (log > last.log && last.log * frameBytes > WARN_ABOVE_BYTES) {
      warnStuck('the write-ahead log cannot restart: a reader keeps the database open', {
        bytes: log * frameBytes,
      })
    }
    // If the log is shorter than before, it has restarted.
    const done = log < last.stuck ? checkpointed : Math.max(checkpointed, last.stuck)
    if ((log - done) * frameBytes >= CHECKPOINT_AFTER_BYTES) checkpoint(log)
  }

  function afterBatch(): void {
    batches += 1
    if (batches % CHECK_EVERY_BATCHES !== 0) return
    try {
      checkLogSize()
    } catch (error) {
      warnFault('the length of the write-ahead log could not be read', { reason: reasonOf(error) })
    }
  }

  /** Checkpoints immediately, even a short log: on a full disk, only a checkpoint makes the log's space reusable. */
  function checkpointNow(): void {
    checkpoint(last.log)
  }

  return { afterBatch, checkpointNow }
}
