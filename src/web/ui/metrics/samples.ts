/** How many cases are behind ratios of counts: a rate of three trials says little. */
import type { Values } from '../charts/stacking.ts'
import { type Figure, figureOfAll, pointsText, sumOf, totalsOf } from './figures.ts'
import type { MetricAnswer, Series } from './metric_answer.ts'

const isOfCounts = ({ unit, ratio_of }: Pick<MetricAnswer, 'unit' | 'ratio_of'>): boolean =>
  unit === 'ratio' && ratio_of === 'count'

const casesIn = ({ points }: Pick<Figure, 'points'>): number | null =>
  sumOf(points.map(({ denominator = null }) => denominator))

/** The cases at each point of a series; null for other figures. */
export const casesOf = ({ points }: Series, answer: MetricAnswer): Values | null =>
  isOfCounts(answer) ? points.map(({ denominator = null }) => denominator) : null

/** The cases of the figure of a series; null for other figures. */
export const casesOfFigure = (series: Series, answer: MetricAnswer): number | null =>
  isOfCounts(answer) ? casesIn(figureOfAll(answer, series)) : null

/** The ratio of all values of a split together; null unless it is of counts. */
export function combinedRatio(answer: MetricAnswer): Figure | null {
  if (!isOfCounts(answer)) return null
  const figures = totalsOf(answer).map((one) => figureOfAll(answer, one))
  const above = sumOf(figures.flatMap(({ points }) => points.map(({ numerator = null }) => numerator)))
  const below = sumOf(figures.map(casesIn))
  const longest = figures.toSorted((a, b) => b.points.length - a.points.length)[0]
  return { value: above === null || !below ? null : above / below, points: longest?.points ?? [] }
}

/** The days of the ratios in the legend, which are those of complete periods; null for other figures. */
export function ratioSpan(answer: MetricAnswer): string | null {
  const { points } = combinedRatio(answer) ?? { points: [] }
  return points.length > 0 ? pointsText(points, answer.interval) : null
}
