/** Simulated refunds: requested, granted in full or in part, declined and reversed. */
import { notifyTransaction, recordEntry } from '../world/announce.ts'
import { halfEven } from '../world/books.ts'
import { DAY, HOUR, wholeSecond } from '../world/periods.ts'
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

/** CONSUMPTION_REQUEST: Apple asks how the purchase was used. */
export function requestConsumption(world: World, bought: Purchase): void {
  recordEntry(world, bought, 'consumption_requested', world.now())
  notifyTransaction(world, bought, 'CONSUMPTION_REQUEST', null, bought.person.random.pick(REASONS))
}

function refundedOf(bought: Purchase): number {
  const { price = 0, revocationPercentage = FULL_PERCENTAGE } = bought.sale
  return halfEven(BigInt(price) * BigInt(revocationPercentage), BigInt(FULL_PERCENTAGE))
}

/** A refund of the current period ends the subscription; one of an earlier period does not. */
function endAccess(world: World, bought: Purchase): void {
  const { sale, sub } = bought
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

/** REFUND. `percentage` in thousandths of a percent; null: all of it, the format before Apple added percentages. */
export function refund(world: World, bought: Purchase, percentage: number | null): void {
  const { sale, sub, person } = bought
  const at = wholeSecond(world.now())
  const whole = percentage === null || percentage === FULL_PERCENTAGE
  world.update(sale, () => {
    sale.revocationDate = at
    sale.revocationReason = person.random.chance(0.3) ? 1 : 0
    if (percentage === null) return
    sale.revocationType = whole ? 'REFUND_FULL' : 'REFUND_PRORATED'
    sale.revocationPercentage = percentage
  })
  const segment = sub && world.books.segmentOf(person.environment, sale.transactionId)
  if (segment) segment.revoked_at = at
  endAccess(world, bought)
  recordEntry(world, bought, 'refund', at, { refunded_milli: refundedOf(bought) })
  if (whole) reportRefund(world, bought, at)
  else reportPartialRefund(world, bought, at, refundedOf(bought))
  notifyTransaction(world, bought, 'REFUND', null)
}

/** REFUND_REVERSED: the money is taken again, and what was bought counts again. */
export function reverseRefund(world: World, bought: Purchase): void {
  const { sale, sub, person } = bought
  const refunded_milli = refundedOf(bought)
  world.update(sale, () => {
    delete sale.revocationDate
    delete sale.revocationReason
    delete sale.revocationType
    delete sale.revocationPercentage
  })
  const segment = sub && world.books.segmentOf(person.environment, sale.transactionId)
  if (segment) segment.revoked_at = null
  if (sub !== null && sale === currentSale(sub) && sub.status === REVOKED) {
    const runs = periodEnd(sub) > world.now()
    sub.status = runs ? ACTIVE : EXPIRED
    if (!runs) Object.assign(sub, { intent: 1, retrying: false })
  }
  const at = wholeSecond(world.now())
  recordEntry(world, bought, 'refund_reversed', at, { refunded_milli })
  reportReversal(world, bought, at, refunded_milli)
  notifyTransaction(world, bought, 'REFUND_REVERSED', null)
}

/** REFUND_DECLINED. */
export function declineRefund(world: World, bought: Purchase): void {
  recordEntry(world, bought, 'refund_declined', world.now())
  notifyTransaction(world, bought, 'REFUND_DECLINED', null)
}

/** Whether a transaction was paid and not refunded yet. */
export function isRefundable(world: World, bought: Purchase): boolean {
  const { price = 0, inAppOwnershipType, revocationDate, isUpgraded, purchaseDate } = bought.sale
  const paid = price > 0 && inAppOwnershipType === 'PURCHASED'
  return paid && revocationDate === undefined && isUpgraded !== true && purchaseDate < world.now()
}

function percentageFor(bought: Purchase, outcome: Outcome): number | null {
  const { random } = bought.person
  if (outcome === 'in_part') return random.pick([40_000, 67_932, 50_000, random.whole(4_000, 96_000)])
  return random.chance(0.3) ? null : FULL_PERCENTAGE
}

/** A refund from the request to its end, days later; to be begun when the customer asks for it. */
export function* refundScript(world: World, bought: Purchase, outcome: Outcome): Script {
  const { random } = bought.person
  const mayRequestConsumption = bought.sale.type === 'Consumable' || bought.sub !== null
  if (mayRequestConsumption && random.chance(0.6)) {
    yield world.now() + random.between(0.2, 9) * HOUR
    requestConsumption(world, bought)
  }
  yield world.now() + random.between(0.3, 2.5) * DAY
  if (!isRefundable(world, bought)) return
  if (outcome === 'declined') return declineRefund(world, bought)
  refund(world, bought, percentageFor(bought, outcome))
  if (outcome !== 'reversed') return
  yield world.now() + random.between(4, 35) * DAY
  reverseRefund(world, bought)
}
