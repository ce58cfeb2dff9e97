/** A deterministic business: five apps and all their subscribers in three years. */
import { openRandom, type Random } from '../../../src/demo/world/random.ts'

/** Where the history ends; whoever reads it lives from then on. */
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
const WEIGHTS: readonly (readonly number[])[] = [
  [30, 40, 12, 18],
  [25, 45, 15, 15],
  [35, 40, 10, 15],
  [30, 35, 20, 15],
  [30, 40, 15, 15],
]
/** Of each app, the share of all who subscribe. */
const APPS = [40, 25, 15, 12, 8]

type Storefront = { storefront: string; currency: string; factor: number; weight: number }
const front = (storefront: string, currency: string, factor: number, weight: number): Storefront => ({
  storefront,
  currency,
  factor,
  weight,
})
const STOREFRONTS: readonly Storefront[] = [
  front('USA', 'USD', 1, 40),
  front('DEU', 'EUR', 1, 9),
  front('FRA', 'EUR', 1, 5),
  front('ITA', 'EUR', 1, 3),
  front('ESP', 'EUR', 1, 3),
  front('NLD', 'EUR', 1, 2),
  front('AUT', 'EUR', 1, 1),
  front('IRL', 'EUR', 1, 1),
  front('BEL', 'EUR', 1, 1),
  front('GBR', 'GBP', 0.9, 8),
  front('CAN', 'CAD', 1.4, 5),
  front('AUS', 'AUD', 1.5, 4),
  front('JPN', 'JPY', 150, 6),
  front('KOR', 'KRW', 1_300, 2),
  front('BRA', 'BRL', 5, 3),
  front('MEX', 'MXN', 19, 2),
  front('CHE', 'CHF', 1, 1),
  front('SWE', 'SEK', 11, 1),
  front('POL', 'PLN', 4, 1),
  front('IND', 'INR', 90, 2),
]
/** What one US dollar costs on a day that nobody remembers. */
export const PER_USD: Readonly<Record<string, number>> = {
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

/** One period that was paid for, or given. Amounts in thousandths. */
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
/** `renews`: what the last renewal info says; `intent` as Apple has it. */
export type Subscription = {
  app: number
  storefront: string
  currency: string
  sales: Sale[]
  renews: { signed_at: number; auto_renew_status: number; intent: number | null }
}

export const APP_COUNT = APPS.length
/** The products of each app, with the period of each. */
export const PRODUCTS = PLANS.map(({ product_id, period }) => ({ product_id, period }))

/** How large the business is: what ends first ends it. */
export type BusinessSize = { transactions?: number; subscriptions?: number }

/** The first transaction has this number, and each after it the next. */
const FIRST_NUMBER = 400_000_000_000_000

/** Subscriptions, one after another, each with the number of its first transaction. */
export function* subscriptionsOf(
  size: BusinessSize,
): Generator<{ subscription: Subscription; number: number }> {
  const { transactions = Number.POSITIVE_INFINITY, subscriptions = Number.POSITIVE_INFINITY } = size
  const random = openRandom('five apps')
  const apps = APPS.map((weight, app) => ({ app, weight }))
  const plans = WEIGHTS.map((weights) => PLANS.map((plan, at) => ({ ...plan, weight: weights[at] ?? 0 })))
  for (let [made, begun] = [0, 0]; made < transactions && begun < subscriptions; begun += 1) {
    const { app } = random.weighted(apps)
    const subscription = lifeOf(random, app, random.weighted(plans[app] ?? []))
    yield { subscription, number: FIRST_NUMBER + made }
    made += subscription.sales.length
  }
}

const LONG_NUMBER = 300_000_000_000_000

/** One subscription of the first app that was renewed very often, as a tester's is, up to some months ago. */
export function longSubscription(renewals: number): { subscription: Subscription; number: number } {
  const [plan] = PLANS
  if (!plan) throw new Error('there is no plan')
  const { storefront, currency, factor } = STOREFRONTS[0] ?? front('USA', 'USD', 1, 1)
  const hours = 8
  const cart = openCart(factor, BUSINESS_UNTIL - 90 * DAY - renewals * hours * HOUR)
  for (let sold = 0; sold <= renewals; sold += 1) cart.sell(plan, hours / 24, false)
  const signed_at = cart.now()
  const renews = { signed_at, auto_renew_status: 0, intent: 1 }
  return { subscription: { app: 0, storefront, currency, sales: cart.sales, renews }, number: LONG_NUMBER }
}

/** What somebody buys, one thing after another. */
function openCart(factor: number, begins_at: number) {
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
  function waitUntil(later: number): void {
    at = later
  }
  return { sales, sell, waitUntil, now: () => at }
}

function lifeOf(random: Random, app: number, plan: Plan): Subscription {
  const { storefront, currency, factor } = random.weighted(STOREFRONTS)
  // More of them the later it is.
  const share = Math.sqrt(random.fraction())
  const cart = openCart(factor, Math.floor(BUSINESS_FROM + share * (BUSINESS_UNTIL - BUSINESS_FROM - HOUR)))
  let [own, isGone] = [plan, false]
  if (random.chance(0.3)) {
    cart.sell(own, 7, true)
    isGone = random.chance(0.45)
  }
  while (!isGone && cart.now() < BUSINESS_UNTIL) {
    const sale = cart.sell(own, own.days, false)
    if (random.chance(0.003)) {
      sale.revoked_at = within(random, sale)
      isGone = true
    } else if (own.product_id === 'pro.monthly' && random.chance(0.01)) {
      sale.is_upgraded = true
      cart.waitUntil(within(random, sale))
      own = PLANS[2] ?? own
    } else if (random.chance(own.churn)) {
      isGone = !random.chance(0.08)
      // Some come back a little later.
      if (!isGone) cart.waitUntil(cart.now() + Math.floor(random.between(5, 90) * DAY))
    }
  }
  const { sales } = cart
  return { app, storefront, currency, sales, renews: renewsOf(random, sales, isGone) }
}

/** Within its own time and before the end of all. */
const within = (random: Random, { purchased_at, expires_at }: Sale): number =>
  Math.floor(purchased_at + random.fraction() * (Math.min(expires_at, BUSINESS_UNTIL) - purchased_at))

function renewsOf(random: Random, sales: readonly Sale[], isGone: boolean): Subscription['renews'] {
  const { purchased_at = 0, expires_at = 0 } = sales.at(-1) ?? {}
  const signed_at = Math.min(expires_at, BUSINESS_UNTIL)
  if (!isGone) return { signed_at: purchased_at, auto_renew_status: 1, intent: null }
  const isBilling = random.chance(0.25)
  if (expires_at > BUSINESS_UNTIL) return { signed_at, auto_renew_status: 0, intent: null }
  return { signed_at, auto_renew_status: isBilling ? 1 : 0, intent: isBilling ? 2 : 1 }
}
