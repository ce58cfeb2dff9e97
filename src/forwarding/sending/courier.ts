/** Decides what is sent next: at most 4 requests to an endpoint and 32 in all, endpoint by endpoint in turn. */
import { Cron } from 'croner'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import type { Deliveries, Delivery } from '../deliveries/deliveries.ts'
import type { Endpoint, Endpoints } from '../endpoints/endpoints.ts'
import type { Replays } from '../replays/replays.ts'
import type { Attempts } from './attempts.ts'
import type { Filling } from './filling.ts'
import type { InFlight } from './in_flight.ts'
import { LATEST_NEXT_MS } from './schedule.ts'

const SLOTS_OF_ENDPOINT = 4
const SLOTS_OF_REPLAYS = 2
const SLOTS = 32
/** How often the clock wakes the courier. Whether anything is due is decided by the stored times. */
const TICK_SCHEDULE = '* * * * * *'
/** The pause after a result could not be stored, so that receivers do not get the same events again and again. */
const STORE_FAILED_MS = 30_000

export type Courier = ReturnType<typeof openCourier>

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
  const { store, clock, monotonic, log, endpoints, deliveries, filling, replays, attempts, inFlight } = deps
  const fillingNow = new Set<string>()
  const running = new Set<Promise<void>>()
  let state: 'waiting' | 'started' | 'closed' = 'waiting'
  let isScheduled = false
  let turn = 0
  let ticked_at = Number.POSITIVE_INFINITY
  let blocked_until = Number.NEGATIVE_INFINITY
  let timer: Cron | null = null

  /** Looks for work in the next turn of the event loop. */
  function wake(): void {
    if (isScheduled || state !== 'started') return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      serveAll()
    })
  }

  function serveAll(): void {
    if (state !== 'started' || deps.isHeld() || monotonic() < blocked_until) return
    const all = endpoints.list()
    turn += 1
    for (let index = 0; index < all.length && inFlight.sending(null) < SLOTS; index += 1) {
      const endpoint = all[(index + turn) % all.length]
      if (endpoint?.state === 'active') serve(endpoint)
      if (endpoint?.state === 'failing') probe(endpoint)
    }
  }

  /** Uses the free slots of an active endpoint, and makes more deliveries if there are too few. */
  function serve(endpoint: Endpoint): void {
    const now = clock()
    if (!isReached(endpoint.hold_until_at, now)) return
    const free = Math.min(SLOTS_OF_ENDPOINT - inFlight.sending(endpoint.id), SLOTS - inFlight.sending(null))
    if (free <= 0) return
    const freeForReplays = Math.min(free, SLOTS_OF_REPLAYS - inFlight.sending(endpoint.id, true))
    const live = dueOf(endpoint, now, false)
    const replayed = dueOf(endpoint, now, true).slice(0, Math.max(0, freeForReplays))
    for (const delivery of [...live, ...replayed].slice(0, free)) begin(delivery, false)
    if (live.length <= free && filling.isBehind(endpoint)) fill(endpoint.id, () => filling.fill(endpoint))
    if (replayed.length <= freeForReplays) fill(`${endpoint.id}/replay`, () => replays.fillOne(endpoint))
  }

  const dueOf = ({ id }: Endpoint, now: number, isReplay: boolean): Delivery[] =>
    deliveries
      .due(id, now, { limit: SLOTS_OF_ENDPOINT + 1 + inFlight.ofEndpoint(id), isReplay })
      .filter((delivery) => !inFlight.has(delivery.id))

  /** Sends one probe to a failing endpoint: by turns the oldest that waits, and one that was not tried yet. */
  function probe(endpoint: Endpoint): void {
    const now = clock()
    const isDue = isReached(endpoint.next_probe_at, now) && isReached(endpoint.hold_until_at, now)
    if (!isDue || inFlight.ofEndpoint(endpoint.id) > 0) return
    const delivery = deliveries.forProbe(endpoint.id, endpoint.probes % 2 === 1)
    if (delivery !== null) return begin(delivery, true)
    // Nothing waits, so the next event is the probe.
    if (filling.isBehind(endpoint)) fill(endpoint.id, () => filling.fill(endpoint, 1))
  }

  function begin({ id, endpoint_id, app_id, replay_id }: Delivery, isProbe: boolean): void {
    inFlight.add(id, { endpoint_id, app_id, isReplay: replay_id !== null })
    track(attempts.attempt(id, endpoint_id, isProbe).finally(() => inFlight.remove(id)))
  }

  function fill(key: string, work: () => Promise<boolean>): void {
    if (fillingNow.has(key)) return
    fillingNow.add(key)
    const done = work().finally(() => fillingNow.delete(key))
    track(done.then((isProgress) => (isProgress ? undefined : NOTHING)))
  }

  /** Looks for more work once `work` is done; not after a failure, so that nothing is repeated endlessly. */
  function track(work: Promise<unknown>): void {
    const tracked = work
      .then((result) => {
        if (result !== NOTHING) wake()
      })
      .catch((error) => {
        blocked_until = monotonic() + STORE_FAILED_MS
        if (state !== 'closed') log.error('forwarding pauses for 30 seconds after an error', { error })
      })
      .finally(() => running.delete(tracked))
    running.add(tracked)
  }

  /** Called every second. After the clock was set back, deliveries that would wait too long become due. */
  async function tick(): Promise<void> {
    const now = clock()
    const wasSetBack = now < ticked_at
    ticked_at = now
    if (wasSetBack) await store.commit(() => deliveries.pullBackLater(now, now + LATEST_NEXT_MS))
    wake()
  }

  /** Starts sending. */
  function start(): void {
    if (state !== 'waiting') return
    state = 'started'
    timer = new Cron(
      TICK_SCHEDULE,
      { unref: true, catch: (error) => log.error('forwarding failed', { error }) },
      tick,
    )
    wake()
  }

  /** Resolves when nothing is sent and nothing more is due. */
  async function settled(): Promise<void> {
    while (isScheduled || running.size > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      await Promise.allSettled(running)
    }
  }

  /** Aborts running requests and waits until their ends are handled. */
  async function close(): Promise<void> {
    state = 'closed'
    timer?.stop()
    inFlight.abortAll(new Error('Windfall is stopping'))
    await Promise.allSettled(running)
  }

  return { wake, tick, start, settled, close }
}

/** The result of a filling that read nothing. */
const NOTHING = Symbol('nothing')

/** Whether an instant has come. One that is more than 25 hours ahead was computed before the clock was set back. */
const isReached = (at: number | null, now: number): boolean =>
  at === null || at <= now || at > now + LATEST_NEXT_MS
