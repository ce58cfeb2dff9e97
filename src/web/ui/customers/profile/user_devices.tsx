/** The attested devices that named a user. */
import type { JSX } from 'preact'
import { useDevicesOf } from '../../settings/devices/device_queries.ts'
import { DeviceRows } from '../../settings/devices/device_rows.tsx'
import { plural } from '../../words.ts'

/** Shows nothing for a user without devices, which most users are. */
export function UserDevices({ user, app_id }: { user: string; app_id: string }): JSX.Element | null {
  const { data } = useDevicesOf(user, app_id)
  if (!data || data.devices.length === 0) return null
  return (
    <details>
      <summary class="small">{plural(data.devices.length, 'attested device')}</summary>
      <DeviceRows devices={data.devices} appName={null} />
    </details>
  )
}
