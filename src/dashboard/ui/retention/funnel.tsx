/** From a download to a payment: how many of each, and how many for each download. */
import type { JSX } from 'preact'
import type { MetricAnswer } from '../metrics/answer.ts'
import { useMetric } from '../metrics/asked.ts'
import { type Definition, useDefinitions } from '../metrics/definitions.ts'
import { figureOfAll, wholesOf } from '../metrics/figures.ts'
import { originOf } from '../metrics/origins.ts'
import { Card } from '../parts/card.tsx'
import { Loaded } from '../parts/states.tsx'
import { useScope } from '../scope.ts'
import { count, share } from '../words.ts'

const STEPS = ['downloads', 'new_trials', 'first_payments'] as const

const figureIn = (answer: MetricAnswer | undefined): number | null =>
  answer ? figureOfAll(answer, wholesOf(answer)[0]?.points ?? []).value : null

/** Of what the figure is made, as `12 after a trial`. */
function partsIn(answer: MetricAnswer | undefined, definition: Definition | undefined): string {
  const told = (definition?.parts ?? []).flatMap(({ name, title }) => {
    const series = answer?.series.find(({ part }) => part === name)
    const many = answer && series ? figureOfAll(answer, series.points).value : null
    return many ? [`${count(many)} ${title.toLowerCase()}`] : []
  })
  return told.join(', ')
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

/** Nothing where the API has no such metrics. */
export function Funnel({ class: className = '' }: { class?: string }): JSX.Element | null {
  const downloads = useMetric('downloads', { compare: null })
  const trials = useMetric('new_trials', { compare: null })
  const payments = useMetric('first_payments', { compare: null })
  // Its room is kept until it is known that there are none.
  if (useDefinitions().data && !(downloads.definition && payments.definition)) return null
  const all = [downloads, trials, payments]
  return (
    <Card
      title="From download to payment"
      class={className}
      foot={
        downloads.asked.data && (
          <>
            <span>{originOf(downloads.asked.data)}</span>
            <span>Those of the same days, not the same people: a trial may follow an earlier download.</span>
          </>
        )
      }
    >
      <Loaded asked={downloads.asked} height={200}>
        {() => {
          const many = all.map(({ asked }) => figureIn(asked.data))
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
                  parts={partsIn(all[index]?.asked.data, all[index]?.definition)}
                  most={most}
                />
              ))}
            </ol>
          )
        }}
      </Loaded>
    </Card>
  )
}
