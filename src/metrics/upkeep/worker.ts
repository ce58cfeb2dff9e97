/**
 * The worker that recomputes due lineages in slices and yields between them. A slice is one unit of work: rows, sums,
 * customers, cohorts and marks change together.
 */
import type { Clock } from '../../clock.ts'
import { openHook } from '../../hooks.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import { openBackOff } from './back_off.ts'
import type { CountedSums } from './counting.ts'
import type { Recount } from './recount.ts'
import type { Scheduler } from './scheduler.ts'

/** The length of a slice in milliseconds, with and without waiting callers. */
const SLICE_MS = 5
const QUIET_SLICE_MS = 25
/** The time for counting in a slice without waiting callers; the rest is for writing. */
const QUIET_COUNTING_MS = 15
/** While the server is busy, the worker gets a third of the time that other work takes. */
const PART = 3
const LEAST_MS = 1
/** How often to check what is due by time alone. */
const LOOK_EVERY_MS = 1_000

type Deps = {
  store: Store
  log: Pick<Log, 'warn'>
  scheduler: Scheduler
  recount: Pick<Recount, 'openSums'>
  /** A monotonic clock. */
  elapsed?: Clock
}

export type Worker = ReturnType<typeof openWorker>

export function openWorker({ store, log, scheduler, recount, elapsed = () => performance.now() }: Deps) {
  const back_off = openBackOff()
  const sliced = openHook<[]>()
  const emptied = openHook<[]>()
  let running: Promise<void> | null = null
  let looking: NodeJS.Timeout | undefined
  /** When the last slice ended. Its commit counts as time of other work. */
  let ended_at = 0
  /** Work may have become due since the last slice began, for instance at the end of the same batch. */
  let isKicked = false
  let isHeld = false

  /** The time limit of the next slice. */
  function budget(): number {
    const most = store.isQuiet() ? QUIET_SLICE_MS : SLICE_MS
    if (store.isQuiet() && !store.isBulkWaiting()) return QUIET_COUNTING_MS
    return Math.min(most, Math.max(LEAST_MS, (elapsed() - ended_at) / PART))
  }

  /** Recomputes what is due for up to `ms`. Returns whether there was anything to do. Runs inside a unit of work. */
  function slice(ms: number): boolean {
    const until = elapsed() + ms
    const sums: CountedSums = recount.openSums()
    let isBusy: boolean
    // At least one step, for progress where a step takes longer than a slice.
    do isBusy = scheduler.step(sums, () => elapsed() >= until)
    while (isBusy && elapsed() < until)
    sums.write()
    ended_at = elapsed()
    return isBusy
  }

  async function run(): Promise<void> {
    while (!back_off.isClosed() && !isHeld) {
      isKicked = false
      const isMore = await attempt()
      sliced.call()
      if (isMore !== false || isKicked) continue
      emptied.call()
      return
    }
  }

  /** Runs one slice. null where the store refused it, after a back-off. */
  async function attempt(): Promise<boolean | null> {
    try {
      const isMore = await store.commitUpkeep(() => slice(budget()))
      back_off.reset()
      return isMore
    } catch (error) {
      if (!back_off.isFailing())
        log.warn('the metrics cannot be brought up to date; Windfall will retry', { error })
      const waiting = back_off.wait()
      sliced.call()
      await waiting
      return null
    }
  }

  /** Starts the worker if there may be work. */
  function kick(): void {
    isKicked = true
    if (back_off.isClosed() || isHeld) return
    running ??= run().finally(() => {
      running = null
      // A kick may arrive after the last check for work and before this function ends.
      if (isKicked) kick()
    })
  }

  /** Works until nothing is due. */
  async function idle(): Promise<void> {
    kick()
    await running
  }

  /**
   * Leaves everything due until the returned function is called: for a replayed history, of which only the final state
   * matters.
   */
  function hold(): () => void {
    isHeld = true
    return () => {
      isHeld = false
      kick()
    }
  }

  /** Checks the clock each second until `close`. */
  function watch(): void {
    looking ??= setInterval(() => {
      if (scheduler.isWaiting()) kick()
    }, LOOK_EVERY_MS).unref()
  }

  /** Stops after the current slice. Marks stay due. */
  async function close(): Promise<void> {
    clearInterval(looking)
    back_off.close()
    await running
  }

  return {
    kick,
    idle,
    hold,
    watch,
    /** Calls the listener after each slice, and when the store refused one. */
    onSlice: sliced.add,
    /** Calls the listener when nothing is due. */
    onIdle: emptied.add,
    close,
    isHeld: (): boolean => isHeld,
    isRefused: back_off.isFailing,
  }
}
