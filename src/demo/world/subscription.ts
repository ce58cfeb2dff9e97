/** One simulated subscription and its renewal info. */
import type { Environment } from '../../apple/payloads.ts'
import type { Segment } from './books.ts'
import type { Person } from './people.ts'
import { DAY_MS, endOf, HOUR_MS } from './periods.ts'
import type { App, Good, Offer, Plan } from './products.ts'
import { type Currency, type Storefront, scaledPrice } from './storefronts.ts'
import type { AdvancedCommerce, EnvironmentName, RenewalBody, TransactionBody } from './unsigned.ts'

/** A transaction of the store. The signed payload also has the signing date and the appTransactionId. */
export type Sale = Omit<TransactionBody, 'signedDate' | 'appTransactionId'>

/** The status of a subscription, Apple's numbers: active, expired, billing retry, grace, revoked. */
export const ACTIVE = 1
export const EXPIRED = 2
export const RETRY = 3
export const GRACE = 4
export const REVOKED = 5

export type Subscription = {
  app: App
  environment: Environment
  person: Person
  shared: boolean
  original_id: string
  original_purchased_at: number
  /** The original id before the subscription moved to the Advanced Commerce API; null if it did not move. */
  previous_original_id: string | null
  sales: Sale[]
  status: number
  plan: Plan
  next_plan: Plan
  storefront: Storefront
  currency: Currency
  /** The standard price of one billing period for this customer, in thousandths. */
  price_milli: number
  auto_renew: boolean
  intent: number | null
  retrying: boolean | null
  grace_until: number | null
  increase: { price_milli: number; accepted: boolean } | null
  /** The current offer, the number of its remaining transactions, and the offer redeemed for the next period. */
  offer: Offer | null
  offer_left: number
  next_offer: Offer | null
  recent_start: number
  instalment: { number: number; until: number } | null
  advanced: AdvancedCommerce | null
  members: Subscription[]
  /** The status and renewal info in the last notification about this subscription. */
  last_notified: { status: number; renewal: RenewalBody } | null
}

/** One transaction of a customer, with its subscription if it has one. */
export type Purchase = { person: Person; sale: Sale; period: string | null; sub: Subscription | null }

export function environmentName(environment: Environment): EnvironmentName {
  return environment === 'production' ? 'Production' : 'Sandbox'
}

/** The newest transaction of a subscription. */
export function currentSale(sub: Subscription): Sale {
  const newest = sub.sales.at(-1)
  if (newest === undefined) throw new Error(`subscription ${sub.original_id} has no transaction yet`)
  return newest
}

/** The end of the current period, in milliseconds since the epoch. */
export function periodEnd(sub: Subscription): number {
  return currentSale(sub).expiresDate ?? 0
}

/** A transaction of a subscription with its customer and period. The default is the newest transaction. */
export function purchaseOf(sub: Subscription, sale = currentSale(sub)): Purchase {
  const plan = sub.app.plans.find(({ product_id }) => product_id === sale.productId)
  const prepaidPeriod = sale.offerDiscountType === 'PAY_UP_FRONT' ? sale.offerPeriod : undefined
  return { person: sub.person, sale, period: prepaidPeriod ?? plan?.billed ?? null, sub }
}

export function segmentKind(offer: Offer | null): Segment['kind'] {
  if (offer === null) return 'paid'
  if (offer.type === 1) return offer.discount === 'FREE_TRIAL' ? 'trial' : 'intro'
  return offer.discount === 'FREE_TRIAL' ? 'free_offer' : 'offer'
}

/** The fields of an offer, which are the same in transactions and in renewal info. */
export function offerFields(offer: Offer | null) {
  if (offer === null) return {}
  return {
    offerType: offer.type,
    ...(offer.id !== null && { offerIdentifier: offer.id }),
    offerDiscountType: offer.discount,
    offerPeriod: offer.period,
  }
}

/** Prices in thousandths of the currency. */
type PriceList = { price: (plan: Plan, currency: Currency) => number }

/** The offer of the next period, and its price in thousandths. */
export function nextBilling(
  world: PriceList,
  sub: Subscription,
): { offer: Offer | null; price_milli: number } {
  const planChanges = sub.next_plan !== sub.plan
  const offer = sub.next_offer ?? (sub.offer_left > 0 && !planChanges ? sub.offer : null)
  const standard_milli = planChanges
    ? world.price(sub.next_plan, sub.currency)
    : (sub.increase?.price_milli ?? sub.price_milli)
  return {
    offer,
    price_milli:
      offer === null ? standard_milli : scaledPrice(standard_milli, offer.price_factor, sub.currency),
  }
}

/** The appTransactionId, if the store adds it to payloads that it signs for this customer at `at`. */
function appTransactionIdOf(person: Person, at: number) {
  return at >= person.app_transaction_id_since ? { appTransactionId: person.app_transaction_id } : {}
}

/** The payload of a transaction that is signed at `at`. */
export function transactionOf(sale: Sale, person: Person, at: number): TransactionBody {
  return { ...sale, signedDate: at, ...appTransactionIdOf(person, at) }
}

function commitmentOf(sub: Subscription, price_milli: number): Partial<RenewalBody> {
  if (sub.instalment === null) return {}
  return {
    renewalBillingPlanType: 'MONTHLY',
    commitmentInfo: {
      commitmentAutoRenewProductId: sub.next_plan.product_id,
      commitmentAutoRenewStatus: sub.auto_renew ? 1 : 0,
      commitmentRenewalBillingPlanType: 'MONTHLY',
      commitmentRenewalDate: sub.instalment.until,
      ...(sub.auto_renew && { commitmentRenewalPrice: price_milli * 12 }),
    },
  }
}

/** The fields of renewal info that are present only while they apply, such as the price of the next renewal. */
function conditionalFields(world: PriceList, sub: Subscription): Partial<RenewalBody> {
  const next = nextBilling(world, sub)
  return {
    ...(sub.retrying !== null && { isInBillingRetryPeriod: sub.retrying }),
    ...(sub.increase !== null && { priceIncreaseStatus: sub.increase.accepted ? 1 : 0 }),
    ...(sub.grace_until !== null && { gracePeriodExpiresDate: sub.grace_until }),
    ...(sub.auto_renew && {
      renewalPrice: next.price_milli,
      currency: sub.currency,
      ...offerFields(next.offer),
    }),
    ...(sub.status === EXPIRED && {
      eligibleWinBackOfferIds: [`come_back_${sub.plan.billed.toLowerCase()}`],
    }),
    ...commitmentOf(sub, next.price_milli),
  }
}

/** The renewal info that is signed at `at`. */
export function renewalOf(world: PriceList, sub: Subscription, at: number): RenewalBody {
  const { advanced, person } = sub
  return {
    ...(sub.intent !== null && { expirationIntent: sub.intent }),
    originalTransactionId: sub.original_id,
    autoRenewProductId: sub.next_plan.product_id,
    productId: sub.plan.product_id,
    autoRenewStatus: sub.auto_renew ? 1 : 0,
    ...conditionalFields(world, sub),
    signedDate: at,
    environment: environmentName(sub.environment),
    recentSubscriptionStartDate: sub.recent_start,
    renewalDate: periodEnd(sub),
    ...(person.account_token !== null && { appAccountToken: person.account_token }),
    ...appTransactionIdOf(person, at),
    ...(advanced !== null && {
      advancedCommerceInfo: { ...advanced, consistencyToken: `ct-${sub.original_id}` },
    }),
  }
}

/** The longest time (ms) before the end of a period at which the store can sign the next period. */
export function longestLeadMs(sub: Subscription): number {
  const { purchaseDate } = currentSale(sub)
  return Math.min(DAY_MS, (periodEnd(sub) - purchaseDate) / 8)
}

/** A one-time purchase, which has exactly one transaction. */
export type OwnedGood = Purchase & { good: Good }

/** The expiry date of a period that begins at `from`. */
export function expiryOf(sub: Subscription, from: number, offer: Offer | null): number {
  return endOf(from, offer?.cycle ?? sub.plan.billed, sub.environment)
}

/** The date of a purchase that is signed now: a few seconds ago, in whole seconds. */
export function purchaseDateBefore(world: { now: () => number }, person: Person): number {
  const ago_ms = person.random.whole(1_500, person.environment === 'sandbox' ? 4_000 : HOUR_MS / 300)
  return Math.floor((world.now() - ago_ms) / 1000) * 1000
}
