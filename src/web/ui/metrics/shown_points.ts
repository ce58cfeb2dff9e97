/** Which points of an answer are shown, of which days, and what they are compared with. */
import type { Comparison } from '../scope.ts'
import { day, endOf } from '../words.ts'
import type { MetricAnswer, Point, Series, WholeAnswer } from './metric_answer.ts'

/** A response of exactly the chosen days: points whose interval is not whole in them have the figures of their part. */
export function exactly({ range, series, previous, ...answer }: WholeAnswer): MetricAnswer {
  const before = previous && {
    ...previous.range,
    series: previous.series.map(exactSeries),
    is_unknown: previous.series.some((one) => one.range.reasons.some((reason) => UNKNOWN.has(reason))),
  }
  return { ...answer, ...range, series: series.map(exactSeries), previous: before }
}

function exactSeries({ range, points, ...one }: WholeAnswer['series'][number]): Series {
  const parts = new Map(range.clipped.map((part) => [part.of, part]))
  const exactPoint = (point: Point): Point => {
    const { of: _, on, until_on = '', reasons = [], ...figure } = parts.get(point.on) ?? {}
    return on === undefined ? point : { ...point, ...figure, clipped: { on, until_on, reasons } }
  }
  return { ...one, range, points: parts.size === 0 ? points : points.map(exactPoint) }
}

/** Why days are not wholly known. Other reasons change little. */
const UNKNOWN: ReadonlySet<string> = new Set([
  'never_heard',
  'before_ledger',
  'no_reports',
  'suspect_report',
  'unread_rows',
  'older_unknown',
  'not_converted',
])

/**
 * Why figures are not compared: the compared days are not wholly known. Null if they are, or if none are compared; empty
 * without any data.
 */
export function uncomparedText({ previous, first_on }: MetricAnswer): string | null {
  if (!previous) return null
  if (first_on === null) return ''
  if (!previous.is_unknown && previous.until_on >= first_on) return null
  return previous.from_on < first_on
    ? `no data before ${day(first_on)}`
    : 'the days before are not fully known'
}

/** Removes compared days that are not wholly known. */
export const withoutUnknownPrevious = (answer: MetricAnswer): MetricAnswer =>
  uncomparedText(answer) === null ? answer : { ...answer, previous: null }

/**
 * Compares a level with its first value in the range, as the chart shows it, unless a comparison is chosen. Other answers
 * stay as they are.
 */
export function comparedWithStart(answer: MetricAnswer, chosen: Comparison): MetricAnswer {
  const { kind, unit, series, interval } = answer
  const [first, second] = series[0]?.points ?? []
  if (chosen !== 'none' || kind !== 'level' || unit === 'ratio' || !first || !second) return answer
  const { on: from_on, until_on } = first.clipped ?? { on: first.on, until_on: endOf(first.on, interval) }
  const starts = series.map((one) => ({ ...one, range: one.points[0] ?? {}, points: one.points.slice(0, 1) }))
  return { ...answer, previous: { from_on, until_on, series: starts } }
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
