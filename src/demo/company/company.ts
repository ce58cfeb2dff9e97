/** Rare events of the simulated company and its apps. */
import { appFields, notifySubscription, recordEntry, send } from '../world/announce.ts'
import { APPS } from '../world/catalogue.ts'
import { bill, emptySubscription, subscribe } from '../world/charge.ts'
import { openPerson, type Person } from '../world/people.ts'
import { DAY_MS, MINUTE_MS, wholeSecond } from '../world/periods.ts'
import type { App, Plan } from '../world/products.ts'
import { type Currency, STOREFRONTS, scaledPrice } from '../world/storefronts.ts'
import { ACTIVE, purchaseOf, type Subscription } from '../world/subscription.ts'
import type { AdvancedCommerce } from '../world/unsigned.ts'
import type { World } from '../world/world.ts'
import { canChange, extend } from './changes.ts'
import { subscriptionScript } from './subscriber.ts'
import { raisePrice } from './subscriber_behaviour.ts'

function appByName(name: string): App {
  const app = APPS.find((candidate) => candidate.name === name)
  if (app === undefined) throw new Error(`there is no app named ${name}`)
  return app
}

export function planById(product_id: string): { app: App; plan: Plan } {
  for (const app of APPS) {
    const plan = app.plans.find((candidate) => candidate.product_id === product_id)
    if (plan !== undefined) return { app, plan }
  }
  throw new Error(`there is no product ${product_id}`)
}

/** TEST: a requested test notification, which contains only the app. */
export function sendTest(world: World, app: App, environment: 'production' | 'sandbox'): void {
  const from = { bundle_id: app.bundle_id, environment, signed_at: world.now() }
  send(world, from, 'TEST', null, { data: appFields(app, environment) })
}

const TOKEN_KINDS = ['CREATED', 'UNREPORTED', 'ACTIVE_TOKEN_REMINDER'] as const

/** EXTERNAL_PURCHASE_TOKEN: has no environment field. In the sandbox, the token's id begins with `SANDBOX_`. */
export function sendToken(
  world: World,
  environment: 'production' | 'sandbox',
  kind: (typeof TOKEN_KINDS)[number],
): void {
  const app = appByName('Chord')
  const { random } = world
  const at = world.now()
  const id = random.uuid()
  send(world, { bundle_id: app.bundle_id, environment, signed_at: at }, 'EXTERNAL_PURCHASE_TOKEN', kind, {
    externalPurchaseToken: {
      externalPurchaseId: environment === 'sandbox' ? `SANDBOX_${id}` : id,
      tokenCreationDate: at - (kind === 'CREATED' ? 3 * MINUTE_MS : random.whole(2, 25) * DAY_MS),
      ...(environment === 'production' && { appAppleId: app.apple_id }),
      bundleId: app.bundle_id,
      ...(kind !== 'UNREPORTED' && { tokenType: 'ACQUISITION', tokenExpirationDate: at + 30 * DAY_MS }),
    },
  })
}

/** RESCIND_CONSENT: a parent withdraws consent. The notification contains the signed app transaction. */
export function rescindConsent(world: World, person: Person): void {
  const { app, environment } = person
  const at = world.now()
  const named = appFields(app, environment)
  const { environment: receiptType, ...ids } = named
  send(world, { bundle_id: app.bundle_id, environment, signed_at: at }, 'RESCIND_CONSENT', null, {
    appData: {
      ...named,
      signedAppTransactionInfo: {
        receiptType,
        ...ids,
        applicationVersion: app.version,
        versionExternalIdentifier: 870_000_000 + Number(app.version),
        receiptCreationDate: at,
        originalPurchaseDate: wholeSecond(at - 90 * DAY_MS),
        originalApplicationVersion: app.version,
        originalPlatform: 'iOS',
        appTransactionId: person.app_transaction_id,
      },
    },
  })
}

/** The production subscriptions to a product, in the order of creation, without those that cannot change now. */
export function activeSubscriptionsTo(world: World, product_id: string): Subscription[] {
  return world.subscriptions.filter(
    (sub) => sub.plan.product_id === product_id && sub.environment === 'production' && canChange(world, sub),
  )
}

/** Multiplies a product's price by `factor`: immediately for new customers, by consent or notice for subscribers. */
export function increasePriceOf(
  world: World,
  product_id: string,
  factor: number,
  needsConsent: boolean,
): void {
  const { plan } = planById(product_id)
  for (const currency of new Set(STOREFRONTS.map((storefront) => storefront.currency)))
    world.setPrice(product_id, currency, raisedPrice(world, plan, factor, currency))
  for (const sub of activeSubscriptionsTo(world, product_id))
    raisePrice(world, sub, world.price(plan, sub.currency), needsConsent)
}

function raisedPrice(world: World, plan: Plan, factor: number, currency: Currency): number {
  return scaledPrice(world.price(plan, currency), factor, currency)
}

/** RENEWAL_EXTENSION: extends all subscriptions after an outage. Sends one notification for each, then a summary. */
export function extendAll(world: World, product_id: string, days: number): void {
  const { app } = planById(product_id)
  const from = {
    bundle_id: app.bundle_id,
    environment: 'production' as const,
    signed_at: world.now() + MINUTE_MS,
  }
  const subscriptions = activeSubscriptionsTo(world, product_id).filter((sub) => !sub.shared)
  const failed = subscriptions.slice(0, subscriptions.length > 1 ? 1 : 0)
  const extended = subscriptions.slice(failed.length)
  for (const sub of extended) extend(world, sub, days)
  for (const sub of failed) notifySubscription(world, sub, 'RENEWAL_EXTENSION', 'FAILURE')
  send(world, from, 'RENEWAL_EXTENSION', 'SUMMARY', {
    summary: {
      ...appFields(app, 'production'),
      productId: product_id,
      requestIdentifier: world.random.uuid(),
      storefrontCountryCodes: [...new Set(subscriptions.map((sub) => sub.storefront.code))],
      succeededCount: extended.length,
      failedCount: failed.length,
    },
  })
}

function advancedItem(person: Person, price: number): AdvancedCommerce {
  return {
    descriptors: { description: 'Lessons with a teacher', displayName: 'Tuition' },
    items: [
      {
        SKU: `lesson-${person.random.whole(100, 999)}`,
        displayName: 'Lesson',
        description: 'One a week',
        price,
      },
    ],
    period: 'P1M',
    requestReferenceId: person.random.uuid(),
    taxCode: 'C003-00-2',
  }
}

/** A customer who subscribes through the Advanced Commerce API and never cancels. */
export function subscribeAdvanced(world: World, name: string): Subscription {
  const { app, plan } = planById('chord.tuition')
  const person = openPerson(world, name, { app, steady: true })
  const advanced = advancedItem(person, world.price(plan, person.storefront.currency))
  const sub = subscribe(world, person, plan, null, { advanced })
  world.start(subscriptionScript(world, sub))
  return sub
}

/** MIGRATION: a subscription from before the history moves to the Advanced Commerce API, with a new original id. */
export function migrate(world: World, name: string): Subscription {
  const { app, plan } = planById('chord.tuition')
  const person = openPerson(world, name, { app, steady: true })
  const at = wholeSecond(world.now() - 5 * MINUTE_MS)
  const previous_original_id = world.transactionId('production')
  const advanced = advancedItem(person, world.price(plan, person.storefront.currency))
  const sub = emptySubscription(world, person, plan, at, { previous_original_id, advanced })
  bill(world, sub, { reason: 'PURCHASE', at, offer: null })
  recordEntry(world, purchaseOf(sub), 'started', at)
  notifySubscription(world, sub, 'MIGRATION', null)
  world.start(subscriptionScript(world, sub))
  return sub
}

/** METADATA_UPDATE or PRICE_CHANGE: the developer changes the items of an Advanced Commerce subscription. */
export function changeAdvanced(
  world: World,
  sub: Subscription,
  type: 'METADATA_UPDATE' | 'PRICE_CHANGE',
): void {
  if (sub.advanced === null || sub.status !== ACTIVE) return
  const price_milli =
    type === 'PRICE_CHANGE' ? scaledPrice(sub.price_milli, 1.1, sub.currency) : sub.price_milli
  const items = sub.advanced.items.map((item) => ({ ...item, price: price_milli, description: 'Two a week' }))
  sub.advanced = { ...sub.advanced, items }
  sub.price_milli = price_milli
  notifySubscription(world, sub, type, null)
}
