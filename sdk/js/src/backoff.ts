/** Waits between tries. */

export const DAY_MS = 86_400_000
/** The longest wait after a lost connection. */
export const SOFT_MS = 15 * 60_000

/** Full jitter: a random part of 1 s, 2 s, 4 s … up to `most` ms. */
export const jitter = (random: () => number, tries: number, most: number): number =>
  random() * Math.min(most, 1000 * 2 ** Math.min(tries, 30))

/** A wait that ends at `until`; `ms` is its whole length. */
export type Wait = { until: number; ms: number }

/** What is left of a wait. A clock that was turned back ends it, so that it cannot last longer than it was meant to. */
export function leftOf(wait: Wait | undefined, now: number): number {
  const left = wait ? wait.until - now : 0
  return wait && left <= wait.ms ? Math.max(0, left) : 0
}

/** Milliseconds of a `retry-after` header, one second to a day; null without whole seconds. */
export const retryAfterMs = (header: string | null | undefined): number | null =>
  /^\d+$/.test(header ?? '') ? Math.min(DAY_MS, Math.max(1000, Number(header) * 1000)) : null
