/** Groups of metrics, in an order that fills two columns evenly with the cohorts at the end. */

export type Group<One> = { title: string; metrics: One[] }

const GROUPS: [string, string[]][] = [
  ['Recurring revenue', ['mrr', 'arr', 'mrr_movements', 'net_new_mrr', 'quick_ratio', 'mrr_at_risk']],
  ['Subscriptions', ['active_subscriptions', 'status', 'churn_rate', 'mrr_churn_rate', 'first_payments']],
  ['Revenue', ['revenue', 'refund_rate']],
  ['Trials and downloads', ['new_trials', 'active_trials', 'trial_conversion', 'downloads']],
]
const LAST_GROUP = 3

/** Groups metrics. A metric without a group goes into the last one. */
export function groupsOf<One extends { name: string }>(metrics: readonly One[]): Group<One>[] {
  const known = new Set(GROUPS.flatMap(([, names]) => names))
  return GROUPS.map(([title, names], index) => ({
    title,
    metrics: [
      ...names.flatMap((name) => metrics.find((one) => one.name === name) ?? []),
      ...(index === LAST_GROUP ? metrics.filter(({ name }) => !known.has(name)) : []),
    ],
  }))
}
