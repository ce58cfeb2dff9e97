/** Which points of an answer are shown, of which days, and what they are compared with. */
import { isWhollyKnown } from '../../../metrics/unknown_reasons.ts'
import { day } from '../words.ts'
import type { MetricAnswer, Point, Series, WholeAnswer } from './metric_answer.ts'

/** A response of exactly the chosen days: points whose interval is not whole in them have the figures of their part. */
export function exactly({ range, series, previous, ...answer }: WholeAnswer): MetricAnswer {
  const before = previous && {
    ...previous.range,
    series: previous.series.map(exactSeries),
    is_unknown: isUnknown(previous.series),
  }
  const is_unknown = isUnknown(series)
  return { ...answer, ...range, series: series.map(exactSeries), previous: before, is_unknown }
}

/** Whether the days of some series are not wholly known. */
const isUnknown = (series: WholeAnswer['series']): boolean =>
  !series.every((one) => isWhollyKnown(one.range.reasons))

function exactSeries({ range, points, ...one }: WholeAnswer['series'][number]): Series {
  const parts = new Map(range.clipped.map((part) => [part.of, part]))
  const exactPoint = (point: Point): Point => {
    const { of: _, on, until_on = '', reasons = [], ...figure } = parts.get(point.on) ?? {}
    return on === undefined ? point : { ...point, ...figure, clipped: { on, until_on, reasons } }
  }
  return { ...one, range, points: parts.size === 0 ? points : points.map(exactPoint) }
}

/**
 * Why figures are not compared: the days or the compared days are not wholly known, or the only day is not over. Null if
 * they are compared, or if no comparison is asked for; empty without any data.
 */
export function uncomparedText(answer: MetricAnswer): string | null {
  const { previous, first_on, kind, from_on, today_on, is_unknown } = answer
  if (!previous) return null
  if (first_on === null) return ''
  if (!previous.is_unknown && previous.until_on >= first_on) {
    if (kind === 'flow' && from_on === today_on) return 'the day is not over'
    return is_unknown ? 'these days are not fully known' : null
  }
  return previous.from_on < first_on
    ? `no data before ${day(first_on)}`
    : 'the days before are not fully known'
}

/** Removes compared days that figures are not compared with. */
export const withoutUnknownPrevious = (answer: MetricAnswer): MetricAnswer =>
  uncomparedText(answer) === null ? answer : { ...answer, previous: null }

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
