/** Repairs the push subscription of this browser once for each load of the page. */
import { useEffect } from 'preact/hooks'
import { read } from '../http.ts'
import type { Channel } from '../settings/alerts/alert_queries.ts'
import { storedHash } from '../settings/alerts/devices/stored_hash.ts'

async function repair(): Promise<void> {
  const { channels } = await read<{ channels: Channel[] }>('/api/v1/alerts/channels')
  // Most browsers have no subscription and do not load this code.
  const { repairDevice } = await import('../settings/alerts/devices/subscription.ts')
  await repairDevice(channels)
}

export function useDeviceRepair(isOwner: boolean): void {
  useEffect(() => {
    if (!isOwner || storedHash() === null) return
    // A push service that cannot be reached now is asked again when the page is opened the next time.
    repair().catch(() => undefined)
  }, [isOwner])
}
