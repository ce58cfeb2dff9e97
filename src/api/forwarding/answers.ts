/** The answers of the routes of webhooks: endpoints, deliveries and replays. */
import * as v from 'valibot'
import { CustomerAnswer } from '../customers/answers.ts'

const nullableText = v.nullable(v.string())
const nullableTime = v.nullable(v.number())
const count = v.number()
const described = <Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.pipe(schema, v.description(text))

const Kind = v.picklist(['events', 'apple'])
const State = v.picklist(['active', 'failing', 'paused', 'disabled'])
const Reason = v.nullable(
  v.picklist(['no_success', 'five_days', 'owner', 'gone_410', 'secret_unreadable', 'config_removed']),
)
export const DeliveryState = v.picklist(['waiting', 'delivered', 'failed', 'dropped', 'skipped'])

const EndpointHealth = v.object({
  attempts: described(count, 'Attempts within the last seven days, without test events'),
  succeeded: described(count, 'How many of them succeeded'),
  is_unsteady: described(
    v.boolean(),
    'It is active, but fewer than 90 % of at least ten attempts since then, and within seven days, succeeded',
  ),
  last_success_at: nullableTime,
  last_failure_at: nullableTime,
  last_failure_words: described(
    nullableText,
    'What the last failed attempt met, as sentences; null unless the endpoint is failing, or is paused or disabled because of failures',
  ),
  waiting: described(count, 'Deliveries and events that wait, at most 10,000 are counted'),
  is_waiting_capped: described(v.boolean(), 'More than 10,000 wait'),
  oldest_waiting_at: described(nullableTime, 'When the oldest of them was recorded'),
  next_attempt_at: described(nullableTime, 'The next attempt'),
  hold_until_at: described(
    nullableTime,
    'Until when the receiver asked to wait, with `retry-after` of 429 or 503; null if it did not, or once the time has come',
  ),
  lost: described(
    count,
    'Deliveries that were given up, and neither sent again by a replay nor dismissed since',
  ),
  first_lost_at: described(nullableTime, 'When the first of them was given up'),
  last_lost_at: described(nullableTime, 'When the last of them was given up'),
})

/** An endpoint, without its secrets. */
export const EndpointAnswer = v.object({
  id: v.string(),
  organization_id: v.string(),
  name: v.string(),
  kind: described(
    Kind,
    'events: Windfall’s events in the form of Standard Webhooks. apple: Apple’s notifications as they came',
  ),
  url: v.string(),
  apps: described(v.nullable(v.array(v.string())), 'App ids; null is all apps, now and later'),
  environment: described(nullableText, 'production or sandbox; null is both'),
  types: described(v.nullable(v.array(v.string())), 'Event types; null is the default types'),
  missing_types: described(
    v.array(v.string()),
    'Default types that this endpoint does not receive, because an earlier version added it. A change with `types: null` adds them',
  ),
  ordered: v.boolean(),
  max_per_second: described(v.nullable(count), 'The most requests in a second; null is no limit'),
  header_names: described(
    v.array(v.string()),
    'The names of the owner’s headers; their values are not shown',
  ),
  unreadable: described(
    v.array(v.string()),
    'The lists of these, such as `types`, that cannot be read in the database and are empty here. Nothing is sent until a change sets them again',
  ),
  source: described(v.string(), 'dashboard, command line or config.toml'),
  state: State,
  reason: Reason,
  state_since: v.number(),
  secrets: described(
    v.array(v.object({ created_at: nullableTime, expires_at: nullableTime })),
    'The secrets that sign now, newest first; their text is not shown',
  ),
  health: EndpointHealth,
  created_at: v.number(),
})
export const EndpointsAnswer = v.object({
  endpoints: v.array(EndpointAnswer),
  held: described(
    v.nullable(v.object({ reason: v.picklist(['restored', 'copied']), at: v.number() })),
    'Why nothing is sent after a restore or a copy; null if requests are sent',
  ),
})
export const CreatedEndpointAnswer = v.object({
  endpoint: EndpointAnswer,
  secret: described(v.string(), 'The signing secret; shown only in this response'),
})

const DeliverySummary = {
  id: count,
  endpoint_id: v.string(),
  replay_id: nullableText,
  event_id: described(v.string(), 'The webhook-id: the same on every attempt'),
  seq: described(
    v.nullable(count),
    'The seq of the event; null for a test event and for Apple’s notifications',
  ),
  type: v.string(),
  app_id: nullableText,
  environment: nullableText,
  customer_id: described(nullableText, 'The customer now; null if the event concerns none'),
  display_name: described(nullableText, 'The name of the customer, as in `/api/v1/customers`'),
  display_name_verified: CustomerAnswer.entries.display_name_verified,
  app_user_ids: described(v.array(v.string()), 'The users that the purchases are currently linked to'),
  product_id: described(nullableText, 'The product of the event'),
  is_test: v.boolean(),
  is_remade: described(
    v.boolean(),
    'The body was made again, because the first one was no longer stored: of a replay, or of an old refused delivery',
  ),
  state: DeliveryState,
  reason: described(nullableText, 'Why it was dropped, skipped or given up'),
  loss: described(
    v.nullable(v.picklist(['open', 'queued', 'dismissed'])),
    'For a delivery that was given up: open, queued while a replay sends it again, or dismissed. null for all others, and once a later delivery of the event was finished',
  ),
  attempts: count,
  next_at: described(
    nullableTime,
    'When the next attempt is due; null while it waits for another or is finished',
  ),
  body_bytes: v.nullable(count),
  occurred_at: v.number(),
  created_at: v.number(),
  finished_at: nullableTime,
}
const LastAttempt = v.object({
  at: v.number(),
  ms: v.nullable(count),
  kind: described(
    v.string(),
    'delivered, rejected (a status other than 2xx), aborted (the same, with `webhook-delivery: abort-message`), or why there was no answer: address, dns, refused, closed, timeout, tls, …',
  ),
  status: v.nullable(count),
  words: described(v.string(), 'The result as a sentence'),
})
export const DeliveriesAnswer = v.object({
  deliveries: v.array(v.object({ ...DeliverySummary, last_attempt: v.nullable(LastAttempt) })),
  next: described(v.nullable(count), 'The value of `before` for the next page; null on the last page'),
})
const AttemptAnswer = v.object({
  number: count,
  ...LastAttempt.entries,
  address: described(nullableText, 'The IP address that answered'),
  excerpt: described(nullableText, 'The beginning of the response body, at most 2,048 bytes'),
  clock_ms: described(
    v.nullable(count),
    'How far the receiver’s clock is ahead of this server, by its Date header',
  ),
  is_probe: v.boolean(),
})
/** One delivery. */
export const DeliveryAnswer = v.object({
  ...DeliverySummary,
  last_attempt: v.nullable(LastAttempt),
  endpoint_name: v.string(),
  body: described(
    nullableText,
    'The body as sent; null before the first attempt, seven days after success, and of refused deliveries but the newest 1,000',
  ),
  body_sha256: nullableText,
  request_headers: v.optional(
    described(
      v.record(v.string(), v.string()),
      'The headers of the last attempt. Signatures, and the values of the owner’s headers, are masked. Absent before the first attempt and for read tokens',
    ),
  ),
  attempt_log: v.array(AttemptAnswer),
})

export const ReplayAnswer = v.object({
  id: v.string(),
  endpoint_id: v.string(),
  state: v.picklist(['running', 'done', 'stopped']),
  progress: described(v.number(), 'The part of the range that became deliveries, from 0 to 1'),
  made: described(count, 'Deliveries made so far'),
  delivered: count,
  failed: count,
  waiting: count,
  created_at: v.number(),
  finished_at: nullableTime,
})
export const ReplaysAnswer = v.object({ replays: v.array(ReplayAnswer) })
export const ReplayPreview = v.object({
  matching: described(count, 'Matching events, at most 100,000 are counted'),
  is_capped: v.boolean(),
  first_at: described(nullableTime, 'When the first one occurred'),
  last_at: nullableTime,
})
