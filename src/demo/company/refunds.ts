/** What we compute: refunds: asked for, granted in whole or in part, declined, taken back. */
import { announceSale, note } from '../world/announce.ts'
import { halfEven } from '../world/books.ts'
import { DAY, HOUR, wholeSecond } from '../world/periods.ts'
import { reportGivenBack, reportRefund, reportReversal } from '../world/selling.ts'
import { ACTIVE, type Bought, current, EXPIRED, GRACE, periodEnd, REVOKED } from '../world/subscription.ts'
import type { Story, World } from '../world/world.ts'
import { revokeMember } from './family.ts'

export type Outcome = 'whole' | 'in_part' | 'reversed' | 'declined'

const WHOLE = 100_000
const REASONS = [
  'UNINTENDED_PURCHASE',
  'FULFILLMENT_ISSUE',
  'UNSATISFIED_WITH_PURCHASE',
  'LEGAL',
  'OTHER',
] as const

/** CONSUMPTION_REQUEST: Apple asks what became of what was bought. */
export function requestConsumption(world: World, bought: Bought): void {
  note(world, bought, 'consumption_requested', world.now())
  announceSale(world, bought, 'CONSUMPTION_REQUEST', null, bought.person.random.pick(REASONS))
}

function refundedOf(bought: Bought): number {
  const { price = 0, revocationPercentage = WHOLE } = bought.sale
  return halfEven(BigInt(price) * BigInt(revocationPercentage), BigInt(WHOLE))
}

/** A refund of what runs now ends the subscription; one of an older period leaves it as it is. */
function endAccess(world: World, bought: Bought): void {
  const { sale, sub } = bought
  if (sub === null || sale !== current(sub)) return
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

/** REFUND. `percentage` in thousandths of a percent; null: all of it, as Apple said it before it named a share. */
export function refund(world: World, bought: Bought, percentage: number | null): void {
  const { sale, sub, person } = bought
  const at = wholeSecond(world.now())
  const whole = percentage === null || percentage === WHOLE
  world.amend(sale, () => {
    sale.revocationDate = at
    sale.revocationReason = person.random.chance(0.3) ? 1 : 0
    if (percentage === null) return
    sale.revocationType = whole ? 'REFUND_FULL' : 'REFUND_PRORATED'
    sale.revocationPercentage = percentage
  })
  const segment = sub && world.books.segmentOf(person.environment, sale.transactionId)
  if (segment) segment.revoked_at = at
  endAccess(world, bought)
  note(world, bought, 'refund', at, { refunded_milli: refundedOf(bought) })
  if (whole) reportRefund(world, bought, at)
  else reportGivenBack(world, bought, at, refundedOf(bought))
  announceSale(world, bought, 'REFUND', null)
}

/** REFUND_REVERSED: the money is taken again, and what was bought counts again. */
export function reverseRefund(world: World, bought: Bought): void {
  const { sale, sub, person } = bought
  const refunded_milli = refundedOf(bought)
  world.amend(sale, () => {
    delete sale.revocationDate
    delete sale.revocationReason
    delete sale.revocationType
    delete sale.revocationPercentage
  })
  const segment = sub && world.books.segmentOf(person.environment, sale.transactionId)
  if (segment) segment.revoked_at = null
  if (sub !== null && sale === current(sub) && sub.status === REVOKED) {
    const runs = periodEnd(sub) > world.now()
    sub.status = runs ? ACTIVE : EXPIRED
    if (!runs) Object.assign(sub, { intent: 1, retrying: false })
  }
  const at = wholeSecond(world.now())
  note(world, bought, 'refund_reversed', at, { refunded_milli })
  reportReversal(world, bought, at, refunded_milli)
  announceSale(world, bought, 'REFUND_REVERSED', null)
}

/** REFUND_DECLINED. */
export function declineRefund(world: World, bought: Bought): void {
  note(world, bought, 'refund_declined', world.now())
  announceSale(world, bought, 'REFUND_DECLINED', null)
}

/** Whether there is something to give back, to somebody who paid it and has not had it back. */
export function isRefundable(world: World, bought: Bought): boolean {
  const { price = 0, inAppOwnershipType, revocationDate, isUpgraded, purchaseDate } = bought.sale
  const paid = price > 0 && inAppOwnershipType === 'PURCHASED'
  return paid && revocationDate === undefined && isUpgraded !== true && purchaseDate < world.now()
}

function percentageFor(bought: Bought, outcome: Outcome): number | null {
  const { random } = bought.person
  if (outcome === 'in_part') return random.pick([40_000, 67_932, 50_000, random.whole(4_000, 96_000)])
  return random.chance(0.3) ? null : WHOLE
}

/** A refund from the request to its end, days later; to be begun when the customer asks for it. */
export function* refundStory(world: World, bought: Bought, outcome: Outcome): Story {
  const { random } = bought.person
  const asks = bought.sale.type === 'Consumable' || bought.sub !== null
  if (asks && random.chance(0.6)) {
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
