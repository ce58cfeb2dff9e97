/** One figure per range: the last value of a level, the sum of a flow, the combined ratio. */
import { bucket, daysBetween, endOf, intervalName, span } from '../words.ts'
import { figureOf, type MetricAnswer, type Point, type Series } from './metric_answer.ts'

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

/** Sums the known values; null if none is known. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

/** Rates that are relative to the start of each period, so that several periods cannot be combined. */
const SINGLE_PERIOD = new Set(['churn_rate', 'mrr_churn_rate'])

/** `points`: the points that the figure covers. */
export type Figure = { value: number | null; points: readonly Point[] }

/** The combined ratio of the complete points, or the last ratio if there are no complete points. */
function ratioOf(metric: string, points: readonly Point[]): Figure {
  const isSingle = SINGLE_PERIOD.has(metric)
  const completePoints = points.filter(
    ({ complete, ratio, clipped }) =>
      complete && ratio !== null && ratio !== undefined && !(isSingle && clipped),
  )
  const known = completePoints.length > 0 ? completePoints : points.slice(-1)
  if (isSingle || known.length < 2) {
    const last = known.slice(-1)
    return { value: figureOf(last[0], 'ratio'), points: last }
  }
  const above = sumOf(known.map(({ numerator = null }) => numerator))
  const below = sumOf(known.map(({ denominator = null }) => denominator))
  return { value: above === null || !below ? null : above / below, points: known }
}

/** The range of an answer. */
type Days = Pick<MetricAnswer, 'from_on' | 'until_on' | 'today_on'>

const SIGNED = new Set(['mrr_movements', 'net_new_mrr'])
/** Whether the figures of a metric have either sign. */
export const isSigned = (metric: string): boolean => SIGNED.has(metric)

/** Whether a change is an amount: a percentage says nothing of figures that have either sign. */
export const isAmountOfChange = (metric: string, now: number, before: number): boolean =>
  isSigned(metric) || now < 0 || before < 0

/** What the change of an answer's figures is against: a day for levels, else the compared period. */
export function comparedText({ kind, previous }: Pick<MetricAnswer, 'kind' | 'previous'>): string {
  if (!previous) return ''
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

/** What a figure covers: `now`, `in 90 days`, or the periods of a ratio, which may be fewer than those of the range. */
export function basisText(answer: MetricAnswer, { points }: Figure): string {
  const { metric, kind, unit, interval } = answer
  if (unit === 'ratio' && SINGLE_PERIOD.has(metric) && points.at(-1)?.clipped)
    return `the range has no whole ${intervalName(interval)}`
  if (unit === 'ratio')
    return [pointsText(points, interval), SINGLE_PERIOD.has(metric) ? `per ${intervalName(interval)}` : '']
      .filter(Boolean)
      .join(', ')
  if (kind === 'level')
    return answer.until_on < answer.today_on ? `on ${bucket(answer.until_on, 'day')}` : 'now'
  const days = daysShown(answer)
  return `in ${days === 1 ? 'one day' : `${days} days`}`
}

/** The figure of one series of an answer. */
export function figureOfAll(
  { metric, unit, kind }: Pick<MetricAnswer, 'metric' | 'unit' | 'kind'>,
  { range, points }: Pick<Series, 'range' | 'points'>,
): Figure {
  if (unit === 'ratio') return ratioOf(metric, points)
  return { value: figureOf(range, unit), points: kind === 'level' ? points.slice(-1) : points }
}
