/** Simulated purchases: subscriptions, renewals and one-time purchases. */
import { notifySubscription, notifyTransaction, recordEntry } from './announce.ts'
import { isAfterAYear, proceedsFor } from './commission.ts'
import type { Person } from './people.ts'
import { DAY_MS, endOf } from './periods.ts'
import type { Good, Offer, Plan } from './products.ts'
import { deviceOf, reportSale } from './selling.ts'
import { scaledPrice } from './storefronts.ts'
import {
  ACTIVE,
  currentSale,
  environmentName,
  expiryOf,
  type OwnedGood,
  offerFields,
  periodEnd,
  purchaseDateBefore,
  purchaseOf,
  type Sale,
  type Subscription,
  segmentKind,
} from './subscription.ts'
import type { World } from './world.ts'

type BillingTerms = {
  reason: Sale['transactionReason']
  at: number
  until?: number
  offer: Offer | null
  withoutPrice?: boolean
}

function instalmentOf(sub: Subscription, terms: BillingTerms): Subscription['instalment'] {
  if (!sub.plan.committed) return null
  const { instalment } = sub
  const isContinued = terms.reason === 'RENEWAL' && instalment !== null && instalment.number < 12
  if (isContinued) return { ...instalment, number: instalment.number + 1 }
  return { number: 1, until: endOf(terms.at, 'P1Y', sub.environment) }
}

function commitmentFields(sub: Subscription): Partial<Sale> {
  if (sub.instalment === null) return {}
  return {
    billingPlanType: 'MONTHLY',
    commitmentInfo: {
      billingPeriodNumber: sub.instalment.number,
      totalBillingPeriods: 12,
      commitmentExpiresDate: sub.instalment.until,
      commitmentPrice: sub.price_milli * 12,
    },
  }
}

function saleOf(world: World, sub: Subscription, terms: BillingTerms, price_milli: number): Sale {
  const { person, plan, storefront } = sub
  const id = sub.sales.length === 0 ? sub.original_id : world.transactionId(sub.environment)
  const hasPrice = terms.withoutPrice !== true
  return {
    transactionId: id,
    originalTransactionId: sub.original_id,
    ...(sub.previous_original_id !== null && { previousOriginalTransactionId: sub.previous_original_id }),
    webOrderLineItemId: world.lineItemId(sub.environment),
    bundleId: sub.app.bundle_id,
    productId: plan.product_id,
    subscriptionGroupIdentifier: plan.group,
    purchaseDate: terms.at,
    originalPurchaseDate: sub.original_purchased_at,
    expiresDate: terms.until ?? expiryOf(sub, terms.at, terms.offer),
    quantity: 1,
    type: 'Auto-Renewable Subscription',
    ...(person.account_token !== null && { appAccountToken: person.account_token }),
    inAppOwnershipType: sub.shared ? 'FAMILY_SHARED' : 'PURCHASED',
    ...offerFields(terms.offer),
    environment: environmentName(sub.environment),
    transactionReason: terms.reason,
    storefront: storefront.code,
    storefrontId: storefront.id,
    ...(hasPrice && { price: price_milli, currency: sub.currency }),
    ...commitmentFields(sub),
    ...(sub.advanced !== null && { advancedCommerceInfo: sub.advanced }),
  }
}

/** Records a transaction in the books: its segment, its report line and, if it was paid for, its charge. */
function recordSale(world: World, sub: Subscription, offer: Offer | null, price_milli: number): void {
  const sale = currentSale(sub)
  const { environment, currency } = sub
  const has_price = sale.price !== undefined
  const before = sub.sales.at(-2)
  const previous = before && world.books.segmentOf(environment, before.transactionId)
  const isContinued =
    previous !== undefined && previous.revoked_at === null && previous.expires >= sale.purchaseDate
  const after_a_year = isAfterAYear(sub, sale.purchaseDate)
  if (previous && previous.replaced_at === null) previous.replaced_at = sale.purchaseDate
  world.books.openSegment({
    bundle_id: sub.app.bundle_id,
    environment,
    person: sub.person.id,
    original_transaction_id: sub.original_id,
    transaction_id: sale.transactionId,
    product_id: sale.productId,
    kind: segmentKind(offer),
    shared: sub.shared,
    period: offer?.discount === 'PAY_UP_FRONT' ? offer.period : sub.plan.billed,
    storefront: sale.storefront,
    currency,
    price_milli,
    has_price,
    from: sale.purchaseDate,
    expires: sale.expiresDate ?? sale.purchaseDate,
    paid_until: sale.expiresDate ?? sale.purchaseDate,
    retry_from: null,
    retry_until: null,
    plan: sub.plan,
    offer,
    follows: isContinued ? previous.kind : null,
    proceeds_milli: proceedsFor(price_milli, sub.storefront, after_a_year),
    after_a_year,
    preserved: offer === null && price_milli < world.price(sub.plan, currency),
    device: deviceOf(sub.person),
    started_at: sub.original_purchased_at,
    revoked_at: null,
    replaced_at: null,
  })
  reportSale(world, purchaseOf(sub), price_milli)
  const isPaid = price_milli > 0 && !sub.shared
  if (isPaid)
    recordEntry(world, purchaseOf(sub), 'charge', sale.purchaseDate, { price_milli, currency, has_price })
}

/** Creates the next transaction of a subscription and counts down the offer's periods. Sends no notification. */
export function bill(world: World, sub: Subscription, terms: BillingTerms): Sale {
  const { offer } = terms
  const isNewOffer = offer !== sub.offer || sub.offer_left === 0
  const remaining = isNewOffer ? (offer?.cycles ?? 0) : sub.offer_left
  sub.instalment = instalmentOf(sub, terms)
  const price_milli =
    offer === null ? sub.price_milli : scaledPrice(sub.price_milli, offer.price_factor, sub.currency)
  const sale = saleOf(world, sub, terms, price_milli)
  sub.sales.push(sale)
  world.add(sub.person, sale, sub)
  sub.offer = offer
  sub.offer_left = Math.max(0, remaining - 1)
  sub.next_offer = null
  Object.assign(sub, { status: ACTIVE, intent: null, retrying: null, grace_until: null })
  recordSale(world, sub, offer, price_milli)
  return sale
}

type InitialState = Partial<Pick<Subscription, 'shared' | 'advanced' | 'previous_original_id'>>

/** A subscription without a purchase. */
export function emptySubscription(
  world: World,
  person: Person,
  plan: Plan,
  at: number,
  initial: InitialState = {},
): Subscription {
  const { storefront, environment } = person
  const sub: Subscription = {
    app: person.app,
    environment,
    person,
    shared: false,
    original_id: world.transactionId(environment),
    original_purchased_at: at + (person.random.chance(0.5) ? 1000 : 0),
    previous_original_id: null,
    sales: [],
    status: ACTIVE,
    plan,
    next_plan: plan,
    storefront,
    currency: storefront.currency,
    price_milli: world.price(plan, storefront.currency),
    auto_renew: true,
    intent: null,
    retrying: null,
    grace_until: null,
    increase: null,
    offer: null,
    offer_left: 0,
    next_offer: null,
    recent_start: at,
    instalment: null,
    advanced: null,
    members: [],
    last_notified: null,
    ...initial,
  }
  world.subscriptions.push(sub)
  return sub
}

/** SUBSCRIBED / INITIAL_BUY. */
export function subscribe(
  world: World,
  person: Person,
  plan: Plan,
  offer: Offer | null,
  initial: InitialState = {},
): Subscription {
  const at = purchaseDateBefore(world, person)
  const sub = emptySubscription(world, person, plan, at, initial)
  const withoutPrice =
    offer === null && !person.steady && person.random.chance(world.edgeCases ? 0.04 : 0.004)
  bill(world, sub, { reason: 'PURCHASE', at, offer, withoutPrice })
  recordEntry(world, purchaseOf(sub), 'started', at)
  if (segmentKind(offer) === 'trial') recordEntry(world, purchaseOf(sub), 'trial_started', at)
  notifySubscription(world, sub, 'SUBSCRIBED', 'INITIAL_BUY')
  return sub
}

/** SUBSCRIBED / RESUBSCRIBE: a purchase after a lapse, at the current price in the customer's current storefront. */
export function resubscribe(world: World, sub: Subscription, plan: Plan, offer: Offer | null): void {
  const at = purchaseDateBefore(world, sub.person)
  if (at - periodEnd(sub) > 60 * DAY_MS) sub.recent_start = at
  sub.storefront = sub.person.storefront
  sub.currency = sub.storefront.currency
  sub.plan = plan
  sub.next_plan = plan
  sub.price_milli = world.price(plan, sub.currency)
  sub.auto_renew = true
  sub.increase = null
  bill(world, sub, { reason: 'PURCHASE', at, offer })
  recordEntry(world, purchaseOf(sub), 'resubscribed', at)
  notifySubscription(world, sub, 'SUBSCRIBED', 'RESUBSCRIBE')
}

function goodFields(price_milli: number, code: boolean): Partial<Sale> {
  if (!code) return { price: price_milli }
  return { price: price_milli, offerType: 3, offerIdentifier: 'WORKSHOP', offerDiscountType: 'ONE_TIME' }
}

/** ONE_TIME_CHARGE. With `code`, the price is half. With `shared`, a family member receives the good without paying. */
export function buyGood(
  world: World,
  person: Person,
  good: Good,
  options: { quantity?: number; code?: boolean; shared?: boolean } = {},
): OwnedGood {
  const at = purchaseDateBefore(world, person)
  const { storefront } = person
  const id = world.transactionId(person.environment)
  const quantity = options.quantity ?? 1
  const unit_milli = scaledPrice(
    world.price(good, storefront.currency),
    options.code ? 0.5 : 1,
    storefront.currency,
  )
  const price_milli = unit_milli * quantity
  const sale: Sale = {
    transactionId: id,
    originalTransactionId: id,
    bundleId: person.app.bundle_id,
    productId: good.product_id,
    purchaseDate: at,
    originalPurchaseDate: at,
    quantity,
    type: good.type,
    ...(person.account_token !== null && !options.code && { appAccountToken: person.account_token }),
    inAppOwnershipType: options.shared ? 'FAMILY_SHARED' : 'PURCHASED',
    environment: environmentName(person.environment),
    transactionReason: 'PURCHASE',
    storefront: storefront.code,
    storefrontId: storefront.id,
    ...goodFields(price_milli, options.code ?? false),
    currency: storefront.currency,
  }
  const ownedGood = { person, sale, period: null, sub: null, good }
  world.add(person, sale, null)
  reportSale(world, ownedGood, price_milli)
  recordEntry(world, ownedGood, options.shared ? 'shared' : 'purchased', at)
  if (!options.shared) recordEntry(world, ownedGood, 'charge', at)
  notifyTransaction(world, ownedGood, 'ONE_TIME_CHARGE', null)
  return ownedGood
}
