/** What we compute: what every metric means, in words and as a formula, and by what it can be split and filtered. */
import { BY_MOVEMENT, BY_SUBSCRIPTION, BY_TRIAL, type Definition, MONEY, PLAIN, term } from './definition.ts'
import { FUNNEL } from './funnel.ts'
import { STATUS_METRICS } from './status.ts'

/** In the order in which they are told. */
export const METRIC_NAMES = [
  'mrr',
  'arr',
  'mrr_movements',
  'net_new_mrr',
  'quick_ratio',
  'churn_rate',
  'mrr_churn_rate',
  'active_subscriptions',
  'active_trials',
  'new_trials',
  'trial_conversion',
  'revenue',
  'refund_rate',
  'downloads',
  'first_payments',
  'download_to_trial',
  'download_to_paid',
  'status',
  'mrr_at_risk',
] as const
export type MetricName = (typeof METRIC_NAMES)[number]

const UNPRICED = term(
  'unpriced',
  'Unknown price',
  'How many cost something that Apple has not told; they are outside the sum.',
)
const NO_PERIOD = term(
  'no_period',
  'Unknown period',
  'How many are of a product whose period is unknown, as in the sandbox without an App Store Connect key; they are outside the sum.',
)
const LOSSES = [
  term(
    'voluntary',
    'Cancelled',
    'The customer turned the renewal off, also where Apple has not told the end.',
  ),
  term(
    'billing',
    'Billing failed',
    'Apple could not collect, whatever reason it names when it gives up 60 days later.',
  ),
  term('refund', 'Refunded', 'Apple gave the money back and ended it.'),
  term('other', 'Other', 'It ended for another reason, or for one that Apple has not told.'),
  term(
    'returned',
    'Came back',
    'Of those, the ones that were paid for again within the period; below zero. With the four it adds up to the rate.',
  ),
  term(
    'passing',
    'Began and ended within',
    'Lost, and not there when the period began, or worth less then. Beside the rate, in no other part of it.',
  ),
] as const
const PERIODS =
  'A loss that was paid for again within the period is none, and what began and ended within it is told beside it: never more than 1. Days, weeks and months are the organization’s, fiscal months Apple’s. A split has each loss where the subscription was at the start'

const MOVEMENTS = [
  term('new', 'New', 'The first paid time of a subscription.'),
  term('opening', 'First known', 'The first paid time that is known of a subscription that began earlier.'),
  term('resubscribe', 'Resubscribed', 'Paid again after a gap, also where a free offer came in between.'),
  term(
    'expansion',
    'Expansion',
    'Worth more a month than before, without a gap; also back from a free offer that followed paid time.',
  ),
  term('contraction', 'Contraction', 'Worth less a month than before, or free, without a gap.'),
  term(
    'churn_voluntary',
    'Cancelled',
    'Paid time ended and the renewal was turned off, also where Apple has not told the end.',
  ),
  term(
    'churn_billing',
    'Billing failed',
    'Paid time ended because Apple could not collect, whatever reason it names when it gives up 60 days later.',
  ),
  term('churn_refund', 'Refunded', 'Paid time ended because Apple gave the money back.'),
  term('churn_other', 'Ended otherwise', 'Paid time ended for another reason, or an unknown one.'),
  term(
    'switched_out',
    'Currency left',
    'Now paid for in another currency; only where one currency is asked for.',
  ),
  term('switched_in', 'Currency joined', 'Paid for in another before; only where one currency is asked for.'),
  term('fx', 'Exchange rates', 'The rate alone changed what it is worth in the base currency.'),
  term(
    'repriced',
    'Price learned',
    'An unknown price became known, or a known one was followed by an unknown.',
  ),
  term(
    'not_itemised',
    'Not itemised',
    'What the level changed by beyond the movements: where it is from Apple’s reports, all that single transactions do not explain; with a split or filter, what moved from one value to another.',
  ),
] as const

/** At the rate of which day money is converted. */
const LEVEL_RATE =
  'Converted at the rate of the day on which each period began; what is read from Apple’s reports at the rate of each day'
const MOVED_RATE = 'Converted at the rate of the day on which each period began'
const FLOW_RATE =
  'A charge is converted at the rate of its day, and so is what is given back of it, whenever that is; Apple’s reports name no charge, so that what they tell is converted at the rate of its own day, and so is what is given back where proceeds are asked for'

/** Every metric that has a series. */
export const DEFINITIONS: Readonly<Record<MetricName, Definition>> = {
  mrr: {
    ...MONEY,
    name: 'mrr',
    title: 'MRR',
    kind: 'level',
    sentence: 'Monthly recurring revenue: what the paid subscriptions alive are worth in a month.',
    formula: `Σ price ÷ months of its period, over paid segments alive (introductory and other offers that cost money count, trials and free offers do not; a renewal turned off changes nothing until the end; a grace period counts until it ends, or the renewal is paid for). A month of a commitment billed monthly is its own period. A week is 7 of 30.4375 days; with metrics.factors = "revenuecat" a quarter of a month. ${LEVEL_RATE}`,
    parts: [UNPRICED, NO_PERIOD],
  },
  arr: {
    ...MONEY,
    name: 'arr',
    title: 'ARR',
    kind: 'level',
    sentence: 'Annual recurring revenue: the monthly one, twelve times.',
    formula: `MRR × 12. ${LEVEL_RATE}`,
    parts: [UNPRICED, NO_PERIOD],
  },
  mrr_movements: {
    ...MONEY,
    ...BY_MOVEMENT,
    // What is left of a single movement nobody tells.
    bases: ['gross'],
    name: 'mrr_movements',
    title: 'MRR movements',
    kind: 'flow',
    sentence: 'By what the monthly recurring revenue changed, and why.',
    formula: `MRR at the end − MRR at the start = Σ movements by kind. ${MOVED_RATE}; fx is what the rate alone changed, and where price and rate change together the price counts at the new rate`,
    parts: [
      ...MOVEMENTS,
      term(
        'churned',
        'Churned',
        'In two buckets: all movements that are not new, price changes and exchange rates too; below zero where more was lost.',
      ),
    ],
    views: [
      term('kinds', 'By kind', 'Every kind of movement by itself.'),
      term(
        'two_buckets',
        'Two buckets',
        'New, and every other movement as Churned, as RevenueCat shows it; what is not itemised apart.',
      ),
    ],
  },
  net_new_mrr: {
    ...MONEY,
    name: 'net_new_mrr',
    title: 'Net new MRR',
    kind: 'flow',
    sentence: 'By how much the monthly recurring revenue grew or shrank.',
    formula: `MRR at the end − MRR at the start. ${LEVEL_RATE}`,
  },
  quick_ratio: {
    ...PLAIN,
    ...BY_MOVEMENT,
    name: 'quick_ratio',
    title: 'Quick ratio',
    unit: 'ratio',
    ratio_of: 'money',
    kind: 'flow',
    sentence: 'How many times over what was lost was won.',
    formula: `(new + resubscribe + expansion) ÷ (contraction + churn). ${MOVED_RATE}`,
  },
  churn_rate: {
    ...PLAIN,
    ...BY_SUBSCRIPTION,
    name: 'churn_rate',
    title: 'Churn rate',
    unit: 'ratio',
    ratio_of: 'count',
    kind: 'flow',
    sentence: 'The share of paid subscriptions alive at the start that was lost.',
    formula: `paid subscriptions alive at the start of the period and lost by its end ÷ paid subscriptions alive at its start. ${PERIODS}`,
    parts: LOSSES,
  },
  mrr_churn_rate: {
    ...PLAIN,
    ...BY_SUBSCRIPTION,
    name: 'mrr_churn_rate',
    title: 'MRR churn rate',
    unit: 'ratio',
    ratio_of: 'money',
    kind: 'flow',
    sentence: 'The share of the monthly recurring revenue at the start that was lost.',
    formula: `MRR at the start of the period that was lost by its end ÷ MRR at its start; of each subscription what it was worth at the start, or when it was lost where that is less. ${MOVED_RATE}. ${PERIODS}`,
    parts: LOSSES,
  },
  active_subscriptions: {
    ...PLAIN,
    ...BY_SUBSCRIPTION,
    name: 'active_subscriptions',
    title: 'Active subscriptions',
    unit: 'count',
    kind: 'level',
    sentence: 'How many subscriptions are paid for; one customer may have several.',
    formula: 'count of paid segments alive',
  },
  active_trials: {
    ...PLAIN,
    ...BY_TRIAL,
    name: 'active_trials',
    title: 'Active trials',
    unit: 'count',
    kind: 'level',
    sentence: 'How many free trials are under way.',
    formula: 'count of trial segments alive (free introductory offers)',
  },
  new_trials: {
    ...PLAIN,
    ...BY_TRIAL,
    name: 'new_trials',
    title: 'New trials',
    unit: 'count',
    kind: 'flow',
    sentence: 'How many free trials began.',
    formula: 'count of trial segments that began',
  },
  trial_conversion: {
    ...PLAIN,
    ...BY_TRIAL,
    name: 'trial_conversion',
    title: 'Trial conversion',
    unit: 'ratio',
    ratio_of: 'count',
    kind: 'flow',
    sentence: 'The share of free trials that was followed by paid time without a gap.',
    formula:
      'ended: trials that ended and were paid for ÷ trials that ended. cohort: trials that began and were paid for ÷ trials that began; converted + pending + lost = began. One that was paid for and refunded later stays converted',
    parts: [
      term('converted', 'Converted', 'Of those that began, followed by paid time without a gap.'),
      term('pending', 'Pending', 'Of those that began, not over yet.'),
      term('lost', 'Lost', 'Of those that began, over and not paid for.'),
    ],
    views: [
      term('ended', 'By end', 'Of the trials that ended in the period.'),
      term('cohort', 'By beginning', 'Of the trials that began in the period.'),
    ],
  },
  revenue: {
    ...MONEY,
    name: 'revenue',
    title: 'Revenue',
    kind: 'flow',
    sentence: 'What customers were charged, less what they were given back.',
    formula: `Σ charged − Σ refunded (price × the share that Apple names) − Σ given back at upgrades (price × unused time ÷ whole time: an estimate, on the day of the upgrade wherever refunds count). ${FLOW_RATE}`,
    parts: [
      term('new', 'New', 'The first charge of a subscription.'),
      term('renewal', 'Renewals', 'Every later charge of a subscription.'),
      term('one_time', 'One-time', 'Purchases that do not renew.'),
      term('refunds', 'Refunds', 'Given back by Apple; below zero.'),
      term('proration', 'Upgrades', 'The unused part of what was upgraded from; an estimate, below zero.'),
      UNPRICED,
    ],
    has_refund_days: true,
  },
  refund_rate: {
    ...PLAIN,
    ...BY_SUBSCRIPTION,
    name: 'refund_rate',
    title: 'Refund rate',
    unit: 'ratio',
    ratio_of: 'count',
    kind: 'flow',
    sentence: 'The share of the transactions paid for in the period that was refunded, whenever that was.',
    formula: 'refunded transactions ÷ paid transactions, both on the day of the purchase',
  },
  ...FUNNEL,
  ...STATUS_METRICS,
}
