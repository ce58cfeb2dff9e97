/** Finds the busiest minute of the last minutes, in memory. */
import { openStamps } from './stamps.ts'

const MINUTE_MS = 60_000

/**
 * Opens the busiest minute of calls within `within_ms`, counted up to `most`. The instants are milliseconds of one
 * monotonic clock.
 */
export function openBusiest(within_ms: number, most: () => number) {
  const calls = openStamps()
  /** Minutes by their last call, the busiest first. A minute that a later minute equals is never the busiest again. */
  const minutes: { ended_at: number; count: number }[] = []

  function note(now: number): void {
    calls.drop(now - MINUTE_MS)
    calls.add(now)
    calls.keepNewest(most())
    const count = calls.countAfter(now - MINUTE_MS)
    while ((minutes.at(-1)?.count ?? Number.POSITIVE_INFINITY) <= count) minutes.pop()
    while ((minutes[0]?.ended_at ?? now) <= now - within_ms) minutes.shift()
    minutes.push({ ended_at: now, count })
  }

  /** The number of calls in the busiest minute that ended in the time before `at`. */
  const before = (at: number): number => minutes.find(({ ended_at }) => ended_at > at - within_ms)?.count ?? 0

  return { note, before }
}
