/** What we remember: how many calls were admitted in the last minute. In memory; a restart begins anew. */
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'

const WINDOW_MS = 60_000
/** Addresses come and go; those beyond this many are forgotten, the longest unseen first. */
const KEYS_KEPT = 10_000

type Ring = { stamps: Float64Array; next: number }

/**
 * A sliding window: at most `limit` admitted calls of one key in any 60 seconds. Refused calls do not count.
 * `clock` should not jump.
 */
export function openWindow(name: string, limit: () => number, clock: Clock) {
  const rings = new Map<string, Ring>()

  /**
   * Admits one call of `key`.
   *
   * @throws Refusal 429 `rate_limited` with `retry-after` (whole seconds) and the RateLimit fields of
   * draft-ietf-httpapi-ratelimit-headers.
   */
  function admit(key: string): void {
    const ring = ringOf(key)
    const now = clock()
    const oldest = ring.stamps[ring.next] ?? Number.NEGATIVE_INFINITY
    const wait_ms = oldest + WINDOW_MS - now
    if (wait_ms > 0) {
      const quota = ring.stamps.length
      throw rateLimited(name, quota, Math.ceil(wait_ms / 1000), `more than ${quota} calls in a minute`)
    }
    ring.stamps[ring.next] = now
    ring.next = (ring.next + 1) % ring.stamps.length
  }

  function ringOf(key: string): Ring {
    const known = rings.get(key)
    if (known && known.stamps.length === limit()) {
      if (rings.size > 1) {
        rings.delete(key)
        rings.set(key, known)
      }
      return known
    }
    const ring = { stamps: new Float64Array(limit()).fill(Number.NEGATIVE_INFINITY), next: 0 }
    rings.set(key, ring)
    if (rings.size > KEYS_KEPT) forgetOldest()
    return ring
  }

  function forgetOldest(): void {
    for (const key of rings.keys()) {
      rings.delete(key)
      return
    }
  }

  return { admit }
}

/**
 * Refusal 429 `rate_limited` with `retry-after` and the RateLimit fields of draft-ietf-httpapi-ratelimit-headers:
 * `quota` calls a minute under the policy `name`; the caller is admitted in `seconds` at the earliest.
 */
export function rateLimited(name: string, quota: number, seconds: number, why: string): Refusal {
  return new Refusal(429, 'rate_limited', `${why}; try again in ${seconds} s`, {
    headers: {
      'retry-after': String(seconds),
      ratelimit: `"${name}";r=0;t=${seconds}`,
      'ratelimit-policy': `"${name}";q=${quota};w=60`,
    },
  })
}
