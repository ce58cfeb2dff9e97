/** Response schemas of `/api/v1/cohorts`. */
import * as v from 'valibot'
import { behind, month_length, reasonRanges } from './answers.ts'
import { converted } from './display.ts'

const ratio = v.pipe(
  v.nullable(v.number()),
  v.description('Six decimal places; null if the denominator is 0'),
)
const complete = v.pipe(v.boolean(), v.description('true if nothing can change the figure any more'))
const not_converted = v.optional(
  v.pipe(
    v.array(v.object({ currency: v.string(), milli: v.number() })),
    v.description(
      'Charges less refunds without an exchange rate, or their proceeds, by currency, not included in the amounts; absent if there are none',
    ),
  ),
)
const money = {
  charged_milli: v.number(),
  refunded_milli: v.number(),
  prorated_milli: v.number(),
  net_milli: v.number(),
}

const RetentionAnswer = v.object({
  cohort: v.pipe(v.string(), v.description('The first day of the cohort')),
  period: v.pipe(v.string(), v.description('The first paid subscription period, an ISO 8601 duration')),
  size: v.number(),
  renewals: v.array(v.object({ k: v.number(), due: v.number(), held: v.number(), share: ratio, complete })),
})
const LtvAnswer = v.object({
  cohort: v.string(),
  customers: v.number(),
  values: v.array(
    v.object({
      days: v.number(),
      ...money,
      per_customer_milli: v.pipe(
        v.nullable(v.number()),
        v.description('null if no charge could be converted'),
      ),
      complete,
      not_converted,
    }),
  ),
})
const ArppuAnswer = v.object({
  cohort: v.string(),
  payers: v.number(),
  ...money,
  per_payer_milli: v.nullable(v.number()),
  complete,
  not_converted,
})
const RecoveryAnswer = v.object({
  cohort: v.string(),
  failed: v.number(),
  recovered: v.number(),
  lost: v.number(),
  pending: v.number(),
  recovery_rate: ratio,
  days_to_recover: ratio,
  complete,
})

export const CohortsAnswer = v.object({
  metric: v.picklist(['retention', 'ltv', 'arppu', 'recovery']),
  title: v.string(),
  sentence: v.string(),
  formula: v.string(),
  by: v.string(),
  from: v.string(),
  to: v.string(),
  time_zone: v.string(),
  currency: v.pipe(
    v.nullable(v.string()),
    v.description('The currency of all amounts, which are in thousandths of it'),
  ),
  converted,
  basis: v.picklist(['gross', 'proceeds']),
  month_length,
  proceeds_known: v.pipe(
    v.nullable(v.object({ exact: v.number(), ratio: v.number(), estimated: v.number() })),
    v.description(
      'For proceeds: how much is known from a report of the same day (exact), derived from a report of another day (ratio), or estimated',
    ),
  ),
  behind,
  reasons: v.pipe(
    reasonRanges,
    v.description(
      'The days on which not every app was observed. A cohort of which nothing was observed is absent, and others are not complete. After an upgrade, the days whose proceeds are not recomputed yet',
    ),
  ),
  cohorts: v.array(v.union([RetentionAnswer, LtvAnswer, ArppuAnswer, RecoveryAnswer])),
})
