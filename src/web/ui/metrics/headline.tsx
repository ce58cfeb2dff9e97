/** A metric's headline figure with its change. */
import type { JSX } from 'preact'
import { Fit } from '../parts/amount.tsx'
import { Delta } from '../parts/card.tsx'
import { UNKNOWN } from '../words.ts'
import {
  basisText,
  comparedText,
  daysShown,
  type Figure,
  figureOfAll,
  isAmountOfChange,
  sumOf,
  totalsOf,
} from './figures.ts'
import { figureOf, formattersOf, isHigherBetter, isPercentage, type MetricAnswer } from './metric_answer.ts'
import { combinedRatio } from './samples.ts'

/** The total figure. With a split, it is that of all values together; null for ratios of money. */
function totalFigure(answer: MetricAnswer): Figure | null {
  const totals = totalsOf(answer)
  if (answer.split === null) return totals[0] ? figureOfAll(answer, totals[0].points) : null
  if (answer.unit === 'ratio') return combinedRatio(answer)
  return { value: sumOf(totals.map(({ points }) => figureOfAll(answer, points).value)), points: [] }
}

/** Whether all values of a period are known. Otherwise the period is not used for comparison. */
const isKnown = ({ series }: Pick<MetricAnswer, 'series'>, unit: MetricAnswer['unit']): boolean =>
  unit === 'ratio' ||
  totalsOf({ series }).every(({ points }) => points.every((point) => figureOf(point, unit) !== null))

/** The figure to compare with, or null. */
const previousFigure = (answer: MetricAnswer): number | null =>
  answer.previous && isKnown(answer.previous, answer.unit)
    ? (totalFigure({ ...answer, ...answer.previous })?.value ?? null)
    : null

function captionOf(answer: MetricAnswer, figure: Figure, against: string): string {
  const { kind, unit } = answer
  if (kind === 'level' && unit !== 'ratio') return against
  const { format } = formattersOf(answer)
  const days = daysShown(answer)
  const average = figure.value === null ? null : Math.round(figure.value / days)
  const aDay = unit === 'money' && days > 1 ? `${format(average)} per day` : ''
  return [basisText(answer, figure), aDay, against].filter(Boolean).join(', ')
}

export function Headline({ answer }: { answer: MetricAnswer }): JSX.Element | null {
  const figure = totalFigure(answer)
  if (!figure) return null
  const before = previousFigure(answer)
  const { format, formatShort, formatChange } = formattersOf(answer)
  const isAmount = isAmountOfChange(answer.metric, figure.value ?? 0, before ?? 0)
  const isCompared =
    figure.value !== null && before !== null && (before !== 0 || isAmount || isPercentage(answer))
  return (
    <p class="figure-row">
      <span class="figure">
        <Fit
          exact={format(figure.value)}
          short={figure.value === null ? UNKNOWN : formatShort(figure.value)}
        />
      </span>
      {figure.value !== null && before !== null && (
        <Delta
          now={figure.value}
          before={before}
          isHigherBetter={isHigherBetter(answer.metric)}
          isPercentage={isPercentage(answer)}
          against={comparedText(answer)}
          format={isAmount ? formatChange : null}
        />
      )}
      <span class="tiny quiet">{captionOf(answer, figure, isCompared ? comparedText(answer) : '')}</span>
    </p>
  )
}
