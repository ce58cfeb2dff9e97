/** Detects apps that have sent no notifications for unusually long. */
import type { Environment } from '../apple/payloads.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const HOUR_MS = 3_600_000
/** The most notifications that an app's longest silence is computed from, and the fewest. */
const MAX_DATES = 500
const MIN_DATES = 10
/** A silence is reported once it is this many times as long as the longest before, and at least this long. */
const SILENCE_FACTOR = 2
const MIN_SILENCE_MS = 6 * HOUR_MS

type ReceivedRow = { signed_at: number }

/** When the silence began, and how long the longest one before it was; both in milliseconds. */
type Silence = { since: number; longest_ms: number }

export type SilenceDetector = ReturnType<typeof openSilenceDetector>

/** Opens the queries about how recently and how often apps sent live notifications. */
export function openSilenceDetector(store: Store, clock: Clock) {
  const newest = store.prepare<[string, Environment, number], ReceivedRow>(`
    select signed_at from notifications where app_id = ? and environment = ? and origin = 'live'
    order by signed_at desc limit ?`)
  const counted = store.prepare<[string, Environment, number], { count: number }>(`
    select count(*) as count from notifications
    where app_id = ? and environment = ? and origin = 'live' and signed_at > ?`)

  /** Recent live notifications of an app. `last_at` is when Apple signed the newest, in milliseconds. */
  function activity(app_id: string, environment: Environment) {
    const since = (hours: number): number =>
      counted.get(app_id, environment, clock() - hours * HOUR_MS)?.count ?? 0
    return {
      last_at: newest.get(app_id, environment, 1)?.signed_at ?? null,
      last_24_hours: since(24),
      last_7_days: since(7 * 24),
    }
  }

  /** The silence of an app in production; null if it is not silent or has sent too few notifications to tell. */
  function silence(app_id: string): Silence | null {
    const dates = newest.all(app_id, 'production', MAX_DATES).map(({ signed_at }) => signed_at)
    const [last] = dates
    if (last === undefined || dates.length < MIN_DATES) return null
    const longest_ms = dates.reduce((most, at, index) => Math.max(most, (dates[index - 1] ?? at) - at), 0)
    const isSilent = clock() - last > Math.max(MIN_SILENCE_MS, longest_ms * SILENCE_FACTOR)
    return isSilent ? { since: last, longest_ms } : null
  }

  return { activity, silence }
}
