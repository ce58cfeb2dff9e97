/** Attested devices, whose tokens the owner can revoke. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Confirm } from '../../parts/dialog.tsx'
import { date, day, plural } from '../../words.ts'
import { type Device, revokeDevice } from './device_queries.ts'

/** Apple's validation categories: how the app got onto the device. */
const CATEGORIES: Readonly<Record<number, string>> = {
  1: 'System',
  2: 'TestFlight',
  3: 'Development',
  4: 'App Store',
  5: 'Enterprise or ad hoc',
  6: 'Developer ID',
}

/** Where the app is from: Apple's category, which is stated since iOS 27, else the environment. */
function sourceOf({ category, environment }: Device): string {
  if (category !== null) return CATEGORIES[category] ?? `Category ${category}`
  return environment === 'development' ? 'Development' : 'TestFlight or App Store'
}

const Revoke = ({ device, onClose }: { device: Device; onClose: () => void }): JSX.Element => (
  <Confirm title="Revoke this device" verb="Revoke" onClose={onClose} action={() => revokeDevice(device.id)}>
    <p>
      Its token ends for good. Calls with it count as calls without a credential. A new installation of the
      app can enrol again.
    </p>
  </Confirm>
)

function DeviceRow({ device, appName }: { device: Device; appName: string | null }): JSX.Element {
  const [isRevoking, setRevoking] = useState(false)
  const { bundle_version, os_version, users, enrolled_at, used_on } = device
  const facts = [
    appName,
    os_version && `system ${os_version}`,
    plural(users, 'user'),
    `enrolled ${date(enrolled_at)}`,
    `last call ${day(used_on)}`,
  ]
  return (
    <li class="spread">
      <div>
        <p>
          {sourceOf(device)}
          {bundle_version && `, build ${bundle_version}`}{' '}
          {device.environment === 'development' && <span class="badge warn">development</span>}
        </p>
        <p class="tiny quiet">{facts.filter(Boolean).join(' · ')}</p>
      </div>
      {device.revoked_at === null ? (
        <button type="button" class="button plain" onClick={() => setRevoking(true)}>
          Revoke
        </button>
      ) : (
        <span class="badge">Revoked</span>
      )}
      {isRevoking && <Revoke device={device} onClose={() => setRevoking(false)} />}
    </li>
  )
}

type Props = { devices: readonly Device[]; appName: ((app_id: string) => string) | null }

/** `appName` is null where all devices have one app. */
export const DeviceRows = ({ devices, appName }: Props): JSX.Element => (
  <ul class="plain-list stack">
    {devices.map((device) => (
      <DeviceRow key={device.id} device={device} appName={appName?.(device.app_id) ?? null} />
    ))}
  </ul>
)
