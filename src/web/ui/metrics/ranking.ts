/** The values of a split, largest first, each with its share of all and what it was in the time before. */
import type { App } from '../apps.ts'
import { type Figure, figureOfAll, sumOf, totalsOf } from './figures.ts'
import { isShare, type MetricAnswer, type Series, valueName } from './metric_answer.ts'

/** A share of fewer than these says little. */
const FEW = 20

export type Ranked = {
  key: string
  title: string
  /** Of the split; null for those that it has no name for, and for what is left. */
  value: string | null
  figure: number | null
  /** Of all values together; null of shares, which cannot be added. */
  share: number | null
  /** In the time before; null where that is not known. */
  before: number | null
  /** How much of its track a bar fills, from -1 to 1: all of it is 100 %. */
  bar: number
  /** Of how many the figure is a share; null where it is no share of a count. */
  n: number | null
  /** Of so few that the share may be chance. */
  isFew: boolean
}

type Ranking = { rows: Ranked[]; left: Ranked | null; all: number | null }

const keyOf = ({ value, others }: Series): string => `${others > 0 ? 'others' : 'value'} ${value ?? ''}`

/** @param most how many by themselves; what is left as one */
export function rankingOf(answer: MetricAnswer, apps: readonly App[], most: number): Ranking {
  const { split, unit, previous } = answer
  const isRatio = unit === 'ratio'
  const wholes = totalsOf(answer)
  const earlier = previous ? totalsOf(previous) : []
  // A value that was too small to be told by itself was not nothing.
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

/** What fills a track: 100 % of a share, else all values together; of how often the largest. */
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
