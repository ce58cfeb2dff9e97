/** The end of a simulated period: renewal, billing retry, recovery or expiry. */
import { notifySubscription, recordEntry } from '../world/announce.ts'
import type { Segment } from '../world/books.ts'
import { bill } from '../world/charge.ts'
import { DAY_MS, endOf, wholeSecond } from '../world/periods.ts'
import {
  ACTIVE,
  currentSale,
  EXPIRED,
  GRACE,
  nextBilling,
  periodEnd,
  purchaseOf,
  RETRY,
  type Subscription,
  segmentKind,
} from '../world/subscription.ts'
import type { World } from '../world/world.ts'
import { revokeMember } from './family.ts'

export const CANCELLED = 1
export const BILLING_ERROR = 2
export const NO_CONSENT = 3
export const NOT_FOR_SALE = 4
export const OTHER = 5

const SUBTYPE_BY_INTENT: Record<number, string | null> = {
  [CANCELLED]: 'VOLUNTARY',
  [BILLING_ERROR]: 'BILLING_RETRY',
  [NO_CONSENT]: 'PRICE_INCREASE',
  [NOT_FOR_SALE]: 'PRODUCT_NOT_FOR_SALE',
  [OTHER]: null,
}

/** Applies the product and price that were agreed for the next period. Returns the change of product, or null. */
function applyAgreedChanges(world: World, sub: Subscription): 'downgraded' | 'crossgraded' | null {
  const planChanges = sub.next_plan !== sub.plan
  const kind = sub.next_plan.level > sub.plan.level ? 'downgraded' : 'crossgraded'
  if (sub.storefront !== sub.person.storefront) {
    sub.storefront = sub.person.storefront
    sub.currency = sub.storefront.currency
    sub.price_milli = world.price(sub.plan, sub.currency)
  }
  if (planChanges) {
    sub.plan = sub.next_plan
    sub.price_milli = world.price(sub.plan, sub.currency)
  } else if (sub.increase !== null) {
    sub.price_milli = sub.increase.price_milli
  }
  sub.increase = null
  return planChanges ? kind : null
}

/** Records in the books the start or end of billing retry without access. */
function recordRetry(
  world: World,
  sub: Subscription,
  fields: Pick<Partial<Segment>, 'retry_from' | 'retry_until'>,
): void {
  const segment = world.books.segmentOf(sub.environment, currentSale(sub).transactionId)
  if (segment) Object.assign(segment, fields)
}

function recordRenewal(world: World, sub: Subscription, recovered: boolean, trial: string | null): void {
  const sale = currentSale(sub)
  recordEntry(world, purchaseOf(sub), recovered ? 'recovered' : 'renewed', sale.purchaseDate)
  if (trial === null || (sale.price ?? 0) === 0) return
  recordEntry(world, purchaseOf(sub), 'trial_converted', sale.purchaseDate, { transaction_id: trial })
}

/** The transaction id of the trial that the subscription is in, if it is in one. */
function currentTrialId(sub: Subscription): string | null {
  return segmentKind(sub.offer) === 'trial' ? currentSale(sub).transactionId : null
}

/**
 * DID_RENEW, signed now, for the period that begins when the current period ends. The subscriptions of family members
 * renew at the same time. After a failed renewal (BILLING_RECOVERY), the period begins now. After a recovery during the
 * grace period, the new period ends on the same date as without the failure.
 */
export function renew(world: World, sub: Subscription): void {
  const trial = currentTrialId(sub)
  const ended_at = periodEnd(sub)
  const recovered = sub.status === RETRY || sub.status === GRACE
  const at = recovered ? wholeSecond(world.now()) : ended_at
  const inGrace = sub.status === GRACE
  if (sub.status === RETRY) recordRetry(world, sub, { retry_until: at })
  const { offer } = nextBilling(world, sub)
  const changed = applyAgreedChanges(world, sub)
  // After a recovery in the grace period, the period ends on its regular date, unless that date has passed.
  const regular_end = endOf(ended_at, offer?.cycle ?? sub.plan.billed, sub.environment)
  const until = inGrace && regular_end > at ? { until: regular_end } : {}
  const sale = bill(world, sub, { reason: 'RENEWAL', at, offer, ...until })
  recordRenewal(world, sub, recovered, trial)
  if (changed !== null) recordEntry(world, purchaseOf(sub), changed, at)
  notifySubscription(world, sub, 'DID_RENEW', recovered ? 'BILLING_RECOVERY' : null)
  for (const member of [...sub.members]) {
    if (sub.plan.family) renewMember(world, member, sale.purchaseDate, sale.expiresDate ?? at)
    else revokeMember(world, sub, member)
  }
}

function renewMember(world: World, member: Subscription, at: number, until: number): void {
  bill(world, member, { reason: 'RENEWAL', at, until, offer: null })
  recordEntry(world, purchaseOf(member), 'renewed', at)
  notifySubscription(world, member, 'DID_RENEW', null)
}

/** DID_FAIL_TO_RENEW: starts the grace period if the app has one; otherwise access ends immediately. */
export function failToRenew(world: World, sub: Subscription): void {
  const ended_at = periodEnd(sub)
  const { grace_days } = sub.app
  sub.retrying = true
  recordEntry(world, purchaseOf(sub), 'billing_failed', ended_at)
  if (grace_days === null) {
    sub.status = RETRY
    recordRetry(world, sub, { retry_from: ended_at })
    notifySubscription(world, sub, 'DID_FAIL_TO_RENEW', null)
    return
  }
  sub.status = GRACE
  sub.grace_until = ended_at + Math.min(grace_days, sub.plan.period === 'P1W' ? 6 : 16) * DAY_MS
  const segment = world.books.segmentOf(sub.environment, currentSale(sub).transactionId)
  if (segment) segment.expires = sub.grace_until
  recordEntry(world, purchaseOf(sub), 'grace_started', ended_at)
  notifySubscription(world, sub, 'DID_FAIL_TO_RENEW', 'GRACE_PERIOD')
}

/** GRACE_PERIOD_EXPIRED: access ends, and billing retry continues. */
export function endGrace(world: World, sub: Subscription): void {
  const ended_at = sub.grace_until ?? world.now()
  recordEntry(world, purchaseOf(sub), 'grace_ended', ended_at)
  recordRetry(world, sub, { retry_from: ended_at })
  sub.status = RETRY
  sub.grace_until = null
  notifySubscription(world, sub, 'GRACE_PERIOD_EXPIRED', null)
}

/** EXPIRED: ends the subscription and the subscriptions of family members. */
export function expire(world: World, sub: Subscription, intent: number): void {
  const wasActive = sub.status === ACTIVE
  const trial = currentTrialId(sub)
  if (sub.status === RETRY) recordRetry(world, sub, { retry_until: world.now() })
  Object.assign(sub, { status: EXPIRED, intent, retrying: false, auto_renew: false, grace_until: null })
  const at = wasActive ? periodEnd(sub) : world.now()
  recordEntry(world, purchaseOf(sub), 'expired', at, { intent })
  if (trial !== null) recordEntry(world, purchaseOf(sub), 'trial_expired', periodEnd(sub))
  notifySubscription(world, sub, 'EXPIRED', SUBTYPE_BY_INTENT[intent] ?? null)
  for (const member of sub.members) expire(world, member, intent)
  sub.members = []
}
