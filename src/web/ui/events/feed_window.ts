/** A stretch of the feed, newest first: how what arrives is put to what is there. */
import type { FeedEvent } from './feed_event.ts'

/** `next`: ask for what is before this seq; null where the feed begins. */
export type FeedWindow = { events: FeedEvent[]; next: number | null }

/** So many rows a page bears; those of longest ago are asked for again when they are wanted. */
export const MAX_EVENTS = 300

/** With those that happened since, each once; the oldest go when there are too many. */
export function withNewEvents(
  { events, next }: FeedWindow,
  newEvents: readonly FeedEvent[],
  maxEvents = MAX_EVENTS,
): FeedWindow {
  const known = new Set(events.map(({ seq }) => seq))
  const fresh = newEvents.filter(({ seq }) => !known.has(seq))
  if (fresh.length === 0) return { events, next }
  const all = [...fresh, ...events].toSorted((one, other) => other.seq - one.seq)
  if (all.length <= maxEvents) return { events: all, next }
  const kept = all.slice(0, maxEvents)
  return { events: kept, next: kept.at(-1)?.seq ?? next }
}

/** With the newest page, asked for anew: where it does not reach down to what is there, that is let go. */
export function withNewestPage(current: FeedWindow, page: FeedWindow): FeedWindow {
  const newest = current.events[0]?.seq ?? 0
  const isTouching = page.next === null || page.next <= newest || current.events.length === 0
  if (!isTouching || current.events.length === 0) return page
  return withNewEvents(current, page.events)
}

/** With those before. */
export const withOlderPage = ({ events }: FeedWindow, page: FeedWindow): FeedWindow => {
  const oldest = events.at(-1)?.seq ?? Number.POSITIVE_INFINITY
  return { events: [...events, ...page.events.filter(({ seq }) => seq < oldest)], next: page.next }
}
