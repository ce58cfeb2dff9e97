/** Changes of a simulated subscription between two periods. */
import { notifySubscription, recordEntry } from '../world/announce.ts'
import { halfEven } from '../world/books.ts'
import { bill } from '../world/charge.ts'
import { DAY_MS } from '../world/periods.ts'
import { type Offer, type Plan, promotionalOffer } from '../world/products.ts'
import { reportPartialRefund } from '../world/selling.ts'
import {
  ACTIVE,
  currentSale,
  periodEnd,
  purchaseDateBefore,
  purchaseOf,
  type Sale,
  type Subscription,
} from '../world/subscription.ts'
import type { World } from '../world/world.ts'
import { revokeMember } from './family.ts'

/** DID_CHANGE_RENEWAL_STATUS: turns renewal off. After a notice of a price increase, Apple sends no subtype. */
export function disableRenewal(world: World, sub: Subscription, afterNotice = false): void {
  sub.auto_renew = false
  sub.increase = null
  recordEntry(world, purchaseOf(sub), 'renewal_disabled', world.now())
  notifySubscription(world, sub, 'DID_CHANGE_RENEWAL_STATUS', afterNotice ? null : 'AUTO_RENEW_DISABLED')
}

export function enableRenewal(world: World, sub: Subscription): void {
  sub.auto_renew = true
  recordEntry(world, purchaseOf(sub), 'renewal_enabled', world.now())
  notifySubscription(world, sub, 'DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED')
}

/** Refunds the unused time of `oldSale`: price × (expiry − change) ÷ (expiry − purchase), rounded half to even. */
function refundUnused(world: World, sub: Subscription, oldSale: Sale, at: number): void {
  const { price = 0, expiresDate = at, purchaseDate } = oldSale
  if (price === 0 || sub.shared) return
  const unused = BigInt(price) * BigInt(expiresDate - at)
  const refunded_milli = halfEven(unused, BigInt(expiresDate - purchaseDate))
  recordEntry(world, purchaseOf(sub, oldSale), 'proration', at, { refunded_milli })
  reportPartialRefund(world, purchaseOf(sub, oldSale), at, refunded_milli)
}

/**
 * Changes immediately to a product of a higher level, or of the same level and duration. The notification contains only
 * the new transaction. Only the transaction history shows that the old transaction was upgraded.
 */
export function changeImmediately(
  world: World,
  sub: Subscription,
  plan: Plan,
  offer: Offer | null = null,
): void {
  const oldSale = currentSale(sub)
  const at = purchaseDateBefore(world, sub.person)
  refundUnused(world, sub, oldSale, at)
  world.update(oldSale, () => {
    oldSale.isUpgraded = true
  })
  const kind = plan.level < sub.plan.level ? 'upgraded' : 'crossgraded'
  sub.plan = plan
  sub.next_plan = plan
  sub.price_milli = world.price(plan, sub.currency)
  sub.auto_renew = true
  sub.increase = null
  bill(world, sub, { reason: 'PURCHASE', at, offer })
  recordEntry(world, purchaseOf(sub), kind, at)
  if (offer !== null) recordEntry(world, purchaseOf(sub), 'offer_redeemed', at)
  notifySubscription(world, sub, offer === null ? 'DID_CHANGE_RENEWAL_PREF' : 'OFFER_REDEEMED', 'UPGRADE')
  if (!plan.family) for (const member of [...sub.members]) revokeMember(world, sub, member)
}

/** Changes at the next renewal to a lower level or another duration. Also turns renewal on. */
export function changeAtRenewal(world: World, sub: Subscription, plan: Plan, withOffer = false): void {
  sub.next_plan = plan
  sub.auto_renew = true
  sub.increase = null
  sub.next_offer = withOffer ? promotionalOffer(plan) : null
  recordEntry(world, purchaseOf(sub), 'downgrade_chosen', world.now())
  if (withOffer) recordEntry(world, purchaseOf(sub), 'offer_redeemed', world.now())
  notifySubscription(world, sub, withOffer ? 'OFFER_REDEEMED' : 'DID_CHANGE_RENEWAL_PREF', 'DOWNGRADE')
}

export function cancelChange(world: World, sub: Subscription): void {
  sub.next_plan = sub.plan
  sub.next_offer = null
  recordEntry(world, purchaseOf(sub), 'downgrade_cancelled', world.now())
  notifySubscription(world, sub, 'DID_CHANGE_RENEWAL_PREF', null)
}

/** OFFER_REDEEMED: redeems an offer on the current product, which begins with the next period. */
export function redeemOffer(world: World, sub: Subscription, offer: Offer): void {
  sub.next_offer = offer
  sub.auto_renew = true
  recordEntry(world, purchaseOf(sub), 'offer_redeemed', world.now())
  notifySubscription(world, sub, 'OFFER_REDEEMED', null)
}

/** RENEWAL_EXTENDED: the developer extends the current period by free days. */
export function extend(world: World, sub: Subscription, days: number): void {
  const sale = currentSale(sub)
  const until = periodEnd(sub) + days * DAY_MS
  world.update(sale, () => {
    sale.expiresDate = until
  })
  const segment = world.books.segmentOf(sub.environment, sale.transactionId)
  if (segment) Object.assign(segment, { expires: until, paid_until: until })
  recordEntry(world, purchaseOf(sub), 'extended', world.now())
  notifySubscription(world, sub, 'RENEWAL_EXTENDED', null)
  for (const member of sub.members) extend(world, member, days)
}

/** PRICE_INCREASE: requests consent, or announces an increase that needs no consent. */
export function increasePrice(
  world: World,
  sub: Subscription,
  price_milli: number,
  needsConsent: boolean,
): void {
  sub.increase = { price_milli, accepted: !needsConsent }
  recordEntry(
    world,
    purchaseOf(sub),
    needsConsent ? 'price_increase_asked' : 'price_increase_accepted',
    world.now(),
  )
  notifySubscription(world, sub, 'PRICE_INCREASE', needsConsent ? 'PENDING' : 'ACCEPTED')
}

export function acceptIncrease(world: World, sub: Subscription): void {
  if (sub.increase === null) return
  sub.increase.accepted = true
  recordEntry(world, purchaseOf(sub), 'price_increase_accepted', world.now())
  notifySubscription(world, sub, 'PRICE_INCREASE', 'ACCEPTED')
}

/** Whether a customer can change the subscription now: it is active, and its period has begun and not ended. */
export function canChange(world: World, sub: Subscription): boolean {
  const { purchaseDate } = currentSale(sub)
  return sub.status === ACTIVE && purchaseDate < world.now() - 60_000 && periodEnd(sub) > world.now()
}
