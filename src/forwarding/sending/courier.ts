/** Decides what is sent next: at most 4 requests to an endpoint and 32 in all, endpoint by endpoint in turn. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Cron } from 'croner'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import type { Deliveries, DueDelivery } from '../deliveries/deliveries.ts'
import type { Endpoint, Endpoints } from '../endpoints/endpoints.ts'
import type { Replays } from '../replays/replays.ts'
import type { Attempts } from './attempts.ts'
import type { Filling } from './filling.ts'
import type { InFlight } from './in_flight.ts'
import { LATEST_NEXT_MS, LONGEST_PROBE_DELAY_MS } from './schedule.ts'

const SLOTS_OF_ENDPOINT = 4
const SLOTS_OF_REPLAYS = 2
const SLOTS = 32
/** The results of an endpoint that may wait to be stored. After a crash these deliveries are sent again. */
const MAX_UNSTORED = 12
/** More deliveries are made when fewer than this many are due, so that the slots do not wait for bodies. */
const LOW_WATER = 16
/** How often the clock wakes the courier. Whether anything is due is decided by the stored times. */
const TICK_SCHEDULE = '* * * * * *'
/** The pause of an endpoint after a result could not be stored, so that it does not get the same events repeatedly. */
const ERROR_PAUSE_MS = 30_000

type Deps = {
  store: Store
  clock: Clock
  monotonic: Clock
  log: Log
  endpoints: Endpoints
  deliveries: Deliveries
  filling: Filling
  replays: Pick<Replays, 'fillOne'>
  attempts: Attempts
  inFlight: InFlight
  isHeld: () => boolean
}

/** Opens the courier. It sends nothing before `start`. */
export function openCourier(deps: Deps) {
  const { monotonic, log, inFlight } = deps
  const background = openBackground({ onProgress: wake, onError: pause })
  const pausedUntil = new Map<string, number>()
  const serveAll = openServing(deps, background)
  const pullBack = openPullingBack(deps)
  let state: 'waiting' | 'started' | 'closed' = 'waiting'
  let isScheduled = false
  let timer: Cron | null = null
  inFlight.onSlotFreed(wake)

  /** Looks for work in the next turn of the event loop. */
  function wake(): void {
    if (isScheduled || state !== 'started') return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (state === 'started' && !deps.isHeld()) serveAll(isPaused)
    })
  }

  const isPaused = ({ id }: Endpoint): boolean => monotonic() < (pausedUntil.get(id) ?? 0)

  /** Sends nothing to an endpoint for a while. */
  function pause(endpoint_id: string, error: unknown): void {
    if (state === 'closed') return
    pausedUntil.set(endpoint_id, monotonic() + ERROR_PAUSE_MS)
    log.error('forwarding to an endpoint pauses for 30 seconds after an error', {
      endpoint: endpoint_id,
      error,
    })
  }

  /** Called every second. */
  const tick = (): Promise<void> => pullBack().then(wake)

  /** Starts sending. */
  function start(): void {
    if (state !== 'waiting') return
    state = 'started'
    const failed = (error: unknown) => log.error('forwarding could not look for due deliveries', { error })
    timer = new Cron(TICK_SCHEDULE, { unref: true, catch: failed }, tick)
    wake()
  }

  /** Resolves when nothing is sent and nothing more is due. */
  const settled = (): Promise<void> => background.settled(() => isScheduled)

  /** Aborts running requests and waits until their ends are handled. */
  async function close(): Promise<void> {
    state = 'closed'
    timer?.stop()
    inFlight.abortAll(new Error('Windfall is stopping'))
    await background.done()
  }

  return { wake, tick, start, settled, close }
}

/** Returns a function that makes deliveries due whose time was computed before the clock was set back. */
function openPullingBack({ store, clock, deliveries }: Deps): () => Promise<void> {
  return async () => {
    const now = clock()
    const latest = now + LATEST_NEXT_MS
    if (deliveries.isAnyLater(latest)) await store.commit(() => deliveries.pullBackLater(now, latest))
  }
}

type Background = ReturnType<typeof openBackground>

type BackgroundHooks = { onProgress: () => void; onError: (endpoint_id: string, error: unknown) => void }

/** Runs work for endpoints that nobody waits for. `onProgress` is called after work that did something. */
function openBackground({ onProgress, onError }: BackgroundHooks) {
  const running = new Set<Promise<void>>()

  /** `work` resolves to false if there was nothing to do; more work of that kind would repeat endlessly. */
  function run(endpoint_id: string, work: Promise<boolean>): void {
    const done: Promise<void> = work
      .then(
        (isProgress) => (isProgress ? onProgress() : undefined),
        (error) => onError(endpoint_id, error),
      )
      .finally(() => running.delete(done))
    running.add(done)
  }

  const done = (): Promise<unknown> => Promise.allSettled(running)

  async function settled(isScheduled: () => boolean): Promise<void> {
    while (isScheduled() || running.size > 0) {
      await nextTurn()
      await done()
    }
  }

  return { run, done, settled }
}

/** Returns a function that serves all endpoints. They take turns at being first. */
function openServing({ endpoints, ...deps }: Deps, background: Background) {
  const { serve, probe } = openEndpointServing(deps, background)
  let turn = 0

  return (isPaused: (endpoint: Endpoint) => boolean): void => {
    const all = endpoints.list().filter((endpoint) => !isPaused(endpoint))
    turn += 1
    for (let index = 0; index < all.length && deps.inFlight.sendingInAll() < SLOTS; index += 1) {
      const endpoint = all[(index + turn) % all.length]
      if (endpoint?.state === 'active') serve(endpoint)
      if (endpoint?.state === 'failing') probe(endpoint)
    }
  }
}

/** Finds the free slots of an endpoint, and what is due for them. */
function openSlots({ deliveries, inFlight }: Pick<Deps, 'deliveries' | 'inFlight'>) {
  const freeSlots = ({ id }: Endpoint): number =>
    Math.min(
      SLOTS_OF_ENDPOINT - inFlight.sending(id),
      SLOTS_OF_ENDPOINT + MAX_UNSTORED - inFlight.ofEndpoint(id),
      SLOTS - inFlight.sendingInAll(),
    )

  const dueOf = ({ id }: Endpoint, now: number, isReplay: boolean): DueDelivery[] =>
    deliveries
      .due(id, now, { limit: SLOTS_OF_ENDPOINT + LOW_WATER + inFlight.ofEndpoint(id), isReplay })
      // A delivery can be skipped while its request runs; the next of its key waits for the end of the request.
      .filter((delivery) => !inFlight.has(delivery.id) && !inFlight.hasKey(id, delivery.key))

  return { freeSlots, dueOf }
}

/** Chooses what is sent to one endpoint. */
function openEndpointServing(deps: Omit<Deps, 'endpoints'>, background: Background) {
  const { clock, deliveries, filling, replays, attempts, inFlight } = deps
  const { freeSlots, dueOf } = openSlots(deps)
  const fillingNow = new Set<string>()

  /** Uses the free slots of an active endpoint, and makes more deliveries if there are too few. */
  function serve(endpoint: Endpoint): void {
    const now = clock()
    if (!isReached(endpoint.hold_until_at, now)) return
    const free = freeSlots(endpoint)
    if (free <= 0) return
    const freeForReplays = Math.max(0, Math.min(free, SLOTS_OF_REPLAYS - inFlight.sending(endpoint.id, true)))
    const live = dueOf(endpoint, now, false)
    const replayed = dueOf(endpoint, now, true).slice(0, freeForReplays)
    for (const delivery of [...live, ...replayed].slice(0, free)) begin(delivery, false)
    if (live.length - free < LOW_WATER && filling.isBehind(endpoint))
      fill(endpoint, 'live', () => filling.fill(endpoint))
    if (replayed.length <= freeForReplays) fill(endpoint, 'replay', () => replays.fillOne(endpoint))
  }

  /** Sends one probe to a failing endpoint: by turns the oldest that waits, and one that was not tried yet. */
  function probe(endpoint: Endpoint): void {
    const now = clock()
    const isDue =
      isReached(endpoint.next_probe_at, now, LONGEST_PROBE_DELAY_MS) && isReached(endpoint.hold_until_at, now)
    if (!isDue || inFlight.ofEndpoint(endpoint.id) > 0) return
    const isUntried = endpoint.probes % 2 === 1
    const delivery = deliveries.forProbe(endpoint.id, isUntried)
    const isMissing = delivery === null || (isUntried && delivery.attempts > 0)
    // One event that always fails must not hold back those behind the cursor, so the next of them is the probe.
    if (isMissing && filling.isPossible(endpoint)) fill(endpoint, 'live', () => filling.fill(endpoint, 1))
    else if (delivery !== null) begin(delivery, true)
  }

  function begin({ id, endpoint_id, app_id, key, replay_id }: DueDelivery, isProbe: boolean): void {
    inFlight.add(id, { endpoint_id, app_id, key, isReplay: replay_id !== null })
    const attempt = attempts.attempt(id, endpoint_id, isProbe)
    background.run(
      endpoint_id,
      attempt.finally(() => inFlight.remove(id)).then(() => true),
    )
  }

  function fill({ id }: Endpoint, kind: 'live' | 'replay', work: () => Promise<boolean>): void {
    const key = `${id}/${kind}`
    if (fillingNow.has(key)) return
    fillingNow.add(key)
    background.run(
      id,
      work().finally(() => fillingNow.delete(key)),
    )
  }

  return { serve, probe }
}

/** Whether an instant has come. One that is more than `longest` ahead was computed before the clock was set back. */
const isReached = (at: number | null, now: number, longest = LATEST_NEXT_MS): boolean =>
  at === null || at <= now || at > now + longest
