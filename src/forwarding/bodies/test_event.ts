/** Events to test an endpoint with, made from the documented example of their type. They are never in the feed. */
import { Refusal } from '../../errors.ts'
import type { FeedEvent } from '../../events/feed.ts'
import type { EventType } from '../../events/vocabulary.ts'
import { newId } from '../../ids.ts'
import type { EventCustomer } from '../../metrics/customers/enrichment.ts'
import examples from './examples.json' with { type: 'json' }
import type { OwnThings } from './own_things.ts'
import type { Revenue } from './revenue.ts'

/** A body, parsed. `timestamp`: ISO 8601 with milliseconds. */
type ExampleBody = {
  type: string
  timestamp: string
  seq: number
  data: FeedEvent & { customer: EventCustomer | null } & Partial<Pick<Revenue, 'proceeds'>>
}

/** `app_user_id`: the user that the event is about; null is the user of the example. `now` is in milliseconds. */
type TestOptions = { organization_id: string; own: OwnThings; app_user_id: string | null; now: number }

/** A test event, and the `data` of its body. */
export type TestEvent = { event: FeedEvent; data: FeedEvent & Pick<ExampleBody['data'], 'customer'> }

/** The documented example body of an event type. */
export const exampleOf = (type: EventType): ExampleBody =>
  (examples as unknown as Record<EventType, ExampleBody>)[type]

/** The kind of product that the example of a type is about. */
export function productKindOf(type: EventType): string {
  const { transaction } = exampleOf(type).data.data as { transaction?: { kind: string } }
  return transaction?.kind ?? 'Auto-Renewable Subscription'
}

/**
 * A test event of a type: its example as if it were recorded now, with an own app and product as far as there are any.
 *
 * @throws Refusal 400 `invalid_request` if a user is given for an event that concerns none
 */
export function testEvent(type: EventType, options: TestOptions): TestEvent {
  const { own, now } = options
  const example = exampleOf(type).data
  const adapted = adapt(example, '', { shift: now - example.recorded_at, texts: textsOf(type, options) })
  const event: FeedEvent = {
    ...(adapted as FeedEvent),
    id: newId('evt_test'),
    app_id: example.app_id === null ? null : (own.app?.id ?? null),
    environment: 'sandbox',
    seq: 0,
  }
  // Nobody pays outside production.
  const revenue = 'revenue_milli' in example && { revenue_milli: 0, proceeds: withoutMoney(example) }
  const data = { ...(adapted as TestEvent['data']), ...event, ...revenue, seq: null, test: true }
  return { event, data: data as unknown as TestEvent['data'] }
}

const withoutMoney = ({ proceeds }: ExampleBody['data']) => proceeds && { ...proceeds, milli: 0 }

/** What replaces the names of the example. */
function textsOf(
  type: EventType,
  { organization_id, own, app_user_id }: TestOptions,
): ReadonlyMap<string, string> {
  const { data, customer, ...example } = exampleOf(type).data
  const { bundle_id, product_id, user, subscription } = data as ExampleData
  const product_ids = [product_id, subscription?.next_product_id].filter((id) => id !== undefined)
  const userId = user?.app_user_id ?? customer?.users[0]?.app_user_id
  if (app_user_id !== null && userId === undefined)
    throw new Refusal(400, 'invalid_request', `${type} concerns no user; leave out the user`)
  const pairs = [
    [example.organization_id, organization_id],
    [example.app_id, own.app?.id],
    [bundle_id, own.app?.bundle_id],
    ...product_ids.map((id, index) => [id, own.product_ids[index]]),
    [userId, app_user_id],
  ]
  return new Map(
    pairs.filter((pair): pair is [string, string] => pair.every((text) => typeof text === 'string')),
  )
}
type ExampleData = {
  bundle_id?: string
  product_id?: string
  user?: { app_user_id: string } | null
  subscription?: { next_product_id?: string } | null
}

const INSTANT_NAME = /(_at|_since|^as_of|^access_until)$/
const DAY_NAME = /_day$/

/** `shift`: the milliseconds that are added to instants. `texts`: what replaces other texts and parts between slashes. */
type Adaptation = { shift: number; texts: ReadonlyMap<string, string> }

/** A value of an example, of the field `name`, with other dates and names. */
function adapt(value: unknown, name: string, adaptation: Adaptation): unknown {
  const { shift, texts } = adaptation
  if (Array.isArray(value)) return value.map((one) => adapt(one, name, adaptation))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, adapt(one, key, adaptation)]))
  if (typeof value === 'number') return INSTANT_NAME.test(name) ? value + shift : value
  if (typeof value !== 'string') return value
  if (DAY_NAME.test(name)) return new Date(Date.parse(value) + shift).toISOString().slice(0, 10)
  return value
    .split('/')
    .map((part) => texts.get(part) ?? part)
    .join('/')
}
