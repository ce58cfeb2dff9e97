/** Group commit: many callers share one fsync, and the promise of each caller resolves after the fsync. */
import type { Database } from 'better-sqlite3'
import { type Clock, preciseTime, systemClock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { damageIn, diskFaultKindOf, openDiskFaults } from './disk/disk_faults.ts'
import { openAcknowledged } from './schema/acknowledged.ts'
import { codeOf, isBusy } from './sqlite_errors.ts'
import { openTraffic } from './traffic.ts'
import { reasonOf, silent, throttled, type Warn } from './warnings.ts'
import { openWork, type WorkItem } from './work.ts'

const MAX_BATCH_UNITS = 64
/** From the start of a batch: `work_ms` until no more work begins, `write_ms` until its batched writes should end. */
const ORDINARY = { work_ms: 5, write_ms: 5 }
/** The limits of a batch of only bulk work while no caller waits. With its commit, the batch lasts up to 50 ms. */
const BULK = { work_ms: 25, write_ms: 40 }
/**
 * How long work waits for the write lock of another process. Litestream holds it while it checkpoints the log, which
 * takes seconds on a slow disk. Callers would rather wait than be refused: Apple repeats a refused notification only
 * after an hour.
 */
const BUSY_TIMEOUT_MS = 20_000
const WARN_EVERY_MS = 1_000

const UNWRITABLE = 'the database cannot be written'
const DAMAGED = 'the database is damaged: stop Windfall and restore a backup with windfall restore'

type QueuedWork = WorkItem & { resolve: (value: never) => void; reject: (reason: unknown) => void }

type Options = {
  /** Called between batches, when no transaction is open. */
  afterBatch: () => void
  /** Logs failures that callers do not receive: why the database could not be written, and which effect failed. */
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
 * event loop, at most 64 closures or 5 ms of work. Each closure has its own savepoint. Bulk work runs after ordinary
 * work. A batch of only bulk work lasts up to 50 ms while no caller waits.
 */
export function openCommits(
  db: Database,
  {
    afterBatch,
    warn = silent,
    elapsed = preciseTime,
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
  const units = openWork(db, warn)
  const traffic = openTraffic(elapsed)
  const acknowledged = openAcknowledged(db, clock)

  const ordinaryQueue: QueuedWork[] = []
  const bulkQueue: QueuedWork[] = []
  const upkeepQueue: QueuedWork[] = []
  const drainWaiters: (() => void)[] = []
  let isScheduled = false
  let busy_since: number | null = null
  let last_fault_code: string | null = null

  /**
   * Runs `work` in the next batch and resolves with its result when it is on disk.
   *
   * @throws what `work` threw; only this work is rolled back then. Error when `work` returned a promise, because an
   * asynchronous function would continue outside of the transaction. Refusal 503 `store_unavailable` when the disk is
   * full, an I/O error happened or the commit failed; the whole batch is rolled back then.
   */
  function commit<T>(work: () => T): Promise<T> {
    traffic.noteActivity()
    return enqueue(ordinaryQueue, work)
  }

  /**
   * Like `commit`, for large amounts of work that no request waits for. A batch runs 25 ms of bulk work, plus batched
   * writes and the commit, so enqueue many units at the same time. Bulk work runs in order, after ordinary work. A
   * request or an ordinary commit shortens the following batches to 5 ms, so a caller waits for at most one batch.
   * Every batch runs at least one unit of bulk work, even if ordinary work fills it.
   */
  const commitBulk = <T>(work: () => T): Promise<T> => enqueue(bulkQueue, work)

  /**
   * Like `commitBulk`, but runs before queued bulk work. For callers that enqueue one unit at a time and limit their
   * own percentage of time. Each batch also runs one unit of bulk work, if any is queued.
   */
  const commitUpkeep = <T>(work: () => T): Promise<T> => enqueue(upkeepQueue, work)

  function enqueue<T>(targetQueue: QueuedWork[], work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      targetQueue.push({ work, resolve: resolve as (value: never) => void, reject })
      schedule()
    })
  }

  /** True when no ordinary work is queued, no request is running, and there was neither within the last 100 ms. */
  const isQuiet = (): boolean => ordinaryQueue.length === 0 && traffic.isQuiet()

  /** True when bulk work is queued. */
  const isBulkWaiting = (): boolean => bulkQueue.length > 0

  const isAnyQueued = (): boolean => ordinaryQueue.length + bulkQueue.length + upkeepQueue.length > 0

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    isScheduled = false
    const reason = refusal()
    if (reason !== null) return refuseAll(reason)
    if (!beginOrWait()) return
    units.reset()
    const done: QueuedWork[] = []
    const began_at = elapsed()
    const { work_ms, write_ms } = isQuiet() ? BULK : ORDINARY
    try {
      runQueued(done, began_at + work_ms)
      const left_ms = () => Math.max(0, began_at + write_ms - elapsed())
      units.flushBatchedWrites({ left_ms, isBusy: isAnyQueued() })
      writeFaults(db, faults, units)
      if (traffic.isWriting() && done.some(isStored)) units.addEffect(acknowledged.note())
      commitAll.run()
    } catch (fault) {
      failBatch(done, fault)
      return scheduleNext()
    }
    busy_since = null
    last_fault_code = null
    settleBatch(done)
    scheduleNext()
  }

  /** Runs queued work until `until`, ordinary work first. Runs at least one unit of upkeep and one of bulk work. */
  function runQueued(done: QueuedWork[], until: number): void {
    const runNext = (waiting: QueuedWork | undefined): boolean => {
      if (!waiting) return false
      done.push(waiting)
      units.run(waiting)
      return elapsed() < until
    }
    while (runNext(ordinaryQueue.shift())) if (done.length === MAX_BATCH_UNITS) break
    runNext(upkeepQueue.shift())
    while (runNext(bulkQueue.shift()));
  }

  function settleBatch(done: readonly QueuedWork[]): void {
    for (const { resolve, reject, value, error } of done) {
      if (error === undefined) resolve(value as never)
      else reject(error)
    }
    units.runEffects()
  }

  function failBatch(done: readonly QueuedWork[], fault: unknown): void {
    const code = codeOf(fault)
    last_fault_code = code
    faults.note(code)
    units.reset()
    warnFault(diskFaultKindOf(code) === 'damaged' ? DAMAGED : UNWRITABLE, { reason: reasonOf(fault), code })
    rollBack()
    onFault(code)
    for (const { reject } of done) reject(unavailable(fault))
  }

  function refuseAll(reason: Refusal): void {
    for (const { reject } of dequeueAll()) reject(reason)
    scheduleNext()
  }

  function rollBack(): void {
    try {
      if (db.inTransaction) rollback.run()
    } catch (error) {
      // The next batch finds the transaction open and tries to roll it back again.
      warn('a transaction could not be rolled back', { reason: reasonOf(error) })
    }
  }

  // SQLite's busy timeout would block the event loop, so a timer waits for the lock of another process.
  function beginOrWait(): boolean {
    if (!isAnyQueued()) return false
    try {
      begin.run()
      return true
    } catch (fault) {
      busy_since ??= preciseTime()
      if (!isBusy(fault) || preciseTime() - busy_since > BUSY_TIMEOUT_MS) {
        busy_since = null
        failBatch(dequeueAll(), fault)
        scheduleNext()
        return false
      }
      isScheduled = true
      setTimeout(flush, 10)
      return false
    }
  }

  const dequeueAll = (): QueuedWork[] =>
    [ordinaryQueue, upkeepQueue, bulkQueue].flatMap((queue) => queue.splice(0))

  function scheduleNext(): void {
    afterBatch()
    if (isAnyQueued()) return schedule()
    for (const resolve of drainWaiters.splice(0)) resolve()
  }

  /** Resolves once all queues are empty. */
  function drained(): Promise<void> {
    // Without this check, the promise would never resolve: `flush` returns early while nothing is queued.
    if (!isAnyQueued()) return Promise.resolve()
    return new Promise((resolve) => drainWaiters.push(resolve))
  }

  /** The SQLite code of the fault that prevented the last batch; null if the last batch was written. */
  const lastFaultCode = (): string | null => last_fault_code

  return {
    commit,
    commitBulk,
    commitUpkeep,
    isQuiet,
    isBulkWaiting,
    beginRequest: traffic.beginRequest,
    afterCommit: units.afterCommit,
    batchWrites: units.batchWrites,
    inSavepoint: units.inSavepoint,
    drained,
    lastFaultCode,
  }
}

const isStored = ({ error }: QueuedWork): boolean => error === undefined

type Faults = ReturnType<typeof openDiskFaults>
type Units = ReturnType<typeof openWork>

/** Records earlier disk faults together with the work of this batch. */
function writeFaults(db: Database, faults: Faults, units: Units): void {
  if (!faults.isWaiting()) return
  try {
    faults.write()
    units.addEffect(faults.written)
  } catch (error) {
    // If only the table disk_faults is damaged, the other tables can still be written.
    if (damageIn(error) === null || !db.inTransaction) throw error
  }
}

/** The refusal that callers receive. Its text does not reveal the cause, which is in the log. */
function unavailable(fault: unknown): Refusal {
  const detail = 'the database cannot be written now; nothing was stored'
  const refusal = new Refusal(503, 'store_unavailable', detail, { headers: { 'retry-after': '30' } })
  refusal.cause = fault
  return refusal
}
