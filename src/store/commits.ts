/**
 * What we remember: group commit. Many callers share one fsync, and none is answered before it.
 */
import type { Database } from 'better-sqlite3'
import { Refusal } from '../errors.ts'

const BATCH_CLOSURES = 64
const BATCH_MS = 5
const BUSY_GIVE_UP_MS = 5_000

type Waiting = {
  work: () => unknown
  resolve: (value: never) => void
  reject: (reason: unknown) => void
}
type Outcome = { waiting: Waiting; value?: unknown; error?: unknown }

/**
 * Runs synchronous closures in shared transactions: what gathered by the end of this turn of the event loop,
 * at most 64 closures or 5 ms of work, the rest in the next. Each closure has a savepoint of its own.
 *
 * `afterBatch` is called between batches, when no transaction is open.
 */
export function openCommits(db: Database, afterBatch: () => void) {
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
  let busySince: number | null = null
  let failing = false

  /**
   * Hands `work` to the next shared transaction and resolves with what it returned once that is on disk.
   *
   * @throws whatever `work` threw, alone undone; Refusal 503 `store_unavailable` when the disk is full, an I/O
   * error happened or the commit itself failed: then nothing of the batch was kept.
   */
  function commit<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve: resolve as (value: never) => void, reject })
      schedule()
    })
  }

  /** Called from inside `work`: `effect` runs after the commit, or never when the work is undone. */
  function afterCommit(effect: () => void): void {
    effects.push(effect)
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    scheduled = false
    if (!beginOrWait()) return
    effects = []
    const outcomes: Outcome[] = []
    const started = performance.now()
    try {
      while (outcomes.length < BATCH_CLOSURES && performance.now() - started < BATCH_MS) {
        const waiting = queue.shift()
        if (!waiting) break
        const outcome: Outcome = { waiting }
        outcomes.push(outcome)
        runInSavepoint(outcome)
      }
      commitAll.run()
    } catch (fault) {
      abandon(outcomes, fault)
      return next()
    }
    busySince = null
    failing = false
    settle(outcomes)
    next()
  }

  function runInSavepoint(outcome: Outcome): void {
    const kept = effects.length
    save.run()
    try {
      outcome.value = outcome.waiting.work()
      release.run()
    } catch (error) {
      if (isStorageFault(error) || !db.inTransaction) throw error
      undo.run()
      release.run()
      effects.length = kept
      outcome.error = error ?? new Error('work threw nothing')
    }
  }

  function settle(outcomes: Outcome[]): void {
    for (const { waiting, value, error } of outcomes) {
      if (error === undefined) waiting.resolve(value as never)
      else waiting.reject(error)
    }
    for (const effect of effects.splice(0)) effect()
  }

  function abandon(outcomes: Outcome[], fault: unknown): void {
    if (db.inTransaction) rollback.run()
    failing = true
    effects = []
    const refusal = unavailable(fault)
    for (const { waiting } of outcomes) waiting.reject(refusal)
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
    if (queue.length === 0 && !scheduled) return Promise.resolve()
    return new Promise((resolve) => idle.push(resolve))
  }

  /** True while the last batch could not be written. */
  const isFailing = (): boolean => failing

  return { commit, afterCommit, drained, isFailing }
}

function unavailable(fault: unknown): Refusal {
  const refusal = new Refusal(503, 'store_unavailable', `the database cannot be written: ${message(fault)}`, {
    headers: { 'retry-after': '30' },
  })
  refusal.cause = fault
  return refusal
}

const codeOf = (fault: unknown): string =>
  fault instanceof Error && 'code' in fault && typeof fault.code === 'string' ? fault.code : ''

const message = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault))

const isBusy = (fault: unknown): boolean => codeOf(fault).startsWith('SQLITE_BUSY')

/** The file, not the caller, is at fault: nothing more can be written to this transaction. */
function isStorageFault(fault: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|NOMEM|BUSY|LOCKED|PROTOCOL)/.test(
    codeOf(fault),
  )
}
