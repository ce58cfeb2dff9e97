/** Facts of one subscription, made by hand for tests of what is computed from them. */
import type { RenewalFact, TransactionFact } from '../../src/metrics/lineage/timeline.ts'

export const DAY = 86_400_000
export const day = (text: string): number => Date.parse(`${text}T00:00:00Z`)

/** A transaction of a monthly plan at 9.990 dollars, bought on `from` and lasting until `to`. */
export function bought(
  transaction_id: string,
  from: string,
  to: string,
  more: Partial<TransactionFact> = {},
): TransactionFact {
  return {
    environment: 'production',
    transaction_id,
    product_id: 'monthly',
    kind: 'Auto-Renewable Subscription',
    group_id: 'pro',
    reason: transaction_id === '1' ? 'PURCHASE' : 'RENEWAL',
    ownership: 'PURCHASED',
    quantity: 1,
    price_milli: 9_990,
    currency: 'USD',
    storefront: 'USA',
    purchased_at: day(from),
    expires_at: day(to),
    earliest_expires_at: day(to),
    offer_type: null,
    offer_discount: null,
    offer_period: null,
    is_upgraded: 0,
    revoked_at: null,
    revocation_type: null,
    revocation_percentage: null,
    reversed_refunds: null,
    billing_plan: null,
    commitment: null,
    ...more,
  }
}

export const TRIAL = { offer_type: 1, offer_discount: 'FREE_TRIAL', offer_period: 'P1W', price_milli: 0 }

export function renewalInfo(signed_on: string, more: Partial<RenewalFact> = {}): RenewalFact {
  return {
    signed_at: day(signed_on),
    grace_until_at: null,
    expiration_intent: null,
    in_billing_retry: 0,
    auto_renew_status: 1,
    ...more,
  }
}

const PERIODS: Record<string, string> = { weekly: 'P1W', monthly: 'P1M', monthly_max: 'P1M', yearly: 'P1Y' }
export const periodOf = (product_id: string): string | null => PERIODS[product_id] ?? null
