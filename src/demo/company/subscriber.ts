/** The lifecycle of one simulated subscription, from the first purchase to the last expiry. */
import { resubscribe, subscribe } from '../world/charge.ts'
import type { Person } from '../world/people.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../world/periods.ts'
import { alternatives, type Offer, offerCode, type Plan, winBackOffer } from '../world/products.ts'
import {
  ACTIVE,
  currentSale,
  GRACE,
  longestLeadMs,
  periodEnd,
  purchaseOf,
  RETRY,
  type Subscription,
  segmentKind,
} from '../world/subscription.ts'
import type { BrowseTime, Script, World } from '../world/world.ts'
import {
  BILLING_ERROR,
  CANCELLED,
  endGrace,
  expire,
  failToRenew,
  NO_CONSENT,
  NOT_FOR_SALE,
  OTHER,
  renew,
} from './billing.ts'
import { reportPurchase } from './calls.ts'
import { canChange } from './changes.ts'
import { planBehaviour } from './subscriber_behaviour.ts'

/** The number of transactions after which a sandbox subscription ends by itself. */
const SANDBOX_RENEWALS = 12

/** A part of the lifecycle. It returns whether the subscription continues. */
type Phase = Generator<number, boolean, undefined>

/** Runs the customer's actions in the current period, until the renewal may be signed or a new transaction follows. */
function* behaviourInPeriod(world: World, sub: Subscription): Script {
  const sale = currentSale(sub)
  const start = Math.max(sale.purchaseDate, world.now())
  const length_ms = periodEnd(sub) - longestLeadMs(sub) - start
  for (const { fraction, act } of planBehaviour(world, sub)) {
    yield start + fraction * length_ms
    if (canChange(world, sub)) act(world, sub)
    if (currentSale(sub) !== sale) return
  }
}

/** Apple's `expirationIntent` if the subscription ends after this period; null if it is to be renewed. */
function expirationIntent(world: World, sub: Subscription): number | null {
  const isTestOver = sub.environment === 'sandbox' && sub.sales.length >= SANDBOX_RENEWALS
  if (!sub.auto_renew || isTestOver) return CANCELLED
  if (world.withdrawn.has(sub.next_plan.product_id)) return NOT_FOR_SALE
  return sub.increase !== null && !sub.increase.accepted ? NO_CONSENT : null
}

/** Waits until some seconds after the end of the period. The end may move while waiting. */
function* waitForPeriodEnd(world: World, sub: Subscription): Script {
  const delay_ms = sub.person.random.whole(4, 50) * SECOND_MS
  while (world.now() < periodEnd(sub)) yield periodEnd(sub) + delay_ms
}

function renewalFails(world: World, sub: Subscription): boolean {
  const { random, steady, environment } = sub.person
  if (steady || environment === 'sandbox') return false
  const chance = segmentKind(sub.offer) === 'trial' ? 0.09 : 0.035
  return random.chance(world.edgeCases ? 0.18 : chance)
}

/** Billing retry: the store retries for sixty days, the first of which may be a grace period. */
function* billingRetryPhase(world: World, sub: Subscription): Phase {
  const { random } = sub.person
  const ended = periodEnd(sub)
  failToRenew(world, sub)
  const recovery = random.chance(0.62) ? ended + random.between(0.3, 5.5) ** 2 * DAY_MS : Infinity
  const grace = sub.grace_until
  if (grace !== null) {
    yield Math.min(recovery, grace + random.whole(5, 90) * SECOND_MS)
    if (sub.status !== GRACE) return false
    if (world.now() < grace) return renewNow(world, sub)
    endGrace(world, sub)
  }
  const retryEnd = ended + 60 * DAY_MS
  yield Math.max(Math.min(recovery, retryEnd), world.now() + MINUTE_MS)
  if (sub.status !== RETRY) return false
  if (recovery < retryEnd) return renewNow(world, sub)
  expire(world, sub, random.chance(0.3) ? OTHER : BILLING_ERROR)
  return false
}

function renewNow(world: World, sub: Subscription): true {
  renew(world, sub)
  return true
}

function* renewalPhase(world: World, sub: Subscription): Phase {
  const lead_ms = longestLeadMs(sub) * sub.person.random.between(0.02, 1)
  while (world.now() < periodEnd(sub) - lead_ms) yield periodEnd(sub) - lead_ms
  const willFail = renewalFails(world, sub)
  if (sub.status === ACTIVE && expirationIntent(world, sub) === null && !willFail) {
    return renewNow(world, sub)
  }
  yield* waitForPeriodEnd(world, sub)
  if (sub.status !== ACTIVE) return false
  const reason = expirationIntent(world, sub)
  if (reason !== null) {
    expire(world, sub, reason)
    return false
  }
  return willFail ? yield* billingRetryPhase(world, sub) : renewNow(world, sub)
}

function nextOffer(sub: Subscription, plan: Plan): Offer | null {
  const roll = sub.person.random.fraction()
  if (plan.committed) return null
  if (roll < 0.28) return winBackOffer(plan)
  return roll < 0.36 ? offerCode() : null
}

/** Some customers subscribe again, soon or later, to the same product or to another product. */
function* resubscribePhase(world: World, sub: Subscription): Phase {
  const { random, environment } = sub.person
  if (!random.chance(world.edgeCases ? 0.45 : 0.17)) return false
  const days = random.chance(0.6) ? random.between(0.5, 25) : random.between(25, 220)
  yield world.now() + (environment === 'sandbox' ? random.between(1, 9) * MINUTE_MS : days * DAY_MS)
  const otherPlans = alternatives(sub.app, sub.plan)
  const plan = otherPlans.length > 0 && random.chance(0.35) ? random.pick(otherPlans) : sub.plan
  if (world.withdrawn.has(plan.product_id)) return false
  resubscribe(world, sub, plan, nextOffer(sub, plan))
  if (random.chance(0.5)) world.start(reportPurchase(world, sub.person, purchaseOf(sub)))
  return true
}

/** The lifecycle of a subscription after its purchase, to the last expiry. */
export function* subscriptionScript(world: World, sub: Subscription): Script {
  for (;;) {
    yield* behaviourInPeriod(world, sub)
    if (yield* renewalPhase(world, sub)) continue
    if (!(yield* resubscribePhase(world, sub))) return
  }
}

function initialOffer(person: Person, plan: Plan): Offer | null {
  const roll = person.random.fraction()
  if (roll < 0.04 && !plan.committed) return offerCode()
  return roll < 0.86 ? plan.introductory : null
}

/** A customer who installs the app and subscribes some seconds later. */
export function* subscriberScript(world: World, person: Person, browseTime: BrowseTime): Script {
  yield world.now() + person.random.between(browseTime.from, browseTime.to) * SECOND_MS
  const plans = person.app.plans.filter((plan) => plan.weight > 0 && !world.withdrawn.has(plan.product_id))
  const plan = person.random.weighted(plans)
  const sub = subscribe(world, person, plan, initialOffer(person, plan))
  world.start(reportPurchase(world, person, purchaseOf(sub)))
  yield* subscriptionScript(world, sub)
}
