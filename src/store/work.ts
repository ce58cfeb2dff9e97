/** Runs the units of work of one open transaction: savepoints, effects after the commit, and batched writes. */
import type { Database } from 'better-sqlite3'
import { isStorageFault } from './sqlite_errors.ts'
import { silent, type Warn } from './warnings.ts'

/** A unit of work and its result. `error` is set if it threw. */
export type WorkItem = { work: () => unknown; value?: unknown; error?: unknown }

/** The batch that is about to be committed, as a function given to `batchWrites` sees it. */
export type Batch = {
  /**
   * The milliseconds left for batched writes before the commit, never below 0. An ordinary batch has 5 ms for work and
   * writes; a batch of only bulk work, while no caller waits, has 40 ms, of which usually 15 are left.
   */
  left_ms(): number
  /** Whether more work waits for the next batch. */
  isBusy: boolean
}

type Write = (items: readonly never[], batch: Batch) => void
/** An item to write at the end of a batch, and the function that writes it. */
type BatchedWrite = { write: Write; item: unknown }

/** Runs units of work inside a transaction that the caller opened on `db`. */
export function openWork(db: Database, warn: Warn = silent) {
  const save = db.prepare('savepoint work')
  const release = db.prepare('release work')
  const undo = db.prepare('rollback to work')
  let effects: (() => void)[] = []
  let batchedWrites: BatchedWrite[] = []
  let working = false

  /**
   * Runs `effect` after the commit, or never if the work is undone. Call it inside a unit of work.
   *
   * @throws Error outside of a unit of work.
   */
  function afterCommit(effect: () => void): void {
    if (!working) throw new Error('afterCommit was called outside of the work given to commit')
    effects.push(effect)
  }

  /**
   * Returns a function that collects items inside units of work. `write` gets all items of a batch before the commit,
   * so that what many units of work add to one row is written once. Items of undone work are dropped. Items cannot be
   * read before they are written. `write` also gets the time left in the batch, and whether more work waits.
   */
  function batchWrites<Item>(write: (items: readonly Item[], batch: Batch) => void): (item: Item) => void {
    return (item) => {
      if (!working) throw new Error('a batched write was called outside of the work given to commit')
      batchedWrites.push({ write, item })
    }
  }

  /** Drops the effects and items of an abandoned batch. */
  function reset(): void {
    effects = []
    batchedWrites = []
  }

  /**
   * Runs one unit of work in a savepoint. If it throws, `error` is set and only this unit is undone.
   *
   * @throws storage errors, after which the transaction cannot continue.
   */
  function run(item: WorkItem): void {
    const kept = { effects: effects.length, batchedWrites: batchedWrites.length }
    save.run()
    try {
      item.value = perform(item.work)
      release.run()
    } catch (error) {
      if (isStorageFault(error) || !db.inTransaction) throw error
      undo.run()
      release.run()
      effects.length = kept.effects
      batchedWrites.length = kept.batchedWrites
      item.error = error ?? new Error('work threw nothing')
    }
  }

  /**
   * Runs a part of a unit of work in a nested savepoint. Returns what the part threw, which undoes only that part, or
   * null if it succeeded.
   *
   * @throws storage errors; Error outside of a unit of work.
   */
  function inSavepoint(work: () => void): unknown {
    if (!working) throw new Error('inSavepoint was called outside of the work given to commit')
    const item: WorkItem = { work }
    run(item)
    return item.error ?? null
  }

  function perform(work: () => unknown): unknown {
    const outer = working
    working = true
    try {
      return assertSynchronous(work())
    } finally {
      working = outer
    }
  }

  /** Calls each `write` function once with its items. */
  function flushBatchedWrites(batch: Batch): void {
    const grouped = Map.groupBy(batchedWrites.splice(0), ({ write }) => write)
    perform(() => {
      for (const [write, items] of grouped)
        write(
          items.map(({ item }) => item as never),
          batch,
        )
    })
  }

  /** Runs `effect` after the commit. */
  const follow = (effect: () => void): void => void effects.push(effect)

  /** Runs the effects after the commit. A failed effect is logged and does not stop the others. */
  function takeEffects(): void {
    for (const effect of effects.splice(0)) take(effect)
  }

  function take(effect: () => void): void {
    try {
      effect()
    } catch (error) {
      warn('an effect after a commit failed; the commit itself is stored', { error })
    }
  }

  return { afterCommit, batchWrites, inSavepoint, reset, run, flushBatchedWrites, follow, takeEffects }
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
