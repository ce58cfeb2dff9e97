/** Builds notifications about a transaction or an app from the current state of the store. */
import type { Environment } from '../../apple/payloads.ts'
import type { Entry, Kind } from './books.ts'
import type { Person } from './people.ts'
import type { App } from './products.ts'
import {
  environmentName,
  type Purchase,
  purchaseOf,
  renewalOf,
  type Subscription,
  transactionOf,
} from './subscription.ts'
import type { UnsignedBody } from './unsigned.ts'
import type { World } from './world.ts'

/** Sets and returns the instant of the next signature for this customer, in milliseconds since the epoch. */
export function nextSignedAt(world: World, person: Person): number {
  person.signed_at = world.instant(person)
  return person.signed_at
}

/** The fields that name the app in a notification. Notifications of the sandbox have no Apple id. */
export function appFields(app: App, environment: Environment) {
  return {
    ...(environment === 'production' && { appAppleId: app.apple_id }),
    bundleId: app.bundle_id,
    environment: environmentName(environment),
  }
}

/** Sends one notification. `signed_at` is in milliseconds since the epoch. */
export function send(
  world: World,
  from: { bundle_id: string; environment: Environment; signed_at: number },
  type: string,
  subtype: string | null,
  body: UnsignedBody,
): void {
  world.notify(from.bundle_id, from.environment, {
    notificationType: type,
    ...(subtype !== null && { subtype }),
    notificationUUID: world.random.uuid(),
    version: '2.0',
    signedDate: from.signed_at,
    ...body,
  })
}

/** Sends a notification about a transaction, with the subscription's current status and renewal info. */
export function notifyTransaction(
  world: World,
  purchase: Purchase,
  type: string,
  subtype: string | null,
  consumptionRequestReason?: string,
): void {
  const { person, sub } = purchase
  const signed_at = nextSignedAt(world, person)
  const renewal = sub === null ? null : renewalOf(world, sub, signed_at)
  if (sub !== null && renewal !== null) sub.last_notified = { status: sub.status, renewal }
  send(
    world,
    { bundle_id: person.app.bundle_id, environment: person.environment, signed_at },
    type,
    subtype,
    {
      data: {
        ...appFields(person.app, person.environment),
        bundleVersion: person.app.version,
        ...(consumptionRequestReason !== undefined && { consumptionRequestReason }),
        signedTransactionInfo: transactionOf(purchase.sale, person, signed_at),
        ...(sub !== null && renewal !== null && { signedRenewalInfo: renewal, status: sub.status }),
      },
    },
  )
}

/** Sends a notification about a subscription, with the subscription's last transaction. */
export function notifySubscription(
  world: World,
  sub: Subscription,
  type: string,
  subtype: string | null,
): void {
  notifyTransaction(world, purchaseOf(sub), type, subtype)
}

/** Records in the books an event of one transaction, effective at `at`. `overrides` replaces fields of the entry. */
export function recordEntry(
  world: World,
  purchase: Purchase,
  kind: Kind,
  at: number,
  overrides: Partial<
    Pick<Entry, 'refunded_milli' | 'transaction_id' | 'price_milli' | 'currency' | 'has_price' | 'intent'>
  > = {},
): void {
  const { person, sale } = purchase
  world.books.write({
    at,
    bundle_id: person.app.bundle_id,
    environment: person.environment,
    kind,
    person: person.id,
    original_transaction_id: sale.originalTransactionId,
    transaction_id: sale.transactionId,
    product_id: sale.productId,
    period: purchase.period,
    storefront: sale.storefront,
    currency: sale.currency ?? person.storefront.currency,
    price_milli: sale.price ?? 0,
    refunded_milli: 0,
    has_price: sale.price !== undefined,
    shared: sale.inAppOwnershipType === 'FAMILY_SHARED',
    intent: null,
    ...overrides,
  })
}
