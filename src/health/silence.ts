/** What we remember: how often each app is heard of, and whether it has been silent for longer than it is wont to be. */
import type { Environment } from '../apple/payloads.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const HOUR_MS = 3_600_000
/** Notifications that a rhythm is taken from, and how few tell none. */
const MAX_DATES = 500
const MIN_DATES = 10
/** A silence is told once it is twice as long as the longest of them, and no sooner than this. */
const SILENCE_FACTOR = 2
const MIN_SILENCE_MS = 6 * HOUR_MS

type ReceivedRow = { signed_at: number }

/** Silent since, and how long the longest silence was before (milliseconds). */
type Silence = { since: number; longest_ms: number }

export type SilenceDetector = ReturnType<typeof openSilenceDetector>

export function openSilenceDetector(store: Store, clock: Clock) {
  const newest = store.prepare<[string, Environment, number], ReceivedRow>(`
    select signed_at from notifications where app_id = ? and environment = ? and origin = 'live'
    order by signed_at desc limit ?`)
  const counted = store.prepare<[string, Environment, number], { count: number }>(`
    select count(*) as count from notifications
    where app_id = ? and environment = ? and origin = 'live' and signed_at > ?`)

  /** What was pushed for an app, lately. `last_at` is when Apple signed the newest. */
  function activity(app_id: string, environment: Environment) {
    const since = (hours: number): number =>
      counted.get(app_id, environment, clock() - hours * HOUR_MS)?.count ?? 0
    return {
      last_at: newest.get(app_id, environment, 1)?.signed_at ?? null,
      last_24_hours: since(24),
      last_7_days: since(7 * 24),
    }
  }

  /** The silence of an app in production; null while it is none, or nothing tells its rhythm. */
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
