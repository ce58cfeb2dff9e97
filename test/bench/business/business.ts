/** A deterministic business: five apps and their subscriptions over three years. */
import { openRandom, type Random } from '../../../src/demo/world/random.ts'

/** The end of the history. The clock of a server on this data starts here. */
export const BUSINESS_UNTIL = Date.UTC(2026, 8, 1, 6)
const DAY = 86_400_000
const HOUR = 3_600_000
export const BUSINESS_FROM = BUSINESS_UNTIL - 3 * 365 * DAY

type Plan = { product_id: string; days: number; period: string; price_milli: number; churn: number }

const PLANS: readonly Plan[] = [
  { product_id: 'pro.weekly', days: 7, period: 'P1W', price_milli: 2_990, churn: 0.045 },
  { product_id: 'pro.monthly', days: 30, period: 'P1M', price_milli: 9_990, churn: 0.055 },
  { product_id: 'max.monthly', days: 30, period: 'P1M', price_milli: 14_990, churn: 0.05 },
  { product_id: 'pro.yearly', days: 365, period: 'P1Y', price_milli: 59_990, churn: 0.3 },
]
const PLAN_WEIGHTS: readonly (readonly number[])[] = [
  [30, 40, 12, 18],
  [25, 45, 15, 15],
  [35, 40, 10, 15],
  [30, 35, 20, 15],
  [30, 40, 15, 15],
]
/** For each app, its percentage of all subscriptions. */
const APP_WEIGHTS = [40, 25, 15, 12, 8]

type Storefront = { storefront: string; currency: string; factor: number; weight: number }
const storefrontOf = (storefront: string, currency: string, factor: number, weight: number): Storefront => ({
  storefront,
  currency,
  factor,
  weight,
})
const STOREFRONTS: readonly Storefront[] = [
  storefrontOf('USA', 'USD', 1, 40),
  storefrontOf('DEU', 'EUR', 1, 9),
  storefrontOf('FRA', 'EUR', 1, 5),
  storefrontOf('ITA', 'EUR', 1, 3),
  storefrontOf('ESP', 'EUR', 1, 3),
  storefrontOf('NLD', 'EUR', 1, 2),
  storefrontOf('AUT', 'EUR', 1, 1),
  storefrontOf('IRL', 'EUR', 1, 1),
  storefrontOf('BEL', 'EUR', 1, 1),
  storefrontOf('GBR', 'GBP', 0.9, 8),
  storefrontOf('CAN', 'CAD', 1.4, 5),
  storefrontOf('AUS', 'AUD', 1.5, 4),
  storefrontOf('JPN', 'JPY', 150, 6),
  storefrontOf('KOR', 'KRW', 1_300, 2),
  storefrontOf('BRA', 'BRL', 5, 3),
  storefrontOf('MEX', 'MXN', 19, 2),
  storefrontOf('CHE', 'CHF', 1, 1),
  storefrontOf('SWE', 'SEK', 11, 1),
  storefrontOf('POL', 'PLN', 4, 1),
  storefrontOf('IND', 'INR', 90, 2),
]
/** The average price of one US dollar in each currency; the daily rates vary around it. */
export const UNITS_PER_USD: Readonly<Record<string, number>> = {
  EUR: 0.92,
  GBP: 0.79,
  CAD: 1.36,
  AUD: 1.52,
  JPY: 148,
  KRW: 1_330,
  BRL: 5.1,
  MXN: 18.4,
  CHF: 0.88,
  SEK: 10.4,
  PLN: 3.95,
  INR: 83,
}

/** One paid or free period. Amounts are in thousandths of the currency. */
export type Sale = {
  product_id: string
  period: string
  purchased_at: number
  expires_at: number
  price_milli: number
  is_trial: boolean
  is_first: boolean
  is_upgraded: boolean
  revoked_at: number | null
}
/** `renewal_state` is the newest renewal info; `intent` is Apple's expirationIntent. */
export type Subscription = {
  app: number
  storefront: string
  currency: string
  sales: Sale[]
  renewal_state: { signed_at: number; auto_renew_status: number; intent: number | null }
}

export const APP_COUNT = APP_WEIGHTS.length
/** The products of each app with their periods. */
export const PRODUCTS = PLANS.map(({ product_id, period }) => ({ product_id, period }))

/** The size of the business: generation stops at the first of these limits. */
export type BusinessSize = { transactions?: number; subscriptions?: number }

/** The id of the first transaction. Ids are consecutive. */
const FIRST_NUMBER = 400_000_000_000_000

/** Generates subscriptions, each with the id of its first transaction as `number`. */
export function* subscriptionsOf(
  size: BusinessSize,
): Generator<{ subscription: Subscription; number: number }> {
  const { transactions = Number.POSITIVE_INFINITY, subscriptions = Number.POSITIVE_INFINITY } = size
  const random = openRandom('five apps')
  const apps = APP_WEIGHTS.map((weight, app) => ({ app, weight }))
  const plans = PLAN_WEIGHTS.map((weights) =>
    PLANS.map((plan, at) => ({ ...plan, weight: weights[at] ?? 0 })),
  )
  for (
    let [transaction_count, subscription_count] = [0, 0];
    transaction_count < transactions && subscription_count < subscriptions;
    subscription_count += 1
  ) {
    const { app } = random.weighted(apps)
    const subscription = simulateSubscription(random, app, random.weighted(plans[app] ?? []))
    yield { subscription, number: FIRST_NUMBER + transaction_count }
    transaction_count += subscription.sales.length
  }
}

const LONG_NUMBER = 300_000_000_000_000

/** One subscription of the first app with many short periods, like that of a tester. It ended 90 days ago. */
export function longSubscription(renewals: number): { subscription: Subscription; number: number } {
  const [plan] = PLANS
  if (!plan) throw new Error('the first plan is missing')
  const { storefront, currency, factor } = STOREFRONTS[0] ?? storefrontOf('USA', 'USD', 1, 1)
  const hours = 8
  const timeline = openTimeline(factor, BUSINESS_UNTIL - 90 * DAY - renewals * hours * HOUR)
  for (let sold = 0; sold <= renewals; sold += 1) timeline.sell(plan, hours / 24, false)
  const signed_at = timeline.now()
  const renewal_state = { signed_at, auto_renew_status: 0, intent: 1 }
  return {
    subscription: { app: 0, storefront, currency, sales: timeline.sales, renewal_state },
    number: LONG_NUMBER,
  }
}

/** Collects the consecutive sales of one subscription. */
function openTimeline(factor: number, begins_at: number) {
  const sales: Sale[] = []
  let at = begins_at
  function sell({ product_id, period, price_milli }: Plan, days: number, is_trial: boolean): Sale {
    const sale: Sale = {
      product_id,
      period,
      purchased_at: at,
      expires_at: at + days * DAY,
      price_milli: is_trial ? 0 : Math.round(price_milli * factor),
      is_trial,
      is_first: sales.length === 0,
      is_upgraded: false,
      revoked_at: null,
    }
    sales.push(sale)
    at = sale.expires_at
    return sale
  }
  function skipTo(later: number): void {
    at = later
  }
  return { sales, sell, skipTo, now: () => at }
}

function simulateSubscription(random: Random, app: number, plan: Plan): Subscription {
  const { storefront, currency, factor } = random.weighted(STOREFRONTS)
  // The square root makes later starts more frequent.
  const share = Math.sqrt(random.fraction())
  const timeline = openTimeline(
    factor,
    Math.floor(BUSINESS_FROM + share * (BUSINESS_UNTIL - BUSINESS_FROM - HOUR)),
  )
  let [current, isGone] = [plan, false]
  if (random.chance(0.3)) {
    timeline.sell(current, 7, true)
    isGone = random.chance(0.45)
  }
  while (!isGone && timeline.now() < BUSINESS_UNTIL) {
    const sale = timeline.sell(current, current.days, false)
    if (random.chance(0.003)) {
      sale.revoked_at = instantWithin(random, sale)
      isGone = true
    } else if (current.product_id === 'pro.monthly' && random.chance(0.01)) {
      sale.is_upgraded = true
      timeline.skipTo(instantWithin(random, sale))
      current = PLANS[2] ?? current
    } else if (random.chance(current.churn)) {
      isGone = !random.chance(0.08)
      // Some subscribers return after a gap.
      if (!isGone) timeline.skipTo(timeline.now() + Math.floor(random.between(5, 90) * DAY))
    }
  }
  const { sales } = timeline
  return { app, storefront, currency, sales, renewal_state: renewalStateOf(random, sales, isGone) }
}

/** A random instant within the period of the sale and before the end of the history. */
const instantWithin = (random: Random, { purchased_at, expires_at }: Sale): number =>
  Math.floor(purchased_at + random.fraction() * (Math.min(expires_at, BUSINESS_UNTIL) - purchased_at))

function renewalStateOf(
  random: Random,
  sales: readonly Sale[],
  isGone: boolean,
): Subscription['renewal_state'] {
  const { purchased_at = 0, expires_at = 0 } = sales.at(-1) ?? {}
  const signed_at = Math.min(expires_at, BUSINESS_UNTIL)
  if (!isGone) return { signed_at: purchased_at, auto_renew_status: 1, intent: null }
  const isBilling = random.chance(0.25)
  if (expires_at > BUSINESS_UNTIL) return { signed_at, auto_renew_status: 0, intent: null }
  return { signed_at, auto_renew_status: isBilling ? 1 : 0, intent: isBilling ? 2 : 1 }
}
