/** Defines the figures of a digest, as they are stored and as the API returns them. */
import * as v from 'valibot'

/** Daily: about the day before. Weekly: about Monday to Sunday before. */
export const DIGEST_KINDS = ['daily', 'weekly'] as const
export type DigestKind = (typeof DIGEST_KINDS)[number]

const milli = v.pipe(v.number(), v.description('Thousandths of the currency'))
const provisional = v.pipe(v.boolean(), v.description('Whether the figure could still change'))

/** A figure beside the usual one. */
const Compared = v.object({
  value: v.pipe(
    v.nullable(v.number()),
    v.description('A count, or thousandths of the currency; null if unknown'),
  ),
  usual: v.pipe(
    v.nullable(v.number()),
    v.description(
      'Daily: the mean of the same weekday of the last four weeks. Weekly: the mean of the last four weeks. Null without one that is wholly known, and if the value is not',
    ),
  ),
  usual_of: v.pipe(v.number(), v.description('How many days or weeks the mean has')),
  is_provisional: provisional,
})
export type Compared = v.InferOutput<typeof Compared>

const Movement = v.object({ part: v.string(), title: v.string(), milli })
const Attention = v.object({
  level: v.picklist(['fault', 'warning']),
  title: v.string(),
  text: v.pipe(v.string(), v.description('What is the case and what to do')),
})

/** The figures of a digest. Levels are those at the end of the period. */
export const DigestFigures = v.object({
  from_on: v.string(),
  until_on: v.string(),
  time_zone: v.string(),
  currency: v.string(),
  read_at: v.pipe(v.number(), v.description('When the figures were read, in ms since the epoch')),
  is_behind: v.pipe(v.boolean(), v.description('Whether figures were still being computed after 30 minutes')),
  is_provisional: v.pipe(v.boolean(), v.description('Whether any figure could still change')),
  revenue: Compared,
  proceeds: Compared,
  mrr: v.object({
    milli: v.nullable(milli),
    before_milli: v.pipe(
      v.nullable(milli),
      v.description('MRR at the end of the period before; null if one of the two is not wholly known'),
    ),
    movements: v.pipe(v.array(Movement), v.description('What changed MRR; parts of 0 are absent')),
    is_provisional: provisional,
  }),
  trials: v.object({
    started: Compared,
    active: v.nullable(v.number()),
    ended: v.pipe(v.nullable(v.number()), v.description('Trials that ended in the period')),
    converted: v.pipe(v.nullable(v.number()), v.description('Those of them that became paid')),
  }),
  churn: v.object({
    ratio: v.nullable(v.number()),
    lost: v.pipe(v.nullable(v.number()), v.description('Subscriptions lost in the period')),
    of: v.pipe(v.nullable(v.number()), v.description('Active subscriptions at its start')),
  }),
  best_country: v.nullable(
    v.object({ country: v.pipe(v.string(), v.description('ISO 3166 alpha-3')), milli }),
  ),
  failed_payments: v.object({
    count: v.pipe(
      v.nullable(v.number()),
      v.description('Subscriptions in a grace period or in billing retry'),
    ),
    before: v.pipe(
      v.nullable(v.number()),
      v.description('At the end of the period before; null if one of the two is not wholly known'),
    ),
    at_risk_milli: v.nullable(milli),
  }),
  attention: v.pipe(v.array(Attention), v.description('The open faults and warnings')),
})
export type DigestFigures = v.InferOutput<typeof DigestFigures>
