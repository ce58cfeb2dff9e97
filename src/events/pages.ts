/** Reads the feed in pages, even if matching events are far apart. */
import { yieldToEventLoop } from '../turns.ts'
import type { EventFilter, Feed, FeedEvent } from './feed.ts'

/** The number of events scanned before requests are served, and the maximum for one page. */
const SLICE = 2_000
const MAX_SCANNED = 200_000

/** `next` is the seq up to which the feed was scanned, to continue from. Null at the beginning of the feed. */
type Page = { events: FeedEvent[]; next: number | null }

/**
 * Up to `limit` events after `after`, oldest first. At the end of the feed, `next` is the head, so the next request
 * continues there. A page may have fewer events than `limit`, or none, before the end.
 */
export async function pageForwards(
  feed: Feed,
  filter: EventFilter,
  after: number,
  limit: number,
): Promise<Page> {
  const events: FeedEvent[] = []
  const end = Math.min(feed.head(), after + MAX_SCANNED)
  let reached = after
  while (reached < end && events.length < limit) {
    if (reached > after) await yieldToEventLoop()
    const until = Math.min(reached + SLICE, end)
    const room = limit - events.length
    const matches = feed.read({ ...filter, after: reached, until, limit: room })
    events.push(...matches)
    reached = matches.length === room ? (matches.at(-1)?.seq ?? until) : until
  }
  return { events, next: reached }
}

/** Up to `limit` events before `before` (null: from the head), newest first. */
export async function pageBackwards(
  feed: Feed,
  filter: EventFilter,
  before: number | null,
  limit: number,
): Promise<Page> {
  const events: FeedEvent[] = []
  const start = Math.min(before ?? Number.MAX_SAFE_INTEGER, feed.head() + 1)
  const end = Math.max(1, start - MAX_SCANNED)
  let reached = start
  while (reached > end && events.length < limit) {
    if (reached < start) await yieldToEventLoop()
    const until = Math.max(reached - SLICE, end)
    const room = limit - events.length
    const matches = feed.read({ ...filter, after: reached, until, limit: room, newest_first: true })
    events.push(...matches)
    reached = matches.length === room ? (matches.at(-1)?.seq ?? until) : until
  }
  return { events, next: reached > 1 ? reached : null }
}
