/** Detects apps of which no notification has arrived for an unusually long time. */
import type { Environment } from '../apple/payloads.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const HOUR_MS = 3_600_000
/** The maximum and minimum number of notifications from which an app's longest silence is computed. */
const MAX_NOTIFICATIONS = 500
const MIN_NOTIFICATIONS = 10
/** A silence is reported if it exceeds the longest earlier silence by this factor and lasts at least six hours. */
const SILENCE_FACTOR = 2
const MIN_SILENCE_MS = 6 * HOUR_MS

type ReceivedRow = { signed_at: number }

/** A silence. `since` is when it began (ms since the epoch); `longest_ms` is the longest silence before it. */
type Silence = { since: number; longest_ms: number }

export type SilenceDetector = ReturnType<typeof openSilenceDetector>

/** Opens the queries on live notifications: when the last arrived and how many arrived recently. */
export function openSilenceDetector(store: Pick<Store, 'prepare'>, clock: Clock) {
  const newest = store.prepare<[string, Environment, number], ReceivedRow>(`
    select signed_at from notifications where app_id = ? and environment = ? and origin = 'live'
    order by signed_at desc limit ?`)
  const countSince = store.prepare<[string, Environment, number], { count: number }>(`
    select count(*) as count from notifications
    where app_id = ? and environment = ? and origin = 'live' and signed_at > ?`)

  /** The number of recent live notifications of an app. `last_at` is when Apple signed the newest (ms). */
  function activity(app_id: string, environment: Environment) {
    const since = (hours: number): number =>
      countSince.get(app_id, environment, clock() - hours * HOUR_MS)?.count ?? 0
    return {
      last_at: newest.get(app_id, environment, 1)?.signed_at ?? null,
      last_24_hours: since(24),
      last_7_days: since(7 * 24),
    }
  }

  /** The current silence of an app in production; null if there is none, or if too few notifications have arrived. */
  function silence(app_id: string): Silence | null {
    const dates = newest.all(app_id, 'production', MAX_NOTIFICATIONS).map(({ signed_at }) => signed_at)
    const [last] = dates
    if (last === undefined || dates.length < MIN_NOTIFICATIONS) return null
    const longest_ms = dates.reduce((most, at, index) => Math.max(most, (dates[index - 1] ?? at) - at), 0)
    const isSilent = clock() - last > Math.max(MIN_SILENCE_MS, longest_ms * SILENCE_FACTOR)
    return isSilent ? { since: last, longest_ms } : null
  }

  return { activity, silence }
}
