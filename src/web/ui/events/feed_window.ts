/** A window of the feed, newest first, and how new events are merged into it. */
import type { FeedEvent } from './feed_event.ts'

/** `next` is the `before` parameter of the next page; null at the start of the feed. */
export type FeedWindow = { events: FeedEvent[]; next: number | null }

/** Maximum number of rows. Older rows are dropped and loaded again on request. */
export const MAX_EVENTS = 300

/** Adds new events without duplicates and drops the oldest beyond `maxEvents`. Without any it returns `current`. */
export function withNewEvents(
  current: FeedWindow,
  newEvents: readonly FeedEvent[],
  maxEvents = MAX_EVENTS,
): FeedWindow {
  const { events, next } = current
  const known = new Set(events.map(({ seq }) => seq))
  const fresh = newEvents.filter(({ seq }) => !known.has(seq))
  if (fresh.length === 0) return current
  const all = [...fresh, ...events].toSorted((one, other) => other.seq - one.seq)
  if (all.length <= maxEvents) return { events: all, next }
  const retained = all.slice(0, maxEvents)
  return { events: retained, next: retained.at(-1)?.seq ?? next }
}

/** Merges the newest page into the window. If events are missing between them, the page replaces the window. */
export function withNewestPage(current: FeedWindow, page: FeedWindow): FeedWindow {
  const newest = current.events[0]?.seq ?? 0
  const isContiguous = page.next === null || page.next <= newest || current.events.length === 0
  if (!isContiguous || current.events.length === 0) return page
  return withNewEvents(current, page.events)
}

/** Appends a page of older events. */
export const withOlderPage = ({ events }: FeedWindow, page: FeedWindow): FeedWindow => {
  const oldest = events.at(-1)?.seq ?? Number.POSITIVE_INFINITY
  return { events: [...events, ...page.events.filter(({ seq }) => seq < oldest)], next: page.next }
}
