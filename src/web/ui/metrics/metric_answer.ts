/** The response of a metric, and the formatting of its figures. */
import type { InferOutput } from 'valibot'
import type { SeriesSchema } from '../../../api/metrics/answers.ts'
import { productName } from '../../../apps/product_name.ts'
import { type App, appName } from '../apps.ts'
import { countryName } from '../countries/names.ts'
import {
  count,
  money,
  period,
  plural,
  points,
  share,
  shortCount,
  shortMoney,
  signedMoney,
  times,
} from '../words.ts'
import type { Definition } from './definitions.ts'

/** The response, whose points have whole intervals. `exactly` turns it into a `MetricAnswer`. */
export type WholeAnswer = InferOutput<typeof SeriesSchema>
type WholeSeries = WholeAnswer['series'][number]

/** `clipped`: the days of a point’s interval that lie in the range, where it is not whole in it, and why they are incomplete. */
export type Point = WholeSeries['points'][number] & {
  clipped?: { on: string; until_on: string; reasons: WholeSeries['range']['reasons'] }
}
/** `range`: the figure of all days together. */
export type Series = Omit<WholeSeries, 'points' | 'range'> & { range: Figures; points: Point[] }
export type Figures = Pick<Point, 'milli' | 'count' | 'ratio' | 'numerator' | 'denominator'>
/** `is_unknown`: the days are not wholly known, so that a change against them would say nothing. */
type Previous = { from_on: string; until_on: string; series: Series[]; is_unknown?: boolean }
/** A response of exactly the days `from_on` to `until_on`. `is_unknown`: as of the compared days. */
export type MetricAnswer = Omit<WholeAnswer, 'series' | 'previous' | 'range'> & {
  series: Series[]
  previous: Previous | null
  is_unknown?: boolean
}

/** The figure of a point: money in thousandths, a count or a ratio; null if unknown. */
export function figureOf(point: Figures | undefined, unit: MetricAnswer['unit']): number | null {
  if (point === undefined) return null
  if (unit === 'money') return point.milli ?? point.count ?? null
  return (unit === 'count' ? point.count : point.ratio) ?? null
}

type Formatters = {
  format: (value: number | null) => string
  formatShort: (value: number, step?: number) => string
  /** Formats a difference of two figures with its sign. */
  formatChange: (difference: number) => string
}

/** Whether figures are shares from 0 to 100 %. The quick ratio is a factor. */
export const isPercentage = ({ metric, unit }: Pick<MetricAnswer, 'metric' | 'unit'>): boolean =>
  unit === 'ratio' && metric !== 'quick_ratio'

/** The number of digits that distinguishes two shares one step apart. */
const digitsOf = (step: number | undefined): number =>
  step === undefined || step >= 0.01 ? 0 : step >= 0.001 ? 1 : 2

const signed =
  (format: (value: number) => string) =>
  (value: number): string =>
    `${value > 0 ? '+' : ''}${format(value)}`

/** Formatters for the figures of a response, in full and short. */
export function formattersOf(answer: Pick<MetricAnswer, 'metric' | 'unit' | 'currency'>): Formatters {
  const { unit, currency } = answer
  if (unit === 'money') {
    return {
      format: (value) => money(value, currency),
      formatShort: (value) => shortMoney(value, currency),
      formatChange: (difference) => signedMoney(difference, currency),
    }
  }
  if (unit === 'count') return { format: count, formatShort: shortCount, formatChange: signed(count) }
  if (!isPercentage(answer)) return { format: times, formatShort: times, formatChange: signed(times) }
  return {
    format: (value) => share(value),
    formatShort: (value, step) => share(value, digitsOf(step)),
    formatChange: points,
  }
}

/** Metrics where lower is better. */
const LOWER_IS_BETTER = new Set(['churn_rate', 'mrr_churn_rate', 'refund_rate', 'mrr_at_risk'])
export const isHigherBetter = (metric: string): boolean => !LOWER_IS_BETTER.has(metric)

const OFFERS: Record<string, string> = {
  trial: 'Free trial',
  free_offer: 'Free offer',
  intro: 'Introductory',
  offer: 'Other offer',
  paid: 'Standard price',
  none: 'One-time purchase',
}
/** The display name of a value of a split. */
export function valueName(
  split: string | null,
  value: string | null,
  others: number,
  apps: readonly App[],
): string {
  if (others > 0) return `${plural(others, 'other')}`
  if (value === null || value === '') return split === 'period' ? 'No period' : 'Unknown'
  if (split === 'app') return appName(apps, value)
  if (split === 'country') return countryName(value)
  if (split === 'offer') return OFFERS[value] ?? value
  if (split === 'product') return productName(value, undefined)
  return split === 'period' ? period(value) : value
}

export const SPLIT_TITLES: Record<string, string> = {
  app: 'By app',
  product: 'By product',
  country: 'By country',
  period: 'By period',
  offer: 'By offer',
  currency: 'By currency',
}

/** The title of a part in the metric's definition. */
export const partTitle = (definition: Definition | undefined, part: string | null): string =>
  definition?.parts.find((one) => one.name === part)?.title ?? definition?.title ?? part ?? ''
