/** What we compute: the stretches of time in which Apple's history of notifications is asked for. */

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Apple keeps 180 days. A little less, since its clock is not ours. */
export const HISTORY_DEPTH_MS = 180 * DAY_MS - 5 * MINUTE_MS
const WIDTH_MS = 7 * DAY_MS
/** A notification may appear in the history, or be signed, later than others of the same time. */
export const OVERLAP_MS = 2 * 60 * MINUTE_MS
/** What Apple signs now is on its way to us now: it is no gap yet. */
export const SETTLED_MS = MINUTE_MS

/** A stretch of time, in milliseconds since the epoch, and Apple's token of the page to read next in it. */
export type Window = { from: number; until: number; page: string | null }

export const windowFrom = (from: number, until: number): Window => ({
  from,
  until: Math.min(from + WIDTH_MS, until),
  page: null,
})

/**
 * The same window from its first page on, half as wide: a page's token has expired before it was its turn. Null where
 * that would not help.
 */
export function halveWindow({ from, until, page }: Window): Window | null {
  if (page === null || until - from < 2 * MINUTE_MS) return null
  return { from, until: from + Math.ceil((until - from) / 2), page: null }
}

/** What to read instead of a window that begins longer ago than Apple answers for. */
export const nextDay = ({ from }: Window): number => from + DAY_MS
