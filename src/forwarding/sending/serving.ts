/**
 * Chooses what is sent: at most 4 requests to an endpoint and 32 in all, endpoint by endpoint in turn. First come the new
 * events of all endpoints, then retries, replays and probes.
 */
import type { Clock } from '../../clock.ts'
import type { Stoppages } from '../../stoppages.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import type { Delivery } from '../deliveries/delivery.ts'
import type { DueDelivery, DueKind } from '../deliveries/queue.ts'
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
/**
 * A receiver may take long to refuse what it refused before, or not answer. Slots are left for new events meanwhile, and new
 * events leave some for the others.
 */
const SLOTS_OF_REPEATED = { endpoint: SLOTS_OF_ENDPOINT - 1, all: 24, with_failing: 28 }
const SLOTS_OF_NEW = 28
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
  const { sendNew, sendRepeated, probe, tryNew } = openEndpointServing(deps, background)
  const { inFlight, troubles } = deps
  let turn = 0

  /** Serves the new events of an endpoint, or else the others. */
  function servePart(endpoint: Endpoint, isNewPart: boolean): void {
    if (troubles.isPaused(endpoint.id) || unreadableLists(endpoint) !== null) return
    try {
      if (endpoint.state === 'active') (isNewPart ? sendNew : sendRepeated)(endpoint)
      else if (endpoint.state === 'failing' && !isNewPart) {
        probe(endpoint)
        tryNew(endpoint)
      }
    } catch (error) {
      troubles.note(endpoint.id, error)
    }
  }

  return (): void => {
    const known = endpoints.list()
    deps.stoppages.noteWhole('forwarding', isAllStopped(known, troubles))
    turn += 1
    const inTurn = known.map((_, index) => known[(index + turn) % known.length] as Endpoint)
    for (const isNewPart of [true, false])
      for (const endpoint of inTurn) {
        if (inFlight.sendingInAll() >= SLOTS) return
        servePart(endpoint, isNewPart)
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

  /** How many of the slots of all endpoints new events may take. */
  const freeForNew = (): number => SLOTS_OF_NEW - (inFlight.sendingInAll() - inFlight.repeatingInAll())

  /** Whether a request to a failing endpoint may begin, whose receiver may not answer. */
  const isFreeForFailing = (): boolean => inFlight.repeatingInAll() < SLOTS_OF_REPEATED.with_failing

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

  const dueOf = ({ id }: Endpoint, now: number, kind: DueKind): DueDelivery[] =>
    deliveries
      .due(id, now, { limit: SLOTS_OF_ENDPOINT + LOW_WATER + inFlight.ofEndpoint(id), kind })
      // A delivery can be skipped while its request runs; the next of its key waits for the end of the request.
      .filter((delivery) => !inFlight.has(delivery.id) && !inFlight.hasKey(id, delivery.key))

  return { freeSlots, freeForNew, freeForRepeated, isFreeForFailing, room, dueOf }
}

/** Begins attempts, and the making of deliveries, each kind once at a time for an endpoint. */
function openBeginning(
  { attempts, inFlight }: Pick<ServingDeps, 'attempts' | 'inFlight'>,
  background: Background,
) {
  const fillingNow = new Set<string>()

  /** `new`: takes a slot of new events. A new event that a failing endpoint tries does not. */
  function begin(delivery: DueDelivery, kind: 'new' | 'repeated' | 'probe'): void {
    const { id, endpoint_id, app_id, key, replay_id } = delivery
    inFlight.add(id, { endpoint_id, app_id, key, isReplay: replay_id !== null, isNew: kind === 'new' })
    const attempt = attempts.attempt(id, endpoint_id, kind === 'probe')
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

/** Chooses what is sent to one endpoint. */
function openEndpointServing(deps: Omit<ServingDeps, 'endpoints'>, background: Background) {
  const parts = {
    ...deps,
    slots: openSlots(deps),
    beginning: openBeginning(deps, background),
    newest: openNewest(deps),
  }
  return { ...openActive(parts), ...openFailing(parts) }
}

type Parts = Omit<ServingDeps, 'endpoints'> & {
  slots: ReturnType<typeof openSlots>
  beginning: ReturnType<typeof openBeginning>
  newest: ReturnType<typeof openNewest>
}

/** Chooses what an active endpoint gets. */
function openActive({ clock, filling, replays, inFlight, slots, beginning, newest }: Parts) {
  const { freeSlots, freeForNew, freeForRepeated, room, dueOf } = slots
  const { begin, fill } = beginning

  const maySend = (endpoint: Endpoint, now: number): boolean =>
    isReached(endpoint.hold_until_at, now) && freeSlots(endpoint) > 0

  /** Sends new events, and makes more deliveries if there are too few. */
  function sendNew(endpoint: Endpoint): void {
    const now = clock()
    newest.noteHead(endpoint)
    if (!maySend(endpoint, now)) return
    const free = room(endpoint)
    const fresh = dueOf(endpoint, now, 'new')
    for (const delivery of fresh.slice(0, Math.max(0, Math.min(free, freeForNew())))) begin(delivery, 'new')
    // Also while the endpoint is throttled, because a new event goes before what is due then.
    const most = endpoint.max_per_second ?? undefined
    if (fresh.length - free < Math.min(LOW_WATER, most ?? LOW_WATER) && filling.isBehind(endpoint))
      fill(endpoint, 'live', () => filling.fill(endpoint, most))
  }

  /** Uses the slots that new events leave, and makes more deliveries of replays if there are too few. */
  function sendRepeated(endpoint: Endpoint): void {
    const now = clock()
    if (!maySend(endpoint, now)) return
    const free = room(endpoint)
    const freeForReplays = Math.max(0, Math.min(free, SLOTS_OF_REPLAYS - inFlight.sending(endpoint.id, true)))
    const replayed = dueOf(endpoint, now, 'replayed').slice(0, freeForReplays)
    const repeated = [...dueOf(endpoint, now, 'tried'), ...replayed]
    for (const delivery of repeated.slice(0, Math.min(free, freeForRepeated(endpoint))))
      begin(delivery, 'repeated')
    if (replayed.length <= freeForReplays) fill(endpoint, 'replay', () => replays.fillOne(endpoint))
  }

  return { sendNew, sendRepeated }
}

/** Chooses what a failing endpoint gets. */
function openFailing({ clock, deliveries, wanted, filling, inFlight, slots, beginning, newest }: Parts) {
  const { isFreeForFailing, room } = slots
  const { begin, fill } = beginning
  const takeWanted = openWanted({ deliveries, wanted })

  /** Sends one probe: what a person wants to be tried, otherwise by turns the oldest that waits, and one that was not tried yet. */
  function probe(endpoint: Endpoint): void {
    if (!isProbeDue(endpoint, clock()) || inFlight.ofEndpoint(endpoint.id) > 0) return
    if (!isFreeForFailing() || room(endpoint) <= 0) return
    const isUntried = endpoint.probes % 2 === 1
    const asked = takeWanted(endpoint.id)
    if (asked !== null) return begin(asked, 'probe')
    const delivery = deliveries.forProbe(endpoint.id, isUntried)
    const isMissing = delivery === null || (isUntried && delivery.attempts > 0)
    // One event that always fails must not hold back those behind the cursor, so the next of them is the probe.
    if (isMissing && filling.isPossible(endpoint)) fill(endpoint, 'live', () => filling.fill(endpoint, 1))
    else if (delivery !== null) begin(delivery, 'probe')
  }

  /** Tries an event once that is recorded while its endpoint is failing, at most one a minute, although probes are rare. */
  function tryNew(endpoint: Endpoint): void {
    const { id, state_since, hold_until_at } = endpoint
    if (!isReached(hold_until_at, clock()) || inFlight.ofEndpoint(id) > 1) return
    if (!newest.isAllowed(endpoint) || !isFreeForFailing() || room(endpoint) <= 0) return
    const made = deliveries.newestUntried(id, state_since)
    if (
      made !== null &&
      newest.isNew(endpoint, made) &&
      !inFlight.has(made.id) &&
      !inFlight.hasKey(id, made.key)
    ) {
      newest.note(endpoint)
      begin(made, 'repeated')
    } else if (newest.isNext(endpoint) && filling.isPossible(endpoint))
      fill(endpoint, 'live', () => newest.fill(endpoint))
  }

  return { probe, tryNew }
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
