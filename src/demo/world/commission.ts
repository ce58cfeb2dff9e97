/**
 * The proceeds of a price. The simulated store subtracts the tax that the storefront's prices include, keeps 30 % of
 * the rest (15 % after the first year of a subscription) and rounds to hundredths.
 */
import { halfEven } from './books.ts'
import { DAY } from './periods.ts'
import type { Storefront } from './storefronts.ts'
import type { Subscription } from './subscription.ts'

/** Whether a period that begins then is one after the first year. */
export function isAfterAYear(sub: Subscription, at: number): boolean {
  return at - sub.recent_start >= 365 * DAY
}

/** Of thousandths, the nearest hundredth, half to even. */
export function hundredths(milli: number): number {
  return halfEven(BigInt(milli), 10n) * 10
}

/** The proceeds of a price, both in thousandths of the same currency. */
export function proceedsFor(price_milli: number, storefront: Storefront, after_a_year: boolean): number {
  const kept = BigInt(after_a_year ? 85 : 70)
  return halfEven(BigInt(price_milli) * 1000n * kept, BigInt(1000 + storefront.tax) * 1000n) * 10
}
