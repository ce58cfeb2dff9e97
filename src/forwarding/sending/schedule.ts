/** When a delivery or a failing endpoint is tried again. */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The delays after the first nine failures, as the Standard Webhooks specification recommends: 75.6 hours in all. */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
/** After this many failures a delivery is given up. */
export const MAX_FAILURES = DELAYS_MS.length + 1
const JITTER = 0.2
/** The longest delay between two probes of a failing endpoint. */
export const LONGEST_PROBE_DELAY_MS = HOUR_MS
const LONGEST_RETRY_AFTER_MS = 24 * HOUR_MS

/** A `next_at` further ahead than this was computed before the clock was set back. */
export const LATEST_NEXT_MS = 25 * HOUR_MS

/** Whether an instant has come. One that is more than `longest` ahead was computed before the clock was set back. */
export const isReached = (at: number | null, now: number, longest = LATEST_NEXT_MS): boolean =>
  at === null || at <= now || at > now + longest

/**
 * The delay in milliseconds after a number of failures, with 20 % jitter, at most 25 hours; null when the delivery is
 * given up. `random` returns a number from 0 to below 1.
 */
export function retryDelayMs(failures: number, random: () => number): number | null {
  const delay = DELAYS_MS[failures - 1]
  if (delay === undefined) return null
  return Math.min(Math.round(delay * (1 - JITTER + 2 * JITTER * random())), LATEST_NEXT_MS)
}

/** The delay in milliseconds before the next probe of a failing endpoint: 1, 2, 4 … 60 minutes. */
export const probeDelayMs = (probes: number): number =>
  Math.min(MINUTE_MS * 2 ** Math.min(probes, 6), LONGEST_PROBE_DELAY_MS)

/**
 * The milliseconds that a `retry-after` header asks to wait, from seconds or an HTTP date (RFC 9110 §10.2.3), at most
 * 24 hours; null without a valid header.
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND_MS : dateMs(text) - now
  return ms > 0 ? Math.min(ms, LONGEST_RETRY_AFTER_MS) : null
}

/** The instant of an HTTP date; NaN for another text. */
const dateMs = (text: string): number => (/^[A-Z][a-z]{2}.*GMT$/.test(text) ? Date.parse(text) : Number.NaN)

/** How far the clock of a receiver is ahead of `now`, by its `date` header; null without one. */
export function clockAheadMs(header: string | undefined, now: number): number | null {
  const at = dateMs(header?.trim() ?? '')
  return Number.isNaN(at) ? null : at - now
}
