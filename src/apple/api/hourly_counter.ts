/** Counts requests in the last 60 minutes, to the minute. */
import type { Clock } from '../../clock.ts'

export type HourlyCounter = ReturnType<typeof openHourlyCounter>

/** How long to wait, in milliseconds, when other users of the key exhaust its limit: their end is unknown. */
export const WHEN_UNKNOWN = 5 * 60_000

const MINUTE_MS = 60_000
/** The period over which Apple counts, in milliseconds. */
export const HOUR_MS = 60 * MINUTE_MS

/**
 * Whether a request must wait until `at`; both in milliseconds since the epoch. No wait exceeds an hour, so a later
 * `at` was computed before the clock was set back and is ignored.
 */
export const isAhead = (at: number, now: number): boolean => at > now && at <= now + HOUR_MS + MINUTE_MS

/** Opens a count over a rolling hour. */
export function openHourlyCounter(clock: Clock) {
  const minutes = new Map<number, number>()

  function dropOld(now: number): void {
    const present = Math.floor(now / MINUTE_MS)
    for (const minute of minutes.keys()) {
      if (minute > present || (minute + 1) * MINUTE_MS + HOUR_MS <= now) minutes.delete(minute)
    }
  }

  function add(): void {
    const minute = Math.floor(clock() / MINUTE_MS)
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
  }

  function count(): number {
    dropOld(clock())
    let sum = 0
    for (const entry of minutes.values()) sum += entry
    return sum
  }

  /** When the oldest request leaves the hour, in milliseconds since the epoch; now if there is none. */
  function freesAt(): number {
    const now = clock()
    dropOld(now)
    const [oldest] = minutes.keys()
    return oldest === undefined ? now : (oldest + 1) * MINUTE_MS + HOUR_MS
  }

  return { add, count, freesAt }
}
