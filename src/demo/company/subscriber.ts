/** The life of one simulated subscription, from the first purchase to the last lapse. */
import { resubscribe, subscribe } from '../world/charge.ts'
import type { Person } from '../world/people.ts'
import { DAY, MINUTE, SECOND } from '../world/periods.ts'
import { alternatives, type Offer, offerCode, type Plan, winBackOffer } from '../world/products.ts'
import {
  ACTIVE,
  currentSale,
  GRACE,
  longestLead,
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
import { mayChange } from './changes.ts'
import { planBehaviour } from './subscriber_behaviour.ts'

/** In the sandbox a subscription renews about twelve times and then ends by itself. */
const SANDBOX_RENEWALS = 12

/** A story that says in the end whether the subscription goes on. */
type Phase = Generator<number, boolean, undefined>

/** The turns of this period, until the store begins to think of the next one or another transaction takes over. */
function* behaviourInPeriod(world: World, sub: Subscription): Script {
  const sale = currentSale(sub)
  const begins = Math.max(sale.purchaseDate, world.now())
  const length = periodEnd(sub) - longestLead(sub) - begins
  for (const { part, act } of planBehaviour(world, sub)) {
    yield begins + part * length
    if (mayChange(world, sub)) act(world, sub)
    if (currentSale(sub) !== sale) return
  }
}

/** Why this period would be the last one; null: it is to be renewed. */
function expirationIntent(world: World, sub: Subscription): number | null {
  const isTestOver = sub.environment === 'sandbox' && sub.sales.length >= SANDBOX_RENEWALS
  if (!sub.auto_renew || isTestOver) return CANCELLED
  if (world.withdrawn.has(sub.next_plan.product_id)) return NOT_FOR_SALE
  return sub.increase !== null && !sub.increase.accepted ? NO_CONSENT : null
}

/** Waits for the end of the period, which may move meanwhile; the store processes it some seconds late. */
function* waitForPeriodEnd(world: World, sub: Subscription): Script {
  const late = sub.person.random.whole(4, 50) * SECOND
  while (world.now() < periodEnd(sub)) yield periodEnd(sub) + late
}

function renewalFails(world: World, sub: Subscription): boolean {
  const { random, steady, environment } = sub.person
  if (steady || environment === 'sandbox') return false
  const chance = segmentKind(sub.offer) === 'trial' ? 0.09 : 0.035
  return random.chance(world.edgeCases ? 0.18 : chance)
}

/** The store keeps trying: for sixty days, of which the first may be a grace period. */
function* billingRetryPhase(world: World, sub: Subscription): Phase {
  const { random } = sub.person
  const ended = periodEnd(sub)
  failToRenew(world, sub)
  const recovery = random.chance(0.62) ? ended + random.between(0.3, 5.5) ** 2 * DAY : Infinity
  const grace = sub.grace_until
  if (grace !== null) {
    yield Math.min(recovery, grace + random.whole(5, 90) * SECOND)
    if (sub.status !== GRACE) return false
    if (world.now() < grace) return renewNow(world, sub)
    endGrace(world, sub)
  }
  const givesUpAt = ended + 60 * DAY
  yield Math.max(Math.min(recovery, givesUpAt), world.now() + MINUTE)
  if (sub.status !== RETRY) return false
  if (recovery < givesUpAt) return renewNow(world, sub)
  expire(world, sub, random.chance(0.3) ? OTHER : BILLING_ERROR)
  return false
}

function renewNow(world: World, sub: Subscription): true {
  renew(world, sub)
  return true
}

function* renewalPhase(world: World, sub: Subscription): Phase {
  const lead = longestLead(sub) * sub.person.random.between(0.02, 1)
  while (world.now() < periodEnd(sub) - lead) yield periodEnd(sub) - lead
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

/** Some come back, soon or late, to the same product or to another one. */
function* resubscribePhase(world: World, sub: Subscription): Phase {
  const { random, environment } = sub.person
  if (!random.chance(world.edgeCases ? 0.45 : 0.17)) return false
  const days = random.chance(0.6) ? random.between(0.5, 25) : random.between(25, 220)
  yield world.now() + (environment === 'sandbox' ? random.between(1, 9) * MINUTE : days * DAY)
  const others = alternatives(sub.app, sub.plan)
  const plan = others.length > 0 && random.chance(0.35) ? random.pick(others) : sub.plan
  if (world.withdrawn.has(plan.product_id)) return false
  resubscribe(world, sub, plan, nextOffer(sub, plan))
  if (random.chance(0.5)) world.start(reportPurchase(world, sub.person, purchaseOf(sub)))
  return true
}

/** From now to the last lapse. */
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
  yield world.now() + person.random.between(browseTime.from, browseTime.to) * SECOND
  const plans = person.app.plans.filter((plan) => plan.weight > 0 && !world.withdrawn.has(plan.product_id))
  const plan = person.random.weighted(plans)
  const sub = subscribe(world, person, plan, initialOffer(person, plan))
  world.start(reportPurchase(world, person, purchaseOf(sub)))
  yield* subscriptionScript(world, sub)
}
