/** Chooses what is sent: at most 4 requests to an endpoint and 32 in all, endpoint by endpoint in turn. */
import type { Clock } from '../../clock.ts'
import type { Stoppages } from '../../stoppages.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import type { Delivery } from '../deliveries/delivery.ts'
import type { DueDelivery } from '../deliveries/queue.ts'
import { type Endpoint, type Endpoints, unreadableLists } from '../endpoints/endpoints.ts'
import type { Replays } from '../replays/replays.ts'
import type { WantedProbes } from '../replays/retrying.ts'
import type { Attempts } from './attempts.ts'
import type { Background } from './background.ts'
import type { Filling } from './filling.ts'
import type { InFlight } from './in_flight.ts'
import { openNewest } from './newest.ts'
import { isReached, LONGEST_PROBE_DELAY_MS } from './schedule.ts'
import type { Throttle } from './throttle.ts'
import type { Troubles } from './troubles.ts'

const SLOTS_OF_ENDPOINT = 4
const SLOTS_OF_REPLAYS = 2
const SLOTS = 32
/** A receiver may take long to refuse what it refused before. Slots are left for new events meanwhile. */
const SLOTS_OF_REPEATED = { endpoint: SLOTS_OF_ENDPOINT - 1, all: (SLOTS / 4) * 3 }
/** The results of an endpoint that may wait to be stored. After a crash these deliveries are sent again. */
const MAX_UNSTORED = 12
/** More deliveries are made when fewer than this many are due, so that the slots do not wait for bodies. */
const LOW_WATER = 16

export type ServingDeps = {
  clock: Clock
  monotonic: Clock
  endpoints: Endpoints
  deliveries: Deliveries
  filling: Filling
  replays: Pick<Replays, 'fillOne'>
  wanted: WantedProbes
  attempts: Attempts
  throttle: Pick<Throttle, 'room' | 'onRoom'>
  inFlight: InFlight
  troubles: Troubles
  stoppages: Pick<Stoppages, 'noteWhole'>
}

/** Returns a function that serves all endpoints. They take turns at being first. Notes whether nothing can be sent at all. */
export function openServing({ endpoints, ...deps }: ServingDeps, background: Background) {
  const { serve, probe, tryNew } = openEndpointServing(deps, background)
  const { inFlight, troubles } = deps
  let turn = 0

  return (): void => {
    const known = endpoints.list()
    deps.stoppages.noteWhole('forwarding', isAllStopped(known, troubles))
    const all = known.filter((one) => !troubles.isPaused(one.id) && unreadableLists(one) === null)
    turn += 1
    for (let index = 0; index < all.length && inFlight.sendingInAll() < SLOTS; index += 1) {
      const endpoint = all[(index + turn) % all.length] as Endpoint
      try {
        if (endpoint.state === 'active') serve(endpoint)
        if (endpoint.state === 'failing') {
          probe(endpoint)
          tryNew(endpoint)
        }
      } catch (error) {
        troubles.note(endpoint.id, error)
      }
    }
  }
}

/** Whether errors of this server stop some endpoint, and every active one. */
function isAllStopped(endpoints: readonly Endpoint[], troubles: Pick<Troubles, 'of'>): boolean {
  const isStopped = (one: Endpoint): boolean => troubles.of(one.id) !== null || unreadableLists(one) !== null
  const sent = endpoints.filter(({ state }) => state === 'active' || state === 'failing')
  return sent.some(isStopped) && sent.every((one) => one.state === 'failing' || isStopped(one))
}

/** Finds the free slots of an endpoint, and what is due for them. */
function openSlots({ deliveries, throttle, inFlight }: Omit<ServingDeps, 'endpoints'>) {
  const freeSlots = ({ id }: Endpoint): number =>
    Math.min(
      SLOTS_OF_ENDPOINT - inFlight.sending(id),
      SLOTS_OF_ENDPOINT + MAX_UNSTORED - inFlight.ofEndpoint(id),
      SLOTS - inFlight.sendingInAll(),
    )

  /** How many of them may be of a replay, or of what was tried before. */
  const freeForRepeated = ({ id }: Endpoint): number =>
    Math.max(
      0,
      Math.min(
        SLOTS_OF_REPEATED.endpoint - inFlight.repeating(id),
        SLOTS_OF_REPEATED.all - inFlight.repeatingInAll(),
      ),
    )

  /** How many requests may begin now: those of the free slots that the limit of the endpoint permits. */
  const room = (endpoint: Endpoint): number =>
    Math.min(freeSlots(endpoint), throttle.room(endpoint, inFlight.begun(endpoint.id)))

  const dueOf = ({ id }: Endpoint, now: number, isReplay: boolean): DueDelivery[] =>
    deliveries
      .due(id, now, { limit: SLOTS_OF_ENDPOINT + LOW_WATER + inFlight.ofEndpoint(id), isReplay })
      // A delivery can be skipped while its request runs; the next of its key waits for the end of the request.
      .filter((delivery) => !inFlight.has(delivery.id) && !inFlight.hasKey(id, delivery.key))

  return { freeSlots, freeForRepeated, room, dueOf }
}

/** Begins attempts, and the making of deliveries, each kind once at a time for an endpoint. */
function openBeginning(
  { attempts, inFlight }: Pick<ServingDeps, 'attempts' | 'inFlight'>,
  background: Background,
) {
  const fillingNow = new Set<string>()

  function begin(delivery: DueDelivery, isProbe: boolean): void {
    const { id, endpoint_id, app_id, key, replay_id } = delivery
    inFlight.add(id, { endpoint_id, app_id, key, isReplay: replay_id !== null, isNew: isNew(delivery) })
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

  return { begin, fill }
}

const isNew = ({ attempts, replay_id }: DueDelivery): boolean => attempts === 0 && replay_id === null

/** Chooses what is sent to one endpoint. */
function openEndpointServing(deps: Omit<ServingDeps, 'endpoints'>, background: Background) {
  const { clock, deliveries, filling, replays, inFlight } = deps
  const { freeSlots, freeForRepeated, room, dueOf } = openSlots(deps)
  const { begin, fill } = openBeginning(deps, background)
  const newest = openNewest(deps)
  const takeWanted = openWanted(deps)

  /** Uses the free slots of an active endpoint, and makes more deliveries if there are too few. */
  function serve(endpoint: Endpoint): void {
    const now = clock()
    newest.noteHead(endpoint)
    if (!isReached(endpoint.hold_until_at, now) || freeSlots(endpoint) <= 0) return
    const free = room(endpoint)
    const freeForReplays = Math.max(0, Math.min(free, SLOTS_OF_REPLAYS - inFlight.sending(endpoint.id, true)))
    const live = dueOf(endpoint, now, false)
    const replayed = dueOf(endpoint, now, true).slice(0, freeForReplays)
    const fresh = live.filter(isNew)
    const tried = [...live.filter((one) => !isNew(one)), ...replayed]
    const repeated = tried.slice(0, freeForRepeated(endpoint))
    for (const delivery of [...fresh, ...repeated].slice(0, free)) begin(delivery, false)
    // Also while the endpoint is throttled, because a new event goes before what is due then.
    const most = endpoint.max_per_second ?? undefined
    if (fresh.length - free < Math.min(LOW_WATER, most ?? LOW_WATER) && filling.isBehind(endpoint))
      fill(endpoint, 'live', () => filling.fill(endpoint, most))
    if (replayed.length <= freeForReplays) fill(endpoint, 'replay', () => replays.fillOne(endpoint))
  }

  /** Sends one probe to a failing endpoint: what a person wants to be tried, otherwise by turns the oldest that waits, and one that was not tried yet. */
  function probe(endpoint: Endpoint): void {
    if (!isProbeDue(endpoint, clock()) || inFlight.ofEndpoint(endpoint.id) > 0 || room(endpoint) <= 0) return
    const isUntried = endpoint.probes % 2 === 1
    const wanted = takeWanted(endpoint.id)
    if (wanted !== null) return begin(wanted, true)
    const delivery = deliveries.forProbe(endpoint.id, isUntried)
    const isMissing = delivery === null || (isUntried && delivery.attempts > 0)
    // One event that always fails must not hold back those behind the cursor, so the next of them is the probe.
    if (isMissing && filling.isPossible(endpoint)) fill(endpoint, 'live', () => filling.fill(endpoint, 1))
    else if (delivery !== null) begin(delivery, true)
  }

  /** Tries an event once that is recorded while its endpoint is failing, at most one a minute, although probes are rare. */
  function tryNew(endpoint: Endpoint): void {
    const { id, state_since, hold_until_at } = endpoint
    if (!isReached(hold_until_at, clock()) || inFlight.ofEndpoint(id) > 1) return
    if (!newest.isAllowed(endpoint) || room(endpoint) <= 0) return
    const made = deliveries.newestUntried(id, state_since)
    if (
      made !== null &&
      newest.isNew(endpoint, made) &&
      !inFlight.has(made.id) &&
      !inFlight.hasKey(id, made.key)
    ) {
      newest.note(endpoint)
      begin(made, false)
    } else if (newest.isNext(endpoint) && filling.isPossible(endpoint))
      fill(endpoint, 'live', () => newest.fill(endpoint))
  }

  return { serve, probe, tryNew }
}

/** Returns a function that takes the delivery which a person wants to be tried; null if there is none that waits. */
const openWanted =
  ({ deliveries, wanted }: Pick<ServingDeps, 'deliveries' | 'wanted'>) =>
  (endpoint_id: string): Delivery | null => {
    const delivery = deliveries.get(wanted.get(endpoint_id) ?? 0)
    wanted.delete(endpoint_id)
    return delivery?.state === 'waiting' && delivery.next_at !== null ? delivery : null
  }

const isProbeDue = ({ next_probe_at, hold_until_at }: Endpoint, now: number): boolean =>
  isReached(next_probe_at, now, LONGEST_PROBE_DELAY_MS) && isReached(hold_until_at, now)
