/** What empty cards say: that there are no subscriptions, or that none of them churned. */
import { sumOf } from '../metrics/figures.ts'
import type { MetricAnswer } from '../metrics/metric_answer.ts'

export const NO_SUBSCRIPTIONS = 'No subscriptions yet'

/** The number of subscriptions now, from the metric `status`; null while it is unknown. */
export const subscriptionsNow = (status: Pick<MetricAnswer, 'series'> | undefined): number | null =>
  sumOf((status?.series ?? []).map(({ points }) => points.at(-1)?.count ?? null))

/** The text of the churn card without churn. */
export const noChurnText = ({ series }: Pick<MetricAnswer, 'series'>): string =>
  series.some(({ points }) => points.some(({ denominator }) => (denominator ?? 0) > 0))
    ? 'No churn in the last year.'
    : `${NO_SUBSCRIPTIONS}.`
