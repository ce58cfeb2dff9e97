/** What we compute: the shapes in which customers and users are told. */
import * as v from 'valibot'
import { STATUSES } from '../../metrics/customers/customer_summary.ts'
import { behind } from '../metrics/answers.ts'

const at = v.nullable(v.number())
const words = v.nullable(v.string())
const money = (description: string) => v.pipe(v.number(), v.description(description))

export const CustomerAnswer = v.object({
  id: v.pipe(v.string(), v.description('Its canonical id')),
  app_id: v.string(),
  environment: v.picklist(['production', 'sandbox']),
  status: v.pipe(v.nullable(v.picklist(STATUSES)), v.description('null: never subscribed')),
  product_id: words,
  country: words,
  currency: v.pipe(words, v.description('Of all amounts here; thousandths of it')),
  ltv_milli: money('charged less refunded less prorated'),
  charged_milli: v.number(),
  refunded_milli: v.number(),
  prorated_milli: money('The unused part that Apple gives back at an upgrade; an estimate'),
  proceeds_milli: v.pipe(
    v.nullable(v.number()),
    v.description(
      'What stays of the charges after tax, commission and what was given back; null where that is known of none',
    ),
  ),
  proceeds_estimated: v.pipe(v.number(), v.description('Of how many charges that is an estimate')),
  unconverted: v.pipe(
    v.nullable(v.record(v.string(), v.number())),
    v.description('By currency, what no exchange rate was known for; outside the sums'),
  ),
  payments: v.number(),
  unpriced: v.pipe(v.number(), v.description('Of the payments, those whose price Apple has not told')),
  months_paid: v.pipe(v.number(), v.description('How long was paid for, in months')),
  mrr_milli: v.number(),
  risk_milli: money('The monthly value of what will not renew, or waits for a payment'),
  next_renewal_at: at,
  ends_at: v.pipe(
    at,
    v.description(
      'When what will not renew, or waits in a grace period, ends first; of a commitment its end, not that of a month. null: nothing does',
    ),
  ),
  first_paid_at: at,
  last_paid_at: at,
  last_seen_at: v.pipe(v.number(), v.description('The last payment, or change that Apple told of')),
  original_transaction_ids: v.array(v.string()),
  app_user_ids: v.array(v.string()),
  verified_app_user_ids: v.pipe(v.array(v.string()), v.description('Those of them that are proved')),
})

export const CustomersAnswer = v.object({
  customers: v.array(CustomerAnswer),
  next: v.pipe(words, v.description('`cursor` of the next page; null after the last')),
  behind,
})

const verification = v.picklist(['verified', 'unverified'])
const proofs = v.array(v.picklist(['purchase', 'device', 'server']))
const credential = v.pipe(
  v.picklist(['publishable', 'secret', 'device', 'none', 'owner']),
  v.description('What came with the call; owner: a person undid a move'),
)
const why = v.pipe(v.string(), v.description('In a sentence, why it has that label'))

const LinkAnswer = v.object({
  id: v.number(),
  store: v.picklist(['apple', 'google']),
  transaction_id: v.string(),
  platform: v.pipe(
    words,
    v.description('What a call last said of itself; null: none did, the store is concluded from the id'),
  ),
  app_user_id: v.string(),
  proved_app_user_id: words,
  verification,
  proofs,
  credential,
  why,
  handed_over: v.pipe(
    v.boolean(),
    v.description(
      'The id of an anonymous install proved the purchase, and a named user claims it since; probably, not provably, one person',
    ),
  ),
  product_id: words,
  unattested: words,
  created_at: v.number(),
  updated_at: v.number(),
})
const UserAnswer = v.looseObject({
  app_id: v.string(),
  app_user_id: v.string(),
  platform: v.optional(words),
  os_version: v.optional(words),
  device_model: v.optional(words),
  locale: v.optional(words),
  attributes: v.optional(
    v.pipe(
      v.record(v.string(), v.unknown()),
      v.description('What the last call said of each, proved or not'),
    ),
  ),
  proved_attributes: v.optional(
    v.pipe(
      v.record(v.string(), v.unknown()),
      v.description(
        'What the last call with a secret key or from an attested device said of each; searches and filters use it where there is one',
      ),
    ),
  ),
  proved_at: v.optional(
    v.pipe(at, v.description('When the last proved call came; null: the user was only ever claimed')),
  ),
  verification: v.optional(verification),
  unattested: v.optional(words),
  why: v.optional(why),
})
const MoveAnswer = v.object({
  id: v.pipe(v.number(), v.description('By which it is undone')),
  transaction_id: v.string(),
  from_app_user_id: v.pipe(words, v.description('null: somebody who was forgotten')),
  to_app_user_id: words,
  from_proved_app_user_id: words,
  to_proved_app_user_id: words,
  from_proofs: proofs,
  to_proofs: proofs,
  from_credential: credential,
  to_credential: credential,
  from_verification: v.nullable(verification),
  to_verification: v.nullable(verification),
  why: v.nullable(why),
  moved_at: v.number(),
  can_undo: v.pipe(v.boolean(), v.description('It moved the purchase, and nothing came after it')),
})
const MovesAnswer = v.pipe(v.array(MoveAnswer), v.description('Every change of the links, newest first'))

export const ProfileAnswer = v.object({
  customer: CustomerAnswer,
  behind,
  lineages: v.pipe(
    v.array(
      v.looseObject({
        id: v.string(),
        original_transaction_id: v.string(),
        subscription: v.nullable(v.looseObject({ state: v.string() })),
        timeline: v.array(v.looseObject({ from: v.number(), to: v.number(), kind: v.string() })),
      }),
    ),
    v.description('Each purchase with what came of it: its state now and its timeline'),
  ),
  transactions: v.pipe(
    v.array(
      v.looseObject({
        transaction_id: v.string(),
        price_milli: v.nullable(v.number()),
        currency: words,
        base_milli: v.nullable(v.number()),
      }),
    ),
    v.description('Newest first; base_milli is in the currency of the customer'),
  ),
  proceeds: v.pipe(
    v.nullable(v.object({ base_milli: v.number(), transactions: v.number(), estimated: v.number() })),
    v.description(
      'What stays of the charges after tax, commission and what was given back; of how many, and of how many estimated',
    ),
  ),
  users: v.array(UserAnswer),
  links: v.array(LinkAnswer),
  link_history: MovesAnswer,
  events: v.pipe(v.array(v.looseObject({ seq: v.number() })), v.description('The newest, newest first')),
})

export const UsersAnswer = v.object({
  users: v.array(
    v.looseObject({
      ...UserAnswer.entries,
      links: v.array(LinkAnswer),
      link_history: MovesAnswer,
      customers: v.array(CustomerAnswer),
    }),
  ),
})
