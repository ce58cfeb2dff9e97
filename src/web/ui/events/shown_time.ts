/** The time that a feed shows for an event. */
import type { FeedEvent } from './feed_event.ts'

/** An event that arrives within this time is shown at its arrival, because the feed is in that order. */
const PROMPT_MS = 5 * 60_000

/**
 * When an event occurred; when it arrived, if that was soon after, so that times descend in a live feed. Apple charges a
 * renewal up to a day before it takes effect, which counts at its arrival, too.
 */
export function shownAt({
  occurred_at,
  recorded_at,
}: Pick<FeedEvent, 'occurred_at' | 'recorded_at'>): number {
  return recorded_at - occurred_at <= PROMPT_MS ? recorded_at : occurred_at
}
