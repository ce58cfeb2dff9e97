/** The list of all metrics with definition, sparkline and current figure. */
import type { JSX } from 'preact'
import { ExportMenu } from '../charts/export_menu.tsx'
import { Spark } from '../charts/spark.tsx'
import { COHORT_NAMES, type CohortName, cohortPath, useCohortCsv } from '../cohorts/cohort_query.ts'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { useInView } from '../loading/use_in_view.ts'
import { Fit } from '../parts/amount.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { ShareButton } from '../sharing/share_button.tsx'
import { UNKNOWN } from '../words.ts'
import { type Definition, useDefinitions, useOtherDefinitions } from './definitions.ts'
import { basisText, figureOfAll, totalsOf } from './figures.ts'
import { groupsOf } from './groups.ts'
import { figureOf, formattersOf, type MetricAnswer } from './metric_answer.ts'
import { isHidden, useMetric, useMetricCsv } from './metric_query.ts'
import { RequireFigures } from './require_figures.tsx'

function CurrentFigure({ answer, title }: { answer: MetricAnswer; title: string }): JSX.Element {
  const { range = {}, points = [] } = totalsOf(answer)[0] ?? {}
  const { format, formatShort } = formattersOf(answer)
  const figure = figureOfAll(answer, { range, points })
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
  const { isInView, ref, isLoaded } = useInView()
  const { result, isHidden } = useMetric(name, { compare: null }, isInView)
  isLoaded.current = result.data !== undefined && !result.isPrevious
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

type GroupProps = {
  title: string
  /** The CSV files of the rows. */
  files: { title: string; url: string }[]
  children: JSX.Element[]
}

const Group = ({ title, files, children }: GroupProps): JSX.Element => (
  <section class="card">
    <header class="card-head">
      <h2>{title}</h2>
      <div class="card-tools">
        <ExportMenu csvUrls={{ others: files }} of={title.toLowerCase()} />
      </div>
    </header>
    <ul class="card-body metric-rows">{children}</ul>
  </section>
)

/** The cohorts that the viewer may see. */
function CohortGroup(): JSX.Element | null {
  const { metrics } = useSession()
  const csvOf = useCohortCsv()
  const known = useOtherDefinitions()?.cohorts ?? []
  const names = COHORT_NAMES.filter((name) => metrics?.includes(name) ?? true)
  const files = names.flatMap((name) => {
    const title = known.find((one) => one.name === name)?.title
    return title === undefined ? [] : [{ title, url: csvOf(name) }]
  })
  if (names.length === 0) return null
  return (
    <Group title="Cohorts" files={files}>
      {names.map((name) => (
        <CohortRow key={name} name={name} />
      ))}
    </Group>
  )
}

export function Metrics(): JSX.Element {
  const definitions = useDefinitions()
  const session = useSession()
  const csvOf = useMetricCsv()
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
                    <Group
                      key={group.title}
                      title={group.title}
                      files={group.metrics
                        .filter((one) => !isHidden(session, one))
                        .map((one) => ({ title: one.title, url: csvOf(one) }))}
                    >
                      {group.metrics.map((definition) => (
                        <Row key={definition.name} definition={definition} />
                      ))}
                    </Group>
                  ))}
                <CohortGroup />
              </div>
            )}
          </QueryView>
        </RequireFigures>
      </main>
    </>
  )
}
