/** What is not known is not shown as nothing. */
import type { MetricAnswer, Series } from './metric_answer.ts'

/** The answer without a time before that was over before anything is known: nothing is new against it. */
export function withoutUnknownPrevious(answer: MetricAnswer): MetricAnswer {
  const { first_on, previous } = answer
  return previous && (first_on === null || previous.until_on < first_on)
    ? { ...answer, previous: null }
    : answer
}

/** The answer without the days, weeks or months before anything is known; all of it where nothing is. */
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
