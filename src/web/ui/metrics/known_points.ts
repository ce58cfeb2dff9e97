/** Removes periods without data, so that unknown is not shown as zero, and finds what a level is compared with. */
import type { Comparison } from '../scope.ts'
import { plusDays } from '../words.ts'
import type { MetricAnswer, Series } from './metric_answer.ts'

/** Removes the previous period if it ended before the first day with data. */
export function withoutUnknownPrevious(answer: MetricAnswer): MetricAnswer {
  const { first_on, previous } = answer
  return previous && (first_on === null || previous.until_on < first_on)
    ? { ...answer, previous: null }
    : answer
}

/**
 * Compares a level with its first value in the range, as the chart shows it, unless a comparison is chosen. Other answers
 * stay as they are.
 */
export function comparedWithStart(answer: MetricAnswer, chosen: Comparison): MetricAnswer {
  const { kind, unit, series } = answer
  const [first, second] = series[0]?.points ?? []
  if (chosen !== 'none' || kind !== 'level' || unit === 'ratio' || !first || !second) return answer
  const starts = series.map((one) => ({ ...one, points: one.points.slice(0, 1) }))
  return { ...answer, previous: { from_on: first.on, until_on: plusDays(second.on, -1), series: starts } }
}

/** Removes points before the first day with data. Returns the answer unchanged if there is no data. */
export function knownOnly(answer: MetricAnswer): MetricAnswer {
  const { first_on, series } = answer
  const points = series[0]?.points ?? []
  if (first_on === null || points.length === 0) return answer
  const first = Math.max(
    0,
    points.findLastIndex(({ on }) => on <= first_on),
  )
  if (first === 0) return answer
  const cut = (one: Series): Series => ({ ...one, points: one.points.slice(first) })
  return { ...answer, from_on: points[first]?.on ?? answer.from_on, series: series.map(cut) }
}
