/** The notification URL, and test notifications. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { RequestedAnswer, TestStatusAnswer } from '../../../../api/owner/test_notification.ts'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { useMutation } from '../../parts/dialog.tsx'
import { HttpsNotice } from '../../parts/https_notice.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { useQuery } from '../../queries.ts'
import { sentence } from '../../words.ts'
import { type AppHealth, type SettingsData, useHealth, useSettings } from '../settings_queries.ts'

type TestRequest = InferOutput<typeof RequestedAnswer>
type TestStatus = InferOutput<typeof TestStatusAnswer>
const ENVIRONMENTS = ['production', 'sandbox'] as const
type Environment = (typeof ENVIRONMENTS)[number]

function Urls({ settings }: { settings: SettingsData }): JSX.Element {
  return (
    <div class="stack">
      <Copy text={settings.notification_url} label="the notification URL" />
      {settings.organizations.length > 1 &&
        settings.organizations.map((one) => (
          <div key={one.id} class="stack-s">
            <span class="small quiet">Only for {one.name}</span>
            <Copy text={one.notification_url} label={`the notification URL of ${one.name}`} />
          </div>
        ))}
      <HttpsNotice url={settings.notification_url} />
      <ol class="steps small">
        <li>In App Store Connect, open the app, then App Information.</li>
        <li>
          Under App Store Server Notifications, enter the URL as the Production Server URL and as the Sandbox
          Server URL. Choose Version 2.
        </li>
        <li>Save, then send a test notification below.</li>
      </ol>
    </div>
  )
}

const FINAL_STATES = new Set<TestStatus['state']>(['arrived', 'waiting', 'failed'])
const STATE_TONES: Record<TestStatus['state'], string> = {
  asked: 'accent',
  sent: 'accent',
  arrived: 'good',
  waiting: 'warn',
  failed: 'bad',
}
const STATE_TITLES: Record<TestStatus['state'], string> = {
  asked: 'Requested',
  sent: 'Sent by Apple',
  arrived: 'Received',
  waiting: 'Received; the app is not connected',
  failed: 'Not received',
}

/** The state of a test notification, polled every two seconds until it is final. */
function Progress({ request }: { request: TestRequest }): JSX.Element {
  const [isFinal, setFinal] = useState(false)
  const answer = useQuery<TestStatus>(
    `/api/v1/test-notification/${encodeURIComponent(request.token)}`,
    { app: request.app_id, environment: request.environment },
    isFinal ? {} : { interval_ms: 2_000 },
  )
  const { data, problem } = answer
  if (data && FINAL_STATES.has(data.state) && !isFinal) setFinal(true)
  if (problem && !data) return <p class="small bad">{problem.message}</p>
  const state = data?.state ?? 'asked'
  return (
    <p class="small" role="status">
      <span class={`badge ${STATE_TONES[state]}`}>
        {state === 'arrived' && <Icon name="check" />}
        {STATE_TITLES[state]}
      </span>{' '}
      {data && state !== 'arrived' && <span class="quiet">{sentence(data.words)}</span>}
      {!isFinal && <progress aria-label="Waiting for the test notification" />}
    </p>
  )
}

function Test({ app, environment }: { app: AppHealth; environment: Environment }): JSX.Element {
  const [request, setRequest] = useState<TestRequest | null>(null)
  const { run, isBusy, problem } = useMutation(async () => {
    setRequest(null)
    setRequest(
      await write<TestRequest>('POST', '/api/v1/test-notification', { app: app.app_id, environment }),
    )
  })
  return (
    <div class="stack-s">
      <button
        type="button"
        class="button"
        disabled={isBusy || app.keys.purchases.state === 'none'}
        onClick={run}
      >
        <Icon name="bell" /> {environment === 'production' ? 'Send to production' : 'Send to sandbox'}
        <span class="spoken"> a test notification for {app.name ?? app.bundle_id}</span>
      </button>
      {problem && (
        <p class="small bad" role="alert">
          {problem}
        </p>
      )}
      {request && <Progress key={request.token} request={request} />}
    </div>
  )
}

const AppRow = ({ app }: { app: AppHealth }): JSX.Element => (
  <li class="stack-s">
    <div class="tests">
      <strong class="small cut">{app.name ?? app.bundle_id}</strong>
      {ENVIRONMENTS.map((environment) => (
        <Test key={environment} app={app} environment={environment} />
      ))}
    </div>
    {app.keys.purchases.state === 'none' && <p class="tiny quiet">Requires the In-App Purchase key.</p>}
  </li>
)

export function Notifications(): JSX.Element {
  const health = useHealth()
  return (
    <>
      <Card title="Notification URL">
        <QueryView result={useSettings()} height={180}>
          {(settings) => <Urls settings={settings} />}
        </QueryView>
      </Card>
      <Card title="Send a test notification">
        <QueryView result={health} height={220}>
          {({ apps }) =>
            apps.length === 0 ? (
              <Empty icon="app" title="No app is connected yet">
                <p>Enter the App Store Connect API key above, or add an app by its bundle ID.</p>
              </Empty>
            ) : (
              <ul class="rows">
                {apps.map((app) => (
                  <AppRow key={app.app_id} app={app} />
                ))}
              </ul>
            )
          }
        </QueryView>
      </Card>
    </>
  )
}
