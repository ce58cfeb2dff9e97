import { beforeAll, expect, test } from 'vitest'
import { NOW, renewalPayload, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})

const DAY = 86_400_000
const trial = { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0, transactionReason: 'PURCHASE' }
const consumable = {
  type: 'Consumable',
  subscriptionGroupIdentifier: undefined,
  expiresDate: undefined,
  transactionReason: 'PURCHASE',
}
const revoked = { revocationDate: NOW - 1000, revocationReason: 0 }
type Part = Record<string, unknown>

let notified = 0
/** Sends one notification and returns its type in the feed and when it took effect. */
async function meaning(
  type: string,
  subtype: string | undefined,
  transaction: Part | null = {},
  renewal: Part = {},
  body?: Part,
) {
  notified += 1
  const ids = { transactionId: `t${notified}`, originalTransactionId: `o${notified}` }
  const place = { appAppleId: 1_234_567_890, bundleId: 'com.example.lantern', environment: 'Production' }
  const data = transaction && {
    ...place,
    status: 1,
    signedTransactionInfo: app.authority.sign(transactionPayload({ ...ids, ...transaction })),
    signedRenewalInfo: app.authority.sign(
      renewalPayload({ originalTransactionId: `o${notified}`, ...renewal }),
    ),
  }
  const inside = body ?? { data: data ?? place }
  const outer = {
    notificationType: type,
    subtype,
    notificationUUID: `uuid-${notified}`,
    version: '2.0',
    signedDate: NOW,
  }
  const answer = await app.notify({ ...outer, ...inside })
  expect(answer).toMatchObject({ status: 200, body: { applied: 1 } })
  const event = app.feed().find((one) => one.cause === `uuid-${notified}`)
  return { type: event?.type, at: (event?.occurred_at ?? 0) - NOW, data: event?.data as Part }
}

const PURCHASED = -60_000
const EXPIRES = 30 * DAY

test.each<[string, string | undefined, Part | null, Part, string, number]>([
  ['SUBSCRIBED', 'INITIAL_BUY', { transactionReason: 'PURCHASE' }, {}, 'subscription.started', PURCHASED],
  ['SUBSCRIBED', 'INITIAL_BUY', trial, {}, 'trial.started', PURCHASED],
  [
    'SUBSCRIBED',
    'INITIAL_BUY',
    { offerType: 1, offerDiscountType: 'PAY_UP_FRONT' },
    {},
    'subscription.started',
    PURCHASED,
  ],
  [
    'SUBSCRIBED',
    'INITIAL_BUY',
    { offerType: 3, offerDiscountType: 'FREE_TRIAL', price: 0 },
    {},
    'subscription.started',
    PURCHASED,
  ],
  ['SUBSCRIBED', 'RESUBSCRIBE', {}, {}, 'subscription.resubscribed', PURCHASED],
  ['DID_RENEW', undefined, {}, {}, 'subscription.renewed', PURCHASED],
  ['DID_RENEW', 'BILLING_RECOVERY', {}, {}, 'subscription.recovered', PURCHASED],
  ['DID_CHANGE_RENEWAL_PREF', 'UPGRADE', {}, {}, 'subscription.upgraded', PURCHASED],
  ['DID_CHANGE_RENEWAL_PREF', 'DOWNGRADE', {}, { renewalPrice: 990 }, 'subscription.downgraded', 0],
  // To a plan of three months at 5.99, which Apple ranks lower: it costs no less by the month, but less by the charge.
  [
    'DID_CHANGE_RENEWAL_PREF',
    'DOWNGRADE',
    { price: 1_990 },
    { autoRenewProductId: 'lantern.pro.quarterly', renewalPrice: 5_990 },
    'subscription.downgraded',
    0,
  ],
  [
    'DID_CHANGE_RENEWAL_PREF',
    'DOWNGRADE',
    { offerType: 1, price: 100 },
    { renewalPrice: 990 },
    'subscription.downgraded',
    0,
  ],
  ['DID_CHANGE_RENEWAL_PREF', undefined, {}, {}, 'subscription.downgrade_cancelled', 0],
  [
    'DID_CHANGE_RENEWAL_STATUS',
    'AUTO_RENEW_DISABLED',
    {},
    { autoRenewStatus: 0 },
    'subscription.renewal_disabled',
    0,
  ],
  ['DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED', {}, {}, 'subscription.renewal_enabled', 0],
  ['DID_CHANGE_RENEWAL_STATUS', undefined, {}, { autoRenewStatus: 0 }, 'subscription.renewal_disabled', 0],
  ['DID_CHANGE_RENEWAL_STATUS', undefined, {}, {}, 'subscription.renewal_enabled', 0],
  ['OFFER_REDEEMED', undefined, { offerType: 2 }, {}, 'subscription.offer_redeemed', 0],
  ['OFFER_REDEEMED', 'UPGRADE', { offerType: 2 }, {}, 'subscription.offer_redeemed', 0],
  ['OFFER_REDEEMED', 'DOWNGRADE', { offerType: 2 }, {}, 'subscription.offer_redeemed', 0],
  ['DID_FAIL_TO_RENEW', undefined, {}, { isInBillingRetryPeriod: true }, 'subscription.billing_failed', 0],
  [
    'DID_FAIL_TO_RENEW',
    'GRACE_PERIOD',
    {},
    { gracePeriodExpiresDate: NOW + DAY },
    'subscription.grace_started',
    0,
  ],
  [
    'GRACE_PERIOD_EXPIRED',
    undefined,
    {},
    { gracePeriodExpiresDate: NOW - DAY },
    'subscription.grace_ended',
    -DAY,
  ],
  ['EXPIRED', 'VOLUNTARY', {}, { expirationIntent: 1 }, 'subscription.expired', EXPIRES],
  ['EXPIRED', 'BILLING_RETRY', {}, { expirationIntent: 2 }, 'subscription.expired', EXPIRES],
  ['EXPIRED', 'PRICE_INCREASE', {}, { expirationIntent: 3 }, 'subscription.expired', EXPIRES],
  ['EXPIRED', 'PRODUCT_NOT_FOR_SALE', {}, { expirationIntent: 4 }, 'subscription.expired', EXPIRES],
  ['EXPIRED', undefined, {}, { expirationIntent: 5 }, 'subscription.expired', EXPIRES],
  ['EXPIRED', 'VOLUNTARY', trial, { expirationIntent: 1 }, 'trial.ended', EXPIRES],
  ['PRICE_INCREASE', 'PENDING', {}, { priceIncreaseStatus: 0 }, 'subscription.price_increase_asked', 0],
  ['PRICE_INCREASE', 'ACCEPTED', {}, { priceIncreaseStatus: 1 }, 'subscription.price_increase_accepted', 0],
  ['REFUND', undefined, revoked, {}, 'subscription.refunded', -1000],
  ['REFUND', undefined, { ...consumable, ...revoked }, {}, 'purchase.refunded', -1000],
  ['REFUND_REVERSED', undefined, {}, {}, 'subscription.refund_reversed', 0],
  ['REFUND_REVERSED', undefined, consumable, {}, 'purchase.refund_reversed', 0],
  ['REFUND_DECLINED', undefined, {}, {}, 'subscription.refund_declined', 0],
  ['REFUND_DECLINED', undefined, consumable, {}, 'purchase.refund_declined', 0],
  ['CONSUMPTION_REQUEST', undefined, consumable, {}, 'consumption.requested', 0],
  [
    'REVOKE',
    undefined,
    { ...revoked, inAppOwnershipType: 'FAMILY_SHARED' },
    {},
    'subscription.revoked',
    -1000,
  ],
  ['REVOKE', undefined, { ...consumable, ...revoked, type: 'Non-Consumable' }, {}, 'purchase.revoked', -1000],
  ['RENEWAL_EXTENDED', undefined, {}, {}, 'subscription.extended', 0],
  ['RENEWAL_EXTENSION', 'FAILURE', {}, {}, 'subscription.extension_failed', 0],
  ['ONE_TIME_CHARGE', undefined, consumable, {}, 'purchase.made', PURCHASED],
  ['METADATA_UPDATE', undefined, {}, {}, 'subscription.metadata_updated', 0],
  ['MIGRATION', undefined, {}, {}, 'subscription.migrated', 0],
  ['MIGRATE', undefined, {}, {}, 'subscription.migrated', 0],
  ['PRICE_CHANGE', undefined, {}, {}, 'subscription.price_changed', 0],
  ['TEST', undefined, null, {}, 'notification.test', 0],
  ['PRICE_INCREASE', 'SOMETHING_NEW', {}, {}, 'notification.other', 0],
  ['DID_RENEW', 'SOMETHING_NEW', {}, {}, 'subscription.renewed', PURCHASED],
  ['__proto__', 'constructor', {}, {}, 'notification.other', 0],
])('%s %s (%j, %j) means %s', async (type, subtype, transaction, renewal, expected, at) => {
  expect(await meaning(type, subtype, transaction, renewal)).toMatchObject({ type: expected, at })
})

test.each<[string, Part, string]>([
  ['subscription', {}, 'subscription.expired'],
  ['trial', trial, 'trial.ended'],
])('a %s that ends after a grace period is dated at its end', async (_, kind, type) => {
  const originalTransactionId = `g-${type}`
  const ids = { transactionId: originalTransactionId, originalTransactionId }
  const period = { ...ids, ...kind, purchaseDate: NOW - 40 * DAY, expiresDate: NOW - 30 * DAY }
  const retry = { originalTransactionId, isInBillingRetryPeriod: true }
  // The first grace period belongs to the time before this purchase. Only earlier renewal infos have the second.
  const earlier = { ...retry, signedDate: NOW - 41 * DAY, gracePeriodExpiresDate: NOW - DAY }
  const grace = { ...retry, signedDate: NOW - 30 * DAY, gracePeriodExpiresDate: NOW - 14 * DAY }
  await meaning('DID_FAIL_TO_RENEW', 'GRACE_PERIOD', period, earlier)
  await meaning('DID_FAIL_TO_RENEW', 'GRACE_PERIOD', period, grace)
  const end = { originalTransactionId, expirationIntent: 2 }
  expect(await meaning('EXPIRED', 'BILLING_RETRY', period, end)).toMatchObject({ type, at: -14 * DAY })
})

test('an end keeps its date when the grace period becomes known afterwards', async () => {
  const originalTransactionId = 'late-grace'
  const ids = { transactionId: originalTransactionId, originalTransactionId }
  const period = { ...ids, purchaseDate: NOW - 40 * DAY, expiresDate: NOW - 30 * DAY }
  await meaning('EXPIRED', 'BILLING_RETRY', period, { originalTransactionId, expirationIntent: 2 })
  const grace = { originalTransactionId, signedDate: NOW - 30 * DAY, gracePeriodExpiresDate: NOW - 14 * DAY }
  await meaning('DID_FAIL_TO_RENEW', 'GRACE_PERIOD', period, grace)
  const ends = app.feed(['subscription.expired']).filter(({ subject }) => subject === originalTransactionId)
  expect(ends.map(({ occurred_at }) => occurred_at - NOW)).toEqual([-30 * DAY])
})

const place = { appAppleId: 1_234_567_890, bundleId: 'com.example.lantern', environment: 'Production' }

test('the summary of a mass extension carries its counts', async () => {
  const summary = {
    ...place,
    requestIdentifier: 'r1',
    productId: 'p',
    storefrontCountryCodes: ['USA'],
    succeededCount: 5,
    failedCount: 2,
  }
  const { type, data } = await meaning('RENEWAL_EXTENSION', 'SUMMARY', null, {}, { summary })
  expect(type).toBe('extension.summarized')
  expect(data.notification).toMatchObject({ succeeded_count: 5, failed_count: 2, request_id: 'r1' })
})

test.each(['UNREPORTED', 'CREATED', 'ACTIVE_TOKEN_REMINDER'])(
  'an external purchase token, %s, is reported',
  async (subtype) => {
    const { appAppleId, bundleId } = place
    const externalPurchaseToken = { appAppleId, bundleId, externalPurchaseId: 'x1', tokenCreationDate: NOW }
    const { type, data } = await meaning(
      'EXTERNAL_PURCHASE_TOKEN',
      subtype,
      null,
      {},
      { externalPurchaseToken },
    )
    expect(type).toBe('external_purchase.reported')
    expect(data.notification).toMatchObject({ external_purchase_id: 'x1', subtype })
  },
)

test('reports a rescinded consent', async () => {
  const { appTransactionPayload } = await import('../apple/samples.ts')
  const appData = { ...place, signedAppTransactionInfo: app.authority.sign(appTransactionPayload()) }
  expect(await meaning('RESCIND_CONSENT', undefined, null, {}, { appData })).toMatchObject({
    type: 'consent.rescinded',
  })
})

test('a refund event has the refunded amount: all of it, or the share that Apple names', async () => {
  const whole = await meaning('REFUND', undefined, revoked)
  expect(whole.data.money).toEqual({ price_milli: 4990, refunded_milli: 4990, currency: 'USD' })
  // 67.932 % of 4.990 is 3.3898068, of which the thousandths are 3390.
  const part = await meaning('REFUND', undefined, {
    ...revoked,
    revocationType: 'REFUND_PRORATED',
    revocationPercentage: 67_932,
  })
  expect(part.data.money).toEqual({ price_milli: 4990, refunded_milli: 3390, currency: 'USD' })
})

test('a price that Apple did not sign is unknown, not zero', async () => {
  const { data } = await meaning('DID_RENEW', undefined, { price: undefined, currency: undefined })
  expect(data.money).toBeNull()
})

test.each<[string, Part, Part, string]>([
  ['paid time', {}, {}, 'active'],
  ['a trial', trial, {}, 'trial'],
  ['an end', { expiresDate: NOW - DAY }, { autoRenewStatus: 0, expirationIntent: 1 }, 'expired'],
  [
    'grace',
    { expiresDate: NOW - DAY },
    { isInBillingRetryPeriod: true, gracePeriodExpiresDate: NOW + DAY },
    'grace',
  ],
  ['billing retry', { expiresDate: NOW - DAY }, { isInBillingRetryPeriod: true }, 'retry'],
  [
    'billing retry after grace',
    { expiresDate: NOW - DAY },
    { isInBillingRetryPeriod: true, gracePeriodExpiresDate: NOW - 1 },
    'retry',
  ],
  ['a refund', revoked, {}, 'revoked'],
])('the state after %s', async (_, transaction, renewal, state) => {
  const { data } = await meaning('DID_CHANGE_RENEWAL_STATUS', undefined, transaction, renewal)
  expect(data.subscription).toMatchObject({ state })
})
