/** Counts the requests to each provider account, so that its limits are kept. The counts are in memory. */
import type { Clock } from '../../clock.ts'
import type { RateLimit } from '../channels/channel.ts'

/** The most accounts whose requests are remembered. */
const MAX_ACCOUNTS = 1_000

export type Buckets = ReturnType<typeof openBuckets>

/** Opens the counts. `monotonic` is a clock that is never set back. */
export function openBuckets(monotonic: Clock) {
  const timesByAccount = new Map<string, number[]>()

  /** How long a request to an account must wait, in whole milliseconds; 0 if it may be sent now, which counts it. */
  function take(account: string, limits: readonly RateLimit[]): number {
    const now = monotonic()
    const longest = Math.max(0, ...limits.map(({ per_ms }) => per_ms))
    const times = (timesByAccount.get(account) ?? []).filter((at) => at > now - longest)
    const wait = Math.max(0, ...limits.map((limit) => waitFor(times, limit, now)))
    if (wait === 0) times.push(now)
    timesByAccount.set(account, times)
    if (timesByAccount.size > MAX_ACCOUNTS) timesByAccount.delete(timesByAccount.keys().next().value ?? '')
    return wait
  }

  return { take }
}

function waitFor(times: readonly number[], { count, per_ms }: RateLimit, now: number): number {
  const within = times.filter((at) => at > now - per_ms)
  const oldest = within[within.length - count]
  return oldest === undefined ? 0 : Math.ceil(oldest + per_ms - now)
}
