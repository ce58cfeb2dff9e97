/** Computes the time windows in which Apple's notification history is read. */

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Apple's notification history has 180 days. Windfall reads five minutes less, because Apple's clock may differ. */
export const HISTORY_DEPTH_MS = 180 * DAY_MS - 5 * MINUTE_MS
const WINDOW_MS = 7 * DAY_MS
/** Reconciliation starts this long before the watermark: a notification may be signed or listed later than others. */
export const OVERLAP_MS = 2 * 60 * MINUTE_MS
/** A notification counts as missing only this long after Apple signed it, because delivery takes time. */
export const DELIVERY_DELAY_MS = MINUTE_MS

/** A window in milliseconds since the epoch. `page` is Apple's token of the next page; null for the first. */
export type Window = { from: number; until: number; page: string | null }

export const windowFrom = (from: number, until: number): Window => ({
  from,
  until: Math.min(from + WINDOW_MS, until),
  page: null,
})

/**
 * The first half of a window, from its first page, after a page token expired. Null for a first page and for a window
 * below two minutes: a shorter window would not help.
 */
export function halveWindow({ from, until, page }: Window): Window | null {
  if (page === null || until - from < 2 * MINUTE_MS) return null
  return { from, until: from + Math.ceil((until - from) / 2), page: null }
}

/** The start of the next window if this one is older than Apple's history: a day later. */
export const nextDay = ({ from }: Window): number => from + DAY_MS
