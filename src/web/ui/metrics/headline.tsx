/** A metric's headline figure with its change. */
import type { JSX } from 'preact'
import { Fit } from '../parts/amount.tsx'
import { Delta } from '../parts/card.tsx'
import { bucket, daysBetween, span, UNKNOWN } from '../words.ts'
import { type Figure, figureOfAll, sumOf, totalsOf } from './figures.ts'
import { figureOf, formattersOf, isHigherBetter, isPercentage, type MetricAnswer } from './metric_answer.ts'
import { combinedRatio } from './samples.ts'

/** The number of days in the range that have begun. */
const daysShown = ({ from_on, until_on, today_on }: MetricAnswer): number =>
  daysBetween(from_on, until_on < today_on ? until_on : today_on) + 1

/** The period of a ratio, which may cover fewer days than the range. */
function figureLabel({ unit, interval }: MetricAnswer, { points }: Figure): string {
  const [first] = points
  if (unit !== 'ratio' || !first) return ''
  const last = points.at(-1) ?? first
  return span(first.on, last.on, interval)
}

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

/** The figure to compare with: the previous period, or the first value of a level. */
function previousFigure(answer: MetricAnswer): { value: number | null; comparedWith: string } {
  const { previous, kind, unit, split } = answer
  if (previous && !isKnown(previous, unit)) return { value: null, comparedWith: '' }
  if (previous)
    return {
      value: totalFigure({ ...answer, ...previous })?.value ?? null,
      comparedWith: `vs. ${bucket(previous.from_on, 'day')} – ${bucket(previous.until_on, 'day')}`,
    }
  if (kind === 'flow' || unit === 'ratio' || split !== null) return { value: null, comparedWith: '' }
  const first = totalsOf(answer)[0]?.points[0]
  if (!first) return { value: null, comparedWith: '' }
  return { value: figureOf(first, unit), comparedWith: `since ${bucket(first.on, answer.interval)}` }
}

function captionOf(answer: MetricAnswer, figure: Figure, against: string): string {
  const { kind, unit } = answer
  if (unit === 'ratio') return [figureLabel(answer, figure), against].filter(Boolean).join(', ')
  if (kind === 'level') return against
  const { format } = formattersOf(answer)
  const days = daysShown(answer)
  const average = figure.value === null ? null : Math.round(figure.value / days)
  const aDay = unit === 'money' && days > 1 ? `${format(average)} per day` : ''
  return [`in ${days === 1 ? 'one day' : `${days} days`}`, aDay, against].filter(Boolean).join(', ')
}

export function Headline({ answer }: { answer: MetricAnswer }): JSX.Element | null {
  const figure = totalFigure(answer)
  if (!figure) return null
  const before = previousFigure(answer)
  const { format, formatShort } = formattersOf(answer)
  const isCompared =
    figure.value !== null && before.value !== null && (before.value !== 0 || isPercentage(answer))
  return (
    <p class="figure-row">
      <span class="figure">
        <Fit
          exact={format(figure.value)}
          short={figure.value === null ? UNKNOWN : formatShort(figure.value)}
        />
      </span>
      {figure.value !== null && before.value !== null && (
        <Delta
          now={figure.value}
          before={before.value}
          isHigherBetter={isHigherBetter(answer.metric)}
          isPercentage={isPercentage(answer)}
          against={before.comparedWith}
        />
      )}
      <span class="tiny quiet">{captionOf(answer, figure, isCompared ? before.comparedWith : '')}</span>
    </p>
  )
}
