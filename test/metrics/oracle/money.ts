/** The oracle’s charges and refunds. */
import { nearest } from './arithmetic.ts'
import type { Bought, Lineage } from './facts.ts'
import { isOwn, isRenewalOf, isSubscription } from './segments.ts'

export type MoneyKind =
  | 'new'
  | 'renewal'
  | 'one_time'
  | 'refund'
  | 'refund_reversed'
  | 'proration'
  | 'unpriced'

/** An amount, above zero in either direction except for reversals. `charged_at`: when its transaction was bought. */
export type Money = {
  at: number
  charged_at: number
  kind: MoneyKind
  by: Bought
  currency: string
  milli: number
}

/** Purchases with these endings were not paid, so nothing is refunded. */
const UNPAID = ['FAMILY_REVOKE', 'ASSIGNMENT_REVOKE']

export function moneyOf({ bought, is_whole }: Lineage): Money[] {
  const own = bought.filter(isOwn)
  const subscribed = own.filter(isSubscription)
  return [
    ...own.filter(costs).map((one) => charged(one, subscribed, is_whole)),
    ...own.flatMap(refunded),
    ...subscribed.flatMap((one, index) => unused(subscribed[index - 1], one)),
  ]
}

/** A free trial costs nothing, with or without a known price. */
const costs = ({ price_milli, offer_discount }: Bought): boolean =>
  price_milli !== 0 && offer_discount !== 'FREE_TRIAL'

const hasPrice = ({ price_milli, currency }: Bought): boolean => price_milli !== null && currency !== null

function charged(one: Bought, subscribed: readonly Bought[], is_whole: boolean): Money {
  const common = { at: one.purchased_at, charged_at: one.purchased_at, by: one }
  if (!hasPrice(one)) return { ...common, kind: 'unpriced', currency: '', milli: 0 }
  const first = subscribed.find(costs)
  const isFirst = is_whole && one === first
  const kind = !isSubscription(one) ? 'one_time' : isFirst ? 'new' : 'renewal'
  return { ...common, kind, currency: one.currency ?? '', milli: one.price_milli ?? 0 }
}

type Refund = Pick<Bought, 'revoked_at' | 'revocation_type' | 'revocation_percentage'> & {
  reversed_at?: number
}

/** The whole amount or Apple’s share of it, and the opposite amount at a reversal. */
function refunded(one: Bought): Money[] {
  const reversed: Refund[] = JSON.parse(one.reversed_refunds ?? '[]')
  return [...reversed, one as Refund].flatMap((refund) => {
    const { revoked_at, revocation_type, reversed_at } = refund
    if (revoked_at === null || !hasPrice(one) || UNPAID.includes(revocation_type ?? '')) return []
    const part = BigInt(refund.revocation_percentage ?? 100_000)
    const milli = nearest(BigInt(one.price_milli ?? 0) * part, 100_000n)
    if (milli === 0) return []
    const money = {
      charged_at: one.purchased_at,
      by: one,
      currency: one.currency ?? '',
      kind: 'refund',
    } as const
    const reversal = { ...money, kind: 'refund_reversed', milli: -milli } as const
    const back = reversed_at === undefined ? [] : [{ ...reversal, at: reversed_at }]
    return [{ ...money, at: revoked_at, milli }, ...back]
  })
}

/** What Apple returns of a replaced purchase: price × unused time ÷ whole time, but never more than is left of the price. */
function unused(old: Bought | undefined, next: Bought): Money[] {
  if (old === undefined || !hasPrice(old) || isRenewalOf(next, old)) return []
  const at = next.purchased_at
  const ends = old.expires_at ?? 0
  const isOver = ends <= at || (old.revoked_at !== null && old.revoked_at <= at)
  if (isOver || old.price_milli === 0) return []
  const share = nearest(BigInt(old.price_milli ?? 0) * BigInt(ends - at), BigInt(ends - old.purchased_at))
  const left = refunded(old).reduce((rest, one) => rest - one.milli, old.price_milli ?? 0)
  const milli = share < left ? share : left
  if (milli < 1) return []
  return [
    { at, charged_at: old.purchased_at, kind: 'proration', by: old, currency: old.currency ?? '', milli },
  ]
}

/** Whether an amount is given back. */
export const isBack = ({ kind }: Money): boolean =>
  kind === 'refund' || kind === 'refund_reversed' || kind === 'proration'

/** What was given back of the same purchase before. */
export const backBefore = (one: Money, money: readonly Money[]): number =>
  money
    .filter((other) => isBack(other) && other.by === one.by && other.at < one.at)
    .reduce((sum, { milli }) => sum + milli, 0)

/**
 * Converts refunds at the rate of the charge. Each of several refunds of one charge is the difference of cumulative
 * amounts.
 */
export function moneyInBase(
  one: Money,
  money: readonly Money[],
  toBase: (milli: number, currency: string, at: number) => number | null,
): number | null {
  const { currency, milli, charged_at } = one
  if (currency === '') return 0
  const earlier = isBack(one) ? backBefore(one, money) : 0
  const [all, before] = [toBase(earlier + milli, currency, charged_at), toBase(earlier, currency, charged_at)]
  return all === null || before === null ? null : all - before
}
