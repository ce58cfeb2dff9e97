/** Decides whether a subscription gives access, and until when. */
import { type SubscriptionRow, stateAt } from './subscription.ts'

/** `access_until`: when the access ends or ended, in milliseconds; null if Apple has signed no such date. */
export type Access = { has_access: boolean; access_until: number | null }

/** The dates of a subscription. A purchase that never expires has only `revoked_at`. */
export type AccessDates = Pick<
  SubscriptionRow,
  'revoked_at' | 'expires_at' | 'grace_until_at' | 'in_billing_retry' | 'offer_type' | 'offer_discount'
>

/**
 * The access that a subscription gives at `now` (milliseconds). A trial, a running period and a grace period give
 * access. Billing retry without a grace period, an expired and a revoked subscription give none. The access ends with
 * the period or the grace period, or when Apple revokes the transaction before that.
 */
export function accessOf(row: AccessDates, now: number): Access {
  const state = stateAt(row, now)
  return {
    has_access: state === 'trial' || state === 'active' || state === 'grace',
    access_until: accessEnd(row),
  }
}

function accessEnd({ expires_at, grace_until_at, revoked_at }: AccessDates): number | null {
  if (expires_at === null) return revoked_at
  const ends_at = Math.max(expires_at, grace_until_at ?? expires_at)
  return revoked_at === null ? ends_at : Math.min(ends_at, revoked_at)
}
