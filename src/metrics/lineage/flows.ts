/** Computes the charges and refunds of one lineage. */
import type { ReversedRefund } from '../../ledger/refunds.ts'
import { divideHalfEven } from '../../money.ts'
import type { ToBase } from './movements.ts'
import { byPurchaseDate, isPaidSubscription, replaces, type TransactionFact } from './timeline.ts'

/**
 * new: a lineage’s first charge. renewal: each later one. refund: from Apple’s notification; negative where a refund is
 * reversed. proration: the unused part that Apple returns at an upgrade without a report. unpriced: a purchase with an
 * unknown price.
 */
type FlowKind = 'new' | 'renewal' | 'one_time' | 'refund' | 'proration' | 'unpriced'

/**
 * An amount at an instant, in thousandths of `currency`; refunds are above zero too. `charged_at`: the instant of the
 * transaction’s charge. `given_milli`: what had been returned of the same charge before.
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
/** Apple’s unit is a thousandth of a percent. */
const WHOLE = 100_000
/** Purchases with these endings were not paid. */
const UNPAID_ENDINGS = new Set(['FAMILY_REVOKE', 'ASSIGNMENT_REVOKE'])

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
 * Converts a flow to thousandths of the base currency; null where there is no rate. A refund is converted at the rate
 * of its charge, so a full refund leaves exactly zero. Partial refunds are differences of cumulative amounts, each
 * rounded once.
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

/** Refunds on their days, and negative amounts on the days of reversals. */
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

/** The share that Apple names, otherwise all of it. */
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

/** price × (expiry − change) ÷ (expiry − purchase): an estimate, because Apple does not report it. */
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
