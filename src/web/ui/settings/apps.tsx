/** Settings, Apps: connected apps with their notifications, reports, history and keys. */
import type { ComponentChildren, JSX } from 'preact'
import { useApps } from '../apps.ts'
import { Card } from '../parts/card.tsx'
import { Icon } from '../parts/icons.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { RelativeTime } from '../parts/relative_time.tsx'
import { useScope } from '../scope.ts'
import { count, day, plural, sentence, share } from '../words.ts'
import { ConnectFirst } from './connect/connect_first.tsx'
import { PendingApps } from './connect/connect_pending.tsx'
import { type AppHealth, organizationName, useHealth, useSettings } from './settings_queries.ts'

type Key = AppHealth['keys']['connect']

const KEY_LABELS: Record<Key['state'], { title: string; tone: string }> = {
  none: { title: 'None', tone: 'warn' },
  unknown: { title: 'Not tested yet', tone: '' },
  ok: { title: 'Works', tone: 'good' },
  refused: { title: 'Refused', tone: 'bad' },
}

export const KeyState = ({ state }: { state: Pick<Key, 'state' | 'why'> }): JSX.Element => (
  <>
    <span class={`badge ${KEY_LABELS[state.state].tone}`}>{KEY_LABELS[state.state].title}</span>
    {state.why && <p class="tiny quiet">{sentence(state.why)}</p>}
  </>
)

const Fact = ({ name, children }: { name: string; children: ComponentChildren }): JSX.Element => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

const ENVIRONMENTS = { production: 'Production', sandbox: 'Sandbox' }

function LastNotification({ one }: { one: AppHealth['notifications'][number] }): JSX.Element {
  const { href } = useScope()
  return (
    <Fact name={ENVIRONMENTS[one.environment]}>
      {one.last_at === null ? (
        <span class="quiet">No notifications received yet</span>
      ) : (
        <>
          Last notification <RelativeTime at={one.last_at} />,{' '}
          <span class="nowrap">{count(one.last_24_hours)} in 24 hours</span>
        </>
      )}
      {one.gaps_open > 0 && (
        <a class="badge warn" href={href('/events')}>
          <Icon name="warning" /> {plural(one.gaps_open, 'open gap')}
        </a>
      )}
    </Fact>
  )
}

const STAGES = {
  notifications: 'Reading notifications',
  transactions: 'Reading transactions',
  statuses: 'Reading subscriptions',
  done: 'Complete',
}

function HistoryFact({ history }: { history: AppHealth['history'] }): JSX.Element {
  const historyState = history.find(({ environment }) => environment === 'production') ?? history[0]
  if (!historyState?.has_key) return <Fact name="History">Requires an In-App Purchase key</Fact>
  return (
    <Fact name="History">
      {historyState.stage === null ? 'Not started' : STAGES[historyState.stage]}
      {historyState.progress !== null &&
        historyState.stage !== 'done' &&
        `, ${share(historyState.progress, 0)}`}
      {historyState.problem && <p class="tiny bad">{sentence(historyState.problem)}</p>}
    </Fact>
  )
}

function ReportFact({ reports }: { reports: AppHealth['reports'] }): JSX.Element {
  return (
    <Fact name="Reports">
      {reports.newest_on === null ? 'None yet' : `Up to ${day(reports.newest_on)}`}
      {reports.done < reports.of && (
        <span class="quiet">
          , {count(reports.done)} of {count(reports.of)} days
        </span>
      )}
      {reports.failed > 0 && <span class="bad">, {count(reports.failed)} failed</span>}
    </Fact>
  )
}

function AppCard({ app, organization }: { app: AppHealth; organization: string | null }): JSX.Element {
  const { android_package } = useApps().data?.apps.find(({ id }) => id === app.app_id) ?? {}
  return (
    <Card
      title={app.name ?? app.bundle_id}
      tools={
        <span class="tiny quiet">
          connected <RelativeTime at={app.connected_at} />
        </span>
      }
    >
      <p class="small quiet cut">
        <code>{app.bundle_id}</code>
        {organization && ` · ${organization}`}
      </p>
      <dl class="facts app-facts">
        {app.notifications.map((one) => (
          <LastNotification key={one.environment} one={one} />
        ))}
        {android_package && (
          <Fact name="Android">
            <code>{android_package}</code>
          </Fact>
        )}
        <ReportFact reports={app.reports} />
        <HistoryFact history={app.history} />
        <Fact name="Products">
          {plural(app.products.count, 'subscription')}
          {app.products.without_period > 0 && (
            <span class="warn">, {count(app.products.without_period)} without a period</span>
          )}
        </Fact>
        <Fact name="Connect key">
          <KeyState state={app.keys.connect} />
        </Fact>
        <Fact name="Purchase key">
          <KeyState state={app.keys.purchases} />
        </Fact>
      </dl>
    </Card>
  )
}

export function Apps(): JSX.Element {
  const settings = useSettings().data
  const hasSeveralOrganizations = (settings?.organizations.length ?? 0) > 1
  return (
    <>
      <PendingApps />
      <QueryView result={useHealth()} height={620}>
        {({ apps }) =>
          apps.length === 0 ? (
            <ConnectFirst />
          ) : (
            <div class="grid">
              {apps.map((app) => (
                <div key={app.app_id} class="half">
                  <AppCard
                    app={app}
                    organization={
                      hasSeveralOrganizations ? organizationName(settings, app.organization_id) : null
                    }
                  />
                </div>
              ))}
            </div>
          )
        }
      </QueryView>
    </>
  )
}
