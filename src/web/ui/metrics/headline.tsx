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
import { formattersOf, isHigherBetter, isPercentage, type MetricAnswer } from './metric_answer.ts'
import { combinedRatio } from './samples.ts'
import { uncomparedText, withoutUnknownPrevious } from './shown_points.ts'

/** The total figure. With a split, it is that of all values together; null for ratios of money. */
function totalFigure(answer: MetricAnswer): Figure | null {
  const totals = totalsOf(answer)
  if (answer.split === null) return totals[0] ? figureOfAll(answer, totals[0]) : null
  if (answer.unit === 'ratio') return combinedRatio(answer)
  const value = sumOf(totals.map((one) => figureOfAll(answer, one).value))
  return { value, numerator: null, denominator: null, point: null }
}

/** The figure to compare with, or null. */
const previousFigure = ({ previous, ...answer }: MetricAnswer): number | null =>
  previous && (totalFigure({ ...answer, ...previous, previous })?.value ?? null)

function captionOf(
  answer: MetricAnswer,
  figure: Figure,
  { against, isShort }: { against: string; isShort: boolean },
): string {
  const { kind, unit } = answer
  if (kind === 'level' && unit !== 'ratio') return against
  const { format } = formattersOf(answer)
  const days = daysShown(answer)
  const average = figure.value === null ? null : Math.round(figure.value / days)
  const aDay = unit === 'money' && days > 1 && !isShort ? `${format(average)} per day` : ''
  return [basisText(answer, figure), aDay, against].filter(Boolean).join(', ')
}

type HeadlineProps = {
  answer: MetricAnswer
  /** Without the average of a day. */
  isShort?: boolean
}

export function Headline({ answer: answered, isShort = false }: HeadlineProps): JSX.Element | null {
  const answer = withoutUnknownPrevious(answered)
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
      <span class="tiny quiet">
        {captionOf(answer, figure, {
          against: isCompared ? comparedText(answer) : (uncomparedText(answered) ?? ''),
          isShort,
        })}
      </span>
    </p>
  )
}
