/** What we remember: the pieces of work of one open transaction: a savepoint for each, its effects, and what it gathers. */
import type { Database } from 'better-sqlite3'
import { isStorageFault } from './sqlite_errors.ts'
import { silent, type Warn } from './warnings.ts'

/** A piece of work, and what came of it once it ran. `error` is set where it threw. */
export type WorkItem = { work: () => unknown; value?: unknown; error?: unknown }

/** The batch that is about to be committed, as a function given to `gathering` sees it. */
export type Batch = {
  /**
   * Milliseconds in which what was gathered should be written, before the commit: of an ordinary batch what its work left
   * of 5, of a batch of bulk work alone, while no caller waits, what it left of 40, usually 15. Never below 0.
   */
  left_ms(): number
  /** More work, of either kind, waits for the next batch. */
  isBusy: boolean
}

type Write = (items: readonly never[], batch: Batch) => void
/** What is to be written at the end of a batch, and by which function. */
type BatchedWrite = { write: Write; item: unknown }

/** Runs pieces of work inside the transaction that its caller opened on `db`, and keeps what follows from them. */
export function openWork(db: Database, warn: Warn = silent) {
  const save = db.prepare('savepoint work')
  const release = db.prepare('release work')
  const undo = db.prepare('rollback to work')
  let effects: (() => void)[] = []
  let batchedWrites: BatchedWrite[] = []
  let working = false

  /**
   * Called from inside `work`: `effect` runs after the commit, or never when the work is undone.
   *
   * @throws Error anywhere else.
   */
  function afterCommit(effect: () => void): void {
    if (!working) throw new Error('afterCommit was called outside of the work given to commit')
    effects.push(effect)
  }

  /**
   * Gives a function for use inside of `work`: what it is handed is given to `write` before the commit, together with
   * all else of the batch, so that what many pieces of work add to one row is written once. Of work that is undone
   * nothing is. Until then nobody reads it. `write` sees how much time its batch has left, and whether more work waits.
   */
  function batchWrites<Item>(write: (items: readonly Item[], batch: Batch) => void): (item: Item) => void {
    return (item) => {
      if (!working) throw new Error('something was gathered outside of the work given to commit')
      batchedWrites.push({ write, item })
    }
  }

  /** Forgets what an abandoned batch left. */
  function reset(): void {
    effects = []
    batchedWrites = []
  }

  /**
   * Runs one piece in a savepoint of its own. What it throws is its `error`, and undoes it alone.
   *
   * @throws what the storage threw, after which the transaction is of no use.
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
   * Called from inside `work`: runs a part of it in a savepoint of its own. Returns what the part threw, which undoes that
   * part alone; null where it went well.
   *
   * @throws what the storage threw; Error outside of the work given to commit.
   */
  function inSavepoint(work: () => void): unknown {
    if (!working) throw new Error('apart was called outside of the work given to commit')
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

  /** Writes what was gathered, each kind once. */
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

  /** `effect` runs after the commit. */
  const follow = (effect: () => void): void => void effects.push(effect)

  /** Runs what is to follow the commit; what fails of it is told, and keeps nothing else from running. */
  function takeEffects(): void {
    for (const effect of effects.splice(0)) take(effect)
  }

  function take(effect: () => void): void {
    try {
      effect()
    } catch (error) {
      warn('something that was to follow a commit failed; what was committed stands', { error })
    }
  }

  return { afterCommit, batchWrites, inSavepoint, reset, run, flushBatchedWrites, follow, takeEffects }
}

/** What `work` gave, unless it goes on after it has returned. */
function assertSynchronous(value: unknown): unknown {
  if (!isThenable(value)) return value
  // How it ends is nobody's to handle any more.
  Promise.resolve(value).catch(() => {})
  throw new Error('the work given to commit must be synchronous; it returned a promise, and was undone')
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
