/** The gaps tab: missing notifications that reconciliation found and filled. */
import type { JSX } from 'preact'
import { type App, appName, useApps } from '../apps.ts'
import { ExportMenu } from '../charts/export_menu.tsx'
import { addressOf } from '../http.ts'
import { useNow } from '../now.ts'
import { usePagedQuery } from '../paged_queries.ts'
import { Card } from '../parts/card.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { ShowMore } from '../parts/show_more.tsx'
import { useQuery } from '../queries.ts'
import { type Scope, sourceQuery, useScope } from '../scope.ts'
import { ago, count, instant, plural } from '../words.ts'
import { type Compared, comparisonText, noGapsMessage } from './coverage/comparisons.ts'
import { EventsView } from './events_view.tsx'

type Gap = {
  id: string
  app_id: string
  environment: 'production' | 'sandbox'
  first_signed_at: number
  last_signed_at: number
  notifications: number
  recovered: number
  found_at: number
  filled_at: number | null
}
type Answer = { gaps: Gap[]; next: string | null }

export function Gaps(): JSX.Element {
  const { scope, href } = useScope()
  const apps = useApps().data?.apps
  const now = useNow()
  const { app, environment } = sourceQuery(scope)
  const query = { app, environment: environment ?? 'production' }
  const paged = usePagedQuery<Answer>('/api/v1/gaps', query, 'before')
  const gaps = paged.pages.flatMap((page) => page.gaps)
  return (
    <EventsView title="Gaps">
      <div class="spread">
        <p class="small quiet">
          Every 15 minutes, Windfall compares the received notifications with Apple’s history and fetches
          missing ones. Events that arrive more than an hour late are{' '}
          <a href={href('/events', { origin: 'recovered' })}>recovered events</a>.
        </p>
        <a class="button plain" href={addressOf('/api/v1/gaps.csv', query)} download>
          <Icon name="download" /> CSV
        </a>
      </div>
      <section class="card">
        <h2 class="spoken">Gaps</h2>
        <QueryView result={paged.first} height={320}>
          {() =>
            gaps.length === 0 ? (
              <NoGaps scope={scope} />
            ) : (
              <ul class="gaps">
                {gaps.map((gap) => (
                  <GapRow key={gap.id} gap={gap} app={appName(apps, gap.app_id)} now={now} />
                ))}
              </ul>
            )
          }
        </QueryView>
        <ShowMore {...paged} />
      </section>
      {apps?.length !== 0 && <ComparedApps scope={scope} apps={apps} />}
    </EventsView>
  )
}

const useHistory = () => useQuery<{ history: Compared[] }>('/api/v1/history', {}, { interval_ms: 60_000 })

const filterByScope = ({ environment, apps }: Scope, history: readonly Compared[]): Compared[] =>
  history.filter((one) => one.environment === environment && (apps.length === 0 || apps.includes(one.app_id)))

/** The empty state. Its text depends on which apps have been compared. */
const NoGaps = ({ scope }: { scope: Scope }): JSX.Element => (
  <QueryView result={useHistory()} height={120}>
    {({ history }) => {
      const { title, text, isSure } = noGapsMessage(filterByScope(scope, history))
      return (
        <Empty icon={isSure ? 'check' : 'clock'} title={title}>
          <p>{text}</p>
        </Empty>
      )
    }}
  </QueryView>
)

/** How far reconciliation has compared each app. */
const ComparedApps = ({ scope, apps }: { scope: Scope; apps: App[] | undefined }): JSX.Element => (
  <Card title="Reconciliation" tools={<ExportMenu csvUrls={{ csv: '/api/v1/history.csv' }} />}>
    <QueryView result={useHistory()} height={80}>
      {({ history }) => (
        <ul class="compared">
          {filterByScope(scope, history).map((one) => {
            const { text, isBad } = comparisonText(one)
            return (
              <li key={one.app_id}>
                <span>{appName(apps, one.app_id)}</span>
                <span class={isBad ? 'bad' : 'quiet'}>{text}</span>
              </li>
            )
          })}
        </ul>
      )}
    </QueryView>
  </Card>
)

function GapRow({ gap, app, now }: { gap: Gap; app: string; now: number }): JSX.Element {
  const { notifications, recovered, filled_at, found_at } = gap
  const isSingleInstant = gap.first_signed_at === gap.last_signed_at
  return (
    <li class="gap">
      <span class={filled_at === null ? 'warn' : 'good'}>
        <Icon name={filled_at === null ? 'warning' : 'check'} />
      </span>
      <div>
        <p>
          <strong>{plural(notifications, 'notification')}</strong> missed for {app}
        </p>
        <p class="quiet">
          Sent {isSingleInstant ? '' : 'between '}
          {instant(gap.first_signed_at)}
          {!isSingleInstant && ` and ${instant(gap.last_signed_at)}`}
        </p>
      </div>
      <div class="gap-end">
        {filled_at === null ? (
          <>
            <progress max={notifications} value={recovered} aria-label="Recovered" />
            <span class="tiny">
              {count(recovered)} of {count(notifications)} recovered
            </span>
          </>
        ) : (
          <span class="badge good">All recovered</span>
        )}
        <span class="tiny quiet" title={instant(found_at)}>
          found {ago(found_at, now)}
          {filled_at !== null && `, filled ${ago(filled_at, now)}`}
        </span>
      </div>
    </li>
  )
}
