/** Describes endpoints and deliveries as the API answers them. */
import type { InferOutput } from 'valibot'
import type { Feed, FeedEvent } from '../../events/feed.ts'
import type { AttemptRow } from '../../forwarding/deliveries/log.ts'
import { type Endpoint, unreadableLists } from '../../forwarding/endpoints/endpoints.ts'
import { missingTypes } from '../../forwarding/endpoints/matching.ts'
import type { Forwarding } from '../../forwarding/forwarding.ts'
import { headersOf } from '../../forwarding/sending/requests.ts'
import { type Customers, type DisplayName, NO_NAME } from '../../metrics/customers/customers.ts'
import type { DeliveriesAnswer, DeliveryAnswer, EndpointAnswer } from './answers.ts'

type DeliverySummary = InferOutput<typeof DeliveriesAnswer>['deliveries'][number]
/** A row of the log. */
type Delivery = NonNullable<ReturnType<Forwarding['log']['delivery']>>

/** What the event of a delivery is about. */
type Subject = Pick<DeliverySummary, 'customer_id' | 'app_user_ids' | 'product_id'> & DisplayName

const MASKED = '•••'

/** Describes endpoints. */
export function openDescriptions({ log, secretDates }: Pick<Forwarding, 'log' | 'secretDates'>) {
  /** An endpoint with its health, without its secrets. */
  function endpoint(described: Endpoint): InferOutput<typeof EndpointAnswer> {
    const { id, organization_id, name, kind, url, environment, source, created_at } = described
    const { state, reason, state_since, apps, types, header_names } = described
    return {
      id,
      organization_id,
      name,
      kind,
      url,
      apps: apps && [...apps],
      environment,
      types: types && [...types],
      missing_types: [...missingTypes(described)],
      ordered: described.is_ordered,
      max_per_second: described.max_per_second,
      header_names: [...header_names],
      unreadable: unreadableLists(described) ?? [],
      source,
      state,
      reason,
      state_since,
      secrets: secretDates(described),
      health: log.healthOf(described),
      created_at,
    }
  }

  return { endpoint }
}

type Deps = {
  forwarding: Pick<Forwarding, 'log'>
  feed: Pick<Feed, 'byId'>
  customers: Pick<Customers, 'figuresOf' | 'displayNameOf'>
}

/** Describes deliveries. */
export function openDeliveryDescriptions({ forwarding: { log }, feed, customers }: Deps) {
  function eventOf(row: Delivery): FeedEvent | null {
    const id = log.eventIdOf(row)
    return id === null ? null : feed.byId(id)
  }

  /** What some deliveries are about. Customers are read at once. */
  function subjectsOf(rows: readonly Delivery[]): Subject[] {
    const events = rows.map(eventOf)
    const found = customers.figuresOf(events.flatMap((event) => event?.customer_id ?? []))
    return events.map((event) => {
      const { id = null, users = [] } = found.get(event?.customer_id ?? '') ?? {}
      const app_user_ids = users.map(({ app_user_id }) => app_user_id)
      const product_id = event?.data.product_id
      return {
        customer_id: id,
        ...(event?.app_id ? customers.displayNameOf(event.app_id, users) : NO_NAME),
        app_user_ids,
        product_id: typeof product_id === 'string' ? product_id : null,
      }
    })
  }

  /** The deliveries of a list. */
  function summaries(rows: readonly Delivery[]): DeliverySummary[] {
    const subjects = subjectsOf(rows)
    return rows.map((row, at) => summaryOf(row, subjects[at] ?? NO_SUBJECT, log.lastAttempt(row.id)))
  }

  /** A delivery with its body and attempts. `withHeaders`: also the request headers, for the owner. */
  function delivery(row: Delivery, withHeaders: boolean): InferOutput<typeof DeliveryAnswer> {
    const attempts = log.attemptsOf(row.id)
    const last = attempts.at(-1)
    const target = log.endpoint(row.endpoint_id)
    const request_headers = withHeaders && target && last && maskedHeaders(target, row, last)
    const [subject = NO_SUBJECT] = subjectsOf([row])
    return {
      ...summaryOf(row, subject, last ?? null),
      endpoint_name: target?.name ?? '',
      body: log.body(row.id)?.toString() ?? null,
      body_sha256: row.body_sha256?.toString('hex') ?? null,
      ...(request_headers && { request_headers }),
      attempt_log: attempts.map(attemptOf),
    }
  }

  return { summaries, delivery }
}

const NO_SUBJECT: Subject = { customer_id: null, ...NO_NAME, app_user_ids: [], product_id: null }

function summaryOf(row: Delivery, subject: Subject, last: AttemptRow | null): DeliverySummary {
  const { id, endpoint_id, replay_id, event_id, seq, type, app_id, environment } = row
  const { state, reason, loss, attempts, next_at, body_bytes, occurred_at, created_at, finished_at } = row
  return {
    id,
    endpoint_id,
    replay_id,
    event_id,
    seq,
    type,
    app_id,
    environment,
    ...subject,
    is_test: row.is_test === 1,
    is_remade: row.is_remade === 1,
    state,
    reason,
    loss,
    attempts,
    next_at,
    body_bytes,
    occurred_at,
    created_at,
    finished_at,
    last_attempt: last && resultOf(last),
  }
}

const resultOf = ({ at, ms, kind, status, words }: AttemptRow) => ({ at, ms, kind, status, words })

function attemptOf(attempt: AttemptRow): InferOutput<typeof DeliveryAnswer>['attempt_log'][number] {
  const { number, address, excerpt, clock_ms, is_probe } = attempt
  return { number, ...resultOf(attempt), address, excerpt, clock_ms, is_probe: is_probe === 1 }
}

/** The headers of an attempt, made again. Signatures and the owner’s values are masked. */
function maskedHeaders(
  { kind, header_names }: Endpoint,
  { event_id, replay_id }: Delivery,
  { at, number }: AttemptRow,
): Record<string, string> {
  const delivery = { event_id, attempts: number - 1, replay_id }
  const ownHeaders = Object.fromEntries(header_names.map((name) => [name, MASKED]))
  const headers = headersOf({ kind, delivery, body: Buffer.alloc(0), secrets: [], ownHeaders, now: at })
  const mask = ([name, value]: [string, string]) => [
    name,
    /^(webhook|windfall)-signature$/.test(name) ? `v1,${MASKED}` : value,
  ]
  return Object.fromEntries(Object.entries(headers).map(mask))
}
