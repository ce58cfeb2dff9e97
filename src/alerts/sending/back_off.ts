/** Lets a channel rest after a failure, so that what waits for it waits together. In memory: a start tries each channel. */
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
  const failing = new Map<string, { failures: number; until: number }>()

  /** Notes a failure of a channel, which rests now. */
  function failed(channel_id: string): void {
    const failures = (failing.get(channel_id)?.failures ?? 0) + 1
    failing.set(channel_id, { failures, until: monotonic() + delayAfter(failures, LONGEST_MS) })
  }

  return {
    failed,
    /** Forgets the failures of a channel, because its provider answered or its owner changed it. */
    forget: (channel_id: string): void => void failing.delete(channel_id),
    /** The channels that rest now. */
    resting: (): string[] => [...failing].flatMap(([id, { until }]) => (until > monotonic() ? [id] : [])),
  }
}
