/**
 * Lets a channel rest after a failure, or for the limits of its provider, so that what waits for it waits together. In memory: a
 * start tries each channel.
 */
import type { Clock } from '../../clock.ts'

const FIRST_MS = 5_000
/** A channel rests for at most a minute: it may be only some of its messages that its provider never takes. */
const LONGEST_MS = 60_000

export type BackOff = ReturnType<typeof openBackOff>

/** The delay after a failure, which doubles with each further one up to the longest, in milliseconds. */
export const delayAfter = (failures: number, longest_ms: number): number =>
  Math.min(longest_ms, FIRST_MS * 2 ** (failures - 1))

/** Opens the memory. `monotonic` is a clock that is never set back. */
export function openBackOff(monotonic: Clock) {
  const known = new Map<string, { failures: number; until: number }>()
  const failuresOf = (channel_id: string): number => known.get(channel_id)?.failures ?? 0

  /** Notes a failure of a channel, which rests now. */
  function failed(channel_id: string): void {
    const failures = failuresOf(channel_id) + 1
    known.set(channel_id, { failures, until: monotonic() + delayAfter(failures, LONGEST_MS) })
  }

  /** Lets a channel rest for the limits of its provider, in milliseconds. */
  function pause(channel_id: string, ms: number): void {
    known.set(channel_id, { failures: failuresOf(channel_id), until: monotonic() + ms })
  }

  /** How long the channel that is ready first rests, in milliseconds; null if none rests. */
  function shortest(): number | null {
    const rests = [...known.values()].map(({ until }) => until - monotonic()).filter((ms) => ms > 0)
    return rests.length === 0 ? null : Math.min(...rests)
  }

  return {
    failed,
    pause,
    shortest,
    /** Forgets the failures of a channel, because its provider answered or its owner changed it. */
    forget: (channel_id: string): void => void known.delete(channel_id),
    /** The channels that rest now. */
    resting: (): string[] => [...known].flatMap(([id, { until }]) => (until > monotonic() ? [id] : [])),
  }
}
