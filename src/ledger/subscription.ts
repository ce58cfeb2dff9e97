/** What we compute: what a subscription is, from the newest signed facts of its lineage. */
import type { SubscriptionRow } from './subscriptions.ts'

/**
 * trial, active: paid time (or free) runs. grace: expired, Apple still tries to charge and access goes on.
 * retry: Apple still tries, without access. expired: it ended. revoked: Apple took it back.
 */
type SubscriptionState = 'trial' | 'active' | 'grace' | 'retry' | 'expired' | 'revoked'

type Dates = Pick<
  SubscriptionRow,
  'revoked_at' | 'expires_at' | 'grace_until_at' | 'in_billing_retry' | 'offer_type' | 'offer_discount'
>

/** What the subscription is at an instant (milliseconds). The row itself holds no clock. */
export function stateAt(row: Dates, at: number): SubscriptionState {
  if (row.revoked_at !== null && row.revoked_at <= at) return 'revoked'
  if (row.expires_at === null || at < row.expires_at) {
    return row.offer_type === 1 && row.offer_discount === 'FREE_TRIAL' ? 'trial' : 'active'
  }
  if (row.grace_until_at !== null && at < row.grace_until_at) return 'grace'
  return row.in_billing_retry === 1 ? 'retry' : 'expired'
}
