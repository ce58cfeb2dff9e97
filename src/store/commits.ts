/**
 * What we remember: group commit. Many callers share one fsync, and none is answered before it.
 */
import type { Database } from 'better-sqlite3'
import { type Clock, systemClock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { damageIn, diskFaultKindOf, openDiskFaults } from './disk_faults.ts'
import { codeOf, isBusy, isStorageFault } from './sqlite_errors.ts'
import { atMostEvery, reasonOf, silent, type Warn } from './warnings.ts'

const BATCH_CLOSURES = 64
const BATCH_MS = 5
const BUSY_GIVE_UP_MS = 5_000
const WARN_EVERY_MS = 1_000

const UNWRITABLE = 'the database cannot be written'
const DAMAGED = 'the database is damaged: stop Windfall and restore a backup with windfall restore'

type Waiting = {
  work: () => unknown
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}
type Outcome = { waiting: Waiting; value?: unknown; error?: unknown }
/** What is to be written at the end of a batch, and by whom. */
type Gathered = { write: (items: readonly never[]) => void; item: unknown }

type Options = {
  /** Called between batches, when no transaction is open. */
  afterBatch: () => void
  /** Takes what the callers do not see: why the database could not be written, and which effect failed. */
  warn?: Warn | undefined
  /** Bounds the time of a batch; never jumps. */
  elapsed?: Clock | undefined
  clock?: Clock | undefined
  /** Why nothing may be written now; asked before each batch. */
  refusal?: () => Refusal | null
  /** Called with SQLite's code after a batch that could not be written, when no transaction is open. */
  onFault?: (code: string) => void
}

/**
 * Runs synchronous closures in shared transactions: what gathered by the end of this turn of the event loop,
 * at most 64 closures or 5 ms of work, the rest in the next. Each closure has a savepoint of its own.
 *
 */
export function openCommits(
  db: Database,
  {
    afterBatch,
    warn = silent,
    elapsed = () => performance.now(),
    clock = systemClock,
    refusal = () => null,
    onFault = () => {},
  }: Options,
) {
  const faults = openDiskFaults(db, clock)
  const tellFault = atMostEvery(WARN_EVERY_MS, warn)
  const begin = db.prepare('begin immediate')
  const save = db.prepare('savepoint work')
  const release = db.prepare('release work')
  const undo = db.prepare('rollback to work')
  const commitAll = db.prepare('commit')
  const rollback = db.prepare('rollback')

  const queue: Waiting[] = []
  const idle: (() => void)[] = []
  let scheduled = false
  let effects: (() => void)[] = []
  let gathered: Gathered[] = []
  let busySince: number | null = null
  /** SQLite's code of why the last batch could not be written; null when it could. */
  let fault_code: string | null = null
  let working = false

  /**
   * Hands `work` to the next shared transaction and resolves with what it returned once that is on disk.
   *
   * @throws whatever `work` threw, alone undone; Error when `work` gave a promise, undone likewise, because what it does
   * later would be outside of the transaction; Refusal 503 `store_unavailable` when the disk is full, an I/O
   * error happened or the commit itself failed: then nothing of the batch was kept.
   */
  function commit<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve: resolve as (value: never) => void, reject })
      schedule()
    })
  }

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
   * nothing is. Until then nobody reads it.
   */
  function gathering<Item>(write: (items: readonly Item[]) => void): (item: Item) => void {
    return (item) => {
      if (!working) throw new Error('something was gathered outside of the work given to commit')
      gathered.push({ write, item })
    }
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    scheduled = false
    const reason = refusal()
    if (reason !== null) return refuseAll(reason)
    if (!beginOrWait()) return
    effects = []
    gathered = []
    const outcomes: Outcome[] = []
    const started = elapsed()
    try {
      while (outcomes.length < BATCH_CLOSURES && elapsed() - started < BATCH_MS) {
        const waiting = queue.shift()
        if (!waiting) break
        const outcome: Outcome = { waiting }
        outcomes.push(outcome)
        runInSavepoint(outcome)
      }
      perform(writeGathered)
      keepFaults()
      commitAll.run()
    } catch (fault) {
      abandon(outcomes, fault)
      return next()
    }
    busySince = null
    fault_code = null
    settle(outcomes)
    next()
  }

  /** Writes down what the disk failed with before, beside the work of this batch. */
  function keepFaults(): void {
    if (!faults.isWaiting()) return
    try {
      faults.write()
      effects.push(faults.written)
    } catch (error) {
      // Where only that table is damaged, everything else can be written.
      if (damageIn(error) === null || !db.inTransaction) throw error
    }
  }

  function writeGathered(): void {
    const together = Map.groupBy(gathered.splice(0), ({ write }) => write)
    for (const [write, items] of together) write(items.map(({ item }) => item as never))
  }

  function runInSavepoint(outcome: Outcome): void {
    const kept = { effects: effects.length, gathered: gathered.length }
    save.run()
    try {
      outcome.value = perform(outcome.waiting.work)
      release.run()
    } catch (error) {
      if (isStorageFault(error) || !db.inTransaction) throw error
      undo.run()
      release.run()
      effects.length = kept.effects
      gathered.length = kept.gathered
      outcome.error = error ?? new Error('work threw nothing')
    }
  }

  function perform(work: () => unknown): unknown {
    working = true
    try {
      return demandFinished(work())
    } finally {
      working = false
    }
  }

  function settle(outcomes: Outcome[]): void {
    for (const { waiting, value, error } of outcomes) {
      if (error === undefined) waiting.resolve(value as never)
      else waiting.reject(error)
    }
    for (const effect of effects.splice(0)) take(effect)
  }

  function take(effect: () => void): void {
    try {
      effect()
    } catch (error) {
      warn('something that was to follow a commit failed; what was committed stands', { error })
    }
  }

  function abandon(outcomes: Outcome[], fault: unknown): void {
    const code = codeOf(fault)
    fault_code = code
    faults.note(code)
    effects = []
    tellFault(diskFaultKindOf(code) === 'damaged' ? DAMAGED : UNWRITABLE, { reason: reasonOf(fault), code })
    rollBack()
    onFault(code)
    for (const { waiting } of outcomes) waiting.reject(unavailable(fault))
  }

  function refuseAll(reason: Refusal): void {
    for (const { reject } of queue.splice(0)) reject(reason)
    next()
  }

  function rollBack(): void {
    try {
      if (db.inTransaction) rollback.run()
    } catch (error) {
      // Whatever comes next finds the transaction still open, and tries this again.
      warn('a transaction could not be rolled back', { reason: reasonOf(error) })
    }
  }

  // A busy timeout would freeze the event loop, so the wait for another process's lock is ours.
  function beginOrWait(): boolean {
    if (queue.length === 0) return false
    try {
      begin.run()
      return true
    } catch (fault) {
      busySince ??= performance.now()
      if (!isBusy(fault) || performance.now() - busySince > BUSY_GIVE_UP_MS) {
        busySince = null
        abandon(
          queue.splice(0).map((waiting) => ({ waiting })),
          fault,
        )
        next()
        return false
      }
      scheduled = true
      setTimeout(flush, 10)
      return false
    }
  }

  function next(): void {
    afterBatch()
    if (queue.length > 0) return schedule()
    for (const resolve of idle.splice(0)) resolve()
  }

  /** Resolves once nothing waits to be committed. */
  function drained(): Promise<void> {
    // A turn may still be planned for what was asked for inside of work; that is done, and the turn tells nobody.
    if (queue.length === 0) return Promise.resolve()
    return new Promise((resolve) => idle.push(resolve))
  }

  /** SQLite's code of why the last batch could not be written; null when it was. */
  const fault = (): string | null => fault_code

  return { commit, afterCommit, gathering, drained, fault }
}

/** Says nothing of the cause, which is for whoever runs this and not for whoever asks. */
function unavailable(fault: unknown): Refusal {
  const detail = 'the database cannot be written now; nothing of this was kept'
  const refusal = new Refusal(503, 'store_unavailable', detail, { headers: { 'retry-after': '30' } })
  refusal.cause = fault
  return refusal
}

/** What `work` gave, unless it goes on after it has returned. */
function demandFinished(value: unknown): unknown {
  if (!isThenable(value)) return value
  // How it ends is nobody's to handle any more.
  Promise.resolve(value).catch(() => {})
  throw new Error('the work given to commit must be synchronous; it returned a promise, and was undone')
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
