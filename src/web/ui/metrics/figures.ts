/** One figure per range: the last value of a level, the sum of a flow, the ratio of its sums, the last period of churn. */
import { bucket, daysBetween, endOf, intervalName, shortDay, span } from '../words.ts'
import { type Figures, figureOf, type MetricAnswer, type Point, type Series } from './metric_answer.ts'

/** The series of the total, or of the part if one part was requested. */
export function totalsOf({ series }: Pick<MetricAnswer, 'series'>): Series[] {
  const totals = series.filter(({ part }) => part === null)
  return totals.length > 0 ? totals : series
}

/** Sets the unit to count for the parts `unpriced` and `no_period`, which are counts in every metric. */
export const asCount = (answer: MetricAnswer): MetricAnswer =>
  answer.series.length > 0 && answer.series.every(({ part }) => part === 'unpriced' || part === 'no_period')
    ? { ...answer, unit: 'count' }
    : answer

/** The figure of a part. An answer lacks the parts that are zero throughout; null where it is unknown. */
export function partFigure(
  { series, unit }: Pick<MetricAnswer, 'series' | 'unit'>,
  part: string | null,
): number | null {
  const find = (name: string | null) => series.find((one) => one.part === name && one.value === null)
  const found = find(part)
  if (found) return figureOf(found.range, unit)
  return figureOf(find(null)?.range, unit) === null ? null : 0
}

/** Sums the known values; null if none is known. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

/** Rates that are relative to the start of each period, so that several periods cannot be combined. */
const SINGLE_PERIOD = new Set(['churn_rate', 'mrr_churn_rate'])
/** Whether the figure of a metric is of one period: the last finished one of the range. */
export const isOfOnePeriod = (metric: string): boolean => SINGLE_PERIOD.has(metric)

/** `value` is null if unknown. `point`: the period of a figure of one period; null without a finished one. */
export type Figure = {
  value: number | null
  numerator: number | null
  denominator: number | null
  point: Point | null
}

const figureIn = (of: Figures, unit: MetricAnswer['unit'], point: Point | null): Figure => ({
  value: figureOf(of, unit),
  numerator: of.numerator ?? null,
  denominator: of.denominator ?? null,
  point,
})

/** The range of an answer. */
type Days = Pick<MetricAnswer, 'from_on' | 'until_on' | 'today_on'>

const SIGNED = new Set(['mrr_movements', 'net_new_mrr'])
/** Whether the figures of a metric have either sign. */
export const isSigned = (metric: string): boolean => SIGNED.has(metric)

/** Whether a change is an amount: a percentage says nothing of figures that have either sign. */
export const isAmountOfChange = (metric: string, now: number, before: number): boolean =>
  isSigned(metric) || now < 0 || before < 0

/** What the change of an answer's figures is against: a day for levels, else the compared period. Empty without one. */
export function comparedText(answer: MetricAnswer): string {
  const { previous, kind } = answer
  if (!previous) return ''
  const before = { ...answer, series: previous.series }
  const period = figuresPeriod(before)
  if (period !== null) return hasPeriod(before) ? `vs. ${period}` : ''
  const until = bucket(previous.until_on, 'day')
  return kind === 'level' ? `since ${until}` : `vs. ${bucket(previous.from_on, 'day')} – ${until}`
}

/** The last day of the range that has begun. The last week, month or fiscal month can end later. */
const lastDayOf = ({ until_on, today_on }: Days): string => (until_on < today_on ? until_on : today_on)

/** The number of days in the range that have begun. */
export const daysShown = (answer: Days): number => daysBetween(answer.from_on, lastDayOf(answer)) + 1

/** The days in the range that have begun, as `Nov 2, 2026 – Nov 21, 2026`. */
export const daysText = (answer: Days): string =>
  `${bucket(answer.from_on, 'day')} – ${bucket(lastDayOf(answer), 'day')}`

/** The days of consecutive points, as `Nov 2 – Nov 8, 2026`; those of clipped points are the ones in the range. */
export function pointsText(points: readonly Point[], interval: MetricAnswer['interval']): string {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return ''
  if (!first.clipped && !last.clipped) return span(first.on, last.on, interval)
  const until = last.clipped?.until_on ?? endOf(last.on, interval)
  return span(first.clipped?.on ?? first.on, until, 'day')
}

/** The name of a finished period, such as `week of Nov 9`. */
const periodText = (point: Point | null, interval: MetricAnswer['interval']): string =>
  point === null
    ? `no finished ${intervalName(interval)} in these days`
    : interval === 'week'
      ? `week of ${shortDay(point.on)}`
      : bucket(point.on, interval)

/** What a figure covers: `now`, `in 90 days`, the days of a ratio, or its period. */
export function basisText(answer: MetricAnswer, { point }: Pick<Figure, 'point'>): string {
  const { metric, kind, unit, interval } = answer
  if (unit === 'ratio') return isOfOnePeriod(metric) ? periodText(point, interval) : daysText(answer)
  if (kind === 'level')
    return answer.until_on < answer.today_on ? `on ${bucket(answer.until_on, 'day')}` : 'now'
  const days = daysShown(answer)
  return `in ${days === 1 ? 'one day' : `${days} days`}`
}

/** The name of the period that the figures of an answer are of; null if they are of all its days. */
export function figuresPeriod(answer: MetricAnswer): string | null {
  const [total] = totalsOf(answer)
  if (!total || !isOfOnePeriod(answer.metric)) return null
  return periodText(figureOfAll(answer, total).point, answer.interval)
}

/** Whether a finished period lies in the days of an answer whose figures are of one period. */
const hasPeriod = (answer: MetricAnswer): boolean =>
  totalsOf(answer).some((one) => figureOfAll(answer, one).point !== null)

/** The figure of one series of an answer: of exactly its days, or of the last finished period in them. */
export function figureOfAll(
  { metric, unit, interval, today_on }: Pick<MetricAnswer, 'metric' | 'unit' | 'interval' | 'today_on'>,
  { range, points }: Pick<Series, 'range' | 'points'>,
): Figure {
  if (!isOfOnePeriod(metric)) return figureIn(range, unit, null)
  const point = points.findLast(({ on, clipped }) => !clipped && endOf(on, interval) < today_on) ?? null
  return figureIn(point ?? {}, unit, point)
}
