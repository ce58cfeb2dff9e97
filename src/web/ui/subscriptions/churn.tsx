/** The churn card: a verdict with the chart of the last months. */
import type { JSX } from 'preact'
import { useApps } from '../apps.ts'
import { ChartCard } from '../charts/chart_card.tsx'
import { useInView } from '../loading/use_in_view.ts'
import type { Definition } from '../metrics/definitions.ts'
import { daysText } from '../metrics/figures.ts'
import { graphOf } from '../metrics/lines.ts'
import { type MetricAnswer, partTitle } from '../metrics/metric_answer.ts'
import { About } from '../metrics/metric_card.tsx'
import { useMetric } from '../metrics/metric_query.ts'
import { Notes } from '../metrics/tools.tsx'
import { useOverview } from '../overview.ts'
import { useScope } from '../scope.ts'
import { count, month, plural, plusDays, points, share } from '../words.ts'
import { type Trend, trendOf, type Verdict } from './churn_trend.ts'
import { noChurnText } from './empty_texts.ts'

const VERDICTS: Record<Verdict, { text: string; tone: string }> = {
  worse: { text: 'Yes, churn is getting worse', tone: 'bad' },
  perhaps_worse: { text: 'Churn may be getting worse', tone: 'warn' },
  same: { text: 'No, churn is about the same', tone: 'quiet' },
  perhaps_better: { text: 'Churn may be getting better', tone: 'good' },
  better: { text: 'No, churn is getting better', tone: 'good' },
}
const SIGNIFICANT: Verdict[] = ['worse', 'better']

function Sentence({ trend, definition }: { trend: Trend; definition: Definition | undefined }): JSX.Element {
  const { verdict, on, now, before, months, startCount, cause } = trend
  const comparedMonths =
    months === 1 ? 'in the previous month' : `per month over the previous ${count(months)} months`
  const isIncrease = now > before
  return (
    <p class="small">
      {month(on)}: <strong>{share(now)}</strong> of subscriptions churned, compared with{' '}
      <strong>{share(before)}</strong> {comparedMonths}.{' '}
      {cause &&
        verdict !== 'same' &&
        `Most of the difference: ${partTitle(definition, cause.part).toLowerCase()} (${points(cause.change)}). `}
      {!SIGNIFICANT.includes(verdict) && (
        <span class="quiet">
          With {plural(startCount, 'subscription')} at its start,{' '}
          {verdict === 'same'
            ? 'a difference of this size is within chance.'
            : `another month will show whether the ${isIncrease ? 'increase' : 'decrease'} is more than chance.`}
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
  const { text, tone } = VERDICTS[trend.verdict]
  return (
    <div class="stack-s">
      <p class={`verdict ${tone}`}>{text}</p>
      <Sentence trend={trend} definition={definition} />
    </div>
  )
}

/** Days that contain twelve complete months. */
const RANGE_DAYS = 365

export function Churn({ class: className = '' }: { class?: string }): JSX.Element {
  const { scope } = useScope()
  const { overview } = useOverview(scope)
  const apps = useApps().data?.apps ?? []
  const today = overview?.today_on
  const { isInView, ref } = useInView()
  const range = today && { from: plusDays(today, -RANGE_DAYS), to: today }
  const { result, definition, csvUrls } = useMetric('churn_rate', { interval: 'month', ...range }, isInView)
  const title = 'Is churn getting worse?'
  return (
    <ChartCard
      paramPrefix="churn"
      name="churn_by_month"
      title={title}
      textTitle={title}
      class={className}
      cardRef={ref}
      about={definition && <About definition={definition} answer={result.data} />}
      result={result}
      csvUrls={csvUrls}
      height={220}
      headHeight={92}
      head={(answer) => <Head answer={answer} definition={definition} />}
      graphOf={(answer) =>
        graphOf(answer, definition, apps, { style: 'bar', isInParts: true, title: 'Churn rate' })
      }
      emptyText={noChurnText}
      subtitle={daysText}
      foot={(answer) => <Notes answer={answer} />}
    />
  )
}
