/** Response schemas of customers and users. */
import * as v from 'valibot'
import { STATUSES } from '../../metrics/customers/customer_summary.ts'
import { behind } from '../metrics/answers.ts'
import { converted } from '../metrics/display.ts'

const nullableInstant = v.nullable(v.number())
const nullableText = v.nullable(v.string())
const money = (description: string) => v.pipe(v.number(), v.description(description))

export const CustomerAnswer = v.object({
  id: v.pipe(v.string(), v.description('The canonical customer id')),
  app_id: v.string(),
  environment: v.picklist(['production', 'sandbox']),
  status: v.pipe(v.nullable(v.picklist(STATUSES)), v.description('null if the customer never subscribed')),
  product_id: nullableText,
  country: nullableText,
  currency: v.pipe(
    nullableText,
    v.description('The currency of all amounts, which are in thousandths of it'),
  ),
  converted,
  ltv_milli: money('Charged minus refunded minus prorated'),
  charged_milli: v.number(),
  refunded_milli: v.number(),
  prorated_milli: money('The unused part that Apple refunds at an upgrade; an estimate'),
  proceeds_milli: v.pipe(
    v.nullable(v.number()),
    v.description(
      'What is left of the charges after tax, commission and refunds; null if it is known for no charge',
    ),
  ),
  proceeds_estimated: v.pipe(v.number(), v.description('The number of charges whose proceeds are estimated')),
  unconverted: v.pipe(
    v.nullable(v.record(v.string(), v.number())),
    v.description('Amounts without an exchange rate, by currency; not included in the sums'),
  ),
  payments: v.number(),
  unpriced: v.pipe(v.number(), v.description('Payments whose price Apple has not reported')),
  months_paid: v.pipe(v.number(), v.description('Paid time, in months')),
  mrr_milli: v.number(),
  risk_milli: money('Monthly value of subscriptions that will not renew or are in billing retry'),
  next_renewal_at: nullableInstant,
  ends_at: v.pipe(
    nullableInstant,
    v.description(
      'The earliest end of a subscription that will not renew or is in a grace period. A commitment ends after its last month. null if no subscription is ending',
    ),
  ),
  first_paid_at: nullableInstant,
  last_paid_at: nullableInstant,
  last_seen_at: v.pipe(v.number(), v.description('The last payment or change that Apple reported')),
  original_transaction_ids: v.array(v.string()),
  display_name: v.pipe(
    nullableText,
    v.description(
      'The attribute `users.name_attribute` of the first user who has it, the proved value first, without characters that hide or reorder text',
    ),
  ),
  display_name_verified: v.pipe(
    v.nullable(v.boolean()),
    v.description(
      'true if the name came with a secret key or from an attested device, and the user who has it is verified. With a publishable key, anybody can give a customer a name. null without a name',
    ),
  ),
  email: v.pipe(nullableText, v.description('In the same way, the attribute `email`')),
  app_user_ids: v.array(v.string()),
  verified_app_user_ids: v.pipe(v.array(v.string()), v.description('The verified ids among app_user_ids')),
})

const ORDER_LOOKUPS = ['found', 'not_found', 'no_key', 'not_production'] as const
/** Whether Apple knows an order id. */
export type OrderLookup = (typeof ORDER_LOOKUPS)[number]

export const CustomersAnswer = v.object({
  customers: v.array(CustomerAnswer),
  next: v.pipe(nullableText, v.description('The value of `cursor` for the next page; null on the last page')),
  order_lookup: v.pipe(
    v.nullable(v.picklist(ORDER_LOOKUPS)),
    v.description(
      'If the query can be an order id and nothing else was found, whether Apple knows it: found, not_found, no_key (no app has an In-App Purchase key), or not_production (orders are looked up in production only); else null',
    ),
  ),
  behind,
})

const verification = v.picklist(['verified', 'unverified'])
const proofs = v.array(v.picklist(['purchase', 'device', 'server']))
const credential = v.pipe(
  v.picklist(['publishable', 'secret', 'device', 'none', 'owner']),
  v.description('What the call was proved with; owner: the owner undid a move'),
)
const why = v.pipe(v.string(), v.description('Why the link has this label, in one sentence'))

const LinkAnswer = v.object({
  id: v.pipe(v.string(), v.description('The id of the link: `lnk_…`')),
  store: v.picklist(['apple', 'google']),
  transaction_id: v.string(),
  platform: v.pipe(
    nullableText,
    v.description(
      'The platform that the last call reported. null if no call reported a platform; `store` is then derived from the transaction id',
    ),
  ),
  app_user_id: v.string(),
  proved_app_user_id: nullableText,
  verification,
  proofs,
  credential,
  why,
  handed_over: v.pipe(
    v.boolean(),
    v.description(
      'An anonymous id proved the purchase and a named user has claimed it since; probably the same person, but not proved',
    ),
  ),
  product_id: nullableText,
  unattested: nullableText,
  created_at: v.number(),
  updated_at: v.number(),
})
const UserAnswer = v.looseObject({
  app_id: v.string(),
  app_user_id: v.string(),
  platform: v.optional(nullableText),
  os_version: v.optional(nullableText),
  device_model: v.optional(nullableText),
  locale: v.optional(nullableText),
  attributes: v.optional(
    v.pipe(
      v.record(v.string(), v.unknown()),
      v.description('For each attribute, the value from the last call, proved or not'),
    ),
  ),
  proved_attributes: v.optional(
    v.pipe(
      v.record(v.string(), v.unknown()),
      v.description(
        'For each attribute, the value from the last call with a secret key or from an attested device. Searches and filters prefer this value',
      ),
    ),
  ),
  proved_at: v.optional(
    v.pipe(nullableInstant, v.description('When the last proved call was received; null if there was none')),
  ),
  verification: v.optional(verification),
  unattested: v.optional(nullableText),
  why: v.optional(why),
})
const MoveAnswer = v.object({
  id: v.pipe(v.string(), v.description('The id for undoing the move: `mov_…`')),
  transaction_id: v.string(),
  from_app_user_id: v.pipe(nullableText, v.description('null if the user was erased')),
  to_app_user_id: nullableText,
  from_proved_app_user_id: nullableText,
  to_proved_app_user_id: nullableText,
  from_proofs: proofs,
  to_proofs: proofs,
  from_credential: credential,
  to_credential: credential,
  from_verification: v.nullable(verification),
  to_verification: v.nullable(verification),
  why: v.nullable(why),
  moved_at: v.number(),
  can_undo: v.pipe(
    v.boolean(),
    v.description('true if this is the last change of the link and it moved the purchase'),
  ),
})
const MovesAnswer = v.pipe(v.array(MoveAnswer), v.description('Every change of the links, newest first'))

const nullableNumber = v.nullable(v.number())
const amountTakenBack = {
  at: v.number(),
  milli: nullableNumber,
  base_milli: nullableNumber,
  proceeds_base_milli: v.pipe(
    nullableNumber,
    v.description('The part of the charge’s proceeds that it takes back'),
  ),
}
const TransactionAnswer = v.object({
  transaction_id: v.string(),
  original_transaction_id: v.string(),
  product_id: v.string(),
  kind: nullableText,
  reason: nullableText,
  ownership: nullableText,
  quantity: nullableNumber,
  country: nullableText,
  purchased_at: v.number(),
  expires_at: nullableInstant,
  revoked_at: nullableInstant,
  is_upgraded: v.boolean(),
  offer_type: nullableNumber,
  offer_id: nullableText,
  offer_discount: nullableText,
  offer_period: nullableText,
  app_account_token: nullableText,
  price_milli: nullableNumber,
  currency: nullableText,
  base_milli: v.pipe(
    nullableNumber,
    v.description('The price in the customer’s currency; null without a rate'),
  ),
  refunded: v.pipe(
    v.nullable(v.object({ ...amountTakenBack, reason: v.string() })),
    v.description('What Apple refunded, and why'),
  ),
  prorated: v.pipe(
    v.nullable(v.object(amountTakenBack)),
    v.description('What Apple took back of an upgraded period'),
  ),
  proceeds: v.pipe(
    v.nullable(
      v.object({
        base_milli: v.number(),
        charged_base_milli: v.pipe(v.number(), v.description('Before refunds')),
        basis: v.picklist(['exact', 'ratio', 'estimated']),
      }),
    ),
    v.description('What is left after tax, commission and refunds'),
  ),
})
export const TransactionsAnswer = v.object({ transactions: v.array(TransactionAnswer) })
export const LinksAnswer = v.object({ links: v.array(LinkAnswer) })

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
    v.description('Each purchase with its current state and its timeline'),
  ),
  transactions: v.pipe(
    v.array(TransactionAnswer),
    v.description('Newest first; base_milli is in the customer’s currency'),
  ),
  proceeds: v.pipe(
    v.nullable(v.object({ base_milli: v.number(), transactions: v.number(), estimated: v.number() })),
    v.description(
      'What is left of the charges after tax, commission and refunds; the number of charges, and for how many of them the proceeds are estimated',
    ),
  ),
  users: v.array(UserAnswer),
  links: v.array(LinkAnswer),
  link_history: MovesAnswer,
  events: v.pipe(
    v.array(v.looseObject({ seq: v.number() })),
    v.description('The newest events, newest first'),
  ),
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
