/** The actions of a subscriber within a period, and their probabilities. */
import { DAY_MS, monthsIn } from '../world/periods.ts'
import { alternatives, isImmediate, type Plan, promotionalOffer } from '../world/products.ts'
import { STOREFRONTS, scaledPrice } from '../world/storefronts.ts'
import { purchaseOf, type Subscription, segmentKind } from '../world/subscription.ts'
import type { Script, World } from '../world/world.ts'
import {
  acceptIncrease,
  canChange,
  cancelChange,
  changeAtRenewal,
  changeImmediately,
  disableRenewal,
  enableRenewal,
  extend,
  increasePrice,
  redeemOffer,
} from './changes.ts'
import { revokeMember, shareWithMember } from './family.ts'
import { isRefundable, type Outcome, refundScript } from './refunds.ts'

/**
 * An action. `chance` is its probability in one period, `edgeCaseChance` the minimum probability in a world with
 * `edgeCases`. `range` is the range of the time of the action, as fractions of the period.
 */
type Behaviour = {
  chance: (sub: Subscription) => number
  edgeCaseChance: number
  range: readonly [number, number]
  act: (world: World, sub: Subscription) => void
}

const OUTCOMES: readonly { outcome: Outcome; weight: number }[] = [
  { outcome: 'whole', weight: 48 },
  { outcome: 'in_part', weight: 14 },
  { outcome: 'declined', weight: 22 },
  { outcome: 'reversed', weight: 16 },
]

/** A probability that grows with the length of the period. `chance` is the probability in one month. */
const monthly = (chance: number) => (sub: Subscription) => Math.min(0.5, chance * monthsIn(sub.plan.billed))

function isTrial(sub: Subscription): boolean {
  return segmentKind(sub.offer) === 'trial'
}

/** Whether a commitment prevents changes, which it does before its last instalment. */
function isCommitted(sub: Subscription): boolean {
  return sub.instalment !== null && sub.instalment.number < 12
}

function chanceToCancel(sub: Subscription): number {
  if (isTrial(sub)) return 0.61
  if (segmentKind(sub.offer) === 'free_offer') return 0.4
  const earlyFactor = sub.sales.length < 3 ? 1.4 : 1
  return sub.plan.churn * earlyFactor
}

/** A random plan that the customer can change to, now (`isNow`) or at the renewal; null if there is none. */
function otherPlan(world: World, sub: Subscription, isNow: boolean, withOffer: boolean): Plan | null {
  const plans = alternatives(sub.app, sub.plan).filter(
    (plan) =>
      isImmediate(sub.plan, plan) === isNow &&
      !world.withdrawn.has(plan.product_id) &&
      !(withOffer && plan.committed),
  )
  return plans.length === 0 ? null : sub.person.random.pick(plans)
}

function changeNow(world: World, sub: Subscription, withOffer: boolean): void {
  const plan = otherPlan(world, sub, true, withOffer)
  if (plan === null || isTrial(sub) || isCommitted(sub)) return
  changeImmediately(world, sub, plan, withOffer ? promotionalOffer(plan) : null)
}

function changeLater(world: World, sub: Subscription, withOffer: boolean): void {
  const plan = otherPlan(world, sub, false, withOffer)
  if (plan === null || sub.next_plan !== sub.plan || isCommitted(sub)) return
  changeAtRenewal(world, sub, plan, withOffer)
}

function requestRefund(world: World, sub: Subscription, isOlder: boolean): void {
  const { random } = sub.person
  const sale = isOlder ? sub.sales.at(-random.whole(2, 4)) : sub.sales.at(-1)
  if (sale === undefined) return
  const purchase = purchaseOf(sub, sale)
  if (!isRefundable(world, purchase)) return
  if (!isOlder && sub.auto_renew && !isCommitted(sub) && random.chance(0.5)) disableRenewal(world, sub)
  world.start(refundScript(world, purchase, random.weighted(OUTCOMES).outcome))
}

/** The response to a consent request: most customers agree, some cancel, some never respond. */
function* priceIncreaseScript(world: World, sub: Subscription): Script {
  const { random } = sub.person
  yield world.now() + random.between(0.1, 20) * DAY_MS
  if (sub.increase === null || sub.increase.accepted || !canChange(world, sub)) return
  const roll = random.fraction()
  if (roll < 0.5 || sub.person.steady) acceptIncrease(world, sub)
  else if (roll < 0.85 && !isCommitted(sub)) disableRenewal(world, sub, true)
}

/** Requests a subscriber's consent to a higher price, or announces a higher price that needs no consent. */
export function raisePrice(
  world: World,
  sub: Subscription,
  price_milli: number,
  needsConsent: boolean,
): void {
  if (!canChange(world, sub) || !sub.auto_renew || sub.increase !== null || isCommitted(sub)) return
  if (sub.shared || sub.next_plan !== sub.plan || price_milli <= sub.price_milli) return
  increasePrice(world, sub, price_milli, needsConsent)
  if (needsConsent) world.start(priceIncreaseScript(world, sub))
}

function stopSharing(world: World, sub: Subscription): void {
  const member = sub.members[0]
  if (member !== undefined) revokeMember(world, sub, member)
}

const BEHAVIOURS: readonly Behaviour[] = [
  {
    chance: chanceToCancel,
    edgeCaseChance: 0.22,
    range: [0.01, 0.96],
    act: (world, sub) => {
      if (sub.auto_renew && !isCommitted(sub)) disableRenewal(world, sub)
    },
  },
  {
    chance: (sub) => (isTrial(sub) ? 0.05 : 0.14),
    edgeCaseChance: 0.35,
    range: [0.4, 0.99],
    act: (world, sub) => {
      if (!sub.auto_renew) enableRenewal(world, sub)
    },
  },
  {
    chance: monthly(0.012),
    edgeCaseChance: 0.12,
    range: [0.1, 0.9],
    act: (w, sub) => changeNow(w, sub, false),
  },
  {
    chance: monthly(0.008),
    edgeCaseChance: 0.03,
    range: [0.1, 0.9],
    act: (w, sub) => changeNow(w, sub, true),
  },
  {
    chance: monthly(0.012),
    edgeCaseChance: 0.14,
    range: [0.1, 0.7],
    act: (w, sub) => changeLater(w, sub, false),
  },
  {
    chance: monthly(0.003),
    edgeCaseChance: 0.04,
    range: [0.1, 0.7],
    act: (w, sub) => changeLater(w, sub, true),
  },
  {
    chance: () => 0.35,
    edgeCaseChance: 0.4,
    range: [0.7, 0.98],
    act: (world, sub) => {
      if (sub.next_plan !== sub.plan) cancelChange(world, sub)
    },
  },
  {
    chance: monthly(0.006),
    edgeCaseChance: 0.08,
    range: [0.1, 0.9],
    act: (world, sub) => {
      if (!isTrial(sub) && !sub.plan.committed && sub.offer_left === 0 && sub.next_plan === sub.plan)
        redeemOffer(world, sub, promotionalOffer(sub.plan))
    },
  },
  { chance: monthly(0.003), edgeCaseChance: 0.05, range: [0.05, 0.9], act: (w, sub) => extend(w, sub, 7) },
  {
    chance: monthly(0.016),
    edgeCaseChance: 0.14,
    range: [0.01, 0.6],
    act: (w, sub) => requestRefund(w, sub, false),
  },
  {
    chance: monthly(0.008),
    edgeCaseChance: 0.1,
    range: [0.01, 0.9],
    act: (w, sub) => requestRefund(w, sub, true),
  },
  {
    chance: (sub) => (sub.plan.family && !isTrial(sub) ? 0.6 : 0),
    edgeCaseChance: 0.5,
    range: [0.05, 0.5],
    act: (world, sub) => {
      if (!sub.plan.family || isTrial(sub) || sub.members.length > 1) return
      for (let remaining = sub.person.random.whole(1, 3); remaining > 0; remaining -= 1)
        shareWithMember(world, sub)
    },
  },
  { chance: () => 0.5, edgeCaseChance: 0.6, range: [0.5, 0.95], act: stopSharing },
  {
    chance: () => 0,
    edgeCaseChance: 0.06,
    range: [0.1, 0.6],
    act: (world, sub) =>
      raisePrice(world, sub, scaledPrice(sub.price_milli, 1.2, sub.currency), sub.person.random.chance(0.7)),
  },
  {
    chance: monthly(0.0015),
    edgeCaseChance: 0.03,
    range: [0.1, 0.9],
    act: (_world, sub) => {
      sub.person.storefront = sub.person.random.pick(STOREFRONTS)
    },
  },
]

/** Plans the actions of one period. `fraction` is the position of an action in the period. Sorted by time. */
export function planBehaviour(
  world: World,
  sub: Subscription,
): { fraction: number; act: Behaviour['act'] }[] {
  const { random, steady } = sub.person
  if (steady) return []
  const planned: { fraction: number; act: Behaviour['act'] }[] = []
  for (const { chance, edgeCaseChance, range, act } of BEHAVIOURS) {
    const probability = world.edgeCases ? Math.max(edgeCaseChance, Math.min(0.4, chance(sub))) : chance(sub)
    const fraction = range[0] + (range[1] - range[0]) * random.fraction() ** (isTrial(sub) ? 2 : 1)
    if (random.chance(probability)) planned.push({ fraction, act })
  }
  return planned.sort((a, b) => a.fraction - b.fraction)
}
