/**
 * What we remember: group commit. Many callers share one fsync, and none is answered before it.
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
/** How long a batch takes work in, and until when what is gathered should be written, in ms from its beginning. */
const ORDINARY = { work_ms: 5, write_ms: 5 }
/** A batch of bulk work alone, while no caller waits. With its commit, which is in neither, it lasts up to 50 ms. */
const BULK = { work_ms: 25, write_ms: 40 }
const BUSY_GIVE_UP_MS = 5_000
const WARN_EVERY_MS = 1_000

const UNWRITABLE = 'the database cannot be written'
const DAMAGED = 'the database is damaged: stop Windfall and restore a backup with windfall restore'

type QueuedWork = WorkItem & { resolve: (value: never) => void; reject: (reason: unknown) => void }

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
 * at most 64 closures or 5 ms of work, the rest in the next. Each closure has a savepoint of its own. Bulk work comes
 * after ordinary work; batches of it alone last up to 50 ms while no caller waits.
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
  /** SQLite's code of why the last batch could not be written; null when it could. */
  let fault_code: string | null = null

  /**
   * Hands `work` to the next shared transaction and resolves with what it returned once that is on disk.
   *
   * @throws whatever `work` threw, alone undone; Error when `work` gave a promise, undone likewise, because what it does
   * later would be outside of the transaction; Refusal 503 `store_unavailable` when the disk is full, an I/O
   * error happened or the commit itself failed: then nothing of the batch was kept.
   */
  function commit<T>(work: () => T): Promise<T> {
    traffic.noteActivity()
    return enqueue(queue, work)
  }

  /**
   * As `commit`, for work that no request waits for and that comes in quantity: one transaction holds 25 ms of it, besides
   * what is gathered and the commit. A caller hands in much at once to profit from it. It runs in the order it came.
   * Ordinary work goes before it, and a request or an ordinary commit shortens the batches that follow to 5 ms: so a
   * caller waits for one batch at most. While ordinary work keeps every batch full, each has one piece of bulk work besides.
   */
  const commitBulk = <T>(work: () => T): Promise<T> => enqueue(bulk, work)

  /**
   * As `commitBulk`, before the bulk work that waits: for one piece at a time, which keeps to its part of the time by
   * itself. Each batch has one piece of bulk work besides, where any waits.
   */
  const commitUpkeep = <T>(work: () => T): Promise<T> => enqueue(upkeep, work)

  function enqueue<T>(line: QueuedWork[], work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      line.push({ work, resolve: resolve as (value: never) => void, reject })
      schedule()
    })
  }

  /** True when no ordinary work is queued, no request is under way, and there was neither within the last 100 ms. */
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

  /** Runs what waits until the time is over, and puts it into `done`: ordinary work first, and some of the rest always. */
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

  /** Writes down what the disk failed with before, beside the work of this batch. */
  function keepFaults(): void {
    if (!faults.isWaiting()) return
    try {
      faults.write()
      pieces.follow(faults.written)
    } catch (error) {
      // Where only that table is damaged, everything else can be written.
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
      // Whatever comes next finds the transaction still open, and tries this again.
      warn('a transaction could not be rolled back', { reason: reasonOf(error) })
    }
  }

  // A busy timeout would freeze the event loop, so the wait for another process's lock is ours.
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
    // A turn may still be planned for what was asked for inside of work; that is done, and the turn tells nobody.
    if (!isWaiting()) return Promise.resolve()
    return new Promise((resolve) => idle.push(resolve))
  }

  /** SQLite's code of why the last batch could not be written; null when it was. */
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

/** Says nothing of the cause, which is for whoever runs this and not for whoever asks. */
function unavailable(fault: unknown): Refusal {
  const detail = 'the database cannot be written now; nothing of this was kept'
  const refusal = new Refusal(503, 'store_unavailable', detail, { headers: { 'retry-after': '30' } })
  refusal.cause = fault
  return refusal
}
