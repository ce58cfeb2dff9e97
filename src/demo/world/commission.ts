/**
 * The proceeds of a price. The simulated store subtracts the tax that the storefront's prices include, keeps 30 % of
 * the rest (15 % after the first year of a subscription) and rounds to hundredths.
 */
import { halfEven } from './books.ts'
import { DAY_MS } from './periods.ts'
import type { Storefront } from './storefronts.ts'
import type { Subscription } from './subscription.ts'

/** Whether a period that begins at `at` is after the first year of the subscription. */
export function isAfterAYear(sub: Subscription, at: number): boolean {
  return at - sub.recent_start >= 365 * DAY_MS
}

/** Rounds an amount in thousandths to whole hundredths, half to even. The result is in thousandths. */
export function hundredths(milli: number): number {
  return halfEven(BigInt(milli), 10n) * 10
}

/** The proceeds of a price, both in thousandths of the same currency. */
export function proceedsFor(price_milli: number, storefront: Storefront, after_a_year: boolean): number {
  const developer_percent = BigInt(after_a_year ? 85 : 70)
  return halfEven(BigInt(price_milli) * 1000n * developer_percent, BigInt(1000 + storefront.tax) * 1000n) * 10
}
