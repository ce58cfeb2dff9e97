/** Sums of the oracle. */
import type { Bought } from './facts.ts'
import { isSubscription, kindOf } from './segments.ts'

/**
 * `base_milli` contains what could be converted, `unconverted` the rest by currency. `milli` contains all of it as
 * charged.
 */
export type Amount = {
  count: number
  base_milli: number
  milli: Record<string, number>
  unconverted: Record<string, number>
}

/** An amount of one transaction. `base_milli` is null without a rate. */
export type Part = {
  by: Bought
  /** ISO 8601; '' without one. */
  period: string
  currency: string
  milli: number
  base_milli: number | null
  count: number
}

/** All given conditions must hold. `only` selects lineages, for example by their users. */
export type Filter = {
  app_id?: string
  product_id?: string
  storefront?: string
  period?: string
  offer?: string
  currency?: string
  only?: (lineage: { app_id: string; original_transaction_id: string }) => boolean
}

/** The dimensions of a part. */
export function dimensionsOf({ by, period, currency }: Part) {
  const offer = isSubscription(by) ? kindOf(by) : 'none'
  const { app_id, product_id, storefront } = by
  return { app_id, product_id, storefront: storefront ?? '', period, offer, currency }
}

export function isWithin(part: Part, { only, ...wanted }: Filter): boolean {
  const dimensions: Record<string, string> = dimensionsOf(part)
  return (
    Object.entries(wanted).every(([name, value]) => dimensions[name] === value) && (only?.(part.by) ?? true)
  )
}

export function sumOf(parts: readonly Part[], filter: Filter = {}): Amount {
  const sum: Amount = { count: 0, base_milli: 0, milli: {}, unconverted: {} }
  for (const part of parts) {
    if (!isWithin(part, filter)) continue
    const { currency, milli, base_milli, count } = part
    sum.count += count
    sum.base_milli += base_milli ?? 0
    if (milli !== 0) sum.milli[currency] = (sum.milli[currency] ?? 0) + milli
    if (base_milli === null) sum.unconverted[currency] = (sum.unconverted[currency] ?? 0) + milli
  }
  return sum
}

/** `a − b`. */
export function less(a: Amount, b: Amount): Amount {
  const minus = (x: Record<string, number>, y: Record<string, number>) =>
    Object.fromEntries(
      [...new Set([...Object.keys(x), ...Object.keys(y)])]
        .map((key) => [key, (x[key] ?? 0) - (y[key] ?? 0)] as const)
        .filter(([, value]) => value !== 0),
    )
  return {
    count: a.count - b.count,
    base_milli: a.base_milli - b.base_milli,
    milli: minus(a.milli, b.milli),
    unconverted: minus(a.unconverted, b.unconverted),
  }
}

/** A ratio; null where the denominator is zero. */
export const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
