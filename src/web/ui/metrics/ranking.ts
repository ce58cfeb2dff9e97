/** Ranks the values of a split, with share and previous figure. */
import type { App } from '../apps.ts'
import { figureOfAll, isSigned, sumOf, totalsOf } from './figures.ts'
import { isPercentage, type MetricAnswer, type Series, valueName } from './metric_answer.ts'
import { casesOfFigure } from './samples.ts'

/** A ratio whose denominator is smaller is marked as uncertain. */
const MIN_DENOMINATOR = 20

export type RankedRow = {
  key: string
  title: string
  /** The value of the split; null for unknown values and for combined values. */
  value: string | null
  figure: number | null
  /** Share of the total; null for ratios, which cannot be added. */
  share: number | null
  /** The figure of the previous period, or null. */
  before: number | null
  /** The previous figure is so small a share of its total that a percentage of it says nothing. */
  isBaseSmall: boolean
  /** The fraction of the track that the bar fills, from -1 to 1. */
  bar: number
  /** The denominator of a ratio of counts, or null. */
  denominator: number | null
  /** The denominator is so small that the ratio may be chance. */
  isUncertain: boolean
}

/** size: the largest figure first. growth: the greatest change from the compared period first. */
export const ORDERS = ['size', 'growth'] as const
export type Order = (typeof ORDERS)[number]

/**
 * A value with a smaller share of the compared period has no growth to rank by: a few sales would lead the list. Values
 * that are new have none either.
 */
export const MIN_SHARE_BEFORE = 0.01

type Ranking = { rows: RankedRow[]; combined: RankedRow | null; total: number | null }

const keyOf = ({ value, others }: Series): string => `${others > 0 ? 'others' : 'value'} ${value ?? ''}`

/**
 * Ranks the values of an answer. `rows` has at most `maxRows` values, or one more that would be alone; `combined` is the
 * row of all others.
 */
export function rankingOf(
  answer: MetricAnswer,
  apps: readonly App[],
  maxRows: number,
  order: Order = 'size',
): Ranking {
  const { split, unit, previous } = answer
  const isRatio = unit === 'ratio'
  // Others without a figure are values that only the days around the range have.
  const isPresent = (one: Series): boolean =>
    one.others === 0 || isRatio || figureOfAll(answer, one).value !== 0
  const totals = totalsOf(answer).filter(isPresent)
  const earlier = previous ? totalsOf(previous).filter(isPresent) : []
  // A value missing from the previous period was zero only if that period had no combined values.
  const isComplete = earlier.every(({ others }) => others === 0)
  const before = new Map(earlier.map((one) => [keyOf(one), figureOfAll(answer, one).value]))
  const beforeOf = (one: Series): number | null =>
    before.has(keyOf(one)) ? (before.get(keyOf(one)) ?? null) : isComplete && !isRatio ? 0 : null
  const totalBefore = [...before.values()].reduce<number>((sum, one) => sum + Math.abs(one ?? 0), 0)
  const isSmall = (base: number | null | undefined): boolean =>
    !isRatio && typeof base === 'number' && Math.abs(base) < totalBefore * MIN_SHARE_BEFORE
  const figures = totals.map((one) => {
    return { one, figure: figureOfAll(answer, one).value, denominator: casesOfFigure(one, answer) }
  })
  const total = isRatio ? null : sumOf(figures.map(({ figure }) => figure))
  const fullValue = fullValueOf(
    answer,
    figures.map(({ figure }) => Math.abs(figure ?? 0)),
  )
  const ranked = figures.map(
    ({ one, figure, denominator }): RankedRow => ({
      key: keyOf(one),
      title: valueName(split, one.value, one.others, apps),
      value: one.others > 0 ? null : one.value,
      figure,
      share: figure === null || !total ? null : figure / total,
      before: previous && one.others === 0 ? beforeOf(one) : null,
      isBaseSmall: isSmall(before.get(keyOf(one))),
      bar: barOf(figure, fullValue),
      denominator,
      isUncertain: denominator !== null && denominator < MIN_DENOMINATOR,
    }),
  )
  const rows = ranked
    .filter(({ key, figure }) => key !== 'others ' && figure !== null && (isRatio || figure !== 0))
    .sort(order === 'size' ? bySize : byGrowth(answer, ranked))
  const others = ranked.filter(({ key }) => key === 'others ')
  const combinedCount = totals.reduce((sum, one) => sum + one.others, 0)
  // A row “1 other” takes the place of the row itself.
  const shown = !isRatio && others.length === 0 && rows.length === maxRows + 1 ? rows.length : maxRows
  return {
    rows: rows.slice(0, shown),
    combined: combinedRow([...rows.slice(shown), ...others], { total, combinedCount, isRatio, fullValue }),
    total,
  }
}

const bySize = (a: RankedRow, b: RankedRow): number =>
  Number(a.isUncertain) - Number(b.isUncertain) || (b.figure ?? 0) - (a.figure ?? 0)

/** Compares by growth; values without one follow, by size. */
function byGrowth(answer: MetricAnswer, rows: readonly RankedRow[]): typeof bySize {
  const total = rows.reduce((sum, { before }) => sum + Math.abs(before ?? 0), 0)
  const growth = (row: RankedRow): number =>
    growthOf(row, isPercentage(answer) || isSigned(answer.metric) ? null : total * MIN_SHARE_BEFORE)
  return (a, b) => {
    const [one, other] = [growth(a), growth(b)]
    return one === other ? bySize(a, b) : other - one
  }
}

/** The difference if `minBefore` is null, else the relative change; -Infinity if it says nothing. */
function growthOf({ figure, before, isUncertain }: RankedRow, minBefore: number | null): number {
  if (figure === null || before === null || isUncertain) return -Infinity
  if (minBefore === null) return figure - before
  return before === 0 || Math.abs(before) < minBefore ? -Infinity : (figure - before) / Math.abs(before)
}

/** The value that fills a track: 1 for percentages, the total for amounts, the largest value for other ratios. */
function fullValueOf(answer: MetricAnswer, sizes: readonly number[]): number {
  if (isPercentage(answer)) return 1
  return answer.unit === 'ratio' ? Math.max(0, ...sizes) : sizes.reduce((sum, one) => sum + one, 0)
}

const barOf = (figure: number | null, fullValue: number): number =>
  fullValue === 0 ? 0 : Math.max(-1, Math.min(1, (figure ?? 0) / fullValue))

type RankingSizes = { total: number | null; combinedCount: number; isRatio: boolean; fullValue: number }

function combinedRow(
  rest: readonly RankedRow[],
  { total, combinedCount, isRatio, fullValue }: RankingSizes,
): RankedRow | null {
  if (isRatio || rest.length === 0) return null
  const figure = sumOf(rest.map((one) => one.figure))
  if (!figure) return null
  const others = rest.filter(({ key }) => key !== 'others ').length + combinedCount
  return {
    key: 'left',
    title: valueName(null, null, others, []),
    value: null,
    figure,
    share: total ? figure / total : null,
    before: null,
    isBaseSmall: false,
    bar: barOf(figure, fullValue),
    denominator: null,
    isUncertain: false,
  }
}
