/** The products of an app, their offers, and the upgrades between them. */
import type { Period } from './periods.ts'
import type { Tier } from './storefronts.ts'

/**
 * A subscription offer. `type` is Apple's number: 1 introductory, 2 promotional, 3 offer code, 4 win-back. `period` is
 * the length of the whole offer, `cycle` the length that one transaction buys, and `cycles` the number of transactions.
 * One transaction costs the standard price of one billing period times `price_factor`.
 */
export type Offer = {
  type: 1 | 2 | 3 | 4
  id: string | null
  discount: 'FREE_TRIAL' | 'PAY_AS_YOU_GO' | 'PAY_UP_FRONT'
  period: Period
  cycle: Period
  cycles: number
  price_factor: number
}

/**
 * An auto-renewable subscription. Level 1 is the highest of the group. `billed` is the billing period, which differs
 * from `period` only under a commitment.
 */
export type Plan = {
  product_id: string
  apple_id: string
  name: string
  group: string
  level: number
  period: Period
  billed: Period
  committed: boolean
  family: boolean
  tier: Tier
  /** The probability that a subscriber at the standard price cancels within a period. */
  churn: number
  introductory: Offer | null
  /** The percentage of new subscribers who choose it; 0 if it is not offered. */
  weight: number
}

export type Good = {
  product_id: string
  apple_id: string
  name: string
  type: 'Consumable' | 'Non-Consumable' | 'Non-Renewing Subscription'
  tier: Tier
  family: boolean
  max_quantity: number
  weight: number
}

export type App = {
  name: string
  bundle_id: string
  apple_id: number
  sku: string
  team_id: string
  android_package: string | null
  version: string
  /** The billing grace period in days; null if the app has none. */
  grace_days: number | null
  /** The app's appAccountToken: one for each user, the same for all users (a common mistake), or none. */
  account_tokens: 'per_user' | 'hard_coded' | 'none'
  weight: number
  plans: readonly Plan[]
  goods: readonly Good[]
}

/** Whether a change is immediate: to a higher level, or to the same level and duration. Others wait for the renewal. */
export function isImmediate(from: Plan, to: Plan): boolean {
  return to.level < from.level || (to.level === from.level && to.period === from.period)
}

/** The offered plans of the same group, except `plan`. */
export function alternatives(app: App, plan: Plan): Plan[] {
  return app.plans.filter((other) => other.group === plan.group && other !== plan && other.weight > 0)
}

const RETENTION_OFFER: Partial<Record<Period, { period: Period; cycles: number }>> = {
  P1W: { period: 'P2W', cycles: 2 },
  P1M: { period: 'P3M', cycles: 3 },
  P3M: { period: 'P6M', cycles: 2 },
  P1Y: { period: 'P1Y', cycles: 1 },
}

/** A promotional offer: half the price for a few periods, each paid when it begins. */
export function promotionalOffer(plan: Plan): Offer {
  const { period, cycles } = RETENTION_OFFER[plan.billed] ?? { period: 'P3M', cycles: 3 }
  const id = `stay_half_off_${plan.billed.toLowerCase()}`
  return { type: 2, id, discount: 'PAY_AS_YOU_GO', period, cycle: plan.billed, cycles, price_factor: 0.5 }
}

/** An offer code: one free month. */
export function offerCode(): Offer {
  return {
    type: 3,
    id: 'PODCAST_MONTH',
    discount: 'FREE_TRIAL',
    period: 'P1M',
    cycle: 'P1M',
    cycles: 1,
    price_factor: 0,
  }
}

const WIN_BACK: Partial<Record<Period, { period: Period; price_factor: number }>> = {
  P1W: { period: 'P1M', price_factor: 3 },
  P1M: { period: 'P2M', price_factor: 1 },
  P3M: { period: 'P6M', price_factor: 1 },
  P1Y: { period: 'P1Y', price_factor: 0.5 },
}

/** A win-back offer: a longer first period, paid up front. */
export function winBackOffer(plan: Plan): Offer {
  const { period, price_factor } = WIN_BACK[plan.billed] ?? { period: 'P2M', price_factor: 1 }
  const id = `come_back_${plan.billed.toLowerCase()}`
  return { type: 4, id, discount: 'PAY_UP_FRONT', period, cycle: period, cycles: 1, price_factor }
}
