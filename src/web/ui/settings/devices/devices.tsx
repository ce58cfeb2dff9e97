/** Settings, Devices: labels of calls over time, what a stricter policy would refuse, and attested devices. */
import '../../loading/chart_views.ts'
import type { JSX } from 'preact'
import { appName, useApps } from '../../apps.ts'
import { useCardParams } from '../../charts/card_params.ts'
import { ChartCard } from '../../charts/chart_card.tsx'
import { addressOf } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { Segments } from '../../parts/popover.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { ShowMore } from '../../parts/show_more.tsx'
import { useScope } from '../../scope.ts'
import { bucket, count, plural, share } from '../../words.ts'
import { callGraph, type Endpoint, reasonsText, unverifiedCount, verifiedShare } from './call_graph.ts'
import { CALLS_PATH, type Calls, type Forecast, useCalls, useDevices, useForecast } from './device_queries.ts'
import { DeviceRows } from './device_rows.tsx'

const ENDPOINTS = [
  { value: 'identify', title: 'Calls' },
  { value: 'attribute', title: 'Links' },
] as const satisfies { value: Endpoint; title: string }[]

type Texts = { of: string; empty: string; call: string; hint: string }
const TEXTS: Record<Endpoint, Texts> = {
  identify: {
    of: 'identify calls are verified',
    empty: 'No identify calls in these 90 days.',
    call: 'identify call',
    hint: 'Attested devices and calls with your secret key are.',
  },
  attribute: {
    of: 'attribute calls left a verified link',
    empty: 'No attribute calls in these 90 days.',
    call: 'attribute call',
    hint: 'Calls with a signed transaction of Apple are.',
  },
}
const TITLE = 'Verified calls'
const ABOUT =
  'A call is verified with a device token or with your secret key. A link is verified with Apple’s signature over the purchase.'
const CHART_HEIGHT = 220
const HEAD_HEIGHT = 28

function LabelChart({ app }: { app: string | null }): JSX.Element {
  const [param, change] = useCardParams('labels')
  const endpoint: Endpoint = param('of') === 'attribute' ? 'attribute' : 'identify'
  const { of, empty, call, hint } = TEXTS[endpoint]
  const result = useCalls(app)
  const tools = (
    <Segments
      title="Label of"
      value={endpoint}
      choices={ENDPOINTS}
      onPick={(value) => change('of', value === 'identify' ? null : value)}
    />
  )
  const unverified = result.data ? unverifiedCount(result.data, endpoint) : null
  if (result.data && unverified !== null)
    return (
      <Card title={TITLE} about={ABOUT} tools={tools}>
        <p class="small">
          Of {plural(unverified, call)} in these 90 days, none is verified. {hint}{' '}
          {reasonsText(result.data, endpoint)}
        </p>
      </Card>
    )
  return (
    <ChartCard<Calls>
      paramPrefix="labels"
      name="call_labels"
      title={TITLE}
      textTitle={TITLE}
      about={ABOUT}
      tools={tools}
      result={result}
      csvUrls={{ csv: addressOf(`${CALLS_PATH}.csv`, { app }) }}
      height={CHART_HEIGHT}
      headHeight={HEAD_HEIGHT}
      head={(answer) => {
        const verified = verifiedShare(answer, endpoint)
        return (
          verified !== null && (
            <p class="small">
              <strong>{share(verified)}</strong> of {of}.
            </p>
          )
        )
      }}
      graphOf={(answer) => callGraph(answer, endpoint)}
      emptyText={() => empty}
      subtitle={({ from_on, until_on }) => `${bucket(from_on, 'day')} – ${bucket(until_on, 'day')}`}
    />
  )
}

const POLICIES: { key: keyof Forecast['refused_by']; setting: string; about: string }[] = [
  { key: 'key', setting: 'sdk_auth = "key"', about: 'requires a key or an attested device' },
  { key: 'attestation', setting: 'sdk_auth = "attestation"', about: 'requires an attested device' },
  {
    key: 'required_assertions',
    setting: 'assertions = "required"',
    about: 'requires devices to sign each call',
  },
]

function PolicyForecast({ app }: { app: string | null }): JSX.Element {
  return (
    <Card title="Effect of stricter settings">
      <QueryView result={useForecast(app, '7')} height={140}>
        {({ calls, refused_by }) => (
          <div class="stack-s">
            <p class="small quiet">
              {calls === 0
                ? 'No calls in the last seven days.'
                : `Of ${plural(calls, 'call')} in the last seven days, each setting would have refused:`}
            </p>
            {calls > 0 && (
              <table class="table">
                <thead>
                  <tr>
                    <th>Setting</th>
                    <th class="number">Refused</th>
                  </tr>
                </thead>
                <tbody>
                  {POLICIES.map(({ key, setting, about }) => (
                    <tr key={key}>
                      <td>
                        <code>{setting}</code>
                        <span class="tiny quiet policy-about">{about}</span>
                      </td>
                      <td class="number">
                        {count(refused_by[key])} ({share(refused_by[key] / calls)})
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </div>
        )}
      </QueryView>
    </Card>
  )
}

function DeviceList({ app }: { app: string | null }): JSX.Element {
  const apps = useApps().data?.apps ?? []
  const paged = useDevices(app)
  const devices = paged.pages.flatMap((page) => page.devices)
  return (
    <Card title="Attested devices">
      <QueryView result={paged.first} height={200}>
        {() =>
          devices.length === 0 ? (
            <Empty icon="verified" title="No devices yet">
              <p>
                An iOS app enrols with App Attest and gets a token of its own. It needs no key, and its calls
                are verified. docs/attestation.md describes the two calls.
              </p>
            </Empty>
          ) : (
            <DeviceRows
              devices={devices}
              appName={apps.length > 1 ? (app_id) => appName(apps, app_id) : null}
            />
          )
        }
      </QueryView>
      <ShowMore {...paged} />
    </Card>
  )
}

export function Devices(): JSX.Element {
  const { scope } = useScope()
  const app = scope.apps.length === 0 ? null : scope.apps.join(',')
  return (
    <>
      <LabelChart app={app} />
      <PolicyForecast app={app} />
      <DeviceList app={app} />
    </>
  )
}
