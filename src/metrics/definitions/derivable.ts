/** Which figures follow from others, so that a share link that shows some metrics discloses more than these. */
import { COHORT_METRICS, type CohortMetric } from '../cohorts/descriptions.ts'
import { DEFINITIONS, METRIC_NAMES, type MetricName } from './definitions.ts'

/** A metric that a share link can show. */
export type SharedMetric = MetricName | CohortMetric

/** The names of the metrics that a share link can show, in the order in which lists show them. */
export const SHARED_METRICS = [
  ...METRIC_NAMES,
  ...(Object.keys(COHORT_METRICS) as CohortMetric[]),
] as const satisfies readonly SharedMetric[]

/** `gives`: the name of the metric; null for a figure that is not a metric. `formula`: how it follows from `from`. */
export type Derivation = {
  gives: SharedMetric | null
  title: string
  from: readonly SharedMetric[]
  formula: string
}

const titleOf = (name: SharedMetric): string =>
  name in COHORT_METRICS ? COHORT_METRICS[name as CohortMetric].title : DEFINITIONS[name as MetricName].title

const derivation = (gives: SharedMetric, from: readonly SharedMetric[], formula: string): Derivation => ({
  gives,
  title: titleOf(gives),
  from,
  formula,
})

/**
 * Every derivation that is exact. The answer for a ratio has its numerator and denominator, and without them six decimal
 * places would give away small ones.
 */
export const DERIVATIONS: readonly Derivation[] = [
  derivation('arr', ['mrr'], 'MRR × 12'),
  derivation('mrr', ['arr'], 'ARR ÷ 12'),
  derivation('net_new_mrr', ['mrr'], 'MRR at the end − MRR at the start'),
  derivation('mrr', ['net_new_mrr'], 'the sum since the first day'),
  derivation('net_new_mrr', ['mrr_movements'], 'the sum of the movements'),
  derivation('quick_ratio', ['mrr_movements'], 'the gains ÷ the losses'),
  derivation('mrr', ['mrr_churn_rate'], 'the denominator is the MRR at the start'),
  derivation('active_subscriptions', ['churn_rate'], 'the denominator is the number at the start'),
  derivation('active_subscriptions', ['status'], 'all statuses but billing retry'),
  derivation('new_trials', ['trial_conversion'], 'the denominator by start'),
  derivation('active_trials', ['trial_conversion'], 'the pending trials of all days'),
  derivation(
    'trial_conversion',
    ['new_trials', 'active_trials', 'first_payments'],
    'first payments after a trial ÷ (new trials − the change of active trials)',
  ),
  derivation('new_trials', ['download_to_trial'], 'the numerator'),
  derivation('downloads', ['download_to_trial'], 'the denominator'),
  derivation('first_payments', ['download_to_paid'], 'the numerator'),
  derivation('downloads', ['download_to_paid'], 'the denominator'),
  derivation('download_to_trial', ['new_trials', 'downloads'], 'new trials ÷ downloads'),
  derivation('download_to_paid', ['first_payments', 'downloads'], 'first payments ÷ downloads'),
  derivation('revenue', ['arppu'], 'the numerator, by day'),
  derivation('first_payments', ['retention'], 'the size of the cohorts, by day'),
  derivation('revenue', ['ltv'], 'the daily growth of all cohorts'),
  {
    gives: null,
    title: 'MRR per subscription',
    from: ['mrr', 'active_subscriptions'],
    formula: 'MRR ÷ active subscriptions',
  },
]

/**
 * The figures that follow from these metrics and that they do not contain, in the order in which they follow: `from` may
 * name figures that precede.
 */
export function derivableFrom(shared: readonly SharedMetric[]): Derivation[] {
  const known = new Set<SharedMetric>(shared)
  const found: Derivation[] = []
  for (let size = -1; size !== found.length; ) {
    size = found.length
    for (const one of DERIVATIONS) {
      const isKnown = one.gives === null ? found.includes(one) : known.has(one.gives)
      if (isKnown || !one.from.every((name) => known.has(name))) continue
      if (one.gives !== null) known.add(one.gives)
      found.push(one)
    }
  }
  return found
}
