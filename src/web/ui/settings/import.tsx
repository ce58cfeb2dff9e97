/** Settings, Import: progress of reports, backfill and exchange rates. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { ImportsAnswer } from '../../../api/imports.ts'
import type { RatesAnswer } from '../../../api/rates.ts'
import { useApps } from '../apps.ts'
import { Card } from '../parts/card.tsx'
import { CodeProse } from '../parts/code_prose.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { useQuery } from '../queries.ts'
import { clock, count, day, duration, plural, share } from '../words.ts'
import { ConnectLink } from './connect/connect_link.tsx'
import { HistoryProgress } from './history.tsx'
import { groupMissingDays } from './missing_day_groups.ts'
import { MissingDays } from './missing_days.tsx'
import { organizationName, useSettings } from './settings_queries.ts'

type Imports = InferOutput<typeof ImportsAnswer>
type Running = NonNullable<Imports['running']>
type Organization = Imports['organizations'][number]

const REPORTS: Record<string, string> = {
  sales: 'Sales',
  subscription: 'Subscriptions',
  subscription_event: 'Subscription events',
  subscriber: 'Subscribers',
  financial: 'Financial',
}

function Progress({ running }: { running: Running }): JSX.Element {
  const secondsLeft = running.seconds_left
  return (
    <div class="stack-s" role="status">
      <progress value={running.done} max={running.of} aria-label="Reports imported" />
      <p class="small">
        <strong>{share(running.of === 0 ? 0 : running.done / running.of, 0)}</strong>, {count(running.done)}{' '}
        of {count(running.of)} report days
        {secondsLeft !== null && `, about ${duration(secondsLeft * 1000)} left`}
      </p>
      {running.waiting_until !== null ? (
        <p class="small warn">Paused until {clock(running.waiting_until)}: Apple limits requests per hour.</p>
      ) : (
        running.reading && (
          <p class="small quiet">
            Reading {REPORTS[running.reading.report] ?? running.reading.report} of{' '}
            {day(running.reading.day_on)}
          </p>
        )
      )}
    </div>
  )
}

const DAY_STATES = [
  ['done', 'Imported'],
  ['empty', 'Empty'],
  ['not_yet', 'Pending'],
  ['missing', 'Missing'],
  ['failed', 'Failed'],
] as const

/** A table with a row for each report: how many days have each state, and the first and last day. */
function Reports({ organization }: { organization: Organization }): JSX.Element {
  const reports = [...new Set(organization.states.map(({ report }) => report))]
  const days = (report: string, state: string): number =>
    organization.states
      .filter((one) => one.report === report && one.state === state)
      .reduce((sum, one) => sum + one.days, 0)
  const span = (report: string): string => {
    const states = organization.states.filter((one) => one.report === report)
    const first = states.map(({ first_day }) => first_day).sort()[0]
    const last = states
      .map(({ last_day }) => last_day)
      .sort()
      .at(-1)
    return first && last ? `${day(first)} – ${day(last)}` : ''
  }
  return (
    <Scroll label="Reports">
      <table class="table row-cards">
        <TableHead
          headings={[{ title: 'Report' }, ...DAY_STATES.map(([, title]) => ({ title, isNumber: true }))]}
        />
        <tbody>
          {reports.map((report) => (
            <tr key={report}>
              <th scope="row" class="nowrap">
                <span class="ink">{REPORTS[report] ?? report}</span>
                <div class="tiny quiet">{span(report)}</div>
              </th>
              {DAY_STATES.map(([state, title]) => {
                const dayCount = days(report, state)
                return (
                  <td
                    key={state}
                    data-title={title}
                    class={`number ${dayCount === 0 ? 'quiet' : state === 'failed' ? 'bad' : ''}`}
                  >
                    {count(dayCount)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function OrganizationReports({
  organization,
  name,
}: {
  organization: Organization
  name: string | null
}): JSX.Element {
  return (
    <section class="stack">
      {name && <h3>{name}</h3>}
      {organization.states.length === 0 ? (
        <Empty icon="download" title="No reports requested yet">
          <p>Apple’s daily reports require an App Store Connect API key and a vendor number:</p>
          <ConnectLink />
        </Empty>
      ) : (
        <Reports organization={organization} />
      )}
      <MissingDays groups={groupMissingDays(organization.holes)} />
      {organization.unknown_apps.length > 0 && (
        <p class="small quiet">
          The reports also contain{' '}
          {organization.unknown_apps.map((app) => app.name ?? app.sku ?? app.apple_id).join(', ')}, which{' '}
          {organization.unknown_apps.length === 1 ? 'is' : 'are'} not connected.
        </p>
      )}
    </section>
  )
}

function ExchangeRates(): JSX.Element {
  const result = useQuery<InferOutput<typeof RatesAnswer>>('/api/v1/rates')
  const hasApps = useApps().data?.apps.length !== 0
  return (
    <Card
      title="Exchange rates"
      foot={
        <span>
          <CodeProse text="Without network access, import rates from a file: `windfall rates import FILE`." />
        </span>
      }
    >
      <QueryView result={result} height={110}>
        {({ base, currencies }) => {
          const settings = currencies.filter(({ newest_on }) => newest_on !== null)
          const newest = settings
            .map(({ newest_on }) => newest_on ?? '')
            .sort()
            .at(-1)
          const withoutRate = currencies.filter(({ newest_on }) => newest_on === null)
          if (!hasApps && settings.length === 0)
            return <p class="small quiet">Loaded once an app is connected.</p>
          const withGaps = currencies.filter(({ gaps }) => gaps.length > 0)
          return (
            <dl class="facts">
              <dt>Currencies</dt>
              <dd>
                {count(settings.length)} of {count(currencies.length)}, against {base}
              </dd>
              <dt>Newest</dt>
              <dd>{newest ? day(newest) : 'None yet'}</dd>
              <dt>Source</dt>
              <dd>
                {[...new Set(settings.map(({ source }) => source))].filter(Boolean).join(', ') || 'None yet'}
              </dd>
              {withoutRate.length > 0 && (
                <>
                  <dt>Missing</dt>
                  <dd class="warn">{withoutRate.map(({ currency }) => currency).join(', ')}</dd>
                </>
              )}
              {withGaps.length > 0 && (
                <>
                  <dt>With gaps</dt>
                  <dd class="warn">{withGaps.map(({ currency }) => currency).join(', ')}</dd>
                </>
              )}
            </dl>
          )
        }}
      </QueryView>
    </Card>
  )
}

export function Import(): JSX.Element {
  const result = useQuery<Imports>('/api/v1/imports', {}, { interval_ms: 5_000 })
  const settings = useSettings().data
  return (
    <>
      <Card
        title="Daily reports"
        foot={
          <span>
            <CodeProse text="To fetch missing reports now, run `windfall import`." />
          </span>
        }
      >
        <QueryView result={result} height={260}>
          {({ running, organizations }) => (
            <div class="stack">
              {running && <Progress running={running} />}
              {!running && <p class="small quiet">No import is running.</p>}
              {organizations.length === 0 && <Empty icon="app" title="No app is connected yet" />}
              {organizations.map((organization) => (
                <OrganizationReports
                  key={organization.organization_id}
                  organization={organization}
                  name={
                    organizations.length > 1 ? organizationName(settings, organization.organization_id) : null
                  }
                />
              ))}
              {organizations.some(({ holes }) => holes.length > 0) && (
                <p class="tiny quiet">
                  {plural(organizations.flatMap(({ holes }) => holes).length, 'missing day')} in total.
                </p>
              )}
            </div>
          )}
        </QueryView>
      </Card>
      <HistoryProgress />
      <ExchangeRates />
    </>
  )
}
