/** What we compute: what a subscriber changes between two periods, and what is changed for them. */
import { announce, note } from '../world/announce.ts'
import { halfEven } from '../world/books.ts'
import { bill } from '../world/charge.ts'
import { DAY } from '../world/periods.ts'
import { type Offer, type Plan, promotionalOffer } from '../world/products.ts'
import { reportGivenBack } from '../world/selling.ts'
import {
  ACTIVE,
  current,
  holding,
  periodEnd,
  purchaseDateBefore,
  type Sale,
  type Subscription,
} from '../world/subscription.ts'
import type { World } from '../world/world.ts'
import { revokeMember } from './family.ts'

/** DID_CHANGE_RENEWAL_STATUS: off. After a notice of a price increase Apple gives no subtype. */
export function disableRenewal(world: World, sub: Subscription, noticed = false): void {
  sub.auto_renew = false
  sub.increase = null
  note(world, holding(sub), 'renewal_disabled', world.now())
  announce(world, sub, 'DID_CHANGE_RENEWAL_STATUS', noticed ? null : 'AUTO_RENEW_DISABLED')
}

export function enableRenewal(world: World, sub: Subscription): void {
  sub.auto_renew = true
  note(world, holding(sub), 'renewal_enabled', world.now())
  announce(world, sub, 'DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED')
}

/** The unused part of `old` is given back: price × (expiry − change) ÷ (expiry − purchase), half to even. */
function giveBackUnused(world: World, sub: Subscription, old: Sale, at: number): void {
  const { price = 0, expiresDate = at, purchaseDate } = old
  if (price === 0 || sub.shared) return
  const unused = BigInt(price) * BigInt(expiresDate - at)
  const refunded_milli = halfEven(unused, BigInt(expiresDate - purchaseDate))
  note(world, holding(sub, old), 'proration', at, { refunded_milli })
  reportGivenBack(world, holding(sub, old), at, refunded_milli)
}

/**
 * At once to a higher level, or to a product of the same level and duration. The notification carries the new
 * transaction alone: that the old one was upgraded shows only in the transaction history.
 */
export function changeAtOnce(
  world: World,
  sub: Subscription,
  plan: Plan,
  redeemed: Offer | null = null,
): void {
  const old = current(sub)
  const at = purchaseDateBefore(world, sub.person)
  giveBackUnused(world, sub, old, at)
  world.amend(old, () => {
    old.isUpgraded = true
  })
  const kind = plan.level < sub.plan.level ? 'upgraded' : 'crossgraded'
  sub.plan = plan
  sub.next_plan = plan
  sub.price_milli = world.price(plan, sub.currency)
  sub.auto_renew = true
  sub.increase = null
  bill(world, sub, { reason: 'PURCHASE', at, offer: redeemed })
  note(world, holding(sub), kind, at)
  if (redeemed !== null) note(world, holding(sub), 'offer_redeemed', at)
  announce(world, sub, redeemed === null ? 'DID_CHANGE_RENEWAL_PREF' : 'OFFER_REDEEMED', 'UPGRADE')
  if (!plan.family) for (const member of [...sub.members]) revokeMember(world, sub, member)
}

/** For the next renewal: a lower level, or another duration. It also turns a renewal that was off on again. */
export function changeAtRenewal(world: World, sub: Subscription, plan: Plan, redeems = false): void {
  sub.next_plan = plan
  sub.auto_renew = true
  sub.increase = null
  sub.next_offer = redeems ? promotionalOffer(plan) : null
  note(world, holding(sub), 'downgrade_chosen', world.now())
  if (redeems) note(world, holding(sub), 'offer_redeemed', world.now())
  announce(world, sub, redeems ? 'OFFER_REDEEMED' : 'DID_CHANGE_RENEWAL_PREF', 'DOWNGRADE')
}

export function cancelChange(world: World, sub: Subscription): void {
  sub.next_plan = sub.plan
  sub.next_offer = null
  note(world, holding(sub), 'downgrade_cancelled', world.now())
  announce(world, sub, 'DID_CHANGE_RENEWAL_PREF', null)
}

/** OFFER_REDEEMED: an offer on the product one has, which begins with the next period. */
export function redeemOffer(world: World, sub: Subscription, offer: Offer): void {
  sub.next_offer = offer
  sub.auto_renew = true
  note(world, holding(sub), 'offer_redeemed', world.now())
  announce(world, sub, 'OFFER_REDEEMED', null)
}

/** RENEWAL_EXTENDED: some days for nothing, by the developer. */
export function extend(world: World, sub: Subscription, days: number): void {
  const sale = current(sub)
  const until = periodEnd(sub) + days * DAY
  world.amend(sale, () => {
    sale.expiresDate = until
  })
  const segment = world.books.segmentOf(sub.environment, sale.transactionId)
  if (segment) Object.assign(segment, { expires: until, paid_until: until })
  note(world, holding(sub), 'extended', world.now())
  announce(world, sub, 'RENEWAL_EXTENDED', null)
  for (const member of sub.members) extend(world, member, days)
}

/** PRICE_INCREASE: asked for consent, or told of an increase that needs none. */
export function increasePrice(world: World, sub: Subscription, price_milli: number, asks: boolean): void {
  sub.increase = { price_milli, accepted: !asks }
  note(world, holding(sub), asks ? 'price_increase_asked' : 'price_increase_accepted', world.now())
  announce(world, sub, 'PRICE_INCREASE', asks ? 'PENDING' : 'ACCEPTED')
}

export function acceptIncrease(world: World, sub: Subscription): void {
  if (sub.increase === null) return
  sub.increase.accepted = true
  note(world, holding(sub), 'price_increase_accepted', world.now())
  announce(world, sub, 'PRICE_INCREASE', 'ACCEPTED')
}

/** Nothing stands between this subscription and a change: it is paid for, and the period has begun. */
export function mayChange(world: World, sub: Subscription): boolean {
  const { purchaseDate } = current(sub)
  return sub.status === ACTIVE && purchaseDate < world.now() - 60_000 && periodEnd(sub) > world.now()
}
