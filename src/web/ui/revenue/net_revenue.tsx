/** Tiles of gross revenue, proceeds, their parts and refunds in the range. */
import type { JSX } from 'preact'
import { comparedText, partFigure } from '../metrics/figures.ts'
import type { MetricAnswer } from '../metrics/metric_answer.ts'
import { useMetric } from '../metrics/metric_query.ts'
import { withoutUnknownPrevious } from '../metrics/shown_points.ts'
import { Amount } from '../parts/amount.tsx'
import { Delta, Stat } from '../parts/card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { useQueryParams, useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { share } from '../words.ts'

type Series = Pick<MetricAnswer, 'series'>

const partOf = ({ series }: Series, part: string | null): number | null =>
  partFigure({ series, unit: 'money' }, part)
const totalOf = (series: Series): number | null => partOf(series, null)
/** An amount with a sign, of which zero has none; null if unknown. */
const signed = (milli: number | null, sign: 1 | -1): number | null =>
  milli === null ? null : 0 + sign * milli

type FigureProps = {
  label: string
  isChosen: boolean
  onChoose: () => void
  answer: MetricAnswer
  figureIn: (series: Series) => number | null
  under?: string | undefined
  isHigherBetter?: boolean
}

function Figure({
  label,
  isChosen,
  onChoose,
  answer,
  figureIn,
  under,
  isHigherBetter = true,
}: FigureProps): JSX.Element {
  const now = figureIn(answer)
  const { previous } = withoutUnknownPrevious(answer)
  const before = previous && figureIn(previous)
  return (
    <button type="button" class="card card-pad choice" aria-pressed={isChosen} onClick={onChoose}>
      <Stat
        label={label}
        under={
          <>
            {now !== null && before !== null && before !== undefined && (
              <Delta
                now={now}
                before={before}
                isHigherBetter={isHigherBetter}
                against={comparedText({ ...answer, previous })}
              />
            )}{' '}
            {under}
          </>
        }
      >
        <Amount milli={now} currency={answer.currency} />
      </Stat>
    </button>
  )
}

/** The parts that a figure selects, besides the total. */
const PARTS = [
  { part: 'new', label: 'New', sign: 1 },
  { part: 'renewal', label: 'Renewals', sign: 1 },
  { part: 'one_time', label: 'One-time', sign: 1 },
  { part: 'refunds', label: 'Refunds', sign: -1 },
  { part: 'refund_reversed', label: 'Refunds reversed', sign: 1 },
] as const
/** The parameter of the page’s address that selects a part. */
const PART_PARAM = 'revenue.part'

/** The figures select what the chart below shows. A guest sees only the basis of the link. */
export function NetRevenue(): JSX.Element {
  const { basis } = useSession()
  const { scope } = useScope()
  const [params, setParams] = useQueryParams()
  const part = params[PART_PARAM] ?? null
  const comparison = { compare: 'always' }
  const gross = useMetric('revenue', { ...comparison, basis: basis === 'proceeds' ? 'proceeds' : null })
  const proceeds = useMetric('revenue', { ...comparison, basis: basis === 'gross' ? null : 'proceeds' })
  const whole = (one: 'gross' | 'proceeds') => ({
    isChosen: part === null && (basis ?? scope.basis) === one,
    onChoose: () => setParams({ [PART_PARAM]: null, basis: one === 'gross' ? null : one }),
  })
  return (
    <QueryView result={gross.result} height={104}>
      {(grossAnswer) => {
        const proceedsAnswer = proceeds.result.data
        const grossTotal = totalOf(grossAnswer)
        const proceedsTotal = proceedsAnswer ? totalOf(proceedsAnswer) : null
        const percentageText =
          grossTotal && proceedsTotal !== null && basis === null
            ? `${share(proceedsTotal / grossTotal)} of gross`
            : undefined
        return (
          <fieldset class="figures-row plain-set" aria-label="Shown in the chart">
            {basis !== 'proceeds' && (
              <Figure
                label="Gross, less refunds"
                {...whole('gross')}
                answer={grossAnswer}
                figureIn={totalOf}
              />
            )}
            {proceedsAnswer && basis !== 'gross' && (
              <Figure
                label="Proceeds"
                {...whole('proceeds')}
                answer={proceedsAnswer}
                figureIn={totalOf}
                under={percentageText}
              />
            )}
            {PARTS.filter(
              ({ part: name }) => name !== 'refund_reversed' || partOf(grossAnswer, name) !== 0,
            ).map(({ part: name, label, sign }) => (
              <Figure
                key={name}
                label={label}
                isChosen={part === name}
                onChoose={() => setParams({ [PART_PARAM]: part === name ? null : name })}
                answer={grossAnswer}
                figureIn={(series) => signed(partOf(series, name), sign)}
                isHigherBetter={sign > 0}
              />
            ))}
          </fieldset>
        )
      }}
    </QueryView>
  )
}
