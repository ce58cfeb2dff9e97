/** Makes the bodies of events: `{type, timestamp, seq, data}`, with the state and the customer at this moment. */

import type { Attribution } from '../../attribution/attribution.ts'
import type { Erasures } from '../../attribution/erasure/erasure.ts'
import type { Clock } from '../../clock.ts'
import type { Feed, FeedEvent } from '../../events/feed.ts'
import { accessOf } from '../../ledger/access.ts'
import { subscriptionFields } from '../../ledger/snapshot.ts'
import type { SubscriptionRow } from '../../ledger/subscription.ts'
import {
  type EnrichedEvent,
  type Enrichment,
  type EventCustomer,
  FIGURES_TIMEOUT_MS,
} from '../../metrics/customers/enrichment.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Store } from '../../store/store.ts'
import { openRevenue } from './revenue.ts'
import { scrubData } from './scrubbed_body.ts'
import type { TestEvent } from './test_event.ts'

/** The size from which a body is sent without attributes, in bytes. */
const MAX_BYTES = 256_000

type Deps = {
  store: Pick<Store, 'prepare'>
  clock: Clock
  feed: Pick<Feed, 'byId'>
  enrichment: Pick<Enrichment, 'ready' | 'complete'>
  attribution: { users: Pick<Attribution['users'], 'get'> }
  erasures: Pick<Erasures, 'pendingTargets'>
  metrics: Pick<Metrics, 'settingsOf'>
}

/** `previousLost`: ids of events that follow an event of the same key that was given up. */
type BodyOptions = { previousLost?: ReadonlySet<string> }

type BodyCustomer = Omit<EventCustomer, 'users'> & {
  users: readonly (EventCustomer['users'][number] & Partial<UserAttributes>)[]
}
type UserAttributes = { attributes: Record<string, unknown>; proved_attributes: Record<string, unknown> }
/** The event with its customer. A test event has no place in the feed. */
type BodyData = Omit<EnrichedEvent, 'customer' | 'seq'> & {
  seq: number | null
  customer: BodyCustomer | null
}

export type Bodies = ReturnType<typeof openBodies>

export function openBodies({ store, clock, feed, enrichment, attribution, erasures, metrics }: Deps) {
  const { users } = attribution
  const revenue = openRevenue({ store, settingsOf: metrics.settingsOf })
  const subscriptionOf = store.prepare<[string, string, string], SubscriptionRow>(
    'select * from subscriptions where app_id = ? and environment = ? and original_transaction_id = ?',
  )

  /**
   * The bodies of events, in order, as the exact bytes to send. Waits up to one second for the figures of customers.
   * No body contains a user whose erasure has begun.
   */
  async function make(
    events: readonly FeedEvent[],
    { previousLost = new Set() }: BodyOptions = {},
  ): Promise<Buffer[]> {
    const isReady = await enrichment.ready(events, FIGURES_TIMEOUT_MS)
    // An erasure can have begun, and even ended, since the events were read.
    const stored = events.map((event) => feed.byId(event.id) ?? event)
    const targets = erasures.pendingTargets()
    return enrichment.complete(stored, isReady).map((event) => {
      const data: BodyData = { ...event, customer: withAttributes(event) }
      const additions = {
        ...statesOf(event),
        ...revenue.revenueOf(event),
        ...(previousLost.has(event.id) && { previous_lost: true }),
      }
      return serialize(event, { ...targets.reduce(scrubData, data), ...additions })
    })
  }

  /** The state after the event, and now. Both are null if the event concerns no subscription. */
  function statesOf({ app_id, environment, subject, data }: FeedEvent) {
    const row = subject === null ? undefined : subscriptionOf.get(app_id ?? '', environment ?? '', subject)
    const now = clock()
    return {
      subscription: data.subscription ?? null,
      subscription_now: row ? { ...subscriptionFields(row, now), as_of: now, ...accessOf(row, now) } : null,
    }
  }

  function withAttributes({ app_id, customer }: EnrichedEvent): BodyCustomer | null {
    return (
      customer && {
        ...customer,
        users: customer.users.map((user) => ({ ...user, ...attributesOf(app_id ?? '', user.app_user_id) })),
      }
    )
  }

  function attributesOf(app_id: string, app_user_id: string): UserAttributes {
    const { attributes = '{}', proved_attributes = '{}' } = users.get(app_id, app_user_id) ?? {}
    return { attributes: JSON.parse(attributes), proved_attributes: JSON.parse(proved_attributes) }
  }

  /** The body of a test event. */
  const makeTest = ({ event, data }: TestEvent): Buffer => serialize(event, data)

  return { make, makeTest }
}

function serialize({ type, occurred_at }: FeedEvent, data: BodyData & Record<string, unknown>): Buffer {
  const timestamp = new Date(occurred_at).toISOString()
  const bytesOf = (own: object) => Buffer.from(JSON.stringify({ type, timestamp, seq: data.seq, data: own }))
  const whole = bytesOf(data)
  if (whole.length <= MAX_BYTES) return whole
  return bytesOf({ ...data, customer: withoutAttributes(data.customer), attributes_truncated: true })
}

function withoutAttributes(customer: BodyCustomer | null): BodyCustomer | null {
  const users = customer?.users.map(({ attributes: _, proved_attributes: __, ...user }) => user)
  return customer && { ...customer, users: users ?? [] }
}
