/** What the oracle says of one instant: whether a paid subscription is not to be renewed then, or waits for a payment. */

import type { Worth } from './mrr_values.ts'
import type { Concluded } from './oracle.ts'

type Found = { risk: 'will_cancel' | 'committed' | 'grace' | 'billing_retry'; worth: Worth }

/** Of a commitment something is left to pay: this is one of its periods, and not the last. */
function isCommitted({ commitment, expires_at }: Worth['by']): boolean {
  const {
    billingPeriodNumber: number,
    totalBillingPeriods: all,
    commitmentExpiresDate: end,
  } = JSON.parse(commitment ?? '{}')
  return number < all && end > (expires_at ?? Infinity)
}

/** Null: it is to be renewed, or is over. */
export function riskAt({ lineage, worths }: Concluded, at: number): Found | null {
  const worth = worths.findLast(({ from }) => from <= at)
  if (!worth?.is_paid) return null
  // What was signed before the customer bought again is about what had ended.
  const begun = lineage.bought.findLast(
    ({ reason, purchased_at }) => reason === 'PURCHASE' && purchased_at <= worth.by.purchased_at,
  )
  const signedInfos = lineage.infos.filter(
    ({ signed_at }) => signed_at <= at && signed_at >= (begun?.purchased_at ?? -Infinity),
  )
  const { by, to, ending } = worth
  if (at < to && at >= Math.max(worth.from, by.expires_at ?? by.purchased_at)) return { risk: 'grace', worth }
  if (at < to && signedInfos.at(-1)?.auto_renew_status !== 0) return null
  if (at < to) return { risk: isCommitted(by) ? 'committed' : 'will_cancel', worth }
  const last = signedInfos.findLast(({ signed_at }) => signed_at >= by.purchased_at)
  return ending !== 'refund' && last?.in_billing_retry === 1 ? { risk: 'billing_retry', worth } : null
}
