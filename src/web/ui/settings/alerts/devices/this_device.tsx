/** Settings, Alerts: sends alerts to this device, or says what keeps it from that. */
import type { JSX } from 'preact'
import { useMutation } from '../../../parts/dialog.tsx'
import { ErrorMessage } from '../../../parts/error_message.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { useSettings } from '../../settings_queries.ts'
import type { Channel } from '../alert_queries.ts'
import { useStoredHash } from './stored_hash.ts'
import { addDevice, type Obstacle, obstacle } from './subscription.ts'

const OBSTACLES: Record<Obstacle, string> = {
  insecure:
    'Notifications of this device need https. Put Windfall behind HTTPS, or add ntfy or Telegram as a channel.',
  home_screen:
    'On an iPhone or iPad, add this page to the Home Screen first: tap Share, then Add to Home Screen. Open it there and sign in again, because it has cookies of its own. Without that, add ntfy or Telegram as a channel.',
  unsupported: 'This browser has no push notifications. Add ntfy or Telegram as a channel instead.',
  denied:
    'Notifications of this site are blocked. Permit them in the settings of the browser, and load the page again. Or add ntfy or Telegram as a channel.',
}

type AddProps = { title: string; organization_id: string | null; onAdded: (channel: Channel) => void }

function AddDevice({ title, organization_id, onAdded }: AddProps): JSX.Element {
  const { run, isBusy, problem } = useMutation(async () => onAdded(await addDevice(organization_id)))
  return (
    <div class="stack-s">
      <div>
        <button type="button" class="button main" disabled={isBusy} onClick={run}>
          <Icon name="bell" /> {title}
        </button>
      </div>
      <ErrorMessage message={problem} />
    </div>
  )
}

type Props = { channels: readonly Channel[]; onAdded: (channel: Channel) => void }

/** Offers what this device does not get yet: the alerts of the only organization, or of each of several. */
export function ThisDevice({ channels, onAdded }: Props): JSX.Element | null {
  const organizations = useSettings().data?.organizations ?? []
  const hash = useStoredHash()
  const here = channels.filter(({ settings }) => hash !== null && settings.endpoint_hash === hash)
  const blocked = obstacle()
  if (blocked !== null && (here.length === 0 || blocked === 'denied'))
    return <p class="small quiet">{OBSTACLES[blocked]}</p>
  if (organizations.length < 2 && here.length > 0) return null
  const missing = organizations.filter(({ id }) => !here.some((device) => device.organization_id === id))
  return (
    <>
      {hash !== null && here.length === 0 && (
        <p class="small quiet">
          This device gets no alerts any more: it was removed, or its browser ended the subscription.
        </p>
      )}
      {organizations.length < 2 ? (
        <AddDevice title="Send alerts to this device" organization_id={null} onAdded={onAdded} />
      ) : (
        missing.map(({ id, name }) => (
          <AddDevice
            key={id}
            title={`Send alerts of ${name} to this device`}
            organization_id={id}
            onAdded={onAdded}
          />
        ))
      )}
    </>
  )
}
