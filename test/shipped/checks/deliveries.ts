/** Compares the deliveries in a database with what the receivers of webhooks got, attempt by attempt. */
import type Database from 'better-sqlite3'
import type { Stop } from '../program.ts'
import type { Receipt } from '../world/receivers.ts'
import { type Attempt, faultsOfState, isAccepted } from './endpoint_states.ts'
import { isInterrupted } from './interrupted.ts'
import { type Began, missingDeliveries } from './missing.ts'

type Endpoint = { id: string; name: string; state: string; reason: string | null; failures: number }
type Delivery = {
  id: number
  event_id: string
  state: string
  reason: string | null
  attempts: number
  next_at: number | null
}

/** How long an attempt waits for an answer, and so takes without one: of other failures it is not known, but short. */
const TIMEOUT_MS = 15_000

/**
 * What the receivers got, and when the program stopped. `began`: the endpoints that did not begin with the first event.
 * `until`: what was recorded before this instant must have a delivery, in ms.
 */
type World = {
  receipts: readonly Receipt[]
  stops: readonly Stop[]
  began: Readonly<Record<string, Began>>
  until: number
  /** The right time when the program’s clock showed another. */
  rightTime: (at: number) => number
}

/** Returns what is wrong with the deliveries of all endpoints. */
export function faultsOfDeliveries(db: Database.Database, world: World): string[] {
  const endpoints = db.prepare<[], Endpoint>('select id, name, state, reason, failures from endpoints').all()
  return [
    ...endpoints.flatMap((endpoint) =>
      faultsOfEndpoint(db, endpoint, world).map((fault) => `${endpoint.name}: ${fault}`),
    ),
    ...missingDeliveries(db, world),
  ]
}

function faultsOfEndpoint(
  db: Database.Database,
  endpoint: Endpoint,
  { receipts: all, stops, rightTime }: World,
): string[] {
  const receipts = all.filter(({ endpoint: name, isReplay }) => name === endpoint.name && !isReplay)
  const deliveries = db
    .prepare<[string], Delivery>(
      `select id, event_id, state, reason, attempts, next_at from deliveries
       where endpoint_id = ? and is_test = 0 and replay_id is null`,
    )
    .all(endpoint.id)
  const attempts = db
    .prepare<[string], Attempt>(
      `select delivery_id, number, at, status, kind,
         at + coalesce(ms, case kind when 'timeout' then ${TIMEOUT_MS} else 0 end) as ended_at
       from delivery_attempts where endpoint_id = ?`,
    )
    .all(endpoint.id)
    .map((attempt) => ({ ...attempt, ended_at: rightTime(attempt.ended_at) }))
    .sort((a, b) => a.ended_at - b.ended_at || a.delivery_id - b.delivery_id)
  const attemptsOf = Map.groupBy(attempts, ({ delivery_id }) => delivery_id)
  const receiptsOf = Map.groupBy(receipts, ({ id }) => id)
  const known = new Set(deliveries.map(({ event_id }) => event_id))
  const strangers = [...receiptsOf].filter(
    ([id, got]) => !known.has(id) && !got.every((receipt) => isInterrupted(receipt, stops)),
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

/** Whether a receiver can have got an attempt with this stored result. What a stop aborted can have been answered. */
const isOf = ({ number, status, kind }: Attempt, receipt: Receipt): boolean =>
  receipt.attempt === number && (kind === 'stopped' || receipt.status === (status ?? 0))

/** Pairs the stored attempts with what the receiver got. `unstored` has the rest of this. */
function pairsOf(attempts: readonly Attempt[], receipts: readonly Receipt[]) {
  const unstored = [...receipts]
  const pairs = attempts.map((attempt) => {
    // Those before it may have been interrupted by a stop.
    const index = unstored.findLastIndex((receipt) => isOf(attempt, receipt))
    return { attempt, receipt: index < 0 ? null : (unstored.splice(index, 1)[0] ?? null) }
  })
  return { pairs, unstored }
}

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
  const accepted = attempts.filter(isAccepted).length
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
    ...unstored.flatMap((receipt) =>
      isInterrupted(receipt, stops)
        ? []
        : [
            `request ${receipt.attempt} of ${timeOf(receipt.at)} was answered with ${receipt.status}, and is not stored (${list})`,
          ],
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
