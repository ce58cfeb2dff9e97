/** A stretch of the feed, newest first: how what arrives is put to what is there. */
import type { FeedEvent } from './feed_event.ts'

/** `next`: ask for what is before this seq; null where the feed begins. */
export type Stretch = { events: FeedEvent[]; next: number | null }

/** So many rows a page bears; those of longest ago are asked for again when they are wanted. */
export const MOST = 300

/** With those that happened since, each once; the oldest go when there are too many. */
export function withNews({ events, next }: Stretch, news: readonly FeedEvent[], most = MOST): Stretch {
  const known = new Set(events.map(({ seq }) => seq))
  const fresh = news.filter(({ seq }) => !known.has(seq))
  if (fresh.length === 0) return { events, next }
  const all = [...fresh, ...events].toSorted((one, other) => other.seq - one.seq)
  if (all.length <= most) return { events: all, next }
  const kept = all.slice(0, most)
  return { events: kept, next: kept.at(-1)?.seq ?? next }
}

/** With the newest page, asked for anew: where it does not reach down to what is there, that is let go. */
export function withNewest(present: Stretch, page: Stretch): Stretch {
  const newest = present.events[0]?.seq ?? 0
  const isTouching = page.next === null || page.next <= newest || present.events.length === 0
  if (!isTouching || present.events.length === 0) return page
  return withNews(present, page.events)
}

/** With those before. */
export const withOlder = ({ events }: Stretch, page: Stretch): Stretch => {
  const oldest = events.at(-1)?.seq ?? Number.POSITIVE_INFINITY
  return { events: [...events, ...page.events.filter(({ seq }) => seq < oldest)], next: page.next }
}
