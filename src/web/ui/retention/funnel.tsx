/** The funnel from download to payment. */
import type { JSX } from 'preact'
import { ExportMenu } from '../charts/export_menu.tsx'
import { useInView } from '../loading/use_in_view.ts'
import { type Definition, useDefinitions } from '../metrics/definitions.ts'
import { totalsOf } from '../metrics/figures.ts'
import type { MetricAnswer } from '../metrics/metric_answer.ts'
import { useMetric } from '../metrics/metric_query.ts'
import { Card } from '../parts/card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import type { QueryResult } from '../queries.ts'
import { useScope } from '../scope.ts'
import { count, day, plural, share } from '../words.ts'
import { type CommonDays, commonDays } from './common_days.ts'

const STEPS = ['downloads', 'new_trials', 'first_payments'] as const

const figureIn = (answer: MetricAnswer): number | null => totalsOf(answer)[0]?.range.count ?? null

/** The parts of a figure, such as `12 after a trial`. */
function partsText(answer: MetricAnswer | undefined, definition: Definition | undefined): string {
  const steps = (definition?.parts ?? []).flatMap(({ name, title }) => {
    const value = answer?.series.find(({ part }) => part === name)?.range.count
    return value ? [`${count(value)} ${title.toLowerCase()}`] : []
  })
  return steps.join(', ')
}

type StepProps = {
  name: string
  title: string
  value: number | null
  downloads: number | null
  parts: string
  largest: number
}

function Step({ name, title, value, downloads, parts, largest }: StepProps): JSX.Element {
  const { href } = useScope()
  const hasPercentage = name !== 'downloads' && downloads !== null && downloads > 0 && value !== null
  const details = [hasPercentage ? `${share(value / downloads)} of downloads` : '', parts]
  return (
    <li>
      <span class="what">
        <span class="step">
          <a href={href(`/metrics/${name}`)}>{title}</a>
          <span class="quiet tiny">{details.filter((text) => text !== '').join(' · ')}</span>
        </span>
        <strong class="number figure-s">{count(value)}</strong>
      </span>
      <span class="track tall" aria-hidden="true">
        <span class="fill" style={{ width: `${largest === 0 ? 0 : ((value ?? 0) / largest) * 100}%` }} />
      </span>
    </li>
  )
}

/** The note on the days that the funnel covers. */
function coverageText({ first, last, excludedDays }: CommonDays): string {
  if (first === null || last === null) return 'No day in this range has data for all three steps yet.'
  const gaps =
    excludedDays === 0 ? '' : `, excluding ${plural(excludedDays, 'day')} without a downloads report`
  return `Counted from ${day(first)} to ${day(last)}, the last day with a downloads report${gaps}.`
}

/** Combines query results. `data` is set once all are loaded; `problem` is the first error. */
function combineResults(all: readonly QueryResult<MetricAnswer>[]): QueryResult<MetricAnswer[]> | null {
  const [first] = all
  if (!first) return null
  const data = all.flatMap((one) => one.data ?? [])
  const failed = all.find(({ problem }) => problem !== null)
  return {
    ...(failed ?? first),
    data: data.length === all.length ? data : undefined,
    isPrevious: all.some(({ isPrevious }) => isPrevious),
    retry: () => {
      for (const { retry } of all) retry()
    },
  }
}

/** The CSV file of each step. */
const csvUrlsOf = ([first, ...others]: readonly ReturnType<typeof useMetric>[]) => ({
  csv: first?.csvUrls.csv ?? '',
  others: others.map(({ definition, csvUrls }) => ({ title: definition?.title ?? '', url: csvUrls.csv })),
})

/** Always daily, because a longer interval may contain days without downloads data. */
const DAILY = { compare: null, interval: 'day' }

/** Renders nothing if the API lacks these metrics. */
export function Funnel({ class: className = '' }: { class?: string }): JSX.Element | null {
  const { isInView, ref } = useInView()
  const downloads = useMetric('downloads', DAILY, isInView)
  const trials = useMetric('new_trials', DAILY, isInView)
  const payments = useMetric('first_payments', DAILY, isInView)
  // Render the card until the definitions are loaded, so that the layout does not shift.
  if (useDefinitions().data && !(downloads.definition && payments.definition)) return null
  const all = [downloads, trials, payments]
  const result = combineResults(all.map((one) => one.result))
  if (!result) return null
  const common = result.data && commonDays(result.data)
  return (
    <Card
      title="From download to payment"
      cardRef={ref}
      class={className}
      tools={<ExportMenu csvUrls={csvUrlsOf(all)} />}
      foot={
        common && (
          <>
            <span>{coverageText(common)}</span>
            <span>Same days, not same people: a trial may follow an earlier download.</span>
          </>
        )
      }
    >
      <QueryView result={{ ...result, data: common }} height={200}>
        {({ answers }) => {
          const values = answers.map(figureIn)
          const largest = Math.max(0, ...values.map((one) => one ?? 0))
          return (
            <ol class="breakdown">
              {STEPS.map((name, index) => (
                <Step
                  key={name}
                  name={name}
                  title={all[index]?.definition?.title ?? name}
                  value={values[index] ?? null}
                  downloads={values[0] ?? null}
                  parts={partsText(answers[index], all[index]?.definition)}
                  largest={largest}
                />
              ))}
            </ol>
          )
        }}
      </QueryView>
    </Card>
  )
}
