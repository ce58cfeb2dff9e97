/** The key figures of subscriptions: current levels, and this month's flows compared with the month before. */
import type { JSX } from 'preact'
import { useDefinition } from '../metrics/definitions.ts'
import { figureOf, formattersOf, isHigherBetter } from '../metrics/metric_answer.ts'
import { type OrganizationOverview, useOverview } from '../overview.ts'
import { Fit } from '../parts/amount.tsx'
import { Delta } from '../parts/card.tsx'
import { useScope } from '../scope.ts'
import { monthName, UNKNOWN } from '../words.ts'

type OverviewFigure = OrganizationOverview['figures'][number]

const NAMES = ['mrr', 'net_new_mrr', 'churn_rate', 'active_subscriptions', 'mrr_at_risk']

function KeyFigure({ figure, month_on }: { figure: OverviewFigure; month_on: string }): JSX.Element {
  const { metric, unit, kind } = figure
  const { href } = useScope()
  const title = useDefinition(metric)?.title ?? metric
  const { format, formatShort } = formattersOf(figure)
  const now = figureOf(figure.now, unit)
  const before = figureOf(figure.previous, unit)
  // The card of churn compares whole months; a part of one would contradict it.
  const hasChange = unit !== 'ratio' && before !== 0
  return (
    <a class="card card-pad stat" href={href(`/metrics/${metric}`, unit === 'ratio' ? { by: 'month' } : {})}>
      <span class="label">{title}</span>
      <span class="figure">
        <Fit exact={format(now)} short={now === null ? UNKNOWN : formatShort(now)} />
      </span>
      <span class="small quiet">
        {hasChange && now !== null && before !== null && (
          <Delta
            now={now}
            before={before}
            isHigherBetter={isHigherBetter(metric)}
            against="vs. a month before"
          />
        )}{' '}
        {kind !== 'level' ? `${monthName(month_on)} so far` : hasChange ? 'in a month' : 'now'}
      </span>
    </a>
  )
}

export function KeyFigures(): JSX.Element {
  const { overview } = useOverview(useScope().scope)
  const figures = NAMES.flatMap(
    (name) => overview?.figures.find(({ metric, part }) => metric === name && part === null) ?? [],
  )
  return (
    <div class="figures-row key-figures">
      {overview === undefined && NAMES.map((name) => <div key={name} class="card card-pad stat" />)}
      {figures.map((figure) => (
        <KeyFigure key={figure.metric} figure={figure} month_on={overview?.this_month.from_on ?? ''} />
      ))}
    </div>
  )
}
