/** Ranks the values of a split, with share and previous figure. */
import type { App } from '../apps.ts'
import { type Figure, figureOfAll, sumOf, totalsOf } from './figures.ts'
import { isShare, type MetricAnswer, type Series, valueName } from './metric_answer.ts'

/** A ratio whose denominator is smaller is marked as uncertain. */
const FEW = 20

export type Ranked = {
  key: string
  title: string
  /** The value of the split; null for unknown values and for the rest. */
  value: string | null
  figure: number | null
  /** Share of the total; null for ratios, which cannot be added. */
  share: number | null
  /** The figure of the previous period, or null. */
  before: number | null
  /** How much of its track the bar fills, from -1 to 1. */
  bar: number
  /** The denominator of a ratio of counts, or null. */
  n: number | null
  /** The denominator is so small that the share may be chance. */
  isFew: boolean
}

type Ranking = { rows: Ranked[]; left: Ranked | null; all: number | null }

const keyOf = ({ value, others }: Series): string => `${others > 0 ? 'others' : 'value'} ${value ?? ''}`

/** @param most maximum number of rows; the rest is combined */
export function rankingOf(answer: MetricAnswer, apps: readonly App[], most: number): Ranking {
  const { split, unit, previous } = answer
  const isRatio = unit === 'ratio'
  const wholes = totalsOf(answer)
  const earlier = previous ? totalsOf(previous) : []
  // A value missing from the previous period was zero only if that period had no combined values.
  const isComplete = earlier.every(({ others }) => others === 0)
  const before = new Map(earlier.map((one) => [keyOf(one), figureOfAll(answer, one.points).value]))
  const figures = wholes.map((one) => {
    const figure = figureOfAll(answer, one.points)
    return { one, figure: figure.value, n: denominatorOf(answer, figure) }
  })
  const all = isRatio ? null : sumOf(figures.map(({ figure }) => figure))
  const full = fullOf(
    answer,
    figures.map(({ figure }) => Math.abs(figure ?? 0)),
  )
  const ranked = figures.map(
    ({ one, figure, n }): Ranked => ({
      key: keyOf(one),
      title: valueName(split, one.value, one.others, apps),
      value: one.others > 0 ? null : one.value,
      figure,
      share: figure === null || !all ? null : figure / all,
      before:
        previous && one.others === 0 ? (before.get(keyOf(one)) ?? (isComplete && !isRatio ? 0 : null)) : null,
      bar: barOf(figure, full),
      n,
      isFew: n !== null && n < FEW,
    }),
  )
  const rows = ranked
    .filter(({ key, figure }) => key !== 'others ' && figure !== null && (isRatio || figure !== 0))
    .sort((a, b) => Number(a.isFew) - Number(b.isFew) || (b.figure ?? 0) - (a.figure ?? 0))
  const others = ranked.filter(({ key }) => key === 'others ')
  const many = wholes.reduce((sum, one) => sum + one.others, 0)
  return {
    rows: rows.slice(0, most),
    left: leftOf([...rows.slice(most), ...others], { all, many, isRatio, full }),
    all,
  }
}

/** The value that fills a track: 1 for shares, the total for amounts, the largest for factors. */
function fullOf(answer: MetricAnswer, sizes: readonly number[]): number {
  if (isShare(answer)) return 1
  return answer.unit === 'ratio' ? Math.max(0, ...sizes) : sizes.reduce((sum, one) => sum + one, 0)
}

const barOf = (figure: number | null, full: number): number =>
  full === 0 ? 0 : Math.max(-1, Math.min(1, (figure ?? 0) / full))

const denominatorOf = ({ unit, ratio_of }: MetricAnswer, { points }: Figure): number | null =>
  unit === 'ratio' && ratio_of === 'count' ? sumOf(points.map(({ denominator = null }) => denominator)) : null

type RankingSizes = { all: number | null; many: number; isRatio: boolean; full: number }

function leftOf(rest: readonly Ranked[], { all, many, isRatio, full }: RankingSizes): Ranked | null {
  if (isRatio || rest.length === 0) return null
  const figure = sumOf(rest.map((one) => one.figure))
  if (!figure) return null
  const others = rest.filter(({ key }) => key !== 'others ').length + many
  return {
    key: 'left',
    title: valueName(null, null, others, []),
    value: null,
    figure,
    share: all ? figure / all : null,
    before: null,
    bar: barOf(figure, full),
    n: null,
    isFew: false,
  }
}
