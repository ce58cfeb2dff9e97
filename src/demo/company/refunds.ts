/** Simulated refunds: requested, granted in full or in part, declined and reversed. */
import { notifyTransaction, recordEntry } from '../world/announce.ts'
import { halfEven } from '../world/books.ts'
import { DAY_MS, HOUR_MS, wholeSecond } from '../world/periods.ts'
import { reportPartialRefund, reportRefund, reportReversal } from '../world/selling.ts'
import {
  ACTIVE,
  currentSale,
  EXPIRED,
  GRACE,
  type Purchase,
  periodEnd,
  REVOKED,
} from '../world/subscription.ts'
import type { Script, World } from '../world/world.ts'
import { revokeMember } from './family.ts'

export type Outcome = 'whole' | 'in_part' | 'reversed' | 'declined'

const FULL_PERCENTAGE = 100_000
const REASONS = [
  'UNINTENDED_PURCHASE',
  'FULFILLMENT_ISSUE',
  'UNSATISFIED_WITH_PURCHASE',
  'LEGAL',
  'OTHER',
] as const

/** CONSUMPTION_REQUEST: Apple requests information about the use of a purchase. */
export function requestConsumption(world: World, purchase: Purchase): void {
  recordEntry(world, purchase, 'consumption_requested', world.now())
  notifyTransaction(world, purchase, 'CONSUMPTION_REQUEST', null, purchase.person.random.pick(REASONS))
}

function refundedOf(purchase: Purchase): number {
  const { price = 0, revocationPercentage = FULL_PERCENTAGE } = purchase.sale
  return halfEven(BigInt(price) * BigInt(revocationPercentage), BigInt(FULL_PERCENTAGE))
}

/** Ends the subscription if the current period was refunded. A refund of an earlier period ends nothing. */
function endAccess(world: World, purchase: Purchase): void {
  const { sale, sub } = purchase
  if (sub === null || sale !== currentSale(sub)) return
  if (sub.status !== ACTIVE && sub.status !== GRACE) return
  Object.assign(sub, {
    status: REVOKED,
    auto_renew: false,
    increase: null,
    retrying: null,
    grace_until: null,
  })
  for (const member of [...sub.members]) revokeMember(world, sub, member)
}

/**
 * REFUND. `percentage` is in thousandths of a percent. Null is a full refund in the format before Apple added
 * percentages.
 */
export function refund(world: World, purchase: Purchase, percentage: number | null): void {
  const { sale, sub, person } = purchase
  const at = wholeSecond(world.now())
  const isFull = percentage === null || percentage === FULL_PERCENTAGE
  world.update(sale, () => {
    sale.revocationDate = at
    sale.revocationReason = person.random.chance(0.3) ? 1 : 0
    if (percentage === null) return
    sale.revocationType = isFull ? 'REFUND_FULL' : 'REFUND_PRORATED'
    sale.revocationPercentage = percentage
  })
  const segment = sub && world.books.segmentOf(person.environment, sale.transactionId)
  if (segment) segment.revoked_at = at
  endAccess(world, purchase)
  recordEntry(world, purchase, 'refund', at, { refunded_milli: refundedOf(purchase) })
  if (isFull) reportRefund(world, purchase, at)
  else reportPartialRefund(world, purchase, at, refundedOf(purchase))
  notifyTransaction(world, purchase, 'REFUND', null)
}

/** REFUND_REVERSED: the customer is charged again, and the purchase is valid again. */
export function reverseRefund(world: World, purchase: Purchase): void {
  const { sale, sub, person } = purchase
  const refunded_milli = refundedOf(purchase)
  world.update(sale, () => {
    delete sale.revocationDate
    delete sale.revocationReason
    delete sale.revocationType
    delete sale.revocationPercentage
  })
  const segment = sub && world.books.segmentOf(person.environment, sale.transactionId)
  if (segment) segment.revoked_at = null
  if (sub !== null && sale === currentSale(sub) && sub.status === REVOKED) {
    const isActive = periodEnd(sub) > world.now()
    sub.status = isActive ? ACTIVE : EXPIRED
    if (!isActive) Object.assign(sub, { intent: 1, retrying: false })
  }
  const at = wholeSecond(world.now())
  recordEntry(world, purchase, 'refund_reversed', at, { refunded_milli })
  reportReversal(world, purchase, at, refunded_milli)
  notifyTransaction(world, purchase, 'REFUND_REVERSED', null)
}

/** REFUND_DECLINED. */
export function declineRefund(world: World, purchase: Purchase): void {
  recordEntry(world, purchase, 'refund_declined', world.now())
  notifyTransaction(world, purchase, 'REFUND_DECLINED', null)
}

/** Whether a transaction was paid and not refunded yet. */
export function isRefundable(world: World, purchase: Purchase): boolean {
  const { price = 0, inAppOwnershipType, revocationDate, isUpgraded, purchaseDate } = purchase.sale
  const isPaid = price > 0 && inAppOwnershipType === 'PURCHASED'
  return isPaid && revocationDate === undefined && isUpgraded !== true && purchaseDate < world.now()
}

function percentageFor(purchase: Purchase, outcome: Outcome): number | null {
  const { random } = purchase.person
  if (outcome === 'in_part') return random.pick([40_000, 67_932, 50_000, random.whole(4_000, 96_000)])
  return random.chance(0.3) ? null : FULL_PERCENTAGE
}

/** A refund from the customer's request to Apple's decision, days later. Start it at the request. */
export function* refundScript(world: World, purchase: Purchase, outcome: Outcome): Script {
  const { random } = purchase.person
  const mayRequestConsumption = purchase.sale.type === 'Consumable' || purchase.sub !== null
  if (mayRequestConsumption && random.chance(0.6)) {
    yield world.now() + random.between(0.2, 9) * HOUR_MS
    requestConsumption(world, purchase)
  }
  yield world.now() + random.between(0.3, 2.5) * DAY_MS
  if (!isRefundable(world, purchase)) return
  if (outcome === 'declined') return declineRefund(world, purchase)
  refund(world, purchase, percentageFor(purchase, outcome))
  if (outcome !== 'reversed') return
  yield world.now() + random.between(4, 35) * DAY_MS
  reverseRefund(world, purchase)
}
