/** Derives a subscription from the newest signed facts of its lineage. */
import type { Environment } from '../apple/payloads.ts'

/** A row of the table `subscriptions`. Each lineage of a subscription has one. */
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
 * `trial`, `active`: a free or paid period is running. `grace`: the period expired, Apple retries the charge, and
 * access continues. `retry`: Apple retries the charge, without access. `expired`: the subscription ended. `revoked`:
 * Apple revoked the transaction.
 */
type SubscriptionState = 'trial' | 'active' | 'grace' | 'retry' | 'expired' | 'revoked'

type Dates = Pick<
  SubscriptionRow,
  'revoked_at' | 'expires_at' | 'grace_until_at' | 'in_billing_retry' | 'offer_type' | 'offer_discount'
>

/** The state of a subscription at an instant (milliseconds). Only the state depends on the instant, not the row. */
export function stateAt(row: Dates, at: number): SubscriptionState {
  if (row.revoked_at !== null && row.revoked_at <= at) return 'revoked'
  if (row.expires_at === null || at < row.expires_at) {
    return row.offer_type === 1 && row.offer_discount === 'FREE_TRIAL' ? 'trial' : 'active'
  }
  if (row.grace_until_at !== null && at < row.grace_until_at) return 'grace'
  return row.in_billing_retry === 1 ? 'retry' : 'expired'
}

/**
 * When the commitment of a period ends (twelve months billed monthly), in milliseconds. Until then the customer cannot
 * cancel. Null for the last period of a commitment, and if there is no commitment. `commitment` is the signed
 * commitment as JSON.
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
