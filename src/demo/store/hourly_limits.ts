/** Rate limits of requests per rolling hour. */
import type { Clock } from '../../clock.ts'
import { HOUR_MS } from '../world/periods.ts'

/** Opens counters of the requests in the last hour, one for each name. */
export function openHourlyLimits(clock: Clock) {
  const timesByName = new Map<string, number[]>()

  function timesOf(name: string): number[] {
    const times = timesByName.get(name) ?? []
    timesByName.set(name, times)
    const firstRecent = times.findIndex((at) => at > clock() - HOUR_MS)
    if (firstRecent !== 0) times.splice(0, firstRecent < 0 ? times.length : firstRecent)
    return times
  }

  return {
    /**
     * Counts a request if fewer than `limit` were counted in the last hour. Returns whether it was counted, how many
     * remain, and when the oldest counted request is an hour old (ms since the epoch).
     */
    consume(name: string, limit: number): { allowed: boolean; remaining: number; resumes_at: number } {
      const times = timesOf(name)
      const allowed = times.length < limit
      if (allowed) times.push(clock())
      const resumes_at = (times.at(-limit) ?? clock()) + HOUR_MS
      return { allowed, remaining: Math.max(0, limit - times.length), resumes_at }
    },
  }
}
