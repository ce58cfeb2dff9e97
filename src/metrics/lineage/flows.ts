/** What we compute: the money of one lineage: what was charged, and what was given back. */
import type { ReversedRefund } from '../../ledger/refunds.ts'
import { divideHalfEven } from '../../money.ts'
import type { ToBase } from './movements.ts'
import { byPurchaseDate, isPaidSubscription, replaces, type TransactionFact } from './timeline.ts'

/**
 * new: a lineage's first charge. renewal: each after it. refund: Apple's, by its own notification; below zero
 * where it takes one back. proration: the unused
 * part that Apple gives back at an upgrade and tells nobody. unpriced: bought for a price that nobody has said.
 */
type FlowKind = 'new' | 'renewal' | 'one_time' | 'refund' | 'proration' | 'unpriced'

/**
 * Money that moved at an instant, in thousandths of `currency`; what was given back is above zero, too. `charged_at`:
 * when the transaction itself was charged. `given_milli`: what had been given back of the same charge before.
 */
export type Flow = {
  at: number
  charged_at: number
  given_milli: number
  kind: FlowKind
  transaction_id: string
  product_id: string
  storefront: string | null
  currency: string | null
  milli: number
}

const PURCHASED = 'PURCHASED'
/** Apple counts thousandths of a percent. */
const WHOLE = 100_000
/** Nobody paid for what ends so. */
const UNPAID_ENDINGS = new Set(['FAMILY_REVOKE', 'ASSIGNMENT_REVOKE'])

/** Every flow of one lineage, in order. `is_whole`: its first transaction is known. */
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
  const given = new Map<string, number>()
  for (const flow of flows.filter(isRefundFlow)) {
    flow.given_milli = given.get(flow.transaction_id) ?? 0
    given.set(flow.transaction_id, flow.given_milli + flow.milli)
  }
  return flows
}

export const isRefundFlow = ({ kind }: Pick<Flow, 'kind'>): boolean =>
  kind === 'refund' || kind === 'proration'

/**
 * A flow in thousandths of the base currency; null where there is no rate. What is given back is converted at the rate
 * of its charge, so that what was given back whole comes to exactly nothing: parts of one charge differ by what they
 * come to together, which is rounded once.
 */
export function flowInBase(
  { milli, given_milli, currency, charged_at }: Flow,
  toBase: ToBase,
): number | null {
  if (currency === null) return 0
  if (given_milli === 0) return toBase(milli, currency, charged_at)
  const [before, after] = [given_milli, given_milli + milli].map((all) => toBase(all, currency, charged_at))
  return before == null || after == null ? null : after - before
}

function charge(fact: TransactionFact, kind: FlowKind): Flow[] {
  if (fact.price_milli === 0 || fact.offer_discount === 'FREE_TRIAL') return []
  if (fact.price_milli === null || fact.currency === null) {
    return [{ ...flow(fact, fact.purchased_at, 0), kind: 'unpriced', currency: null }]
  }
  return [{ ...flow(fact, fact.purchased_at, fact.price_milli), kind }]
}

/** What was given back, each on its day, and the money again, below zero, on the day a refund was taken back. */
function refunds(fact: TransactionFact): Flow[] {
  const { revoked_at, reversed_refunds } = fact
  const reversed: ReversedRefund[] = reversed_refunds === null ? [] : JSON.parse(reversed_refunds)
  const reversals = reversed.flatMap((one) =>
    refund(fact, one, one.revoked_at).flatMap((given) => [
      given,
      { ...given, at: one.reversed_at, milli: -given.milli },
    ]),
  )
  return revoked_at === null ? reversals : [...reversals, ...refund(fact, fact, revoked_at)]
}

type Revocation = Pick<TransactionFact, 'revocation_type' | 'revocation_percentage'>

/** The part that Apple names, or all of it. */
function refund(
  fact: TransactionFact,
  { revocation_type, revocation_percentage }: Revocation,
  at: number,
): Flow[] {
  const { price_milli, currency } = fact
  if (!price_milli || currency === null) return []
  if (revocation_type !== null && UNPAID_ENDINGS.has(revocation_type)) return []
  const part = BigInt(revocation_percentage ?? WHOLE)
  const milli = Number(divideHalfEven(BigInt(price_milli) * part, BigInt(WHOLE)))
  return milli === 0 ? [] : [{ ...flow(fact, at, milli), kind: 'refund' }]
}

/** price × (expiry − change) ÷ (expiry − purchase): always an estimate, Apple does not say. */
function proration(fact: TransactionFact, before: TransactionFact | undefined): Flow[] {
  if (!before?.price_milli || before.currency === null || !replaces(fact, before)) return []
  const at = fact.purchased_at
  const { purchased_at, price_milli } = before
  const expires_at = before.expires_at ?? at
  if (expires_at <= at || (before.revoked_at ?? Infinity) <= at) return []
  const unused = BigInt(price_milli) * BigInt(expires_at - at)
  const milli = Number(divideHalfEven(unused, BigInt(expires_at - purchased_at)))
  return [{ ...flow(before, at, milli), kind: 'proration' }]
}

const flow = (fact: TransactionFact, at: number, milli: number) => ({
  at,
  charged_at: fact.purchased_at,
  given_milli: 0,
  transaction_id: fact.transaction_id,
  product_id: fact.product_id,
  storefront: fact.storefront,
  currency: fact.currency,
  milli,
})
