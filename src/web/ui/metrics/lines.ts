/** Turns a metric response into a graph: series, styles and colors. */
import type { App } from '../apps.ts'
import { type Hue, hueOf } from '../charts/colours.ts'
import { FEW_CASES, type Graph, type Line } from '../charts/graph.ts'
import { timeTicks } from '../charts/ticks.ts'
import { bucket, fiscalName, type Interval, intervalName, span } from '../words.ts'
import type { Definition } from './definitions.ts'
import { figureOfAll, figuresPeriod, pointsText, sumOf, totalsOf } from './figures.ts'
import {
  figureOf,
  formattersOf,
  type MetricAnswer,
  type Point,
  partTitle,
  type Series,
  valueName,
} from './metric_answer.ts'
import { cutoversOf } from './origins.ts'
import { casesOf, casesOfFigure } from './samples.ts'

export type Style = 'line' | 'bar'

/** Parts about missing data appear in notes and are not drawn. */
const UNDRAWN_PARTS = new Set(['unpriced', 'no_period'])
/** Losses have warm colors, gains cool ones. */
export const HUES: Record<string, Hue> = {
  new: 1,
  renewal: 6,
  one_time: 3,
  refunds: 'bad',
  refund_reversed: 'good',
  proration: 7,
  opening: 8,
  resubscribe: 5,
  expansion: 6,
  contraction: 7,
  churn_voluntary: 'bad',
  churn_billing: 2,
  churn_refund: 4,
  churn_other: 8,
  churned: 'bad',
  switched_out: 7,
  switched_in: 5,
  fx: 3,
  repriced: 3,
  not_itemised: 8,
  voluntary: 'bad',
  billing: 2,
  refund: 4,
  other: 8,
  returned: 5,
  converted: 1,
  pending: 2,
  lost: 8,
  renewing: 1,
  committed: 5,
  will_cancel: 2,
  grace: 3,
  billing_retry: 'bad',
  after_trial: 1,
  direct: 6,
}

/** The series of the parts that are drawn and have values. */
const partsOf = (answer: MetricAnswer): Series[] =>
  answer.series.filter(
    ({ part, value, points }) =>
      part !== null &&
      value === null &&
      !UNDRAWN_PARTS.has(part) &&
      points.some((point) => figureOf(point, answer.unit)),
  )

const valuesOf = ({ points }: Series, unit: MetricAnswer['unit']): (number | null)[] =>
  points.map((point) => figureOf(point, unit))

/** The figures of all series together, point by point. Ratios of several values cannot be added. */
function valuesTogether(all: readonly Series[], unit: MetricAnswer['unit']): (number | null)[] {
  const [first, ...others] = all
  if (!first || (unit === 'ratio' && others.length > 0)) return []
  return first.points.map((_, at) => sumOf(all.map(({ points }) => figureOf(points[at], unit))))
}

/** The series of the compared period: the total, or each value of a split. */
const comparedSeries = ({ previous, split }: MetricAnswer): Series[] =>
  previous ? totalsOf(previous).slice(0, split === null ? 1 : undefined) : []

/** The line of the compared period. Its points are titled with the days of that period. */
function previousLines(answer: MetricAnswer, style: Style): Line[] {
  const { previous, unit, interval } = answer
  const all = comparedSeries(answer)
  const values = valuesTogether(all, unit)
  if (!previous || values.length === 0) return []
  const isLastYear = previous.from_on.slice(4) === answer.from_on.slice(4)
  // The compared month can have more days. Weeks and months that the compared days clip at their start have no counterpart.
  const count = totalsOf(answer)[0]?.points.length ?? 0
  const beside = <One>(of: readonly One[]): One[] =>
    interval === 'day' ? of.slice(0, count) : of.slice(Math.max(0, of.length - count))
  const titles = beside(all[0]?.points ?? []).map(
    (point) => `${isLastYear ? 'Last year' : 'Previous'}: ${pointTitle(point, interval)}`,
  )
  return [
    {
      key: 'before',
      title: isLastYear ? 'Same period last year' : 'Previous period',
      hue: 8,
      style,
      values: beside(values),
      isPrevious: true,
      titles,
    },
  ]
}

/** The figure of the compared period, of all values together. */
const previousFigure = (answer: MetricAnswer): number | null =>
  sumOf(comparedSeries(answer).map((one) => figureOfAll(answer, one).value))

function currentLines(
  answer: MetricAnswer,
  definition: Definition | undefined,
  apps: readonly App[],
  { style, shown, isInParts }: { style: Style; shown: Series[]; isInParts: boolean },
): Line[] {
  return shown.map((series, index) => ({
    ...casesFields(series, answer),
    key: `${series.part ?? ''} ${series.value ?? ''} ${series.others}`,
    title:
      answer.split === null
        ? partTitle(definition, series.part)
        : valueName(answer.split, series.value, series.others, apps),
    hue: series.others > 0 ? 8 : ((isInParts && series.part ? HUES[series.part] : undefined) ?? hueOf(index)),
    style,
    values: valuesOf(series, answer.unit),
  }))
}

/** The cases of a rate. A value of a split with few cases is faint. */
function casesFields(series: Series, answer: MetricAnswer): Pick<Line, 'cases' | 'weight'> {
  const cases = casesOf(series, answer)
  if (cases === null) return {}
  const isFew = answer.split !== null && (casesOfFigure(series, answer) ?? 0) < FEW_CASES
  return { cases, ...(isFew && { weight: 'faint' as const }) }
}

/** Whether the series can be stacked. */
const isStackable = (answer: MetricAnswer, isInParts: boolean): boolean =>
  answer.unit !== 'ratio' || (isInParts && answer.split === null)

/** The days of a point; of a clipped point those in the range. */
const pointTitle = (point: Point | undefined, interval: Interval): string => {
  if (!point?.clipped) return bucket(point?.on ?? '', interval)
  const { on, until_on } = point.clipped
  const days = span(on, until_on, 'day')
  // Its days do not say which fiscal month it is a part of.
  if (interval === 'fiscal_month') return `${fiscalName(on)} (part: ${days})`
  return `${days} (part of a ${intervalName(interval)})`
}

/** Why a point of some series is null or incomplete. */
const reasonsAt = (all: readonly Series[], index: number) => [
  ...new Set(
    all.flatMap(({ points, reasons }) => {
      const { on = '', clipped } = points[index] ?? {}
      if (clipped) return clipped.reasons
      return reasons.flatMap((one) => (one.from_on <= on && on <= one.until_on ? [one.reason] : []))
    }),
  ),
]

const POINT_TITLES: Record<Interval, string> = {
  day: 'Day',
  week: 'Week',
  month: 'Month',
  fiscal_month: 'Fiscal month',
}

type Drawing = {
  style: Style
  /** Stack the metric's parts instead of drawing the total. */
  isInParts: boolean
  title: string
}

/** The graph of a metric response. */
export function graphOf(
  answer: MetricAnswer,
  definition: Definition | undefined,
  apps: readonly App[],
  { style, isInParts, title }: Drawing,
): Graph {
  const { unit, interval, split, kind } = answer
  const totals = totalsOf(answer)
  const parts = isInParts && split === null ? partsOf(answer) : []
  const showsParts = parts.length > 0 && totals[0]?.part === null
  const shown = showsParts ? parts : totals
  const lines = currentLines(answer, definition, apps, { style, shown, isInParts: showsParts })
  const points = totals[0]?.points ?? []
  const on = points.map((point) => point.on)
  const isStacked = lines.length > 1 && isStackable(answer, showsParts)
  const titleAt = (index: number): string => pointTitle(points[index], interval)
  const sums = on.map((_, index) => sumOf(lines.map(({ values }) => values[index] ?? null)))
  const comparisonLines = previousLines(answer, style)
  const seriesByLineKey = new Map(shown.map((series, index) => [lines[index]?.key, series]))
  return {
    label: on.length === 0 ? title : `${title}, ${pointsText(points, interval)}`,
    on,
    complete: points.map(({ complete }) => complete),
    reasonsAt: (index) => reasonsAt([...totals, ...shown], index),
    clipped: points.map(({ clipped }) => clipped !== undefined),
    lines: [...lines, ...comparisonLines],
    isStacked,
    total: showsParts && totals[0] ? valuesOf(totals[0], unit) : isStacked ? sums : null,
    ...formattersOf(answer),
    isLevel: kind === 'level',
    isInteger: unit === 'count',
    ticks: (most) => timeTicks(on, interval, most),
    title: titleAt,
    cutovers: cutoversOf(answer, apps),
    pointHeading: POINT_TITLES[interval],
    figureOf: ({ key }) => {
      const series = seriesByLineKey.get(key)
      return series ? figureOfAll(answer, series).value : previousFigure(answer)
    },
    casesOf: ({ key }) => {
      const series = seriesByLineKey.get(key)
      return series ? casesOfFigure(series, answer) : null
    },
    figureDays: figuresPeriod(answer),
  }
}
