/** Whether a subscription gives access to what it sells, and until when. */
import { type SubscriptionRow, stateAt } from './subscription.ts'

/** `access_until`: when access ends or ended, in milliseconds; null if Apple reported no end. */
export type Access = { has_access: boolean; access_until: number | null }

/** The dates of a subscription. A purchase that never expires has only `revoked_at`. */
export type AccessDates = Pick<
  SubscriptionRow,
  'revoked_at' | 'expires_at' | 'grace_until_at' | 'in_billing_retry' | 'offer_type' | 'offer_discount'
>

/**
 * The access that a subscription gives at `now` (milliseconds). A running period, a trial and a grace period give
 * access. Billing retry without a grace period, an expiry and a revocation do not.
 */
export function accessOf(row: AccessDates, now: number): Access {
  const state = stateAt(row, now)
  if (state === 'revoked') return { has_access: false, access_until: row.revoked_at }
  const { expires_at, grace_until_at } = row
  const access_until = expires_at === null ? null : Math.max(expires_at, grace_until_at ?? expires_at)
  return { has_access: state === 'trial' || state === 'active' || state === 'grace', access_until }
}
