/** The time windows in which Apple's history of notifications is read. */

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Apple keeps 180 days. A little less, because Apple's clock may differ. */
export const HISTORY_DEPTH_MS = 180 * DAY_MS - 5 * MINUTE_MS
const WIDTH_MS = 7 * DAY_MS
/** A notification may appear in the history, or be signed, later than others of the same time. */
export const OVERLAP_MS = 2 * 60 * MINUTE_MS
/** What Apple signs now is still on its way: it is not a gap yet. */
export const SETTLED_MS = MINUTE_MS

/** A window, in milliseconds since the epoch, and Apple's token of its next page. */
export type Window = { from: number; until: number; page: string | null }

export const windowFrom = (from: number, until: number): Window => ({
  from,
  until: Math.min(from + WIDTH_MS, until),
  page: null,
})

/**
 * The same window from its first page on, half as wide, after a page token expired. Null if
 * that would not help.
 */
export function halveWindow({ from, until, page }: Window): Window | null {
  if (page === null || until - from < 2 * MINUTE_MS) return null
  return { from, until: from + Math.ceil((until - from) / 2), page: null }
}

/** The window start to use instead of one that is older than Apple's history. */
export const nextDay = ({ from }: Window): number => from + DAY_MS
