/** One figure for all the days shown: of a level what stands at their end, of a flow all of it, of a ratio what they come to. */
import { figureOf, type MetricAnswer, type Point, type Series } from './metric_answer.ts'

/** What the answer is of; or the one part that was asked for. */
export function totalsOf({ series }: Pick<MetricAnswer, 'series'>): Series[] {
  const wholes = series.filter(({ part }) => part === null)
  return wholes.length > 0 ? wholes : series
}

/** How many have no price or no period is a count, of whatever it is a part. */
export const asCount = (answer: MetricAnswer): MetricAnswer =>
  answer.series.length > 0 && answer.series.every(({ part }) => part === 'unpriced' || part === 'no_period')
    ? { ...answer, unit: 'count' }
    : answer

/** Unknown ones are left out; nothing known is not zero. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

/** These are of what stood at the start of each week or month: those of several cannot be added. */
const OF_ONE = new Set(['churn_rate', 'mrr_churn_rate'])

/** `points`: those that the figure is of. */
export type Figure = { value: number | null; points: readonly Point[] }

/** The ratio of all points that are complete, or the last of them. */
function ratioOf(metric: string, points: readonly Point[]): Figure {
  const whole = points.filter(({ complete, ratio }) => complete && ratio !== null && ratio !== undefined)
  const known = whole.length > 0 ? whole : points.slice(-1)
  if (OF_ONE.has(metric) || known.length < 2) {
    const last = known.slice(-1)
    return { value: figureOf(last[0], 'ratio'), points: last }
  }
  const above = sumOf(known.map(({ numerator = null }) => numerator))
  const below = sumOf(known.map(({ denominator = null }) => denominator))
  return { value: above === null || !below ? null : above / below, points: known }
}

/** The figure of one series of an answer. */
export function figureOfAll(
  { metric, unit, kind }: Pick<MetricAnswer, 'metric' | 'unit' | 'kind'>,
  points: readonly Point[],
): Figure {
  if (unit === 'ratio') return ratioOf(metric, points)
  if (kind === 'level') {
    const last = points.slice(-1)
    return { value: figureOf(last[0], unit), points: last }
  }
  return { value: sumOf(points.map((point) => figureOf(point, unit))), points }
}
