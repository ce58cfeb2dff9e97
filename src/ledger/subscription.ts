/** Derives a subscription from the newest signed facts of its lineage. */
import type { Environment } from '../apple/payloads.ts'

/** A stored subscription: one row per lineage. */
export type SubscriptionRow = {
  app_id: string
  environment: Environment
  original_transaction_id: string
  transaction_id: string
  product_id: string
  group_id: string | null
  ownership: string | null
  storefront: string | null
  price_milli: number | null
  currency: string | null
  offer_type: number | null
  offer_discount: string | null
  started_at: number
  period_started_at: number
  expires_at: number | null
  committed_until_at: number | null
  grace_until_at: number | null
  in_billing_retry: number
  auto_renew_status: number | null
  next_product_id: string | null
  renewal_price_milli: number | null
  expiration_intent: number | null
  revoked_at: number | null
  apple_status: number | null
  apple_status_at: number | null
}

/**
 * trial, active: a paid (or free) period is running. grace: expired, Apple retries the charge and access continues.
 * retry: Apple retries, without access. expired: it ended. revoked: Apple revoked it.
 */
type SubscriptionState = 'trial' | 'active' | 'grace' | 'retry' | 'expired' | 'revoked'

type Dates = Pick<
  SubscriptionRow,
  'revoked_at' | 'expires_at' | 'grace_until_at' | 'in_billing_retry' | 'offer_type' | 'offer_discount'
>

/** The state of a subscription at an instant (milliseconds). The row itself does not depend on the clock. */
export function stateAt(row: Dates, at: number): SubscriptionState {
  if (row.revoked_at !== null && row.revoked_at <= at) return 'revoked'
  if (row.expires_at === null || at < row.expires_at) {
    return row.offer_type === 1 && row.offer_discount === 'FREE_TRIAL' ? 'trial' : 'active'
  }
  if (row.grace_until_at !== null && at < row.grace_until_at) return 'grace'
  return row.in_billing_retry === 1 ? 'retry' : 'expired'
}

/**
 * Until when the customer continues to pay after a period that is part of a commitment (twelve months billed monthly),
 * in milliseconds: the customer cannot leave earlier. Null for its last period, and if there is no commitment.
 * `commitment`: the signed commitment, as JSON.
 */
export function committedUntil(period: {
  commitment: string | null
  expires_at: number | null
}): number | null {
  if (period.commitment === null || period.expires_at === null) return null
  const fields: Record<string, unknown> = JSON.parse(period.commitment)
  const { billingPeriodNumber, totalBillingPeriods, commitmentExpiresDate: until } = fields
  if (typeof until !== 'number' || until <= period.expires_at) return null
  const isLast = typeof billingPeriodNumber === 'number' && billingPeriodNumber === totalBillingPeriods
  return isLast ? null : Math.floor(until)
}
