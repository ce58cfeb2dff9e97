/** What we compute: the turns a subscription may take within a period, and how likely each of them is. */
import { DAY, monthsIn } from '../world/periods.ts'
import { alternatives, atOnce, type Plan, promotionalOffer } from '../world/products.ts'
import { STOREFRONTS, shareOf } from '../world/storefronts.ts'
import { holding, type Subscription, segmentKind } from '../world/subscription.ts'
import type { Story, World } from '../world/world.ts'
import {
  acceptIncrease,
  cancelChange,
  changeAtOnce,
  changeAtRenewal,
  disableRenewal,
  enableRenewal,
  extend,
  increasePrice,
  mayChange,
  redeemOffer,
} from './changes.ts'
import { revokeMember, share } from './family.ts'
import { isRefundable, type Outcome, refundStory } from './refunds.ts'

/** `chance` is that of one period, `odd` the same where the rare happens all the time. `within`: part of the period. */
type Turn = {
  chance: (sub: Subscription) => number
  odd: number
  within: readonly [number, number]
  take: (world: World, sub: Subscription) => void
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
function isBound(sub: Subscription): boolean {
  return sub.instalment !== null && sub.instalment.number < 12
}

function chanceToCancel(sub: Subscription): number {
  if (isTrial(sub)) return 0.61
  if (segmentKind(sub.offer) === 'free_offer') return 0.4
  const young = sub.sales.length < 3 ? 1.4 : 1
  return sub.plan.churn * young
}

/** Another product of the group to go to, now or at the renewal; a commitment is not sold on an offer. */
function otherPlan(world: World, sub: Subscription, now: boolean, redeems: boolean): Plan | null {
  const plans = alternatives(sub.app, sub.plan).filter(
    (plan) =>
      atOnce(sub.plan, plan) === now && !world.withdrawn.has(plan.product_id) && !(redeems && plan.committed),
  )
  return plans.length === 0 ? null : sub.person.random.pick(plans)
}

function changeNow(world: World, sub: Subscription, redeems: boolean): void {
  const plan = otherPlan(world, sub, true, redeems)
  if (plan === null || isTrial(sub) || isBound(sub)) return
  changeAtOnce(world, sub, plan, redeems ? promotionalOffer(plan) : null)
}

function changeLater(world: World, sub: Subscription, redeems: boolean): void {
  const plan = otherPlan(world, sub, false, redeems)
  if (plan === null || sub.next_plan !== sub.plan || isBound(sub)) return
  changeAtRenewal(world, sub, plan, redeems)
}

function askForRefund(world: World, sub: Subscription, older: boolean): void {
  const { random } = sub.person
  const sale = older ? sub.sales.at(-random.whole(2, 4)) : sub.sales.at(-1)
  if (sale === undefined) return
  const bought = holding(sub, sale)
  if (!isRefundable(world, bought)) return
  if (!older && sub.auto_renew && !isBound(sub) && random.chance(0.5)) disableRenewal(world, sub)
  world.begin(refundStory(world, bought, random.weighted(OUTCOMES).outcome))
}

/** What a customer does who is asked for consent: most give it, some leave, some never answer. */
function* answerIncrease(world: World, sub: Subscription): Story {
  const { random } = sub.person
  yield world.now() + random.between(0.1, 20) * DAY
  if (sub.increase === null || sub.increase.accepted || !mayChange(world, sub)) return
  const answer = random.fraction()
  if (answer < 0.5 || sub.person.steady) acceptIncrease(world, sub)
  else if (answer < 0.85 && !isBound(sub)) disableRenewal(world, sub, true)
}

/** Asks one subscriber for a higher price, or tells of one that needs no consent. */
export function raisePrice(world: World, sub: Subscription, price_milli: number, asks: boolean): void {
  if (!mayChange(world, sub) || !sub.auto_renew || sub.increase !== null || isBound(sub)) return
  if (sub.shared || sub.next_plan !== sub.plan || price_milli <= sub.price_milli) return
  increasePrice(world, sub, price_milli, asks)
  if (asks) world.begin(answerIncrease(world, sub))
}

function stopSharing(world: World, sub: Subscription): void {
  const member = sub.members[0]
  if (member !== undefined) revokeMember(world, sub, member)
}

const TURNS: readonly Turn[] = [
  {
    chance: chanceToCancel,
    odd: 0.22,
    within: [0.01, 0.96],
    take: (world, sub) => {
      if (sub.auto_renew && !isBound(sub)) disableRenewal(world, sub)
    },
  },
  {
    chance: (sub) => (isTrial(sub) ? 0.05 : 0.14),
    odd: 0.35,
    within: [0.4, 0.99],
    take: (world, sub) => {
      if (!sub.auto_renew) enableRenewal(world, sub)
    },
  },
  { chance: monthly(0.012), odd: 0.12, within: [0.1, 0.9], take: (w, sub) => changeNow(w, sub, false) },
  { chance: monthly(0.008), odd: 0.03, within: [0.1, 0.9], take: (w, sub) => changeNow(w, sub, true) },
  { chance: monthly(0.012), odd: 0.14, within: [0.1, 0.7], take: (w, sub) => changeLater(w, sub, false) },
  { chance: monthly(0.003), odd: 0.04, within: [0.1, 0.7], take: (w, sub) => changeLater(w, sub, true) },
  {
    chance: () => 0.35,
    odd: 0.4,
    within: [0.7, 0.98],
    take: (world, sub) => {
      if (sub.next_plan !== sub.plan) cancelChange(world, sub)
    },
  },
  {
    chance: monthly(0.006),
    odd: 0.08,
    within: [0.1, 0.9],
    take: (world, sub) => {
      if (!isTrial(sub) && !sub.plan.committed && sub.offer_left === 0 && sub.next_plan === sub.plan)
        redeemOffer(world, sub, promotionalOffer(sub.plan))
    },
  },
  { chance: monthly(0.003), odd: 0.05, within: [0.05, 0.9], take: (w, sub) => extend(w, sub, 7) },
  { chance: monthly(0.016), odd: 0.14, within: [0.01, 0.6], take: (w, sub) => askForRefund(w, sub, false) },
  { chance: monthly(0.008), odd: 0.1, within: [0.01, 0.9], take: (w, sub) => askForRefund(w, sub, true) },
  {
    chance: (sub) => (sub.plan.family && !isTrial(sub) ? 0.6 : 0),
    odd: 0.5,
    within: [0.05, 0.5],
    take: (world, sub) => {
      if (!sub.plan.family || isTrial(sub) || sub.members.length > 1) return
      for (let guests = sub.person.random.whole(1, 3); guests > 0; guests -= 1) share(world, sub)
    },
  },
  { chance: () => 0.5, odd: 0.6, within: [0.5, 0.95], take: stopSharing },
  {
    chance: () => 0,
    odd: 0.06,
    within: [0.1, 0.6],
    take: (world, sub) =>
      raisePrice(world, sub, shareOf(sub.price_milli, 1.2, sub.currency), sub.person.random.chance(0.7)),
  },
  {
    chance: monthly(0.0015),
    odd: 0.03,
    within: [0.1, 0.9],
    take: (_world, sub) => {
      sub.person.storefront = sub.person.random.pick(STOREFRONTS)
    },
  },
]

/** The turns of one period, each as a part of it between 0 and 1, in order. */
export function planTurns(world: World, sub: Subscription): { part: number; take: Turn['take'] }[] {
  const { random, steady } = sub.person
  if (steady) return []
  const planned: { part: number; take: Turn['take'] }[] = []
  for (const { chance, odd, within, take } of TURNS) {
    const probability = world.odd ? Math.max(odd, Math.min(0.4, chance(sub))) : chance(sub)
    const part = within[0] + (within[1] - within[0]) * random.fraction() ** (isTrial(sub) ? 2 : 1)
    if (random.chance(probability)) planned.push({ part, take })
  }
  return planned.sort((a, b) => a.part - b.part)
}
