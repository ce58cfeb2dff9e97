/** Tiles of gross revenue, proceeds, their parts and refunds in the range. */
import type { JSX } from 'preact'
import { figureOfAll, sumOf, totalsOf } from '../metrics/figures.ts'
import { figureOf, type MetricAnswer } from '../metrics/metric_answer.ts'
import { useMetric } from '../metrics/metric_query.ts'
import { Delta, Stat } from '../parts/card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { useSession } from '../session.ts'
import { bucket, money, share } from '../words.ts'

type Series = Pick<MetricAnswer, 'series'>

const totalOf = (answer: MetricAnswer, { series }: Series): number | null =>
  figureOfAll(answer, totalsOf({ series })[0]?.points ?? []).value
const partOf = ({ series }: Series, part: string): number =>
  sumOf(series.find((one) => one.part === part)?.points.map((point) => figureOf(point, 'money')) ?? []) ?? 0

type FigureProps = {
  label: string
  answer: MetricAnswer
  of: (series: Series) => number | null
  under?: string | undefined
  isGoodUp?: boolean
}

function Figure({ label, answer, of, under, isGoodUp = true }: FigureProps): JSX.Element {
  const now = of(answer)
  const { previous } = answer
  const before = previous && of(previous)
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
              <Delta now={now} before={before} isGoodUp={isGoodUp} against={against} />
            )}{' '}
            {under}
          </>
        }
      >
        {money(now, answer.currency)}
      </Stat>
    </div>
  )
}

/** A guest sees only the basis of the link. */
export function NetRevenue(): JSX.Element {
  const { basis } = useSession()
  const compared = { compare: 'previous' }
  const gross = useMetric('revenue', { ...compared, basis: basis === 'proceeds' ? 'proceeds' : null })
  const proceeds = useMetric('revenue', { ...compared, basis: basis === 'gross' ? null : 'proceeds' })
  return (
    <QueryView result={gross.result} height={104}>
      {(charged) => {
        const kept = proceeds.result.data
        const all = totalOf(charged, charged)
        const left = kept ? totalOf(kept, kept) : null
        const rate = all && left !== null && basis === null ? `${share(left / all)} of gross` : undefined
        return (
          <div class="figures-row">
            {basis !== 'proceeds' && (
              <Figure label="Gross" answer={charged} of={(series) => totalOf(charged, series)} />
            )}
            {kept && basis !== 'gross' && (
              <Figure label="Proceeds" answer={kept} of={(series) => totalOf(kept, series)} under={rate} />
            )}
            <Figure label="New" answer={charged} of={(series) => partOf(series, 'new')} />
            <Figure label="Renewals" answer={charged} of={(series) => partOf(series, 'renewal')} />
            <Figure label="One-time" answer={charged} of={(series) => partOf(series, 'one_time')} />
            <Figure
              label="Refunds"
              answer={charged}
              of={(series) => -partOf(series, 'refunds')}
              isGoodUp={false}
            />
          </div>
        )
      }}
    </QueryView>
  )
}
