/** Runs units of work in an open transaction, with savepoints, effects after the commit, and batched writes. */
import type { Database } from 'better-sqlite3'
import { isStorageFault } from './sqlite_errors.ts'
import { silent, type Warn } from './warnings.ts'

/** A unit of work. `run` sets `value` to its result, or `error` if the work threw. */
export type WorkItem = { work: () => unknown; value?: unknown; error?: unknown }

/** The batch that is about to be committed, as a function given to `batchWrites` sees it. */
export type Batch = {
  /**
   * The milliseconds left for batched writes before the commit, never below 0. An ordinary batch has 5 ms for work and
   * writes; a batch of only bulk work, while no caller waits, has 40 ms, of which usually 15 are left.
   */
  left_ms(): number
  /** Whether more work is queued for the next batch. */
  isBusy: boolean
}

type Write = (items: readonly never[], batch: Batch) => void
/** An item to write at the end of a batch, and the function that writes it. */
type BatchedWrite = { write: Write; item: unknown }

/** Runs units of work inside a transaction that the caller opened on `db`. */
export function openWork(db: Database, warn: Warn = silent) {
  const createSavepoint = db.prepare('savepoint work')
  const releaseSavepoint = db.prepare('release work')
  const rollBackToSavepoint = db.prepare('rollback to work')
  let effects: (() => void)[] = []
  let batchedWrites: BatchedWrite[] = []
  let isRunning = false

  /**
   * Runs `effect` after the commit. Does not run it if the work is rolled back. Call it inside a unit of work.
   *
   * @throws Error outside of a unit of work.
   */
  function afterCommit(effect: () => void): void {
    if (!isRunning) throw new Error('afterCommit was called outside of the work given to commit')
    effects.push(effect)
  }

  /**
   * Returns a function that collects items inside units of work. Before the commit, `write` receives all items of the
   * batch, so that a row to which many units of work add is written once. Items of work that was rolled back are
   * dropped. Items cannot be read before they are written. `write` also receives the state of the batch.
   */
  function batchWrites<Item>(write: (items: readonly Item[], batch: Batch) => void): (item: Item) => void {
    return (item) => {
      if (!isRunning) throw new Error('a batched write was called outside of the work given to commit')
      batchedWrites.push({ write, item })
    }
  }

  /** Drops the effects and items of an abandoned batch. */
  function reset(): void {
    effects = []
    batchedWrites = []
  }

  /**
   * Runs one unit of work in a savepoint. If the work throws, `error` is set and only this unit is rolled back.
   *
   * @throws storage errors; the transaction cannot continue after one.
   */
  function run(item: WorkItem): void {
    const before = { effects: effects.length, batchedWrites: batchedWrites.length }
    createSavepoint.run()
    try {
      item.value = runSynchronous(item.work)
      releaseSavepoint.run()
    } catch (error) {
      if (isStorageFault(error) || !db.inTransaction) throw error
      rollBackToSavepoint.run()
      releaseSavepoint.run()
      effects.length = before.effects
      batchedWrites.length = before.batchedWrites
      item.error = error ?? new Error('work threw nothing')
    }
  }

  /**
   * Runs a part of a unit of work in a nested savepoint. If the part throws, only the part is rolled back, and its
   * error is returned. Returns null if the part succeeded.
   *
   * @throws storage errors; Error outside of a unit of work.
   */
  function inSavepoint(work: () => void): unknown {
    if (!isRunning) throw new Error('inSavepoint was called outside of the work given to commit')
    const item: WorkItem = { work }
    run(item)
    return item.error ?? null
  }

  function runSynchronous(work: () => unknown): unknown {
    const wasRunning = isRunning
    isRunning = true
    try {
      return assertSynchronous(work())
    } finally {
      isRunning = wasRunning
    }
  }

  /** Calls each `write` function once with its items. */
  function flushBatchedWrites(batch: Batch): void {
    const grouped = Map.groupBy(batchedWrites.splice(0), ({ write }) => write)
    runSynchronous(() => {
      for (const [write, items] of grouped)
        write(
          items.map(({ item }) => item as never),
          batch,
        )
    })
  }

  /** Runs `effect` after the commit. Unlike `afterCommit`, it can be called outside of a unit of work. */
  const addEffect = (effect: () => void): void => void effects.push(effect)

  /** Runs the effects after the commit. A failed effect is logged and does not stop the others. */
  function runEffects(): void {
    for (const effect of effects.splice(0)) runEffect(effect)
  }

  function runEffect(effect: () => void): void {
    try {
      effect()
    } catch (error) {
      warn('an effect after a commit failed; the commit itself is stored', { error })
    }
  }

  return { afterCommit, batchWrites, inSavepoint, reset, run, flushBatchedWrites, addEffect, runEffects }
}

/** Returns `value`. @throws Error if it is a promise. */
function assertSynchronous(value: unknown): unknown {
  if (!isThenable(value)) return value
  // Prevents an unhandled rejection.
  Promise.resolve(value).catch(() => {})
  throw new Error('the work given to commit must be synchronous; it returned a promise, and was undone')
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
