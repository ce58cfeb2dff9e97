/** The events that can happen to a subscription within a period, and their probabilities. */
import { DAY, monthsIn } from '../world/periods.ts'
import { alternatives, isImmediate, type Plan, promotionalOffer } from '../world/products.ts'
import { STOREFRONTS, shareOf } from '../world/storefronts.ts'
import { purchaseOf, type Subscription, segmentKind } from '../world/subscription.ts'
import type { Script, World } from '../world/world.ts'
import {
  acceptIncrease,
  cancelChange,
  changeAtRenewal,
  changeImmediately,
  disableRenewal,
  enableRenewal,
  extend,
  increasePrice,
  mayChange,
  redeemOffer,
} from './changes.ts'
import { revokeMember, share } from './family.ts'
import { isRefundable, type Outcome, refundScript } from './refunds.ts'

/** `chance` is that of one period, `odd` the same where the rare happens all the time. `within`: part of the period. */
type Behaviour = {
  chance: (sub: Subscription) => number
  edgeCaseChance: number
  within: readonly [number, number]
  act: (world: World, sub: Subscription) => void
}

const OUTCOMES: readonly { outcome: Outcome; weight: number }[] = [
  { outcome: 'whole', weight: 48 },
  { outcome: 'in_part', weight: 14 },
  { outcome: 'declined', weight: 22 },
  { outcome: 'reversed', weight: 16 },
]

/** A chance that grows with the length of the period. */
const monthly = (chance: number) => (sub: Subscription) => Math.min(0.5, chance * monthsIn(sub.plan.billed))

function isTrial(sub: Subscription): boolean {
  return segmentKind(sub.offer) === 'trial'
}

/** Under a commitment nothing can be changed before its last instalment. */
function isCommitted(sub: Subscription): boolean {
  return sub.instalment !== null && sub.instalment.number < 12
}

function chanceToCancel(sub: Subscription): number {
  if (isTrial(sub)) return 0.61
  if (segmentKind(sub.offer) === 'free_offer') return 0.4
  const earlyFactor = sub.sales.length < 3 ? 1.4 : 1
  return sub.plan.churn * earlyFactor
}

/** Another product of the group to go to, now or at the renewal; a commitment is not sold on an offer. */
function otherPlan(world: World, sub: Subscription, now: boolean, withOffer: boolean): Plan | null {
  const plans = alternatives(sub.app, sub.plan).filter(
    (plan) =>
      isImmediate(sub.plan, plan) === now &&
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
  const bought = purchaseOf(sub, sale)
  if (!isRefundable(world, bought)) return
  if (!isOlder && sub.auto_renew && !isCommitted(sub) && random.chance(0.5)) disableRenewal(world, sub)
  world.start(refundScript(world, bought, random.weighted(OUTCOMES).outcome))
}

/** The response to a consent request: most customers agree, some cancel, some never respond. */
function* priceIncreaseScript(world: World, sub: Subscription): Script {
  const { random } = sub.person
  yield world.now() + random.between(0.1, 20) * DAY
  if (sub.increase === null || sub.increase.accepted || !mayChange(world, sub)) return
  const answer = random.fraction()
  if (answer < 0.5 || sub.person.steady) acceptIncrease(world, sub)
  else if (answer < 0.85 && !isCommitted(sub)) disableRenewal(world, sub, true)
}

/** Asks a subscriber to consent to a higher price, or announces one that needs no consent. */
export function raisePrice(
  world: World,
  sub: Subscription,
  price_milli: number,
  needsConsent: boolean,
): void {
  if (!mayChange(world, sub) || !sub.auto_renew || sub.increase !== null || isCommitted(sub)) return
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
    within: [0.01, 0.96],
    act: (world, sub) => {
      if (sub.auto_renew && !isCommitted(sub)) disableRenewal(world, sub)
    },
  },
  {
    chance: (sub) => (isTrial(sub) ? 0.05 : 0.14),
    edgeCaseChance: 0.35,
    within: [0.4, 0.99],
    act: (world, sub) => {
      if (!sub.auto_renew) enableRenewal(world, sub)
    },
  },
  {
    chance: monthly(0.012),
    edgeCaseChance: 0.12,
    within: [0.1, 0.9],
    act: (w, sub) => changeNow(w, sub, false),
  },
  {
    chance: monthly(0.008),
    edgeCaseChance: 0.03,
    within: [0.1, 0.9],
    act: (w, sub) => changeNow(w, sub, true),
  },
  {
    chance: monthly(0.012),
    edgeCaseChance: 0.14,
    within: [0.1, 0.7],
    act: (w, sub) => changeLater(w, sub, false),
  },
  {
    chance: monthly(0.003),
    edgeCaseChance: 0.04,
    within: [0.1, 0.7],
    act: (w, sub) => changeLater(w, sub, true),
  },
  {
    chance: () => 0.35,
    edgeCaseChance: 0.4,
    within: [0.7, 0.98],
    act: (world, sub) => {
      if (sub.next_plan !== sub.plan) cancelChange(world, sub)
    },
  },
  {
    chance: monthly(0.006),
    edgeCaseChance: 0.08,
    within: [0.1, 0.9],
    act: (world, sub) => {
      if (!isTrial(sub) && !sub.plan.committed && sub.offer_left === 0 && sub.next_plan === sub.plan)
        redeemOffer(world, sub, promotionalOffer(sub.plan))
    },
  },
  { chance: monthly(0.003), edgeCaseChance: 0.05, within: [0.05, 0.9], act: (w, sub) => extend(w, sub, 7) },
  {
    chance: monthly(0.016),
    edgeCaseChance: 0.14,
    within: [0.01, 0.6],
    act: (w, sub) => requestRefund(w, sub, false),
  },
  {
    chance: monthly(0.008),
    edgeCaseChance: 0.1,
    within: [0.01, 0.9],
    act: (w, sub) => requestRefund(w, sub, true),
  },
  {
    chance: (sub) => (sub.plan.family && !isTrial(sub) ? 0.6 : 0),
    edgeCaseChance: 0.5,
    within: [0.05, 0.5],
    act: (world, sub) => {
      if (!sub.plan.family || isTrial(sub) || sub.members.length > 1) return
      for (let guests = sub.person.random.whole(1, 3); guests > 0; guests -= 1) share(world, sub)
    },
  },
  { chance: () => 0.5, edgeCaseChance: 0.6, within: [0.5, 0.95], act: stopSharing },
  {
    chance: () => 0,
    edgeCaseChance: 0.06,
    within: [0.1, 0.6],
    act: (world, sub) =>
      raisePrice(world, sub, shareOf(sub.price_milli, 1.2, sub.currency), sub.person.random.chance(0.7)),
  },
  {
    chance: monthly(0.0015),
    edgeCaseChance: 0.03,
    within: [0.1, 0.9],
    act: (_world, sub) => {
      sub.person.storefront = sub.person.random.pick(STOREFRONTS)
    },
  },
]

/** The turns of one period, each as a part of it between 0 and 1, in order. */
export function planBehaviour(world: World, sub: Subscription): { part: number; act: Behaviour['act'] }[] {
  const { random, steady } = sub.person
  if (steady) return []
  const planned: { part: number; act: Behaviour['act'] }[] = []
  for (const { chance, edgeCaseChance, within, act } of BEHAVIOURS) {
    const probability = world.edgeCases ? Math.max(edgeCaseChance, Math.min(0.4, chance(sub))) : chance(sub)
    const part = within[0] + (within[1] - within[0]) * random.fraction() ** (isTrial(sub) ? 2 : 1)
    if (random.chance(probability)) planned.push({ part, act })
  }
  return planned.sort((a, b) => a.part - b.part)
}
