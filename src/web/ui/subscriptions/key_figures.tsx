/** The key figures of subscriptions: current levels, and this month's flows compared with the month before. */
import type { JSX } from 'preact'
import { ExportMenu } from '../charts/export_menu.tsx'
import { addressOf } from '../http.ts'
import { useDefinition } from '../metrics/definitions.ts'
import { isAmountOfChange } from '../metrics/figures.ts'
import { figureOf, formattersOf, isHigherBetter } from '../metrics/metric_answer.ts'
import { type OrganizationOverview, overviewQuery, useOverview } from '../overview.ts'
import { Fit } from '../parts/amount.tsx'
import { Delta } from '../parts/card.tsx'
import { useScope } from '../scope.ts'
import { monthName, shortDay, UNKNOWN } from '../words.ts'

type OverviewFigure = OrganizationOverview['figures'][number]

const NAMES = ['mrr', 'net_new_mrr', 'churn_rate', 'active_subscriptions', 'mrr_at_risk']

type KeyFigureProps = { figure: OverviewFigure; overview: OrganizationOverview }

function KeyFigure({ figure, overview }: KeyFigureProps): JSX.Element {
  const { metric, unit, kind } = figure
  const { this_month, previous } = overview
  const { href } = useScope()
  const title = useDefinition(metric)?.title ?? metric
  const { format, formatShort, formatChange } = formattersOf(figure)
  const now = figureOf(figure.now, unit)
  const before = figureOf(figure.previous, unit)
  // The card of churn compares whole months; a part of one would contradict it.
  const hasChange = unit !== 'ratio' && before !== 0 && now !== null && before !== null
  const isAmount = isAmountOfChange(metric, now ?? 0, before ?? 0)
  const basis = kind === 'level' ? 'now' : `${monthName(this_month.from_on)} so far`
  const days = `${shortDay(previous.from_on)} – ${shortDay(previous.until_on)}`
  const comparedBasis = kind === 'level' ? `since ${shortDay(previous.until_on)}` : `${basis}, vs. ${days}`
  return (
    <a class="card card-pad stat" href={href(`/metrics/${metric}`, unit === 'ratio' ? { by: 'month' } : {})}>
      <span class="label">{title}</span>
      <span class="figure">
        <Fit exact={format(now)} short={now === null ? UNKNOWN : formatShort(now)} />
      </span>
      <span class="small quiet">
        {hasChange && (
          <Delta
            now={now}
            before={before}
            isHigherBetter={isHigherBetter(metric)}
            against=""
            format={isAmount ? formatChange : null}
          />
        )}{' '}
        {hasChange ? comparedBasis : basis}
      </span>
    </a>
  )
}

/** The menu with the CSV of the key figures, and of all other metrics. */
export const KeyFiguresExport = (): JSX.Element => (
  <ExportMenu
    csvUrls={{ csv: addressOf('/api/v1/overview.csv', overviewQuery(useScope().scope)) }}
    of="key figures"
  />
)

export function KeyFigures(): JSX.Element {
  const { overview } = useOverview(useScope().scope)
  const figures = NAMES.flatMap(
    (name) => overview?.figures.find(({ metric, part }) => metric === name && part === null) ?? [],
  )
  return (
    <div class="figures-row key-figures">
      {overview === undefined && NAMES.map((name) => <div key={name} class="card card-pad stat" />)}
      {overview &&
        figures.map((figure) => <KeyFigure key={figure.metric} figure={figure} overview={overview} />)}
    </div>
  )
}
