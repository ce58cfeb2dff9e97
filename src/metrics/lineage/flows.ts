/** Computes the charges and refunds of one lineage. */
import type { ReversedRefund } from '../../ledger/refunds.ts'
import { divideHalfEven } from '../../money.ts'
import type { ToBase } from './movements.ts'
import { byPurchaseDate, isPaidSubscription, replaces, type TransactionFact } from './timeline.ts'

/**
 * new: a lineage’s first charge. renewal: each later charge. one_time: a purchase that is not a subscription. refund:
 * reported by an Apple notification. refund_reversed: the opposite amount of a refund, when Apple reversed it. proration:
 * the unused amount that Apple refunds at an upgrade without a notification. unpriced: a purchase with an unknown price.
 */
type FlowKind = 'new' | 'renewal' | 'one_time' | 'refund' | 'refund_reversed' | 'proration' | 'unpriced'

/** What revenue and proceeds are summed by. refunded_by_charge: refunds less reversals on the day of the charge. */
export type FlowName = FlowKind | 'refunded_by_charge'

/**
 * An amount at an instant, in thousandths of `currency`; refunds are positive too, and their reversals negative. `charged_at`: the instant of the
 * transaction’s charge. `price_milli`: the whole charge, of `quantity` units; 0 if unknown. `refunded_before_milli`: the
 * amount of the same charge that had been refunded before.
 */
export type Flow = {
  at: number
  charged_at: number
  price_milli: number
  quantity: number
  refunded_before_milli: number
  kind: FlowKind
  transaction_id: string
  product_id: string
  storefront: string | null
  currency: string | null
  milli: number
}

const PURCHASED = 'PURCHASED'
/** Apple’s unit is a thousandth of a percent. */
const FULL_PERCENTAGE = 100_000
/** The customer did not pay for purchases with these revocation types. */
const UNPAID_REVOCATION_TYPES = new Set(['FAMILY_REVOKE', 'ASSIGNMENT_REVOKE'])

/** All flows of one lineage, in order. */
export function flowsOf(transactions: readonly TransactionFact[], hasFirstTransaction: boolean): Flow[] {
  const purchases = transactions
    .filter(({ ownership }) => ownership === null || ownership === PURCHASED)
    .sort(byPurchaseDate)
  let isFirst = hasFirstTransaction
  const flows = purchases.flatMap((fact) => {
    const isSubscription = isPaidSubscription(fact)
    const kind = !isSubscription ? 'one_time' : isFirst ? 'new' : 'renewal'
    const charged = charge(fact, kind)
    if (isSubscription && charged.length > 0) isFirst = false
    return [...charged, ...refunds(fact)]
  })
  const subscribed = purchases.filter(isPaidSubscription)
  const prorations = subscribed.flatMap((fact, index) => proration(fact, subscribed[index - 1]))
  return withPriorRefunds([...flows, ...prorations].sort((a, b) => a.at - b.at))
}

function withPriorRefunds(flows: Flow[]): Flow[] {
  const refundedById = new Map<string, number>()
  for (const flowFields of flows.filter(isRefundFlow)) {
    flowFields.refunded_before_milli = refundedById.get(flowFields.transaction_id) ?? 0
    refundedById.set(flowFields.transaction_id, flowFields.refunded_before_milli + flowFields.milli)
  }
  return flows
}

export const isRefundFlow = ({ kind }: Pick<Flow, 'kind'>): boolean =>
  kind === 'proration' || isRefundOrReversal(kind)

/** Whether an amount is a refund that Apple reported, or its reversal. */
export const isRefundOrReversal = (kind: Flow['kind']): boolean =>
  kind === 'refund' || kind === 'refund_reversed'

/**
 * Converts a flow to thousandths of the base currency; null if there is no rate. A refund is converted at the rate of the
 * charge, so that charge and full refund sum to exactly zero. A partial refund is the difference of two cumulative
 * amounts, each rounded once.
 */
export function flowInBase(
  { milli, refunded_before_milli, currency, charged_at }: Flow,
  toBase: ToBase,
): number | null {
  if (currency === null) return 0
  if (refunded_before_milli === 0) return toBase(milli, currency, charged_at)
  const [before, after] = [refunded_before_milli, refunded_before_milli + milli].map((all) =>
    toBase(all, currency, charged_at),
  )
  return before == null || after == null ? null : after - before
}

function charge(fact: TransactionFact, kind: FlowKind): Flow[] {
  if (fact.price_milli === 0 || fact.offer_discount === 'FREE_TRIAL') return []
  if (fact.price_milli === null || fact.currency === null) {
    return [{ ...flowFields(fact, fact.purchased_at, 0), kind: 'unpriced', currency: null }]
  }
  return [{ ...flowFields(fact, fact.purchased_at, fact.price_milli), kind }]
}

/** The refunds of a purchase, and a negative refund for each reversal. */
function refunds(fact: TransactionFact): Flow[] {
  const { revoked_at, reversed_refunds } = fact
  const reversed: ReversedRefund[] = reversed_refunds === null ? [] : JSON.parse(reversed_refunds)
  const reversals = reversed.flatMap((revocation) =>
    refund(fact, revocation, revocation.revoked_at).flatMap((refunded) => [
      refunded,
      { ...refunded, kind: 'refund_reversed' as const, at: revocation.reversed_at, milli: -refunded.milli },
    ]),
  )
  return revoked_at === null ? reversals : [...reversals, ...refund(fact, fact, revoked_at)]
}

/** Whether a revocation ends access that the customer did not pay for. */
export const isUnpaidRevocation = ({ revocation_type }: Pick<TransactionFact, 'revocation_type'>): boolean =>
  revocation_type !== null && UNPAID_REVOCATION_TYPES.has(revocation_type)

type Revocation = Pick<TransactionFact, 'revocation_type' | 'revocation_percentage'>

/** The refund of the percentage that Apple reports, or of the full price if Apple reports none. */
function refund(
  fact: TransactionFact,
  { revocation_type, revocation_percentage }: Revocation,
  at: number,
): Flow[] {
  const { price_milli, currency } = fact
  if (!price_milli || currency === null) return []
  if (isUnpaidRevocation({ revocation_type })) return []
  const percentage = BigInt(revocation_percentage ?? FULL_PERCENTAGE)
  const milli = Number(divideHalfEven(BigInt(price_milli) * percentage, BigInt(FULL_PERCENTAGE)))
  return milli === 0 ? [] : [{ ...flowFields(fact, at, milli), kind: 'refund' }]
}

/**
 * The refund of the unused time when `fact` replaces the purchase `before`: price × (expiry − change) ÷ (expiry −
 * purchase), at most what refunds leave of the price. An estimate, because Apple does not report the amount.
 */
function proration(fact: TransactionFact, before: TransactionFact | undefined): Flow[] {
  if (!before?.price_milli || before.currency === null || !replaces(fact, before)) return []
  const at = fact.purchased_at
  const { purchased_at, price_milli } = before
  const expires_at = before.expires_at ?? at
  if (expires_at <= at || (before.revoked_at ?? Infinity) <= at) return []
  const unused = BigInt(price_milli) * BigInt(expires_at - at)
  const estimate_milli = Number(divideHalfEven(unused, BigInt(expires_at - purchased_at)))
  const refunded_milli = refunds(before).reduce((sum, one) => sum + one.milli, 0)
  const milli = Math.min(estimate_milli, price_milli - refunded_milli)
  return milli <= 0 ? [] : [{ ...flowFields(before, at, milli), kind: 'proration' }]
}

const flowFields = (fact: TransactionFact, at: number, milli: number) => ({
  at,
  charged_at: fact.purchased_at,
  price_milli: fact.price_milli ?? 0,
  quantity: fact.quantity,
  refunded_before_milli: 0,
  transaction_id: fact.transaction_id,
  product_id: fact.product_id,
  storefront: fact.storefront,
  currency: fact.currency,
  milli,
})
