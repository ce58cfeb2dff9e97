/** Counts requests in the last hour. */
import type { Clock } from '../../clock.ts'
import { HOUR } from '../world/periods.ts'

/** A rolling hour for each name. */
export function openHourlyLimits(clock: Clock) {
  const hours = new Map<string, number[]>()

  function timesOf(name: string): number[] {
    const times = hours.get(name) ?? []
    hours.set(name, times)
    const fresh = times.findIndex((at) => at > clock() - HOUR)
    if (fresh !== 0) times.splice(0, fresh < 0 ? times.length : fresh)
    return times
  }

  return {
    /** Counts one more, unless that would be more than `limit`. What is left; or when it goes on, in milliseconds. */
    consume(name: string, limit: number): { allowed: boolean; remaining: number; resumes_at: number } {
      const times = timesOf(name)
      const allowed = times.length < limit
      if (allowed) times.push(clock())
      const resumes_at = (times.at(-limit) ?? clock()) + HOUR
      return { allowed, remaining: Math.max(0, limit - times.length), resumes_at }
    },
  }
}
