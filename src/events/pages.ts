/** Reads the feed in pages, even if matching events are far apart. */
import { yieldToEventLoop } from '../turns.ts'
import type { EventFilter, Feed, FeedEvent } from './feed.ts'

/** The number of events scanned before requests are served, and the maximum for one page. */
const SLICE = 2_000
const MAX_SCANNED = 200_000

/** With `keeps`, every event of a slice is decoded, so that slices and scans are shorter. */
const KEPT_SLICE = 500
const MAX_KEPT_SCANNED = 20_000

/** A filter of stored events. `keeps` tests what only the decoded event tells; by default, it keeps all. */
export type PageFilter = EventFilter & { keeps?: ((event: FeedEvent) => boolean) | null }

/** `next` is the seq up to which the feed was scanned, to continue from. Null at the beginning of the feed. */
type Page = { events: FeedEvent[]; next: number | null }

/**
 * Up to `limit` events after `after`, oldest first. At the end of the feed, `next` is the head, so the next request
 * continues there. A page may have fewer events than `limit`, or none, before the end.
 */
export async function pageForwards(
  feed: Feed,
  { keeps = null, ...filter }: PageFilter,
  after: number,
  limit: number,
): Promise<Page> {
  const events: FeedEvent[] = []
  const { slice, max, limitOf, kept } = scanOf(keeps)
  const end = Math.min(feed.head(), after + max)
  let reached = after
  while (reached < end && events.length < limit) {
    if (reached > after) await yieldToEventLoop()
    const until = Math.min(reached + slice, end)
    const room = limit - events.length
    const matches = kept(feed.read({ ...filter, after: reached, until, limit: limitOf(room) }), room)
    events.push(...matches)
    reached = matches.length === room ? (matches.at(-1)?.seq ?? until) : until
  }
  return { events, next: reached }
}

/** Up to `limit` events before `before` (null: from the head), newest first. */
export async function pageBackwards(
  feed: Feed,
  { keeps = null, ...filter }: PageFilter,
  before: number | null,
  limit: number,
): Promise<Page> {
  const events: FeedEvent[] = []
  const { slice, max, limitOf, kept } = scanOf(keeps)
  const start = Math.min(before ?? Number.MAX_SAFE_INTEGER, feed.head() + 1)
  const end = Math.max(1, start - max)
  let reached = start
  while (reached > end && events.length < limit) {
    if (reached < start) await yieldToEventLoop()
    const until = Math.max(reached - slice, end)
    const room = limit - events.length
    const query = { ...filter, after: reached, until, limit: limitOf(room), newest_first: true }
    const matches = kept(feed.read(query), room)
    events.push(...matches)
    reached = matches.length === room ? (matches.at(-1)?.seq ?? until) : until
  }
  return { events, next: reached > 1 ? reached : null }
}

/** How a page scans the feed: the size of a slice, the most events scanned, and what is taken of a slice. */
function scanOf(keeps: ((event: FeedEvent) => boolean) | null) {
  if (keeps === null)
    return {
      slice: SLICE,
      max: MAX_SCANNED,
      limitOf: (room: number) => room,
      kept: (events: FeedEvent[]) => events,
    }
  return {
    slice: KEPT_SLICE,
    max: MAX_KEPT_SCANNED,
    limitOf: () => KEPT_SLICE,
    kept: (events: FeedEvent[], room: number) => events.filter(keeps).slice(0, room),
  }
}
