/** The funnel from download to payment. */
import type { JSX } from 'preact'
import { type Definition, useDefinitions } from '../metrics/definitions.ts'
import { figureOfAll, totalsOf } from '../metrics/figures.ts'
import type { MetricAnswer } from '../metrics/metric_answer.ts'
import { useMetric } from '../metrics/metric_query.ts'
import { Card } from '../parts/card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import type { QueryResult } from '../queries.ts'
import { useScope } from '../scope.ts'
import { count, day, plural, share } from '../words.ts'
import { type CommonDays, commonDays } from './common_days.ts'

const STEPS = ['downloads', 'new_trials', 'first_payments'] as const

const figureIn = (answer: MetricAnswer): number | null =>
  figureOfAll(answer, totalsOf(answer)[0]?.points ?? []).value

/** The parts of a figure, such as `12 after a trial`. */
function partsIn(answer: MetricAnswer | undefined, definition: Definition | undefined): string {
  const steps = (definition?.parts ?? []).flatMap(({ name, title }) => {
    const series = answer?.series.find(({ part }) => part === name)
    const many = answer && series ? figureOfAll(answer, series.points).value : null
    return many ? [`${count(many)} ${title.toLowerCase()}`] : []
  })
  return steps.join(', ')
}

type StepProps = {
  name: string
  title: string
  many: number | null
  downloads: number | null
  parts: string
  most: number
}

function Step({ name, title, many, downloads, parts, most }: StepProps): JSX.Element {
  const { href } = useScope()
  const isShare = name !== 'downloads' && downloads !== null && downloads > 0 && many !== null
  const under = [isShare ? `${share(many / downloads)} of downloads` : '', parts]
  return (
    <li>
      <span class="what">
        <span class="step">
          <a href={href(`/metrics/${name}`)}>{title}</a>
          <span class="quiet tiny">{under.filter((words) => words !== '').join(' · ')}</span>
        </span>
        <strong class="number figure-s">{count(many)}</strong>
      </span>
      <span class="track tall" aria-hidden="true">
        <span class="fill" style={{ width: `${most === 0 ? 0 : ((many ?? 0) / most) * 100}%` }} />
      </span>
    </li>
  )
}

/** The note on the days that the funnel covers. */
function daysWords({ first, last, left_out }: CommonDays): string {
  if (first === null || last === null) return 'No day in this range has data for all three steps yet.'
  const gaps = left_out === 0 ? '' : `, excluding ${plural(left_out, 'day')} without a downloads report`
  return `Counted from ${day(first)} to ${day(last)}, the last day with a downloads report${gaps}.`
}

/** Combines several query results: data once all are loaded, else the first error. */
function combineResults(all: readonly QueryResult<MetricAnswer>[]): QueryResult<MetricAnswer[]> | null {
  const [first] = all
  if (!first) return null
  const data = all.flatMap((one) => one.data ?? [])
  const refused = all.find(({ problem }) => problem !== null)
  return {
    ...(refused ?? first),
    data: data.length === all.length ? data : undefined,
    isPrevious: all.some(({ isPrevious }) => isPrevious),
    retry: () => {
      for (const { retry } of all) retry()
    },
  }
}

/** Always daily, because a longer interval may contain days without downloads data. */
const DAILY = { compare: null, interval: 'day' }

/** Renders nothing if the API lacks these metrics. */
export function Funnel({ class: className = '' }: { class?: string }): JSX.Element | null {
  const downloads = useMetric('downloads', DAILY)
  const trials = useMetric('new_trials', DAILY)
  const payments = useMetric('first_payments', DAILY)
  // Keeps its space until the definitions are loaded.
  if (useDefinitions().data && !(downloads.definition && payments.definition)) return null
  const all = [downloads, trials, payments]
  const result = combineResults(all.map((one) => one.result))
  if (!result) return null
  const shared = result.data && commonDays(result.data)
  return (
    <Card
      title="From download to payment"
      class={className}
      foot={
        shared && (
          <>
            <span>{daysWords(shared)}</span>
            <span>Same days, not same people: a trial may follow an earlier download.</span>
          </>
        )
      }
    >
      <QueryView result={{ ...result, data: shared }} height={200}>
        {({ answers }) => {
          const many = answers.map(figureIn)
          const most = Math.max(0, ...many.map((one) => one ?? 0))
          return (
            <ol class="breakdown">
              {STEPS.map((name, index) => (
                <Step
                  key={name}
                  name={name}
                  title={all[index]?.definition?.title ?? name}
                  many={many[index] ?? null}
                  downloads={many[0] ?? null}
                  parts={partsIn(answers[index], all[index]?.definition)}
                  most={most}
                />
              ))}
            </ol>
          )
        }}
      </QueryView>
    </Card>
  )
}
