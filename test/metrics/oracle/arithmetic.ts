/** The oracle’s arithmetic: integers, rounded half to even, written separately so that no mistake is shared. */

export type Factors = 'calendar' | 'revenuecat'

/** `a ÷ b` to the nearest integer, half to even. */
export function nearest(a: bigint, b: bigint): number {
  const below = a >= 0n || a % b === 0n ? a / b : a / b - 1n
  const [toBelow, toAbove] = [a - below * b, (below + 1n) * b - a]
  if (toBelow < toAbove) return Number(below)
  if (toAbove < toBelow) return Number(below + 1n)
  return Number(below % 2n === 0n ? below : below + 1n)
}

/**
 * The monthly value of a price per `period`, in thousandths. Calendar: a year has 365.25 days, so a month has 30.4375.
 * RevenueCat: a day counts 30 times, a week 4 times.
 */
export function aMonth(price_milli: number, period: string, factors: Factors): number | null {
  const price = BigInt(price_milli)
  const count = BigInt(/\d+/.exec(period)?.[0] ?? 0)
  const unit = period.at(-1)
  if (count === 0n || period.length !== `P${count}D`.length) return null
  if (unit === 'Y') return nearest(price, 12n * count)
  if (unit === 'M') return nearest(price, count)
  if (unit === 'W' && factors === 'calendar') return nearest(price * 304_375n, 10_000n * 7n * count)
  if (unit === 'D' && factors === 'calendar') return nearest(price * 304_375n, 10_000n * count)
  if (unit === 'W') return nearest(price * 4n, count)
  return unit === 'D' ? nearest(price * 30n, count) : null
}

/** Apple’s standard durations. The nearest one by proportion applies. */
export function nearestPeriod(days: number): string | null {
  const lengths = { P1W: 7, P1M: 30.4, P2M: 60.9, P3M: 91.3, P6M: 182.6, P1Y: 365.3 }
  let best: { period: string; times: number } | null = null
  for (const [period, length] of Object.entries(lengths)) {
    const times = Math.max(days / length, length / days)
    if (best === null || times < best.times) best = { period, times }
  }
  return days > 0 ? (best?.period ?? null) : null
}
