/** Limits the calls of each key per minute. The counts are in memory; a restart resets them. */
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { setNewest } from '../http/clients/newest.ts'
import { openStamps, type Stamps } from './stamps.ts'

const MINUTE_MS = 60_000
/** The most keys in memory. The least recently seen key is dropped first. */
const MAX_KEYS = 10_000

/**
 * A sliding window: at most `limit` admitted calls of one key in any 60 seconds. Refused calls do not count.
 * `clock` must be monotonic.
 */
export function openWindow(name: string, limit: () => number, clock: Clock) {
  /** Admitted calls by key, the key seen last at the end. */
  const admitted = new Map<string, Stamps>()

  /**
   * Admits one call of `key`.
   *
   * @throws Refusal 429 `rate_limited` with `retry-after`.
   */
  function admit(key: string): void {
    const now = clock()
    const calls = admitted.get(key) ?? openStamps()
    setNewest(admitted, key, calls, MAX_KEYS)
    calls.drop(now - MINUTE_MS)
    const quota = limit()
    const wait_ms = calls.newest(quota) + MINUTE_MS - now
    if (wait_ms > 0)
      throw rateLimited(name, quota, Math.ceil(wait_ms / 1000), {
        limit: name,
        why: `more than ${quota} calls in a minute`,
      })
    calls.add(now)
  }

  return { admit }
}

/**
 * Refusal 429 `rate_limited` with `retry-after` and the RateLimit fields of draft-ietf-httpapi-ratelimit-headers:
 * `quota` calls a minute under the policy `name`; the caller is admitted in `seconds` at the earliest. `limit` is what the
 * caller reached of it.
 */
export function rateLimited(
  name: string,
  quota: number,
  seconds: number,
  { limit, why }: { limit: string; why: string },
): Refusal {
  return new Refusal(429, 'rate_limited', `${why}; try again in ${seconds} s`, {
    limit,
    headers: {
      'retry-after': String(seconds),
      ratelimit: `"${name}";r=0;t=${seconds}`,
      'ratelimit-policy': `"${name}";q=${quota};w=60`,
    },
  })
}
