/**
 * What we remember: the worker that brings due lineages up to date, in slices between which others get their turn. A slice
 * is one unit of work: rows, sums, customers, cohorts and marks change together.
 */
import type { Clock } from '../../clock.ts'
import { openHook } from '../../hooks.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import { openBackOff } from './back_off.ts'
import type { CountedSums } from './counting.ts'
import type { Recount } from './recount.ts'
import type { Scheduler } from './scheduler.ts'

/** How long a slice lasts, in milliseconds: while a caller may wait, and while nobody does. */
const SLICE_MS = 5
const QUIET_SLICE_MS = 25
/** Of a slice while nobody waits: the rest is for writing what was counted. */
const QUIET_COUNTING_MS = 15
/** While others keep the server busy the worker has a quarter of the time: a third of theirs. */
const PART = 3
const LEAST_MS = 1
/** How often the clock is looked at for what is due by time alone. */
const LOOK_EVERY_MS = 1_000

type Deps = {
  store: Store
  log: Pick<Log, 'warn'>
  scheduler: Scheduler
  recount: Pick<Recount, 'openSums'>
  /** A clock that never jumps. */
  elapsed?: Clock
}

export type Worker = ReturnType<typeof openWorker>

export function openWorker({ store, log, scheduler, recount, elapsed = () => performance.now() }: Deps) {
  const back_off = openBackOff()
  const sliced = openHook<[]>()
  const emptied = openHook<[]>()
  let running: Promise<void> | null = null
  let looking: NodeJS.Timeout | undefined
  /** When the last slice ended; its commit is time of the others. */
  let ended_at = 0
  /** Something may have become due since the last slice began, at the end of the same batch for instance. */
  let isKicked = false
  let isHeld = false

  /** How long the next slice may last. */
  function budget(): number {
    const most = store.isQuiet() ? QUIET_SLICE_MS : SLICE_MS
    if (store.isQuiet() && !store.isBulkWaiting()) return QUIET_COUNTING_MS
    return Math.min(most, Math.max(LEAST_MS, (elapsed() - ended_at) / PART))
  }

  /** Brings up to date what comes first, for so long. Whether there was anything to do. Inside a unit of work. */
  function slice(ms: number): boolean {
    const until = elapsed() + ms
    const sums: CountedSums = recount.openSums()
    let isBusy: boolean
    // At least one step, so that there is progress where any takes longer than a slice.
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

  /** One slice. Null where the store refused it: then the worker has waited a while. */
  async function attempt(): Promise<boolean | null> {
    try {
      const isMore = await store.commitUpkeep(() => slice(budget()))
      back_off.reset()
      return isMore
    } catch (error) {
      if (!back_off.isFailing())
        log.warn('the metrics cannot be brought up to date; this is tried again', { error })
      const waiting = back_off.wait()
      sliced.call()
      await waiting
      return null
    }
  }

  /** Begins to work where there may be something to do. */
  function kick(): void {
    isKicked = true
    if (back_off.isClosed() || isHeld) return
    running ??= run().finally(() => {
      running = null
      // Asked for when nothing was left to do, before it was noticed that this has ended.
      if (isKicked) kick()
    })
  }

  /** Works until nothing is due. */
  async function idle(): Promise<void> {
    kick()
    await running
  }

  /**
   * Lets everything that becomes due wait until the returned function is called: for a history that is played at once,
   * of which only the end is asked for.
   */
  function hold(): () => void {
    isHeld = true
    return () => {
      isHeld = false
      kick()
    }
  }

  /** Looks at the clock each second, until the worker is closed. */
  function watch(): void {
    looking ??= setInterval(() => {
      if (scheduler.isWaiting()) kick()
    }, LOOK_EVERY_MS).unref()
  }

  /** Stops after the present slice. What is due stays due. */
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
    /** Calls the listener when nothing is left to do. */
    onIdle: emptied.add,
    close,
    isHeld: (): boolean => isHeld,
    isRefused: back_off.isFailing,
  }
}
