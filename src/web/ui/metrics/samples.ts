/** How many cases are behind ratios of counts: a rate of three trials says little. */
import type { Values } from '../charts/stacking.ts'
import { type Figure, figureOfAll, sumOf, totalsOf } from './figures.ts'
import type { MetricAnswer, Series } from './metric_answer.ts'

const isOfCounts = ({ unit, ratio_of }: Pick<MetricAnswer, 'unit' | 'ratio_of'>): boolean =>
  unit === 'ratio' && ratio_of === 'count'

/** The cases at each point of a series; null for other figures. */
export const casesOf = ({ points }: Series, answer: MetricAnswer): Values | null =>
  isOfCounts(answer) ? points.map(({ denominator = null }) => denominator) : null

/** The cases of the figure of a series; null for other figures. */
export const casesOfFigure = (series: Series, answer: MetricAnswer): number | null =>
  isOfCounts(answer) ? figureOfAll(answer, series).denominator : null

/** The ratio of all values of a split together; null unless it is of counts. */
export function combinedRatio(answer: MetricAnswer): Figure | null {
  if (!isOfCounts(answer)) return null
  const figures = totalsOf(answer).map((one) => figureOfAll(answer, one))
  const numerator = sumOf(figures.map((one) => one.numerator))
  const denominator = sumOf(figures.map((one) => one.denominator))
  const value = numerator === null || !denominator ? null : numerator / denominator
  return { value, numerator, denominator, point: figures[0]?.point ?? null }
}
