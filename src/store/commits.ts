/**
 * Group commit: many callers share one fsync, and none is answered before it.
 */
import type { Database } from 'better-sqlite3'
import { type Clock, systemClock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { damageIn, diskFaultKindOf, openDiskFaults } from './disk/disk_faults.ts'
import { codeOf, isBusy } from './sqlite_errors.ts'
import { openTraffic } from './traffic.ts'
import { reasonOf, silent, throttled, type Warn } from './warnings.ts'
import { openWork, type WorkItem } from './work.ts'

const BATCH_CLOSURES = 64
/** How long a batch runs work, and by when its batched writes should be done, in ms from its beginning. */
const ORDINARY = { work_ms: 5, write_ms: 5 }
/** A batch of only bulk work, while no caller waits. With its commit, which is not counted, it lasts up to 50 ms. */
const BULK = { work_ms: 25, write_ms: 40 }
const BUSY_GIVE_UP_MS = 5_000
const WARN_EVERY_MS = 1_000

const UNWRITABLE = 'the database cannot be written'
const DAMAGED = 'the database is damaged: stop Windfall and restore a backup with windfall restore'

type QueuedWork = WorkItem & { resolve: (value: never) => void; reject: (reason: unknown) => void }

type Options = {
  /** Called between batches, when no transaction is open. */
  afterBatch: () => void
  /** Reports failures that no caller sees: why the database could not be written, and which effect failed. */
  warn?: Warn | undefined
  /** A monotonic clock that bounds the time of a batch. */
  elapsed?: Clock | undefined
  clock?: Clock | undefined
  /** Returns why writes are refused, or null. Called before each batch. */
  refusal?: () => Refusal | null
  /** Called with SQLite's code after a batch that could not be written, when no transaction is open. */
  onFault?: (code: string) => void
}

/**
 * Runs synchronous closures in shared transactions. A batch takes the closures that wait at the end of a turn of the
 * event loop, at most 64 or 5 ms of work. Each closure has its own savepoint. Bulk work runs after ordinary work; a
 * batch of only bulk work lasts up to 50 ms while no caller waits.
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
  const warnFault = throttled(WARN_EVERY_MS, warn)
  const begin = db.prepare('begin immediate')
  const commitAll = db.prepare('commit')
  const rollback = db.prepare('rollback')
  const pieces = openWork(db, warn)
  const traffic = openTraffic(elapsed)

  const queue: QueuedWork[] = []
  const bulk: QueuedWork[] = []
  const upkeep: QueuedWork[] = []
  const idle: (() => void)[] = []
  let scheduled = false
  let busySince: number | null = null
  /** The SQLite code of the last batch's failure; null if it was written. */
  let fault_code: string | null = null

  /**
   * Runs `work` in the next batch and resolves with its result when it is on disk.
   *
   * @throws what `work` threw, which undoes only this work; Error when `work` returned a promise, because it would go
   * on outside of the transaction; Refusal 503 `store_unavailable` when the disk is full, an I/O error happened or the
   * commit failed, which undoes the whole batch.
   */
  function commit<T>(work: () => T): Promise<T> {
    traffic.noteActivity()
    return enqueue(queue, work)
  }

  /**
   * Like `commit`, for large amounts of work that no request waits for. A batch holds 25 ms of it, plus batched writes
   * and the commit, so add many pieces at the same time. It runs in order, after ordinary work. A request or an
   * ordinary commit shortens the following batches to 5 ms, so a caller waits for at most one batch. Every batch has at
   * least one piece of bulk work, even if ordinary work fills it.
   */
  const commitBulk = <T>(work: () => T): Promise<T> => enqueue(bulk, work)

  /**
   * Like `commitBulk`, but ahead of waiting bulk work: for callers that add one piece at a time and limit their own
   * share of time. Each batch also runs one piece of bulk work, if any waits.
   */
  const commitUpkeep = <T>(work: () => T): Promise<T> => enqueue(upkeep, work)

  function enqueue<T>(line: QueuedWork[], work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      line.push({ work, resolve: resolve as (value: never) => void, reject })
      schedule()
    })
  }

  /** True when no ordinary work is queued, no request is running, and there was neither within the last 100 ms. */
  const isQuiet = (): boolean => queue.length === 0 && traffic.isQuiet()

  /** True when bulk work is queued. */
  const isBulkWaiting = (): boolean => bulk.length > 0

  const isWaiting = (): boolean => queue.length + bulk.length + upkeep.length > 0

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
    pieces.reset()
    const done: QueuedWork[] = []
    const began = elapsed()
    const { work_ms, write_ms } = isQuiet() ? BULK : ORDINARY
    try {
      fill(done, began + work_ms)
      const left_ms = () => Math.max(0, began + write_ms - elapsed())
      pieces.flushBatchedWrites({ left_ms, isBusy: isWaiting() })
      keepFaults()
      commitAll.run()
    } catch (fault) {
      abandon(done, fault)
      return next()
    }
    busySince = null
    fault_code = null
    settle(done)
    next()
  }

  /** Runs waiting work until the time is up, ordinary work first, and at least one piece of each other kind. */
  function fill(done: QueuedWork[], until: number): void {
    const take = (waiting: QueuedWork | undefined): boolean => {
      if (!waiting) return false
      done.push(waiting)
      pieces.run(waiting)
      return elapsed() < until
    }
    while (take(queue.shift())) if (done.length === BATCH_CLOSURES) break
    take(upkeep.shift())
    while (take(bulk.shift()));
  }

  /** Records earlier disk faults together with the work of this batch. */
  function keepFaults(): void {
    if (!faults.isWaiting()) return
    try {
      faults.write()
      pieces.follow(faults.written)
    } catch (error) {
      // If only that table is damaged, everything else can still be written.
      if (damageIn(error) === null || !db.inTransaction) throw error
    }
  }

  function settle(done: readonly QueuedWork[]): void {
    for (const { resolve, reject, value, error } of done) {
      if (error === undefined) resolve(value as never)
      else reject(error)
    }
    pieces.takeEffects()
  }

  function abandon(done: readonly QueuedWork[], fault: unknown): void {
    const code = codeOf(fault)
    fault_code = code
    faults.note(code)
    pieces.reset()
    warnFault(diskFaultKindOf(code) === 'damaged' ? DAMAGED : UNWRITABLE, { reason: reasonOf(fault), code })
    rollBack()
    onFault(code)
    for (const { reject } of done) reject(unavailable(fault))
  }

  function refuseAll(reason: Refusal): void {
    for (const { reject } of takeAll()) reject(reason)
    next()
  }

  function rollBack(): void {
    try {
      if (db.inTransaction) rollback.run()
    } catch (error) {
      // The next batch finds the transaction open and tries again.
      warn('a transaction could not be rolled back', { reason: reasonOf(error) })
    }
  }

  // SQLite's busy timeout would block the event loop, so a timer waits for the lock of another process.
  function beginOrWait(): boolean {
    if (!isWaiting()) return false
    try {
      begin.run()
      return true
    } catch (fault) {
      busySince ??= performance.now()
      if (!isBusy(fault) || performance.now() - busySince > BUSY_GIVE_UP_MS) {
        busySince = null
        abandon(takeAll(), fault)
        next()
        return false
      }
      scheduled = true
      setTimeout(flush, 10)
      return false
    }
  }

  const takeAll = (): QueuedWork[] => [...queue.splice(0), ...upkeep.splice(0), ...bulk.splice(0)]

  function next(): void {
    afterBatch()
    if (isWaiting()) return schedule()
    for (const resolve of idle.splice(0)) resolve()
  }

  /** Resolves once nothing waits to be committed. */
  function drained(): Promise<void> {
    // A scheduled turn may remain although nothing waits; it would not resolve this promise.
    if (!isWaiting()) return Promise.resolve()
    return new Promise((resolve) => idle.push(resolve))
  }

  /** The SQLite code of the last batch's failure; null if it was written. */
  const fault = (): string | null => fault_code

  return {
    commit,
    commitBulk,
    commitUpkeep,
    isQuiet,
    isBulkWaiting,
    beginRequest: traffic.beginRequest,
    afterCommit: pieces.afterCommit,
    batchWrites: pieces.batchWrites,
    inSavepoint: pieces.inSavepoint,
    drained,
    fault,
  }
}

/** The refusal for callers. It does not reveal the cause, which is in the log. */
function unavailable(fault: unknown): Refusal {
  const detail = 'the database cannot be written now; nothing was stored'
  const refusal = new Refusal(503, 'store_unavailable', detail, { headers: { 'retry-after': '30' } })
  refusal.cause = fault
  return refusal
}
