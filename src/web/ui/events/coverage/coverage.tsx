/** Coverage: how well signed transactions match Apple’s reports, by app, month and metric. */
import { Fragment, type JSX } from 'preact'
import { type App, appName, useApps } from '../../apps.ts'
import { addressOf, type Query } from '../../http.ts'
import { useOtherDefinitions } from '../../metrics/definitions.ts'
import { Formula } from '../../metrics/formula.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Tip } from '../../parts/popover.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { useQuery } from '../../queries.ts'
import { Unconnected } from '../../revenue/unconnected.tsx'
import { ANY, useQueryParams, useScope } from '../../scope.ts'
import { month as monthName, monthOfYear, share } from '../../words.ts'
import { EventsView } from '../events_view.tsx'
import { CoverageCell } from './cell.tsx'
import { type Coverage as Answer, type Cell, type Grid, gradeOf, gridOf, METRIC_TITLES } from './grid.ts'

const PARAMS = { cell: ANY }

const keyOf = ({ app_id, metric, month }: Cell): string => `${app_id}.${metric}.${month}`

export function Coverage(): JSX.Element {
  const { scope } = useScope()
  const [params, change] = useQueryParams()
  const apps = useApps().data?.apps ?? []
  const query: Query = { app: scope.apps.join(',') }
  const result = useQuery<Answer>('/api/v1/coverage', query)
  const selectedCell = result.data?.coverage.find((cell) => keyOf(cell) === params.cell)
  return (
    <EventsView title="Coverage" params={PARAMS}>
      <div class="spread">
        <About />
        <a class="button plain" href={addressOf('/api/v1/coverage.csv', query)} download>
          <Icon name="download" /> CSV
        </a>
      </div>
      <section class="card">
        <h2 class="spoken">By app, metric and month</h2>
        <QueryView result={result} height={520}>
          {({ coverage }) =>
            coverage.length === 0 ? <NoReports /> : <CoverageTable grid={gridOf(coverage)} apps={apps} />
          }
        </QueryView>
      </section>
      <Unconnected />
      {selectedCell && (
        <CoverageCell cell={selectedCell} apps={apps} onClose={() => change({ cell: null })} />
      )}
    </EventsView>
  )
}

const NoReports = (): JSX.Element => (
  <Empty icon="table" title="No reports to compare with yet">
    <p>Apple’s daily reports require an App Store Connect API key. Importing a year takes a few minutes.</p>
  </Empty>
)

function About(): JSX.Element {
  const definition = useOtherDefinitions()?.coverage.find(({ name }) => name === 'share')
  return (
    <p class="small quiet">
      {definition?.sentence ?? 'Match of signed transactions with Apple’s reports.'}{' '}
      {definition && (
        <Tip title={definition.title}>
          <Formula text={definition.formula} />
        </Tip>
      )}
    </p>
  )
}

const CoverageTable = ({ grid, apps }: { grid: Grid; apps: readonly App[] }): JSX.Element => (
  <>
    <Scroll label="Coverage by app, metric and month" startsAtEnd>
      <table class="table heat">
        <thead>
          <tr>
            <th scope="col">Metric</th>
            {grid.months.map((one) => (
              <th key={one} scope="col" title={monthName(`${one}-01`)}>
                {monthOfYear(`${one}-01`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {grid.apps.map(({ app_id, rows }) => (
            <Fragment key={app_id}>
              {grid.apps.length > 1 && (
                <tr class="heat-app">
                  <th scope="rowgroup" colSpan={grid.months.length + 1}>
                    <span>{appName(apps, app_id)}</span>
                  </th>
                </tr>
              )}
              {rows.map(({ metric, cells }) => (
                <tr key={metric}>
                  <th scope="row">{METRIC_TITLES[metric]}</th>
                  {cells.map((cell, index) => (
                    <td key={grid.months[index]}>{cell && <Share cell={cell} />}</td>
                  ))}
                </tr>
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </Scroll>
    <ul class="legend heat-legend">
      {LEGEND.map(([grade, label]) => (
        <li key={grade}>
          <span class={`heat-key ${grade}`} />
          {label}
        </li>
      ))}
    </ul>
  </>
)

const LEGEND = [
  ['whole', 'within 1%'],
  ['near', 'within 5%'],
  ['part', 'within 20%'],
  ['far', 'more than 20%'],
  ['none', 'no Apple figure'],
] as const

function Share({ cell }: { cell: Cell }): JSX.Element {
  const [, change] = useQueryParams()
  const text = share(cell.share)
  return (
    <button
      type="button"
      class={`heat-cell ${gradeOf(cell.share)}`}
      aria-label={`${METRIC_TITLES[cell.metric]}, ${monthName(`${cell.month}-01`)}: ${text}`}
      onClick={() => change({ cell: keyOf(cell) })}
    >
      {text}
    </button>
  )
}
