/** Simulated Family Sharing: members join and lose access. */
import { notifySubscription, recordEntry } from '../world/announce.ts'
import { bill, emptySubscription } from '../world/charge.ts'
import { familyMember } from '../world/people.ts'
import { wholeSecond } from '../world/periods.ts'
import {
  currentSale,
  periodEnd,
  purchaseDateBefore,
  purchaseOf,
  REVOKED,
  type Subscription,
} from '../world/subscription.ts'
import type { World } from '../world/world.ts'

/** SUBSCRIBED / INITIAL_BUY for a family member, with ids of their own and the purchaser's expiry, without a charge. */
export function shareWithMember(world: World, sub: Subscription): Subscription {
  const person = familyMember(world, sub.person, world.subscriptions.length)
  const at = purchaseDateBefore(world, person)
  const member = emptySubscription(world, person, sub.plan, at, { shared: true })
  bill(world, member, { reason: 'PURCHASE', at, until: periodEnd(sub), offer: null })
  sub.members.push(member)
  recordEntry(world, purchaseOf(member), 'shared', at)
  notifySubscription(world, member, 'SUBSCRIBED', 'INITIAL_BUY')
  return member
}

/** REVOKE: a member loses access, because sharing ended, the member left, or the purchaser received a refund. */
export function revokeMember(world: World, sub: Subscription, member: Subscription): void {
  const at = wholeSecond(world.now())
  const sale = currentSale(member)
  const revoked = { revocationDate: at, revocationReason: 0, revocationType: 'FAMILY_REVOKE' }
  world.update(sale, () => void Object.assign(sale, revoked))
  const segment = world.books.segmentOf(member.environment, sale.transactionId)
  if (segment) segment.revoked_at = at
  Object.assign(member, { status: REVOKED, auto_renew: false })
  sub.members = sub.members.filter((other) => other !== member)
  recordEntry(world, purchaseOf(member), 'revoked', at)
  notifySubscription(world, member, 'REVOKE', null)
}
