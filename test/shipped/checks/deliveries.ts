/** Compares the deliveries in a database with what the receivers of webhooks got, attempt by attempt. */
import type Database from 'better-sqlite3'
import { FORWARDED_TYPES } from '../../../src/events/vocabulary.ts'
import type { Stop } from '../program.ts'
import type { Receipt } from '../world/receivers.ts'

type Endpoint = {
  id: string
  name: string
  kind: string
  state: string
  reason: string | null
  cursor: number
  failures: number
}
type Delivery = {
  id: number
  event_id: string
  state: string
  reason: string | null
  attempts: number
  next_at: number | null
}
type Attempt = { delivery_id: number; number: number; at: number; status: number | null; kind: string }

/** Events about forwarding itself have rules of their own. */
const OWN_TYPES = /^(endpoint|delivery)\./
/** A request that began this long before a stop may have been under way: the longest wait of an attempt, and a little. */
const UNDER_WAY_MS = 20_000
const FAILURES_UNTIL_FAILING = 5
const GONE_AGAIN_MS = 60_000

/** Whether a request of this time may have no stored result, because the process stopped meanwhile. */
const isInterrupted = (at: number, stops: readonly Stop[]): boolean =>
  stops.some(({ from, until }) => at >= from - UNDER_WAY_MS && at <= until)

/** Returns what is wrong with the deliveries of all endpoints. */
export function faultsOfDeliveries(
  db: Database.Database,
  receipts: readonly Receipt[],
  stops: readonly Stop[],
): string[] {
  const endpoints = db
    .prepare<[], Endpoint>('select id, name, kind, state, reason, cursor, failures from endpoints')
    .all()
  return endpoints.flatMap((endpoint) => {
    const own = receipts.filter((receipt) => receipt.endpoint === endpoint.name && !receipt.isReplay)
    return [
      ...faultsOfEndpoint(db, endpoint, own, stops),
      ...(endpoint.kind === 'events' ? missingIn(db, endpoint) : []),
    ].map((fault) => `${endpoint.name}: ${fault}`)
  })
}

/** The events that an endpoint should have, and that have no delivery. */
function missingIn(db: Database.Database, { id, cursor, name, state }: Endpoint): string[] {
  // What is behind the cursor waits for an endpoint that does not work, or that is slow.
  const last = state === 'active' && name !== 'slow' ? Number.MAX_SAFE_INTEGER : cursor
  // Endpoints of the first config file begin with the first event.
  const first = name === 'late' ? Number.POSITIVE_INFINITY : 0
  return db
    .prepare<[string, number], { id: string; seq: number; type: string }>(
      `select id, seq, type from events where origin <> 'backfill'
       and id not in (select event_id from deliveries where endpoint_id = ?) and seq <= ? order by seq`,
    )
    .all(id, last)
    .filter(
      ({ type, seq }) => seq > first && FORWARDED_TYPES.includes(type as never) && !OWN_TYPES.test(type),
    )
    .map((event) => `${event.type} ${event.id} (${event.seq}) has no delivery`)
}

function faultsOfEndpoint(
  db: Database.Database,
  endpoint: Endpoint,
  receipts: readonly Receipt[],
  stops: readonly Stop[],
): string[] {
  const deliveries = db
    .prepare<[string], Delivery>(
      `select id, event_id, state, reason, attempts, next_at from deliveries
       where endpoint_id = ? and is_test = 0 and replay_id is null`,
    )
    .all(endpoint.id)
  const attempts = db
    .prepare<[string], Attempt>(
      `select delivery_id, number, at, status, kind from delivery_attempts where endpoint_id = ? order by at, delivery_id`,
    )
    .all(endpoint.id)
  const attemptsOf = Map.groupBy(attempts, ({ delivery_id }) => delivery_id)
  const receiptsOf = Map.groupBy(receipts, ({ id }) => id)
  const known = new Set(deliveries.map(({ event_id }) => event_id))
  const strangers = [...receiptsOf].filter(
    ([id, got]) => !known.has(id) && !got.every(({ at }) => isInterrupted(at, stops)),
  )
  return [
    ...strangers.map(([id]) => `${id} arrived and has no delivery`),
    ...deliveries.flatMap((delivery) =>
      faultsOfDelivery(
        delivery,
        attemptsOf.get(delivery.id) ?? [],
        receiptsOf.get(delivery.event_id) ?? [],
        stops,
      ).map((fault) => `${delivery.event_id}: ${fault}`),
    ),
    ...faultsOfState(endpoint, attempts),
  ]
}

/** Pairs the stored attempts with what the receiver got: its status, or 0 if the sender did not wait for it. */
function pairsOf(attempts: readonly Attempt[], receipts: readonly Receipt[]) {
  const unstored = [...receipts]
  const pairs = attempts.map((attempt) => {
    // Those before it may have been interrupted by a stop.
    const index = unstored.findLastIndex(
      ({ attempt: number, status }) => number === attempt.number && status === (attempt.status ?? 0),
    )
    return { attempt, receipt: index < 0 ? null : (unstored.splice(index, 1)[0] ?? null) }
  })
  return { pairs, unstored }
}

const isAccepted = ({ status }: { status: number }): boolean => status >= 200 && status < 300
const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 23)
const attemptText = ({ number, status, kind, at }: Attempt): string =>
  `${number}: ${status ?? kind} ${timeOf(at)}`

function faultsOfDelivery(
  delivery: Delivery,
  attempts: readonly Attempt[],
  receipts: readonly Receipt[],
  stops: readonly Stop[],
): string[] {
  const { pairs, unstored } = pairsOf(attempts, receipts)
  const stored = pairs.flatMap(({ receipt }) => receipt ?? [])
  const accepted = stored.filter(isAccepted).length
  const list = attempts.map(attemptText).join(', ')
  return [
    ...(delivery.attempts === attempts.length
      ? []
      : [`${delivery.attempts} attempts, but ${attempts.length} stored`]),
    ...pairs.flatMap(({ attempt: { number, status }, receipt }) =>
      receipt === null && status !== null
        ? [`attempt ${number} has the status ${status}, which nobody answered`]
        : [],
    ),
    ...unstored.flatMap(({ attempt, status, at }) =>
      isInterrupted(at, stops)
        ? []
        : [`request ${attempt} of ${timeOf(at)} was answered with ${status}, and is not stored (${list})`],
    ),
    ...(new Set(stored.map(({ sha256 }) => sha256)).size > 1 ? ['the attempts have different bytes'] : []),
    ...(accepted > 1 ? [`was accepted ${accepted} times, and sent again`] : []),
    ...faultsOfEnd(delivery, accepted),
  ]
}

/** What is wrong with the state of a delivery that was accepted so many times. */
function faultsOfEnd({ state, reason, attempts, next_at }: Delivery, accepted: number): string[] {
  switch (state) {
    case 'delivered':
      return accepted === 0 ? ['is delivered, and nobody accepted it'] : []
    case 'waiting':
      if (accepted > 0) return ['was accepted, and still waits']
      return attempts > 0 && next_at === null ? ['waits for nothing'] : []
    default:
      return reason ? [] : [`is ${state} without a reason`]
  }
}

/** Whether an attempt says that the endpoint does not work: no answer, too many requests, a server's error, a redirect. */
const isOfEndpoint = ({ status }: Attempt): boolean =>
  status === null || status === 429 || status >= 500 || (status >= 300 && status < 400)

/** The failures in a row at the end. */
function failuresIn(attempts: readonly Attempt[]): number {
  const last = attempts.findLastIndex(({ status }) => isAccepted({ status: status ?? 0 }))
  return attempts.slice(last + 1).filter(isOfEndpoint).length
}

/** Whether the receiver said that it is gone, and again a minute later without a success in between. */
function isGone(attempts: readonly Attempt[]): boolean {
  let gone_at: number | null = null
  for (const { status, at } of attempts) {
    if (isAccepted({ status: status ?? 0 })) gone_at = null
    if (status !== 410) continue
    if (gone_at !== null && at - gone_at >= GONE_AGAIN_MS) return true
    gone_at ??= at
  }
  return false
}

/** Compares the state of an endpoint with its attempts. */
function faultsOfState({ state, reason, failures }: Endpoint, attempts: readonly Attempt[]): string[] {
  if (isGone(attempts))
    return reason === 'gone_410' ? [] : [`answered 410 again after a minute, and is ${state}`]
  if (state === 'paused' || state === 'disabled') return [`is ${state}: ${reason}`]
  const row = failuresIn(attempts)
  const expected = row >= FAILURES_UNTIL_FAILING ? 'failing' : 'active'
  return [
    ...(state === expected ? [] : [`is ${state} after ${row} failures in a row`]),
    ...(failures === row ? [] : [`counts ${failures} failures in a row, and there were ${row}`]),
  ]
}
