/** The churn card: a verdict with the chart of the last months. */
import type { JSX } from 'preact'
import { useApps } from '../apps.ts'
import { ChartCard } from '../charts/chart_card.tsx'
import type { Definition } from '../metrics/definitions.ts'
import { graphOf } from '../metrics/lines.ts'
import { type MetricAnswer, partTitle } from '../metrics/metric_answer.ts'
import { About } from '../metrics/metric_card.tsx'
import { useMetric } from '../metrics/metric_query.ts'
import { Notes } from '../metrics/tools.tsx'
import { useOverview } from '../overview.ts'
import { useScope } from '../scope.ts'
import { bucket, count, month, plural, plusDays, points, share } from '../words.ts'
import { type Trend, trendOf, type Verdict } from './churn_trend.ts'

const VERDICTS: Record<Verdict, { words: string; tone: string }> = {
  worse: { words: 'Yes, churn is getting worse', tone: 'bad' },
  perhaps_worse: { words: 'Churn may be getting worse', tone: 'warn' },
  same: { words: 'No, churn is about the same', tone: 'quiet' },
  perhaps_better: { words: 'Churn may be getting better', tone: 'good' },
  better: { words: 'No, churn is getting better', tone: 'good' },
}
const IS_SURE: Verdict[] = ['worse', 'better']

function Sentence({ trend, definition }: { trend: Trend; definition: Definition | undefined }): JSX.Element {
  const { verdict, on, now, before, months, alive, cause } = trend
  const before_ =
    months === 1 ? 'in the previous month' : `per month over the previous ${count(months)} months`
  const isMore = now > before
  return (
    <p class="small">
      {month(on)}: <strong>{share(now)}</strong> of subscriptions churned, compared with{' '}
      <strong>{share(before)}</strong> {before_}.{' '}
      {cause &&
        verdict !== 'same' &&
        `Most of the difference: ${partTitle(definition, cause.part).toLowerCase()} (${points(cause.by)}). `}
      {!IS_SURE.includes(verdict) && (
        <span class="quiet">
          With {plural(alive, 'subscription')} at its start,{' '}
          {verdict === 'same'
            ? 'a difference of this size is within chance.'
            : `another month will show whether the ${isMore ? 'increase' : 'decrease'} is more than chance.`}
        </span>
      )}
    </p>
  )
}

function Head({
  answer,
  definition,
}: {
  answer: MetricAnswer
  definition: Definition | undefined
}): JSX.Element {
  const trend = trendOf(answer)
  if (!trend) return <p class="small quiet">Available after two complete months with paid subscriptions.</p>
  const { words, tone } = VERDICTS[trend.verdict]
  return (
    <div class="stack-s">
      <p class={`verdict ${tone}`}>{words}</p>
      <Sentence trend={trend} definition={definition} />
    </div>
  )
}

/** Days that contain twelve complete months. */
const YEAR_AND_MONTH = 365

export function Churn({ class: className = '' }: { class?: string }): JSX.Element {
  const { scope } = useScope()
  const { overview } = useOverview(scope)
  const apps = useApps().data?.apps ?? []
  const today = overview?.today_on
  const { result, definition, tables } = useMetric('churn_rate', {
    interval: 'month',
    ...(today && { from: plusDays(today, -YEAR_AND_MONTH), to: today }),
    compare: null,
  })
  const title = 'Is churn getting worse?'
  return (
    <ChartCard
      onlyKey="churn"
      name="churn_by_month"
      title={title}
      textTitle={title}
      class={className}
      about={definition && <About definition={definition} answer={result.data} />}
      result={result}
      tables={tables}
      height={220}
      headHeight={92}
      head={(answer) => <Head answer={answer} definition={definition} />}
      graphOf={(answer) =>
        graphOf(answer, definition, apps, { style: 'bar', isInParts: true, title: 'Churn rate' })
      }
      nothing={() => 'No churn in the last year.'}
      under={({ from_on, until_on }) => `${bucket(from_on, 'day')} – ${bucket(until_on, 'day')}`}
      foot={(answer) => <Notes answer={answer} />}
    />
  )
}
