/** Removes periods without data, so that unknown is not shown as zero. */
import type { MetricAnswer, Series } from './metric_answer.ts'

/** Removes the previous period if it ended before the first day with data. */
export function withoutUnknownPrevious(answer: MetricAnswer): MetricAnswer {
  const { first_on, previous } = answer
  return previous && (first_on === null || previous.until_on < first_on)
    ? { ...answer, previous: null }
    : answer
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
