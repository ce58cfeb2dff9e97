/** The oracle’s risk at one instant: whether a paid subscription will not renew or awaits a payment. */

import type { Worth } from './mrr_values.ts'
import type { Concluded } from './oracle.ts'

type Found = { risk: 'will_cancel' | 'committed' | 'grace' | 'billing_retry'; worth: Worth }

/** Whether this is a period of a commitment other than its last. */
function isCommitted({ commitment, expires_at }: Worth['by']): boolean {
  const {
    billingPeriodNumber: number,
    totalBillingPeriods: all,
    commitmentExpiresDate: end,
  } = JSON.parse(commitment ?? '{}')
  return number < all && end > (expires_at ?? Infinity)
}

/** null: it will renew, or has ended. */
export function riskAt({ lineage, worths }: Concluded, at: number): Found | null {
  const worth = worths.findLast(({ from }) => from <= at)
  if (!worth?.is_paid) return null
  // Infos signed before the customer bought again concern the ended subscription.
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
