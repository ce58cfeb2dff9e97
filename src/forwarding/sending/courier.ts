/** Wakes forwarding when something may be due, and starts and stops it. */
import { setTimeout as pass } from 'node:timers/promises'
import { Cron } from 'croner'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import { type Background, openBackground } from './background.ts'
import { Stopping } from './in_flight.ts'
import { LATEST_NEXT_MS } from './schedule.ts'
import { openServing, type ServingDeps } from './serving.ts'

/** How often the clock wakes the courier. Whether anything is due is decided by the stored times. */
const TICK_SCHEDULE = '* * * * * *'
/** How long a stop waits for the answers to running requests, in milliseconds. */
const STOP_MS = 3_000

type Deps = ServingDeps & {
  store: Store
  log: Log
  /** Removes the bodies that were made before the start and never tried. */
  forgetUntried: () => Promise<void>
  isHeld: () => boolean
}

/** Opens the courier. It sends nothing before `start`. */
export function openCourier(deps: Deps) {
  const { log, inFlight, troubles, forgetUntried } = deps
  const background = openBackground({ onProgress, onError })
  const serveAll = openServing(deps, background)
  let state: 'waiting' | 'starting' | 'started' | 'closed' = 'waiting'
  let isScheduled = false
  let timer: Cron | null = null
  let starting = Promise.resolve()
  inFlight.onSlotFreed(wake)

  /** Looks for work in the next turn of the event loop. */
  function wake(): void {
    if (isScheduled || state !== 'started') return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (state === 'started' && !deps.isHeld()) serveAll()
    })
  }

  function onProgress(endpoint_id: string): void {
    troubles.clear(endpoint_id)
    wake()
  }

  function onError(endpoint_id: string, error: unknown): void {
    if (state !== 'closed') troubles.note(endpoint_id, error)
  }

  const failed = (error: unknown) => log.error('forwarding could not look for due deliveries', { error })

  /** Called every second. */
  const tick = (): Promise<void> => troubles.retry().then(openPullingBack(deps)).then(wake)

  /** Starts sending. */
  function start(): void {
    if (state !== 'waiting') return
    state = 'starting'
    timer = new Cron(TICK_SCHEDULE, { unref: true, catch: failed }, tick)
    starting = forgetUntried().catch(failed).then(begin)
  }

  const begin = (): void => {
    if (state === 'starting') state = 'started'
    wake()
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

/** Waits up to 3 seconds for running requests, then aborts them. */
async function endRequests(background: Background, inFlight: Deps['inFlight']): Promise<void> {
  const waiting = new AbortController()
  const late = pass(STOP_MS, undefined, { signal: waiting.signal }).catch(() => {})
  await Promise.race([background.done(), late])
  waiting.abort()
  inFlight.abortAll(new Stopping('Windfall is stopping'))
  await background.done()
}

/** Returns a function that makes deliveries due whose time was computed before the clock was set back. */
function openPullingBack({
  store,
  clock,
  deliveries,
}: {
  store: Store
  clock: Clock
  deliveries: Deliveries
}) {
  return async (): Promise<void> => {
    const now = clock()
    const latest = now + LATEST_NEXT_MS
    if (deliveries.isAnyLater(latest)) await store.commit(() => deliveries.pullBackLater(now, latest))
  }
}
