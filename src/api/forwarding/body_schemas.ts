/** The schemas of webhook bodies, one for each event type. */
import * as v from 'valibot'
import type { EventType } from '../../events/vocabulary.ts'
import { EventCustomer, EventUser, FeedEventAnswer } from '../event_answers.ts'

const text = v.string()
const nullableText = v.nullable(text)
const instant = (description: string) => v.pipe(v.number(), v.description(`${description}; milliseconds`))
const present = (description: string) => v.optional(v.pipe(v.literal(true), v.description(description)))
const milli = (description: string) => v.pipe(v.number(), v.description(`${description}, in thousandths`))

const Money = v.object({
  price_milli: milli('The price of the transaction'),
  refunded_milli: v.optional(milli('What Apple refunded')),
  currency: nullableText,
})

const Transaction = v.object({
  transaction_id: text,
  kind: v.optional(text),
  reason: v.optional(text),
  ownership: v.optional(text),
  quantity: v.optional(v.pipe(v.number(), v.description('Absent for one'))),
  purchased_at: instant('When the period or the purchase began'),
  expires_at: v.optional(instant('When the period ends')),
  revoked_at: v.optional(instant('When Apple refunded or revoked it')),
  offer_type: v.optional(v.number()),
  offer_id: v.optional(text),
  offer_discount: v.optional(text),
  offer_period: v.optional(text),
  app_account_token: v.optional(text),
})

const Notification = v.pipe(
  v.looseObject({ type: text, subtype: v.optional(text), problem: v.optional(text) }),
  v.description('Apple’s type and subtype, and the fields that only this type has'),
)

const Subscription = v.object({
  state: v.picklist(['trial', 'active', 'grace', 'retry', 'expired', 'revoked']),
  product_id: text,
  auto_renew: v.optional(v.boolean()),
  started_at: instant('When the customer first subscribed'),
  expires_at: v.optional(instant('When the period ends')),
  grace_until_at: v.optional(instant('When the grace period ends')),
  next_product_id: v.optional(v.pipe(text, v.description('Present if the next period has another product'))),
  renewal_price_milli: v.optional(milli('The price of the next period')),
  currency: v.optional(text),
  expiration_intent: v.optional(v.pipe(v.number(), v.description('Apple’s reason for the end'))),
  as_of: instant('The time whose state this is'),
})

const SubscriptionNow = v.object({
  ...Subscription.entries,
  has_access: v.pipe(v.boolean(), v.description('Grant access by this field')),
  access_until: v.nullable(instant('When access ends or ended; null if unknown')),
})

const LinkedUser = v.pipe(
  v.object({
    app_user_id: v.pipe(nullableText, v.description('null if the user was erased')),
    proved_app_user_id: v.optional(nullableText),
    verification: v.picklist(['verified', 'unverified']),
    proofs: v.optional(EventUser.entries.proofs),
    unattested: v.optional(
      v.pipe(
        text,
        v.description(
          'Why the last call of an unverified user was not attested, as its SDK states it: `pending`, `unsupported`, `simulator` or `enroll-failed`',
        ),
      ),
    ),
  }),
  v.description('The user at the time of the event'),
)

const attributes = (description: string) =>
  v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description(description)))
const Customer = v.object({
  ...EventCustomer.entries,
  users: v.array(
    v.object({
      ...EventUser.entries,
      attributes: attributes('For each attribute, the value from the last call, proved or not'),
      proved_attributes: attributes('For each attribute, the value from the last proved call'),
    }),
  ),
})

/** The schemas that many bodies contain, by the names that they have in the OpenAPI document. */
export const BODY_PARTS = {
  WebhookMoney: Money,
  WebhookTransaction: Transaction,
  WebhookNotification: Notification,
  WebhookSubscription: Subscription,
  WebhookSubscriptionNow: SubscriptionNow,
  WebhookUser: LinkedUser,
  WebhookCustomer: Customer,
}

const user = v.nullable(LinkedUser)
const OfApp = { bundle_id: text }
const OfTransaction = {
  ...OfApp,
  product_id: nullableText,
  country: nullableText,
  money: v.pipe(v.nullable(Money), v.description('null if Apple did not report the price')),
  transaction: Transaction,
  subscription: v.nullable(Subscription),
  user,
}
/** The snapshot of an event that a notification causes. It may contain no transaction. */
const OfNotification = v.object({
  ...v.partial(v.object(OfTransaction)).entries,
  ...OfApp,
  notification: Notification,
})
const OfLink = { ...OfApp, user, product_id: nullableText, store: v.picklist(['apple', 'google']) }
const Gap = v.object({
  ...OfApp,
  gap_id: text,
  first_signed_at: instant('When Apple signed the first missing notification'),
  last_signed_at: instant('When Apple signed the last one'),
  notifications: v.pipe(v.number(), v.description('How many were missing, or were fetched')),
})
const Reports = v.object({
  ...v.entriesFromList(
    ['read', 'revised', 'unchanged', 'empty', 'not_yet', 'missing', 'failed', 'rows'],
    v.number(),
  ),
  first_day: nullableText,
  last_day: nullableText,
})
const OfEndpoint = { endpoint: v.object({ id: text, name: nullableText }) }
const Endpoint = v.object({ ...OfEndpoint, reason: text })
const Recovery = v.object({ ...OfEndpoint, failing_since: instant('When the endpoint began to fail') })
const Losses = v.object({
  ...OfEndpoint,
  count: v.pipe(v.number(), v.description('How many deliveries were given up')),
  first_event_id: v.pipe(v.string(), v.description('The `webhook-id` of the first of them')),
  last_event_id: v.pipe(v.string(), v.description('The `webhook-id` of the last of them')),
  reason: v.pipe(v.string(), v.description('Why the last of them was given up')),
})

/** The snapshots of the types that no notification causes. */
const SNAPSHOTS: Partial<Record<EventType, v.GenericSchema>> = {
  'transaction.recorded': v.object(OfTransaction),
  'trial.converted': v.object(OfTransaction),
  'customer.identified': v.object({ ...OfApp, user, platform: nullableText }),
  'customer.linked': v.object(OfLink),
  'customer.moved': v.object({ ...OfLink, from_app_user_id: nullableText }),
  'customer.merged': v.object({ ...OfApp, merged_customer_id: text, user }),
  'import.finished': Reports,
  'gap.found': Gap,
  'gap.filled': Gap,
  'endpoint.paused': Endpoint,
  'endpoint.disabled': Endpoint,
  'endpoint.recovered': Recovery,
  'delivery.failed': Losses,
}

const REVENUE = {
  revenue_milli: v.nullable(
    milli(
      'What Apple notified with this event: the price, negative for a refund, otherwise 0. The sum over all events is the revenue. null if the price is unknown',
    ),
  ),
  currency: nullableText,
  proceeds: v.pipe(
    v.nullable(
      v.object({
        milli: milli('Its part after tax and Apple’s commission, in the currency of the figures'),
        currency: text,
        basis: v.pipe(
          v.nullable(v.picklist(['exact', 'ratio', 'estimated'])),
          v.description(
            'exact: from a report of the day of the charge. ratio: from a report of another day. estimated: from another price of the product, or the configured commission. null without revenue',
          ),
        ),
      }),
    ),
    v.description('The proceeds of the revenue. null if the price or the rate is unknown'),
  ),
}

/** The schema of the bodies of an event type. */
export function bodySchemaOf(type: EventType): v.GenericSchema {
  const seq = v.pipe(v.nullable(v.number()), v.description('The position in the feed; null for a test event'))
  const snapshot: v.GenericSchema = SNAPSHOTS[type] ?? OfNotification
  const revenue: v.ObjectEntries = type === 'transaction.recorded' ? {} : REVENUE
  const { mrr_effect: _, display_name: __, display_name_verified: ___, ...event } = FeedEventAnswer.entries
  const data = v.object({
    ...event,
    seq,
    type: v.literal(type),
    data: snapshot,
    customer: v.nullable(Customer),
    subscription: v.pipe(v.nullable(Subscription), v.description('The state after the event')),
    subscription_now: v.pipe(
      v.nullable(SubscriptionNow),
      v.description('The state when the body was made. null if the event concerns no subscription'),
    ),
    ...revenue,
    previous_lost: present('An earlier event of the same key was given up'),
    attributes_truncated: present('The body exceeded 256 kB, so attributes are left out'),
    test: present('A test event'),
  })
  const timestamp = v.pipe(v.string(), v.isoTimestamp(), v.description('When the event occurred'))
  return v.object({ type: v.literal(type), timestamp, seq, data })
}
