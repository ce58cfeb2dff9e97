/** Response schemas of events. */
import * as v from 'valibot'
import { ORIGIN_DESCRIPTION } from '../access/scope.ts'
import { ORIGINS } from '../events/vocabulary.ts'
import { CustomerAnswer } from './customers/answers.ts'

const nullableText = v.nullable(v.string())
const { currency, ltv_milli, payments, mrr_milli, unconverted } = CustomerAnswer.entries
/** A user of an event's customer. */
export const EventUser = v.object({
  app_user_id: v.string(),
  verification: v.picklist(['verified', 'unverified']),
  proofs: v.array(v.picklist(['purchase', 'device', 'server'])),
})
/** The customer of an event. */
export const EventCustomer = v.object({
  id: v.pipe(v.string(), v.description('The current canonical customer id')),
  users: v.pipe(v.array(EventUser), v.description('The users that the purchases are currently linked to')),
  figures: v.pipe(
    v.nullable(v.object({ currency, ltv_milli, payments, mrr_milli, unconverted })),
    v.description('The same as in `/api/v1/customers/{id}`; null if unknown'),
  ),
  as_of: v.pipe(v.number(), v.description('When this data was read')),
  behind: v.optional(
    v.pipe(v.literal(true), v.description('Present if the figures could not be updated within one second')),
  ),
})
const milli = v.nullable(v.number())
/** What an event changes in MRR. */
const MrrEffectAnswer = v.object({
  kind: v.pipe(
    nullableText,
    v.description('The greatest movement, as in the parts of the metric `mrr_movements`; null without one'),
  ),
  at: v.pipe(v.number(), v.description('When the metrics count the change')),
  currency: v.pipe(v.string(), v.description('The reporting currency')),
  base_milli: v.pipe(
    milli,
    v.description(
      'The change of MRR in thousandths of the reporting currency; null if a price or rate is unknown, or `at` is in the future',
    ),
  ),
  before_milli: v.pipe(milli, v.description('The MRR of the subscription directly before')),
  after_milli: v.pipe(milli, v.description('The MRR of the subscription directly after')),
  movements: v.pipe(
    v.array(v.object({ kind: v.string(), currency: nullableText, milli: v.number(), base_milli: milli })),
    v.description('The movements that the change consists of, each in its currency, too'),
  ),
})
/** An event of the feed. */
export const FeedEventAnswer = v.object({
  seq: v.pipe(v.number(), v.description('The position in the feed; cursors contain it')),
  id: v.string(),
  organization_id: v.string(),
  app_id: nullableText,
  environment: nullableText,
  type: v.string(),
  origin: v.pipe(v.picklist(ORIGINS), v.description(ORIGIN_DESCRIPTION)),
  customer_id: v.pipe(nullableText, v.description('The customer id when the event was recorded')),
  subject: v.pipe(nullableText, v.description('The original transaction id that the event concerns')),
  cause: v.pipe(v.string(), v.description('Apple’s notificationUUID, or a transaction id')),
  data: v.pipe(
    v.looseObject({}),
    v.description(
      'Money, product, country, user with label and proofs, and the subscription after the event, as of its `as_of`',
    ),
  ),
  customer: v.pipe(
    v.nullable(EventCustomer),
    v.description('The customer now, not at the time of the event; null if the event concerns no customer'),
  ),
  display_name: v.pipe(
    nullableText,
    v.description(
      'The name of the customer now, as in `/api/v1/customers`; without a customer, that of the user of the event',
    ),
  ),
  display_name_verified: CustomerAnswer.entries.display_name_verified,
  mrr_effect: v.pipe(
    v.nullable(MrrEffectAnswer),
    v.description(
      'What the event changes in MRR, computed when the event is read; null for an event that cannot change MRR',
    ),
  ),
  occurred_at: v.number(),
  signed_at: v.nullable(v.number()),
  recorded_at: v.number(),
})
export const EventsAnswer = v.object({
  events: v.array(FeedEventAnswer),
  next: v.pipe(
    v.nullable(v.number()),
    v.description(
      'The value of `after` (or `before`) for the next page, which may be short; null at the start of the feed',
    ),
  ),
})
