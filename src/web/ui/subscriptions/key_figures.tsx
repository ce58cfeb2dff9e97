/** The key figures of subscriptions in the range, with their changes. */
import type { JSX } from 'preact'
import { ExportMenu } from '../charts/export_menu.tsx'
import { useDefinitions } from '../metrics/definitions.ts'
import { Headline } from '../metrics/headline.tsx'
import { useMetric, useMetricCsv } from '../metrics/metric_query.ts'
import { QueryView } from '../parts/query_view.tsx'
import { useScope } from '../scope.ts'

const NAMES = ['mrr', 'net_new_mrr', 'churn_rate', 'active_subscriptions', 'mrr_at_risk']

function KeyFigure({ name }: { name: string }): JSX.Element | null {
  const { href } = useScope()
  const { result, definition, isHidden } = useMetric(name, { compare: 'always' })
  if (isHidden) return null
  return (
    <a class="card card-pad stat" href={href(`/metrics/${name}`)}>
      <span class="label">{definition?.title}</span>
      <QueryView result={result} height={48}>
        {(answer) => <Headline answer={answer} isShort />}
      </QueryView>
    </a>
  )
}

/** The menu with the CSV of each key figure. */
export function KeyFiguresExport(): JSX.Element {
  const csvOf = useMetricCsv()
  const files = (useDefinitions().data ?? [])
    .filter(({ name }) => NAMES.includes(name))
    .map((one) => ({ title: one.title, url: csvOf(one) }))
  return <ExportMenu csvUrls={{ others: files }} of="key figures" />
}

export const KeyFigures = (): JSX.Element => (
  <div class="figures-row key-figures">
    {NAMES.map((name) => (
      <KeyFigure key={name} name={name} />
    ))}
  </div>
)
