/** The answers of `/api/v1/refunds`. */
import * as v from 'valibot'
import { NO_MRR_REASONS, REFUND_REASONS } from '../../metrics/refunds/refund_rows.ts'
import { CustomerAnswer } from '../customers/answers.ts'
import { reasonRanges } from './answers.ts'
import { converted } from './display.ts'

const amount = (words: string) => v.pipe(v.nullable(v.number()), v.description(words))
const nullableText = v.nullable(v.string())
const Refund = v.object({
  at: v.pipe(v.number(), v.description('When Apple refunded the purchase, or reversed the refund')),
  kind: v.pipe(v.picklist(['refund', 'reversal']), v.description('A reversal has negative amounts')),
  app_id: v.string(),
  app_name: v.pipe(v.string(), v.description('The name of the app, else its bundle id')),
  customer_id: nullableText,
  display_name: v.pipe(nullableText, v.description('As in `/api/v1/customers`')),
  display_name_verified: CustomerAnswer.entries.display_name_verified,
  app_user_ids: v.pipe(v.array(v.string()), v.description('The users that the purchases are linked to')),
  original_transaction_id: v.string(),
  transaction_id: v.string(),
  product_id: v.string(),
  country: v.pipe(nullableText, v.description('ISO 3166-1 alpha-3')),
  purchased_at: v.number(),
  amount_milli: amount(
    'The amount given back, in thousandths of `billed_in`; null if Apple did not send the price',
  ),
  billed_in: v.pipe(
    nullableText,
    v.description('The currency of `amount_milli`, also with `display_currency`'),
  ),
  base_milli: amount('The amount in `currency`, at the rate of the charge'),
  proceeds_milli: amount('The part after tax and commission, in `currency`'),
  mrr_milli: amount('What the refund changes in MRR, in `currency`; 0 if paid time did not end with it'),
  no_mrr_reason: v.pipe(
    v.nullable(v.picklist(NO_MRR_REASONS)),
    v.description(
      'Why the refund of a subscription changes nothing in MRR: had_ended: no paid time was left; earlier_period: the subscription goes on with a later purchase',
    ),
  ),
  reason: v.pipe(
    v.picklist(REFUND_REASONS),
    v.description(
      'The reason of the customer’s request if Apple sent one, else that of the refund: app_issue or other; not_given without either',
    ),
  ),
  revocation_type: v.pipe(nullableText, v.description('Such as REFUND_FULL or REFUND_PRORATED')),
  percentage: v.pipe(v.nullable(v.number()), v.description('The refunded part of the price in percent')),
})
const totals = {
  count: v.pipe(v.number(), v.description('Refunds less reversals')),
  reversed: v.pipe(
    v.number(),
    v.description('Reversals. Without them there are `count` + `reversed` refunds'),
  ),
  base_milli: v.number(),
  proceeds_milli: v.number(),
  mrr_milli: v.number(),
  unpriced: v.pipe(
    v.number(),
    v.description('Refunds without a known amount, which the sums do not include'),
  ),
}
/** Which days the totals lack. */
const known = {
  complete: v.pipe(v.boolean(), v.description('Whether the totals have all refunds of the range')),
  reasons: v.pipe(
    reasonRanges,
    v.description('The days on which refunds are unknown or incomplete, and why'),
  ),
}
export const RefundsAnswer = v.object({
  refunds: v.array(Refund),
  next: v.pipe(nullableText, v.description('The `cursor` of the following page; null after the last')),
  from: v.string(),
  to: v.string(),
  currency: v.pipe(v.nullable(v.string()), v.description('The currency of sums and of `…_milli`')),
  converted,
  ...known,
  totals: v.pipe(
    v.nullable(v.object(totals)),
    v.description('Of all pages, without refunds on unknown days; null if no day is known'),
  ),
  by_reason: v.array(v.object({ value: v.picklist(REFUND_REASONS), ...totals })),
  by_product: v.array(v.object({ value: v.string(), ...totals })),
})

export const TotalsAnswer = v.object({
  totals: v.array(
    v.object({ value: v.pipe(v.string(), v.description('A reason, or the id of a product')), ...totals }),
  ),
  from: v.string(),
  to: v.string(),
  currency: RefundsAnswer.entries.currency,
  converted,
  ...known,
})
