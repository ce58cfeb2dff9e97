/** The list of all metrics with definition, sparkline and current figure. */
import type { JSX } from 'preact'
import { Spark } from '../charts/spark.tsx'
import { COHORT_NAMES, type CohortName, cohortPath } from '../cohorts/cohort_query.ts'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { Fit } from '../parts/amount.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { useInView } from '../parts/use_in_view.ts'
import { useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { ShareButton } from '../settings/access/share_button.tsx'
import { UNKNOWN } from '../words.ts'
import { type Definition, useDefinitions, useOtherDefinitions } from './definitions.ts'
import { basisText, figureOfAll, totalsOf } from './figures.ts'
import { groupsOf } from './groups.ts'
import { figureOf, formattersOf, type MetricAnswer } from './metric_answer.ts'
import { useMetric } from './metric_query.ts'
import { RequireFigures } from './require_figures.tsx'

function CurrentFigure({ answer, title }: { answer: MetricAnswer; title: string }): JSX.Element {
  const points = totalsOf(answer)[0]?.points ?? []
  const { format, formatShort } = formattersOf(answer)
  const figure = figureOfAll(answer, points)
  const { value } = figure
  return (
    <>
      <Spark values={points.map((point) => figureOf(point, answer.unit))} label={`${title} over time`} />
      <strong class="number">
        <Fit exact={format(value)} short={value === null ? UNKNOWN : formatShort(value)} />
      </strong>
      <span class="tiny quiet basis">{basisText(answer, figure)}</span>
    </>
  )
}

function Row({ definition }: { definition: Definition }): JSX.Element | null {
  const { name, title, sentence } = definition
  const { href } = useScope()
  const { isInView, ref } = useInView()
  const { result, isHidden } = useMetric(name, { compare: null }, isInView)
  if (isHidden) return null
  return (
    <li class="metric-row" ref={ref}>
      <div>
        <h3>
          <a href={href(`/metrics/${name}`)}>{title}</a>
        </h3>
        <p class="small quiet">{sentence}</p>
      </div>
      <div class="metric-now">
        <QueryView result={result} height={44}>
          {(answer) => <CurrentFigure answer={answer} title={title} />}
        </QueryView>
      </div>
    </li>
  )
}

function CohortRow({ name }: { name: CohortName }): JSX.Element | null {
  const { href } = useScope()
  const session = useSession()
  const definition = useOtherDefinitions()?.cohorts.find((one) => one.name === name)
  if (!definition) return null
  return (
    <li class="metric-row">
      <div>
        <h3>
          <a href={`${href(cohortPath(name, session))}#${name}`}>{definition.title}</a>
        </h3>
        <p class="small quiet">{definition.sentence}</p>
      </div>
    </li>
  )
}

function Group({ title, children }: { title: string; children: JSX.Element[] }): JSX.Element {
  return (
    <section class="card">
      <header class="card-head">
        <h2>{title}</h2>
      </header>
      <ul class="card-body metric-rows">{children}</ul>
    </section>
  )
}

export function Metrics(): JSX.Element {
  const definitions = useDefinitions()
  const { metrics } = useSession()
  const cohortNames = COHORT_NAMES.filter((name) => metrics?.includes(name) ?? true)
  return (
    <>
      <ScopeBar />
      <main class="page" id="content">
        <UnusedNotice />
        <header class="page-head">
          <Title>All metrics</Title>
          <ShareButton metrics={null} />
        </header>
        <RequireFigures>
          <QueryView result={definitions} height={600}>
            {(all) => (
              <div class="columns">
                {groupsOf(all)
                  .filter((group) => group.metrics.length > 0)
                  .map((group) => (
                    <Group key={group.title} title={group.title}>
                      {group.metrics.map((definition) => (
                        <Row key={definition.name} definition={definition} />
                      ))}
                    </Group>
                  ))}
                {cohortNames.length > 0 && (
                  <Group title="Cohorts">
                    {cohortNames.map((name) => (
                      <CohortRow key={name} name={name} />
                    ))}
                  </Group>
                )}
              </div>
            )}
          </QueryView>
        </RequireFigures>
      </main>
    </>
  )
}
