/** Settings, Security: accepts only attested devices for 24 hours. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { appName, useApps } from '../../apps.ts'
import { Card } from '../../parts/card.tsx'
import { Confirm, useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { count, instant, plural } from '../../words.ts'
import { useForecast } from '../devices/device_queries.ts'
import { type AttestedOnlyState, setAttestedOnly, useSecurity } from './security_queries.ts'

/** What turning it on would refuse: the calls without proof of yesterday and today, and whole apps. */
function Effects({ apps }: AttestedOnlyState): JSX.Element {
  const names = useApps().data?.apps
  const { data } = useForecast(apps.map(({ app_id }) => app_id).join(','), '2')
  const refused = data?.refused_by.attestation ?? 0
  return (
    <>
      {data && data.calls > 0 && (
        <p class={refused > 0 ? 'notice warn' : ''}>
          Of {plural(data.calls, 'call')} yesterday and today (UTC), {count(refused)} came without proof. Such
          calls will be refused.
        </p>
      )}
      {apps.map(({ app_id, devices, has_android }) => {
        const name = appName(names, app_id)
        if (devices === 0)
          return (
            <p class="notice warn" key={app_id}>
              {name} has no attested device. All its clients will be refused.
            </p>
          )
        return (
          has_android && (
            <p class="notice warn" key={app_id}>
              Android devices cannot be attested. Those of {name} will be refused.
            </p>
          )
        )
      })}
    </>
  )
}

function TurnOn({ state, onClose }: { state: AttestedOnlyState; onClose: () => void }): JSX.Element {
  return (
    <Confirm
      title="Accept only attested devices"
      verb="Start for 24 hours"
      onClose={onClose}
      action={() => setAttestedOnly(state.organization_id, true)}
    >
      <p>
        SDK calls without proof get 429 <code>attested_only</code>. SDKs keep these calls and repeat them
        every 15 minutes. Calls with your secret key are not affected.
      </p>
      {state.apps.length > 0 && <Effects {...state} />}
    </Confirm>
  )
}

function Organization({ state, isNamed }: { state: AttestedOnlyState; isNamed: boolean }): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  const { organization_id, name, until_at } = state
  const { run, isBusy, problem } = useMutation(() => setAttestedOnly(organization_id, false))
  return (
    <li class="spread">
      <div class="stack-s small">
        {isNamed && <strong>{name}</strong>}
        {until_at === null ? (
          <span class="quiet">Off. Calls without proof are accepted.</span>
        ) : (
          <span>
            <span class="badge warn">On</span> until {instant(until_at)}
          </span>
        )}
        <ErrorMessage message={problem} />
      </div>
      {until_at === null ? (
        <button type="button" class="button" onClick={() => setAsking(true)}>
          Start<span class="spoken"> for {name}</span>
        </button>
      ) : (
        <button type="button" class="button" disabled={isBusy} onClick={run}>
          End now<span class="spoken"> for {name}</span>
        </button>
      )}
      {isAsking && <TurnOn state={state} onClose={() => setAsking(false)} />}
    </li>
  )
}

export const AttestedOnly = (): JSX.Element => (
  <Card
    title="Only attested devices"
    about="For use while strangers flood this server with calls. For 24 hours, it accepts only SDK calls of devices with App Attest and calls with a secret key. It ends by itself."
  >
    <QueryView result={useSecurity()} height={60}>
      {({ attested_only }) => (
        <ul class="rows">
          {attested_only.map((state) => (
            <Organization key={state.organization_id} state={state} isNamed={attested_only.length > 1} />
          ))}
        </ul>
      )}
    </QueryView>
  </Card>
)
