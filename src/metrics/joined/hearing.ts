/** Finds since when Apple’s notifications of an app reach Windfall, received or read from Apple’s history. */
import type { Environment } from '../../apple/payloads.ts'
import { HISTORY_DEPTH_MS } from '../../ledger/history/windows.ts'
import type { Store } from '../../store/store.ts'

export function openHearing(store: Store) {
  const backfill = store.prepare<[string, string], { stage: string; until_at: number }>(
    'select stage, until_at from backfills where app_id = ? and environment = ?',
  )
  const first = store.prepare<[string, string], { live_at: number | null; signed_at: number | null }>(`
    select min(received_at) filter (where origin = 'live') as live_at, min(signed_at) as signed_at
    from notifications where app_id = ? and environment = ?`)
  /** Found instants. Later notifications do not change them, and finding one reads all notifications of the app. */
  const found = new Map<string, number>()

  /** The instant from which all notifications of an app and environment are known; null if nothing was heard of it. */
  function since(app_id: string, environment: Environment): number | null {
    const read = backfill.get(app_id, environment)
    const isRead = read !== undefined && read.stage !== 'notifications'
    const key = [app_id, environment, isRead ? read.until_at : ''].join('\n')
    const known = found.get(key)
    if (known !== undefined) return known
    const { live_at = null, signed_at = null } = first.get(app_id, environment) ?? {}
    const read_at =
      isRead && signed_at !== null ? Math.max(read.until_at - HISTORY_DEPTH_MS, signed_at) : Infinity
    const at = Math.min(live_at ?? Infinity, read_at)
    if (at === Infinity) return null
    found.set(key, at)
    return at
  }

  return {
    since,
    /** Whether Apple’s history of an app is being read. */
    isReading: (app_id: string, environment: Environment): boolean =>
      backfill.get(app_id, environment)?.stage === 'notifications',
  }
}
