/** The page of one metric: chart, filters, breakdowns and definition. */
import '../loading/chart_views.ts'
import type { JSX } from 'preact'
import { useRoute } from 'preact-iso/router'
import { CHART_PARAMS } from '../charts/card_params.ts'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import type { ViewParams } from '../frame/unused_params.ts'
import type { Query } from '../http.ts'
import { Card } from '../parts/card.tsx'
import { Icon } from '../parts/icons.tsx'
import { Segments } from '../parts/popover.tsx'
import { Empty, Placeholder } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { ANY, useQueryParams, useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { ShareButton } from '../sharing/share_button.tsx'
import { Breakdown, breakdownParams, SPLIT_NOUNS } from './breakdown.tsx'
import { type Definition, useDefinitions } from './definitions.ts'
import { FILTER_PARAMS, filtersIn, MetricFilters, partsWith } from './filters.tsx'
import { Formula } from './formula.tsx'
import { MetricCard } from './metric_card.tsx'
import { isHidden } from './metric_query.ts'
import { RequireFigures } from './require_figures.tsx'
import { ChoiceMenu, RefundDays } from './tools.tsx'

const TOTAL = 'whole'

/** Selects the view, the date of refunds and the part. */
function Tools({ definition }: { definition: Definition }): JSX.Element {
  const [params, change] = useQueryParams()
  const { views, has_refund_days } = definition
  const parts = partsWith(definition, params.refunds ?? null)
  const pickRefunds = (refunds: string | null): void => {
    const isKept =
      params.part === TOTAL || partsWith(definition, refunds).some(({ name }) => name === params.part)
    change({ refunds, ...(!isKept && { part: null }) })
  }
  return (
    <>
      {views.length > 1 && (
        <Segments
          title="View"
          value={params.view ?? views[0]?.name ?? ''}
          choices={views.map(({ name, title }) => ({ value: name, title }))}
          onPick={(view) => change({ view: view === views[0]?.name ? null : view, part: null })}
        />
      )}
      {has_refund_days && <RefundDays value={params.refunds ?? null} onPick={pickRefunds} />}
      {parts.length > 0 && (
        <ChoiceMenu
          label="Series"
          none="All series"
          choices={[
            { value: TOTAL, title: 'Total' },
            ...parts.map(({ name, title }) => ({ value: name, title })),
          ]}
          value={params.part ?? null}
          onPick={(part) => change({ part })}
        />
      )}
    </>
  )
}

const DefinitionCard = ({ definition }: { definition: Definition }): JSX.Element => (
  <Card title="Definition">
    <div class="stack small">
      <p>
        <Formula text={definition.formula} />
      </p>
      {[...definition.views, ...definition.parts].length > 0 && (
        <dl class="facts">
          {[...definition.views, ...definition.parts].map(({ name, title, sentence }) => (
            <div key={name} class="fact">
              <dt>{title}</dt>
              <dd>{sentence}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  </Card>
)

function MetricPage({ definition }: { definition: Definition }): JSX.Element {
  const [params] = useQueryParams()
  const { name, splits } = definition
  const { view = null, refunds = null } = params
  const query: Query = {
    ...filtersIn(params),
    view,
    refunds,
    part: params.part === TOTAL ? null : (params.part ?? null),
  }
  if (isHidden(useSession(), definition))
    return (
      <Empty icon="question" title="Not available through this link">
        <p>This link shows proceeds. This metric is available as gross only.</p>
      </Empty>
    )
  return (
    <>
      <div class="row metric-filters">
        <MetricFilters definition={definition} />
        <Tools definition={definition} />
      </div>
      <MetricCard
        name={name}
        paramPrefix=""
        query={query}
        isInParts={params.part === undefined && definition.parts.length > 0}
        isCompared
        height={340}
      />
      <div class="grid">
        {splits.map((split) => (
          <Breakdown key={split} name={name} split={split} query={query} class="third" />
        ))}
      </div>
      <DefinitionCard definition={definition} />
    </>
  )
}

const paramsOf = (name: string): ViewParams => ({
  ...CHART_PARAMS,
  ...breakdownParams(...Object.keys(SPLIT_NOUNS).map((split) => `${name}.${split}`)),
  ...Object.fromEntries(['split', 'view', 'refunds', 'part', ...FILTER_PARAMS].map((param) => [param, ANY])),
})

export function Metric(): JSX.Element {
  const name = useRoute().params.name ?? ''
  const definitions = useDefinitions()
  const { href } = useScope()
  const { metrics } = useSession()
  const definition = definitions.data?.find((one) => one.name === name)
  return (
    <>
      <ScopeBar />
      <main class="page" id="content">
        <UnusedNotice params={paramsOf(name)} />
        <header class="page-head">
          <div class="stack-s">
            <a class="small" href={href('/metrics')}>
              <Icon name="left" class="small-icon" /> All metrics
            </a>
            <Title>{definition?.title ?? name}</Title>
            {definition && <p>{definition.sentence}</p>}
          </div>
          {definition && <ShareButton metrics={[name]} />}
        </header>
        {definition ? (
          <RequireFigures>
            <MetricPage key={name} definition={definition} />
          </RequireFigures>
        ) : definitions.data ? (
          <Empty
            icon="question"
            title={metrics === null ? `Unknown metric ${name}` : 'Not available through this link'}
          />
        ) : (
          <Placeholder height={480} />
        )}
      </main>
    </>
  )
}
