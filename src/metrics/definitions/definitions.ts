/** Defines each metric with a series: sentence, formula, parts, views, splits and filters. */
import { BASE, BY_MOVEMENT, BY_SUBSCRIPTION, BY_TRIAL, type Definition, MONEY, term } from './definition.ts'
import { FUNNEL } from './funnel.ts'
import { STATUS_METRICS } from './status.ts'

/** The names of metrics, in the order in which lists show them. */
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
  'Transactions without a price from Apple. The sum excludes them.',
)
const NO_PERIOD = term(
  'no_period',
  'Unknown period',
  'The number whose product has an unknown period, as in the sandbox without an App Store Connect key. The sum excludes them.',
)
const LOSSES = [
  term(
    'voluntary',
    'Canceled',
    'The customer turned the renewal off, including where Apple has not sent the expiry.',
  ),
  term(
    'billing',
    'Billing failed',
    'Apple could not collect the payment, whatever reason it gives when it stops retrying after 60 days.',
  ),
  term('refund', 'Refunded', 'Apple refunded the payment and ended the subscription.'),
  term('other', 'Other', 'The subscription ended for another reason, or for one that Apple has not sent.'),
  term(
    'returned',
    'Returned',
    'Lost and paid for again within the period, as a negative share. The four causes and this part add up to the rate.',
  ),
  term(
    'passing',
    'Began and ended within',
    'Lost, but absent or worth less when the period began. Neither the rate nor another part includes it.',
  ),
] as const
const PERIODS =
  'A subscription paid for again within the period is not lost. One that began and ended within it is counted separately, so the rate never exceeds 1. Days, weeks and months are the organization’s, fiscal months Apple’s. A split assigns each loss to the subscription’s value at the start'

const MOVEMENTS = [
  term('new', 'New', 'The first paid time of a subscription.'),
  term('opening', 'First known', 'The first known paid time of a subscription that began earlier.'),
  term('resubscribe', 'Resubscribed', 'Paid again after a gap, including a gap with a free offer in it.'),
  term(
    'expansion',
    'Expansion',
    'The monthly value rose without a gap, including a return from a free offer that followed paid time.',
  ),
  term(
    'contraction',
    'Contraction',
    'The monthly value fell, or the subscription became free, without a gap.',
  ),
  term(
    'churn_voluntary',
    'Canceled',
    'Paid time ended with renewal turned off, including where Apple has not sent the expiry.',
  ),
  term(
    'churn_billing',
    'Billing failed',
    'Paid time ended because Apple could not collect the payment, whatever reason it gives when it stops retrying after 60 days.',
  ),
  term('churn_refund', 'Refunded', 'Paid time ended with a refund by Apple.'),
  term('churn_other', 'Other churn', 'Paid time ended for another or an unknown reason.'),
  term(
    'switched_out',
    'Switched currency (out)',
    'Now paid for in another currency. Only with the currency filter.',
  ),
  term(
    'switched_in',
    'Switched currency (in)',
    'Paid for in another currency before. Only with the currency filter.',
  ),
  term('fx', 'Exchange rates', 'Only the exchange rate changed the value in the base currency.'),
  term(
    'repriced',
    'Price learned',
    'An unknown price became known, or an unknown price followed a known one.',
  ),
  term(
    'not_itemised',
    'Not itemized',
    'The change of the level that no movement explains. From Apple’s reports, this is the change that single transactions do not explain; with a split or filter, the change from one value to another.',
  ),
] as const

/** Which day’s exchange rate converts money. */
const LEVEL_RATE =
  'Converted at the rate of the day on which each period began; figures from Apple’s reports at the rate of each report’s day'
const MOVED_RATE = 'Converted at the rate of the day on which each period began'
const FLOW_RATE =
  'A charge and its refunds are converted at the rate of the day of the charge. Apple’s reports do not name the charge of a refund, so their figures are converted at the rate of their own day'

/** The definitions of all metrics that have a series, by name. */
export const DEFINITIONS: Readonly<Record<MetricName, Definition>> = {
  mrr: {
    ...MONEY,
    name: 'mrr',
    title: 'MRR',
    kind: 'level',
    sentence: 'Monthly recurring revenue: the monthly value of all active paid subscriptions.',
    formula: `Σ price ÷ months of its period, over active paid segments. Introductory and other paid offers count; trials and free offers do not. A renewal that is turned off changes nothing before the end. A grace period counts until it ends or the renewal is paid. Each month of a commitment billed monthly is a period. A week is 7 ÷ 30.4375 months; with metrics.factors = "revenuecat", a quarter of a month. ${LEVEL_RATE}`,
    parts: [UNPRICED, NO_PERIOD],
  },
  arr: {
    ...MONEY,
    name: 'arr',
    title: 'ARR',
    kind: 'level',
    sentence: 'Annual recurring revenue: twelve times the MRR.',
    formula: `MRR × 12. ${LEVEL_RATE}`,
    parts: [UNPRICED, NO_PERIOD],
  },
  mrr_movements: {
    ...MONEY,
    ...BY_MOVEMENT,
    // Neither the ledger nor the reports have the proceeds of a single movement.
    bases: ['gross'],
    name: 'mrr_movements',
    title: 'MRR movements',
    kind: 'flow',
    sentence: 'How the monthly recurring revenue changed, by cause.',
    formula: `MRR at the end − MRR at the start = Σ movements by kind. ${MOVED_RATE}. The part fx is the change by the exchange rate alone; where price and rate change together, the price change counts at the new rate`,
    parts: [
      ...MOVEMENTS,
      term(
        'churned',
        'Churned',
        'In the view New vs. churned: all movements that are not new, including price changes and exchange rates. Negative where losses prevail.',
      ),
    ],
    views: [
      term('kinds', 'By kind', 'Each kind of movement separately.'),
      term(
        'two_buckets',
        'New vs. churned',
        'New, and every other movement as Churned, as RevenueCat shows it. Not itemized changes are separate.',
      ),
    ],
  },
  net_new_mrr: {
    ...MONEY,
    name: 'net_new_mrr',
    title: 'Net new MRR',
    kind: 'flow',
    sentence: 'The net change of the monthly recurring revenue.',
    formula: `MRR at the end − MRR at the start. ${LEVEL_RATE}`,
  },
  quick_ratio: {
    ...BASE,
    ...BY_MOVEMENT,
    name: 'quick_ratio',
    title: 'Quick ratio',
    unit: 'ratio',
    ratio_of: 'money',
    kind: 'flow',
    sentence: 'MRR gained for each unit of MRR lost.',
    formula: `(new + resubscribe + expansion) ÷ (contraction + churn). ${MOVED_RATE}`,
  },
  churn_rate: {
    ...BASE,
    ...BY_SUBSCRIPTION,
    name: 'churn_rate',
    title: 'Churn rate',
    unit: 'ratio',
    ratio_of: 'count',
    kind: 'flow',
    sentence: 'The share of the paid subscriptions active at the start that was lost.',
    formula: `paid subscriptions active at the start of the period and lost by its end ÷ paid subscriptions active at its start. ${PERIODS}`,
    parts: LOSSES,
  },
  mrr_churn_rate: {
    ...BASE,
    ...BY_SUBSCRIPTION,
    name: 'mrr_churn_rate',
    title: 'MRR churn rate',
    unit: 'ratio',
    ratio_of: 'money',
    kind: 'flow',
    sentence: 'The share of the monthly recurring revenue at the start that was lost.',
    formula: `MRR at the start of the period that was lost by its end ÷ MRR at its start. Each lost subscription counts at its value at the start or at the loss, whichever is less. ${MOVED_RATE}. ${PERIODS}`,
    parts: LOSSES,
  },
  active_subscriptions: {
    ...BASE,
    ...BY_SUBSCRIPTION,
    name: 'active_subscriptions',
    title: 'Active subscriptions',
    unit: 'count',
    kind: 'level',
    sentence: 'The number of active paid subscriptions. One customer can have several.',
    formula: 'count of active paid segments',
  },
  active_trials: {
    ...BASE,
    ...BY_TRIAL,
    name: 'active_trials',
    title: 'Active trials',
    unit: 'count',
    kind: 'level',
    sentence: 'The number of free trials in progress.',
    formula: 'count of active trial segments (free introductory offers)',
  },
  new_trials: {
    ...BASE,
    ...BY_TRIAL,
    name: 'new_trials',
    title: 'New trials',
    unit: 'count',
    kind: 'flow',
    sentence: 'The number of free trials that began.',
    formula: 'count of trial segments that began',
  },
  trial_conversion: {
    ...BASE,
    ...BY_TRIAL,
    name: 'trial_conversion',
    title: 'Trial conversion',
    unit: 'ratio',
    ratio_of: 'count',
    kind: 'flow',
    sentence: 'The share of free trials that became paid without a gap.',
    formula:
      'ended: trials that ended and were paid for ÷ trials that ended. cohort: trials that began and were paid for ÷ trials that began; converted + pending + lost = began. A trial whose payment is refunded later stays converted',
    parts: [
      term('converted', 'Converted', 'Trials that began and became paid without a gap.'),
      term('pending', 'Pending', 'Trials that began and have not ended.'),
      term('lost', 'Lost', 'Trials that began and ended without a payment.'),
    ],
    views: [
      term('ended', 'By end', 'Trials that ended in the period.'),
      term('cohort', 'By start', 'Trials that began in the period.'),
    ],
  },
  revenue: {
    ...MONEY,
    name: 'revenue',
    title: 'Revenue',
    kind: 'flow',
    sentence: 'Charges less refunds.',
    formula: `Σ charged − Σ refunded (price × the share that Apple names) + Σ refunds reversed − Σ returned at upgrades (price × unused time ÷ whole time, at most what refunds leave of the price: an estimate, on the day of the upgrade whatever refunds says). ${FLOW_RATE}`,
    parts: [
      term('new', 'New', 'The first charge of a subscription.'),
      term('renewal', 'Renewals', 'Later charges of a subscription.'),
      term('one_time', 'One-time', 'Purchases that do not renew.'),
      term('refunds', 'Refunds', 'Amounts that Apple refunded, as negative numbers.'),
      term('refund_reversed', 'Refunds reversed', 'Refunds that Apple took back, on that day.'),
      term(
        'proration',
        'Upgrades',
        'The estimated unused part of subscriptions upgraded from, as a negative number.',
      ),
      UNPRICED,
    ],
    has_refund_days: true,
  },
  refund_rate: {
    ...BASE,
    ...BY_SUBSCRIPTION,
    name: 'refund_rate',
    title: 'Refund rate',
    unit: 'ratio',
    ratio_of: 'count',
    kind: 'flow',
    sentence: 'The share of the transactions paid in the period that was refunded at any time.',
    formula: 'refunded transactions ÷ paid transactions, both on the day of the purchase',
  },
  ...FUNNEL,
  ...STATUS_METRICS,
}
