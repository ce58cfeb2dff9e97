/** Events to test an endpoint with, made from the documented example of their type. They are never in the feed. */
import type { FeedEvent } from '../../events/feed.ts'
import type { EventType } from '../../events/vocabulary.ts'
import { newId } from '../../ids.ts'
import type { EventCustomer } from '../../metrics/customers/enrichment.ts'
import examples from './examples.json' with { type: 'json' }

/** A body, parsed. `timestamp`: ISO 8601 with milliseconds. */
type ExampleBody = {
  type: string
  timestamp: string
  seq: number
  data: FeedEvent & { customer: EventCustomer | null }
}

/** The documented example body of an event type. */
export const exampleOf = (type: EventType): ExampleBody =>
  (examples as unknown as Record<EventType, ExampleBody>)[type]

/** A test event of a type at `now` (milliseconds). Make its body with `isTest`, which then has no `seq`. */
export function testEvent(
  type: EventType,
  { organization_id, app_id, now }: { organization_id: string; app_id: string | null; now: number },
): FeedEvent {
  const { origin, customer_id, subject, cause, signed_at, data } = exampleOf(type).data
  return {
    seq: 0,
    id: newId('evt_test'),
    organization_id,
    app_id,
    environment: 'sandbox',
    type,
    origin,
    customer_id,
    subject,
    cause,
    data,
    occurred_at: now,
    signed_at: signed_at === null ? null : now,
    recorded_at: now,
  }
}

/** The `data` of the body of a test event. */
export function testBody(event: FeedEvent) {
  const { data } = exampleOf(event.type as EventType)
  // Nobody pays outside production.
  const revenue = 'revenue_milli' in data && { revenue_milli: 0 }
  return { ...data, ...event, ...revenue, seq: null, test: true }
}
