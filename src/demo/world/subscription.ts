/** One simulated subscription and its renewal info. */
import type { Environment } from '../../apple/payloads.ts'
import type { Segment } from './books.ts'
import type { Person } from './people.ts'
import { DAY, endOf, HOUR } from './periods.ts'
import type { App, Good, Offer, Plan } from './products.ts'
import { type Currency, type Storefront, shareOf } from './storefronts.ts'
import type { AdvancedCommerce, EnvironmentName, RenewalBody, TransactionBody } from './unsigned.ts'

/** A transaction of the store. The signed text adds the signing date. */
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
  /** Of the lineage that this one was before it moved to the Advanced Commerce API. */
  previous_original_id: string | null
  sales: Sale[]
  status: number
  plan: Plan
  next_plan: Plan
  storefront: Storefront
  currency: Currency
  /** The standard price of one billing, for this customer. */
  price_milli: number
  auto_renew: boolean
  intent: number | null
  retrying: boolean | null
  grace_until: number | null
  increase: { price_milli: number; accepted: boolean } | null
  /** The offer that runs, how many of its transactions are still to come, and the one redeemed for the next period. */
  offer: Offer | null
  offer_left: number
  next_offer: Offer | null
  recent_start: number
  instalment: { number: number; until: number } | null
  advanced: AdvancedCommerce | null
  members: Subscription[]
  /** What the last notification about it said. */
  last_notified: { status: number; renewal: RenewalBody } | null
}

/** One transaction of a customer, with its subscription if it has one. */
export type Purchase = { person: Person; sale: Sale; period: string | null; sub: Subscription | null }

export function environmentName(environment: Environment): EnvironmentName {
  return environment === 'production' ? 'Production' : 'Sandbox'
}

/** The transaction that was made last. */
export function currentSale(sub: Subscription): Sale {
  const last = sub.sales.at(-1)
  if (last === undefined) throw new Error(`subscription ${sub.original_id} has no transaction yet`)
  return last
}

/** When what was paid for last runs out, in milliseconds since the epoch. */
export function periodEnd(sub: Subscription): number {
  return currentSale(sub).expiresDate ?? 0
}

/** A transaction of the subscription, the last one unless another is named, in its holder's hands. */
export function purchaseOf(sub: Subscription, sale = currentSale(sub)): Purchase {
  const plan = sub.app.plans.find(({ product_id }) => product_id === sale.productId)
  const ahead = sale.offerDiscountType === 'PAY_UP_FRONT' ? sale.offerPeriod : undefined
  return { person: sub.person, sale, period: ahead ?? plan?.billed ?? null, sub }
}

export function segmentKind(offer: Offer | null): Segment['kind'] {
  if (offer === null) return 'paid'
  if (offer.type === 1) return offer.discount === 'FREE_TRIAL' ? 'trial' : 'intro'
  return offer.discount === 'FREE_TRIAL' ? 'free_offer' : 'offer'
}

/** The offer's fields, in a transaction and in a renewal info alike. */
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

/** On what the next period will be, and what it will cost in thousandths. */
export function nextBilling(
  world: PriceList,
  sub: Subscription,
): { offer: Offer | null; price_milli: number } {
  const changes = sub.next_plan !== sub.plan
  const offer = sub.next_offer ?? (sub.offer_left > 0 && !changes ? sub.offer : null)
  const standard = changes
    ? world.price(sub.next_plan, sub.currency)
    : (sub.increase?.price_milli ?? sub.price_milli)
  return { offer, price_milli: offer === null ? standard : shareOf(standard, offer.share, sub.currency) }
}

/** The appTransactionId, once the store puts it into what it signs for this customer. */
function appTransactionIdOf(person: Person, at: number) {
  return at >= person.app_transaction_id_since ? { appTransactionId: person.app_transaction_id } : {}
}

/** The transaction as signed at that instant. */
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

/** What stands in a renewal info only while it applies: prices while it renews, billing after the expiry. */
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

/** The renewal info as signed at that instant. */
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

/** How long before the end of a period the store can sign the next one. */
export function longestLead(sub: Subscription): number {
  const { purchaseDate } = currentSale(sub)
  return Math.min(DAY, (periodEnd(sub) - purchaseDate) / 8)
}

/** A one-time purchase: one transaction. */
export type OwnedGood = Purchase & { good: Good }

/** When a sale made at that instant runs out. */
export function expiryOf(sub: Subscription, from: number, offer: Offer | null): number {
  return endOf(from, offer?.cycle ?? sub.plan.billed, sub.environment)
}

/** A purchase is signed a few seconds after it was made; purchase dates are whole seconds. */
export function purchaseDateBefore(world: { now: () => number }, person: Person): number {
  const ago = person.random.whole(1_500, person.environment === 'sandbox' ? 4_000 : HOUR / 300)
  return Math.floor((world.now() - ago) / 1000) * 1000
}
