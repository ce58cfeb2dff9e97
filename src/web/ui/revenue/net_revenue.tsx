/** Tiles of gross revenue, proceeds, their parts and refunds in the range. */
import type { JSX } from 'preact'
import { figureOfAll, sumOf, totalsOf } from '../metrics/figures.ts'
import { figureOf, type MetricAnswer } from '../metrics/metric_answer.ts'
import { useMetric } from '../metrics/metric_query.ts'
import { Amount } from '../parts/amount.tsx'
import { Delta, Stat } from '../parts/card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { comparedWith, useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { bucket, share } from '../words.ts'

type Series = Pick<MetricAnswer, 'series'>

const totalOf = (answer: MetricAnswer, { series }: Series): number | null =>
  figureOfAll(answer, totalsOf({ series })[0]?.points ?? []).value
const partOf = ({ series }: Series, part: string): number =>
  sumOf(series.find((one) => one.part === part)?.points.map((point) => figureOf(point, 'money')) ?? []) ?? 0

type FigureProps = {
  label: string
  answer: MetricAnswer
  figureIn: (series: Series) => number | null
  under?: string | undefined
  isHigherBetter?: boolean
}

function Figure({ label, answer, figureIn, under, isHigherBetter = true }: FigureProps): JSX.Element {
  const now = figureIn(answer)
  const { previous } = answer
  const before = previous && figureIn(previous)
  const against = previous
    ? `vs. ${bucket(previous.from_on, 'day')} – ${bucket(previous.until_on, 'day')}`
    : ''
  return (
    <div class="card card-pad">
      <Stat
        label={label}
        under={
          <>
            {now !== null && before !== null && before !== undefined && (
              <Delta now={now} before={before} isHigherBetter={isHigherBetter} against={against} />
            )}{' '}
            {under}
          </>
        }
      >
        <Amount milli={now} currency={answer.currency} />
      </Stat>
    </div>
  )
}

/** A guest sees only the basis of the link. */
export function NetRevenue(): JSX.Element {
  const { basis } = useSession()
  const comparison = { compare: comparedWith(useScope().scope) }
  const gross = useMetric('revenue', { ...comparison, basis: basis === 'proceeds' ? 'proceeds' : null })
  const proceeds = useMetric('revenue', { ...comparison, basis: basis === 'gross' ? null : 'proceeds' })
  return (
    <QueryView result={gross.result} height={104}>
      {(grossAnswer) => {
        const proceedsAnswer = proceeds.result.data
        const grossTotal = totalOf(grossAnswer, grossAnswer)
        const proceedsTotal = proceedsAnswer ? totalOf(proceedsAnswer, proceedsAnswer) : null
        const percentageText =
          grossTotal && proceedsTotal !== null && basis === null
            ? `${share(proceedsTotal / grossTotal)} of gross`
            : undefined
        return (
          <div class="figures-row">
            {basis !== 'proceeds' && (
              <Figure
                label="Gross"
                answer={grossAnswer}
                figureIn={(series) => totalOf(grossAnswer, series)}
              />
            )}
            {proceedsAnswer && basis !== 'gross' && (
              <Figure
                label="Proceeds"
                answer={proceedsAnswer}
                figureIn={(series) => totalOf(proceedsAnswer, series)}
                under={percentageText}
              />
            )}
            <Figure label="New" answer={grossAnswer} figureIn={(series) => partOf(series, 'new')} />
            <Figure label="Renewals" answer={grossAnswer} figureIn={(series) => partOf(series, 'renewal')} />
            <Figure label="One-time" answer={grossAnswer} figureIn={(series) => partOf(series, 'one_time')} />
            <Figure
              label="Refunds"
              answer={grossAnswer}
              figureIn={(series) => 0 - partOf(series, 'refunds')}
              isHigherBetter={false}
            />
          </div>
        )
      }}
    </QueryView>
  )
}
