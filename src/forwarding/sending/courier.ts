/** Wakes forwarding when something may be due, and starts and stops it. */
import { setTimeout as pass } from 'node:timers/promises'
import { Cron } from 'croner'
import type { Stoppages, Watch } from '../../stoppages.ts'
import type { Store } from '../../store/store.ts'
import { type Background, openBackground } from './background.ts'
import { Stopping } from './in_flight.ts'
import { LATEST_NEXT_MS } from './schedule.ts'
import { openServing, type ServingDeps } from './serving.ts'

/** How often the clock wakes the courier. Whether anything is due is decided by the stored times. */
const TICK_SCHEDULE = '* * * * * *'
/** How long a stop waits for the answers to running requests, in milliseconds. */
const STOP_MS = 3_000

const WHOLE = { part: 'forwarding', title: 'Webhooks are not sent', isWhole: true } as const
const LOOKING = { ...WHOLE, name: 'due', message: 'forwarding could not look for due deliveries' } as const
const CHOOSING = { ...WHOLE, name: 'choosing', message: 'forwarding could not choose what to send' } as const

type Deps = ServingDeps & {
  store: Store
  stoppages: Pick<Stoppages, 'watch'>
  /** Removes the bodies that were made before the start and never tried. */
  forgetUntried: () => Promise<void>
  /** Records the events of what was given up. Never rejects. */
  announce: () => Promise<void>
  isHeld: () => boolean
}

/** Opens the courier. It sends nothing before `start`. */
export function openCourier(deps: Deps) {
  const { inFlight, troubles } = deps
  const watch = deps.stoppages.watch(LOOKING)
  const background = openBackground({
    onProgress: (endpoint_id) => {
      troubles.clear(endpoint_id)
      wake()
    },
    onError: (endpoint_id, error) => (state === 'closed' ? undefined : troubles.note(endpoint_id, error)),
  })
  const serveAll = safely(openServing(deps, background), deps.stoppages.watch(CHOOSING))
  const look = openLooking(deps, watch)
  let state: 'waiting' | 'starting' | 'started' | 'closed' = 'waiting'
  let isScheduled = false
  let timer: Cron | null = null
  let starting = Promise.resolve()
  for (const listen of [inFlight.onSlotFreed, deps.throttle.onRoom]) listen(wake)

  /** Looks for work in the next turn of the event loop. */
  function wake(): void {
    if (isScheduled || state !== 'started') return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (state === 'started' && !deps.isHeld()) serveAll()
    })
  }

  const failed = (error: unknown): void => watch.failed(error)
  /** Called every second. */
  const tick = (): Promise<void> => look().then(wake, failed)

  /** Starts sending. */
  function start(): void {
    if (state !== 'waiting') return
    state = 'starting'
    timer = new Cron(TICK_SCHEDULE, { unref: true }, tick)
    starting = deps
      .forgetUntried()
      .catch(failed)
      .then(() => {
        if (state === 'starting') state = 'started'
        wake()
      })
  }

  /** Resolves when nothing is sent and nothing more is due. */
  const settled = (): Promise<void> => starting.then(() => background.settled(() => isScheduled))

  /** Sends nothing more, and resolves when the results of running requests are stored. */
  async function close(): Promise<void> {
    state = 'closed'
    timer?.stop()
    await starting
    await endRequests(background, inFlight)
    await troubles.retry(true)
  }

  return { wake, tick, start, settled, close }
}

/** Nothing waits for the turn in which `serve` runs, so an error in it would end the process. */
const safely = (serve: () => void, watch: Watch) => (): void => {
  try {
    serve()
    watch.worked()
  } catch (error) {
    watch.failed(error)
  }
}

/** Waits up to 3 seconds for running requests, then aborts them. */
async function endRequests(background: Background, inFlight: Deps['inFlight']): Promise<void> {
  const waiting = new AbortController()
  const late = pass(STOP_MS, undefined, { signal: waiting.signal }).catch(() => {})
  await Promise.race([background.done(), late])
  waiting.abort()
  inFlight.abortAll(new Stopping('Windfall is stopping'))
  await background.done()
}

/**
 * Returns a function that announces what was given up, stores kept results, and makes deliveries due whose time was computed
 * before the clock was set back.
 */
function openLooking({ store, clock, deliveries, troubles, announce }: Deps, watch: Watch) {
  return async (): Promise<void> => {
    await announce()
    await troubles.retry()
    const now = clock()
    const latest = now + LATEST_NEXT_MS
    if (deliveries.isAnyLater(latest)) await store.commit(() => deliveries.pullBackLater(now, latest))
    watch.worked()
  }
}
