/** Repairs the push subscription of this browser once for each load of the page. */
import { useEffect } from 'preact/hooks'
import { read } from '../http.ts'
import type { Channel } from '../settings/alerts/alert_queries.ts'
import { repairDevice, storedHash } from '../settings/alerts/devices/subscription.ts'

export function useDeviceRepair(isOwner: boolean): void {
  useEffect(() => {
    if (!isOwner || storedHash() === null) return
    read<{ channels: Channel[] }>('/api/v1/alerts/channels')
      .then(({ channels }) => repairDevice(channels))
      // A push service that cannot be reached now is asked again when the page is opened the next time.
      .catch(() => undefined)
  }, [isOwner])
}
