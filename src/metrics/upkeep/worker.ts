/**
 * The worker that recomputes due lineages in slices and yields between them. A slice is one unit of work: rows, sums,
 * customers, cohorts and marks change together.
 */
import { type Clock, preciseTime } from '../../clock.ts'
import { openHook } from '../../hooks.ts'
import type { Stoppages, Watch } from '../../stoppages.ts'
import type { Store } from '../../store/store.ts'
import { openBackOff } from './back_off.ts'
import type { CountedSums } from './counting.ts'
import type { Recount } from './recount.ts'
import type { Scheduler } from './scheduler.ts'

/** The longest slice in milliseconds while requests wait, and the longest slice while none wait. */
const MAX_SLICE_MS = 5
const MAX_QUIET_SLICE_MS = 25
/** The part of a quiet slice in which lineages are recomputed. The remaining milliseconds are for writing. */
const QUIET_COUNTING_MS = 15
/** While the server is busy, a slice lasts a third of the time that other work took since the previous slice. */
const BUSY_TIME_DIVISOR = 3
const MIN_SLICE_MS = 1
/** How often to check for lineages that became due by time alone. */
const CLOCK_CHECK_MS = 1_000
const WATCHED = {
  part: 'metrics',
  name: 'counting',
  title: 'Figures are not brought up to date',
  message: 'the metrics cannot be brought up to date; Windfall will retry',
} as const

type Deps = {
  store: Store
  stoppages: Pick<Stoppages, 'watch'>
  scheduler: Scheduler
  recount: Pick<Recount, 'openSums'>
  /** A monotonic clock. */
  elapsed?: Clock
}

export type Worker = ReturnType<typeof openWorker>

export function openWorker({ store, stoppages, scheduler, recount, elapsed = preciseTime }: Deps) {
  const backOff = openBackOff()
  const counting = stoppages.watch(WATCHED)
  const isWorkDue = openDueCheck(scheduler, counting)
  const sliceEnded = openHook<[]>()
  const becameIdle = openHook<[]>()
  let running: Promise<void> | null = null
  let clockTimer: NodeJS.Timeout | undefined
  /** When the last slice ended. The commit of that slice counts as other work. */
  let ended_at = 0
  /** Whether `kick` was called since the last slice began, for instance at the end of the same batch. */
  let isKicked = false
  let isHeld = false

  /** The time limit of the next slice. */
  function sliceTime(): number {
    const max_ms = store.isQuiet() ? MAX_QUIET_SLICE_MS : MAX_SLICE_MS
    if (store.isQuiet() && !store.isBulkWaiting()) return QUIET_COUNTING_MS
    return Math.min(max_ms, Math.max(MIN_SLICE_MS, (elapsed() - ended_at) / BUSY_TIME_DIVISOR))
  }

  /** Recomputes due lineages for up to `ms`. Returns false if nothing was due. Runs inside a unit of work. */
  function recountSlice(ms: number): boolean {
    const until = elapsed() + ms
    const sums: CountedSums = recount.openSums()
    let hasWorked: boolean
    // Runs at least one step, so that work advances even if a step takes longer than a slice.
    do hasWorked = scheduler.step(sums, () => elapsed() >= until)
    while (hasWorked && elapsed() < until)
    sums.write()
    ended_at = elapsed()
    return hasWorked
  }

  async function run(): Promise<void> {
    while (!backOff.isClosed() && !isHeld) {
      isKicked = false
      const hasWorked = await attempt()
      sliceEnded.call()
      if (hasWorked !== false || isKicked) continue
      becameIdle.call()
      return
    }
  }

  /** Runs one slice. If the store refuses the slice, waits for the back-off and returns null. */
  async function attempt(): Promise<boolean | null> {
    try {
      const hasWorked = await store.commitUpkeep(() => recountSlice(sliceTime()))
      backOff.reset()
      counting.worked()
      return hasWorked
    } catch (error) {
      counting.failed(error)
      const retryTime = backOff.wait()
      sliceEnded.call()
      await retryTime
      return null
    }
  }

  /** Starts the worker if there may be work. */
  function kick(): void {
    isKicked = true
    if (backOff.isClosed() || isHeld) return
    running ??= run().finally(() => {
      running = null
      // A kick may arrive after the last check for work and before this function ends.
      if (isKicked) kick()
    })
  }

  /** Runs slices until nothing is due. */
  async function idle(): Promise<void> {
    kick()
    await running
  }

  /**
   * Pauses the worker until the returned function is called. The demo calls it while it replays a history, because
   * only the final state of the history matters.
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
    clockTimer ??= setInterval(() => isWorkDue() && kick(), CLOCK_CHECK_MS).unref()
  }

  /** Stops after the current slice. Marked lineages stay due. */
  async function close(): Promise<void> {
    clearInterval(clockTimer)
    backOff.close()
    await running
  }

  return {
    kick,
    idle,
    hold,
    watch,
    /** Calls the listener after each slice, including a slice that the store refused. */
    onSlice: sliceEnded.add,
    /** Calls the listener when nothing is due. */
    onIdle: becameIdle.add,
    close,
    isHeld: (): boolean => isHeld,
    isRefused: backOff.isFailing,
  }
}

/** Returns whether lineages are due by time alone. A timer calls it, and an error there would end the process. */
const openDueCheck =
  ({ isWaiting }: Pick<Scheduler, 'isWaiting'>, counting: Watch) =>
  (): boolean => {
    try {
      return isWaiting()
    } catch (error) {
      counting.failed(error)
      return false
    }
  }
