/** What of a series a reader with a limit on metrics gets. */
import { assertWithin, type MetricLimit } from '../../access/metric_limit.ts'
import type { Definition } from '../definitions/definition.ts'
import { DEFINITIONS, type MetricName } from '../definitions/definitions.ts'
import type { Figure } from './formula_lines.ts'
import type { Series } from './points.ts'

/** @throws Refusal 403 `metric_not_shared`. */
export function readableDefinition(limit: MetricLimit, name: MetricName): Definition {
  assertWithin(limit, name)
  return DEFINITIONS[name]
}

/** Without the counts beside amounts if metrics are limited: that of MRR is another metric, active subscriptions. */
export const readableSeries = (limit: MetricLimit, series: Series[]): Series[] =>
  limit === null ? series : series.map(withoutCounts)

const withoutCounts = ({ points, range, ...series }: Series): Series => ({
  ...series,
  range: { ...withoutCount(range), clipped: range.clipped.map(withoutCount) },
  points: points.map(withoutCount),
})

/** A figure that is a count keeps it. */
function withoutCount<One extends Figure>(figure: One): One {
  if (figure.milli === undefined) return figure
  const { count: _, ...rest } = figure
  return rest as One
}
