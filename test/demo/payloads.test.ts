import * as v from 'valibot'
import { expect, test } from 'vitest'
import { NotificationPayload, RenewalPayload, TransactionPayload } from '../../src/apple/payloads.ts'
import { APPS } from '../../src/demo/world/catalogue.ts'
import { STOREFRONTS } from '../../src/demo/world/storefronts.ts'
import { signNotification } from '../../src/demo/world/unsigned.ts'
import { nonEmpty } from '../non_empty.ts'
import { type AboutTransaction, aboutTransactions, DAY, nameOf, play, unsigned } from './run_simulation.ts'

const { steps, notifications, books } = play({ seed: 4 })
const odd = Array.from({ length: 30 }, (_, seed) => play({ seed, subscribers: 5, edgeCases: true }))
const about = nonEmpty(aboutTransactions(notifications))
const everything = [about, ...odd.map((history) => aboutTransactions(history.notifications))]
const subscriptions = everything.flat().filter((a) => a.renewal !== undefined)
const OLD = /REFUND|CONSUMPTION/

/** Returns the first three wrong payloads as text, so that a failure shows them. */
function faults(list: readonly AboutTransaction[], isRight: (about: AboutTransaction) => boolean): string[] {
  return list
    .filter((one) => !isRight(one))
    .map((one) => JSON.stringify(one.payload))
    .slice(0, 3)
}

test('every payload can be parsed', () => {
  for (const { payload } of notifications) {
    const { signedPayload: _, ...outer } = {
      ...payload,
      ...signNotification(payload, (p) => JSON.stringify(p)),
    }
    expect(outer.notificationType).toBeTruthy()
    const { data, appData, ...rest } = payload
    const plain = {
      ...rest,
      ...(data && { data: { ...data, signedTransactionInfo: 'x', signedRenewalInfo: 'x' } }),
    }
    const nested = appData && { appData: { ...appData, signedAppTransactionInfo: 'x' } }
    expect(v.safeParse(NotificationPayload, { ...plain, ...nested }).success).toBe(true)
    if (data?.signedTransactionInfo) v.parse(TransactionPayload, data.signedTransactionInfo)
    if (data?.signedRenewalInfo) v.parse(RenewalPayload, data.signedRenewalInfo)
  }
  for (const step of steps)
    if (step.kind === 'attribute' && step.payload) v.parse(TransactionPayload, step.payload)
})

test('exactly one of data, summary, externalPurchaseToken and appData is present', () => {
  for (const { payload } of notifications) {
    const { data, summary, externalPurchaseToken, appData } = payload
    expect([data, summary, externalPurchaseToken, appData].filter((part) => part !== undefined)).toHaveLength(
      1,
    )
  }
})

test('fields that do not apply are absent: nothing is null, and only isInBillingRetryPeriod is ever false', () => {
  const check = (value: unknown, key: string): void => {
    expect(
      value === null || value === undefined || (value === false && key !== 'isInBillingRetryPeriod'),
    ).toBe(false)
    if (typeof value === 'object' && value !== null)
      for (const [name, part] of Object.entries(value)) check(part, name)
  }
  for (const { payload } of odd.flatMap((history) => history.notifications)) check(payload, '')
  for (const { payload } of notifications.slice(0, 1000)) check(payload, '')
})

test('ids are strings, dates whole milliseconds, purchase dates whole seconds, prices whole thousandths', () => {
  for (const { transaction: t } of everything.flat()) {
    expect(`${t.transactionId} ${t.originalTransactionId}`).toMatch(/^\d{15,16} \d{15,16}$/)
    expect(t.purchaseDate % 1000).toBe(0)
    for (const value of [t.signedDate, t.expiresDate, t.price, t.revocationDate])
      expect(value === undefined || Number.isSafeInteger(value)).toBe(true)
    expect(t.environment === 'Sandbox').toBe(/^2000000/.test(t.transactionId))
    expect(t.currency).toBe(
      t.price === undefined ? undefined : STOREFRONTS.find((s) => s.code === t.storefront)?.currency,
    )
    if (t.currency === 'JPY') expect((t.price ?? 0) % 1000).toBe(0)
  }
})

test('nested payloads are signed with the outer one and match it', () => {
  for (const { payload, transaction, renewal } of everything.flat()) {
    const { bundleId, environment, appAppleId } = payload.data ?? {}
    expect([transaction.bundleId, transaction.environment]).toEqual([bundleId, environment])
    expect(transaction.signedDate).toBe(payload.signedDate)
    const appleId = APPS.find((app) => app.bundle_id === bundleId)?.apple_id
    expect(appAppleId).toBe(environment === 'Production' ? appleId : undefined)
    if (!renewal) continue
    expect(renewal.originalTransactionId).toBe(transaction.originalTransactionId)
    expect([renewal.environment, renewal.signedDate]).toEqual([environment, payload.signedDate])
  }
})

test('no two signatures about one subscription share an instant', () => {
  for (const history of everything) {
    const keys = history.map((a) => `${a.transaction.originalTransactionId} ${a.payload.signedDate}`)
    expect(new Set(keys).size).toBe(keys.length)
  }
})

test('renewal info has a price only while it renews', () => {
  const right = ({ renewal }: AboutTransaction) =>
    (renewal?.autoRenewStatus === 1) === (renewal?.renewalPrice !== undefined) &&
    (renewal?.renewalPrice !== undefined) === (renewal?.currency !== undefined)
  expect(faults(subscriptions, right)).toEqual([])
})

test('isInBillingRetryPeriod is absent while active, true in billing retry and false once expired', () => {
  const expected: Record<number, boolean | undefined> = {
    1: undefined,
    2: false,
    3: true,
    4: true,
    5: undefined,
  }
  expect(faults(subscriptions, (a) => a.renewal?.isInBillingRetryPeriod === expected[a.status ?? 0])).toEqual(
    [],
  )
})

test('the status is that of the subscription at the signing', () => {
  const right = ({ payload, transaction: t, renewal, status }: AboutTransaction) => {
    const at = payload.signedDate
    const ended = (t.expiresDate ?? 0) <= at
    if (status === 1) return !ended && renewal?.expirationIntent === undefined
    if (status === 2) return ended && renewal?.expirationIntent !== undefined && renewal.autoRenewStatus === 0
    if (status === 3) return ended && renewal?.gracePeriodExpiresDate === undefined
    if (status === 4) return ended && (renewal?.gracePeriodExpiresDate ?? 0) > at
    return status === 5 && t.revocationDate !== undefined && renewal?.autoRenewStatus === 0
  }
  const ofNow = subscriptions.filter((a) => !OLD.test(a.payload.notificationType))
  expect(new Set(ofNow.map((a) => a.status))).toEqual(new Set([1, 2, 3, 4, 5]))
  expect(faults(ofNow, right)).toEqual([])
})

test('a reversed refund makes the subscription active again, or expired if it has ended', () => {
  const reversed = subscriptions.filter(
    (a) => nameOf(a.payload) === 'REFUND_REVERSED/-' && a.renewal?.renewalDate === a.transaction.expiresDate,
  )
  const runs = (a: AboutTransaction) => (a.transaction.expiresDate ?? 0) > a.payload.signedDate
  expect(new Set(reversed.map(runs))).toEqual(new Set([true, false]))
  expect(faults(reversed, (a) => a.status === (runs(a) ? 1 : 2))).toEqual([])
})

test('each type has its status and its fields', () => {
  const meaning: Record<string, (about: AboutTransaction) => boolean> = {
    'SUBSCRIBED/INITIAL_BUY': ({ transaction: t }) => t.transactionId === t.originalTransactionId,
    'SUBSCRIBED/RESUBSCRIBE': ({ transaction: t }) =>
      t.transactionReason === 'PURCHASE' && t.transactionId !== t.originalTransactionId,
    'DID_RENEW/-': ({ transaction: t, status }) => t.transactionReason === 'RENEWAL' && status === 1,
    'DID_RENEW/BILLING_RECOVERY': ({ transaction: t, status }) =>
      t.transactionReason === 'RENEWAL' && status === 1,
    'DID_CHANGE_RENEWAL_PREF/UPGRADE': ({ transaction: t }) =>
      t.transactionReason === 'PURCHASE' && !t.isUpgraded,
    'DID_CHANGE_RENEWAL_PREF/DOWNGRADE': ({ renewal: r }) => r?.autoRenewProductId !== r?.productId,
    'DID_CHANGE_RENEWAL_PREF/-': ({ renewal: r }) => r?.autoRenewProductId === r?.productId,
    'DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED': ({ renewal: r }) => r?.autoRenewStatus === 0,
    'DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED': ({ renewal: r }) => r?.autoRenewStatus === 1,
    'OFFER_REDEEMED/-': ({ renewal: r, transaction: t }) => r?.offerType === 2 && t.offerType !== 2,
    'OFFER_REDEEMED/UPGRADE': ({ transaction: t }) => t.offerType === 2 && t.offerIdentifier !== undefined,
    'DID_FAIL_TO_RENEW/GRACE_PERIOD': ({ status }) => status === 4,
    'DID_FAIL_TO_RENEW/-': ({ status }) => status === 3,
    'GRACE_PERIOD_EXPIRED/-': ({ status }) => status === 3,
    'EXPIRED/VOLUNTARY': ({ renewal: r }) => r?.expirationIntent === 1,
    'EXPIRED/BILLING_RETRY': ({ renewal: r }) => r?.expirationIntent === 2,
    'EXPIRED/PRICE_INCREASE': ({ renewal: r }) => r?.expirationIntent === 3,
    'EXPIRED/PRODUCT_NOT_FOR_SALE': ({ renewal: r }) => r?.expirationIntent === 4,
    'EXPIRED/-': ({ renewal: r }) => r?.expirationIntent === 5,
    'PRICE_INCREASE/PENDING': ({ renewal: r }) => r?.priceIncreaseStatus === 0,
    'PRICE_INCREASE/ACCEPTED': ({ renewal: r }) => r?.priceIncreaseStatus === 1,
    'REFUND/-': ({ transaction: t }) => t.revocationDate !== undefined && t.revocationReason !== undefined,
    'REFUND_REVERSED/-': ({ transaction: t }) =>
      t.revocationDate === undefined && !('revocationPercentage' in t),
    'REVOKE/-': ({ transaction: t }) =>
      t.inAppOwnershipType === 'FAMILY_SHARED' && t.revocationDate !== undefined,
    'CONSUMPTION_REQUEST/-': ({ payload }) => payload.data?.consumptionRequestReason !== undefined,
    'ONE_TIME_CHARGE/-': ({ renewal, status, transaction: t }) =>
      renewal === undefined && status === undefined && t.transactionId === t.originalTransactionId,
    'MIGRATION/-': ({ transaction: t }) => t.previousOriginalTransactionId !== undefined,
  }
  for (const [name, right] of Object.entries(meaning)) {
    const those = everything.flat().filter((a) => nameOf(a.payload) === name)
    expect(those.length, name).toBeGreaterThan(0)
    expect(faults(those, right), name).toEqual([])
  }
})

test('renewals are signed up to a day before they begin, and recovered ones when they do', () => {
  const ahead = about
    .filter((a) => nameOf(a.payload) === 'DID_RENEW/-' && a.transaction.inAppOwnershipType === 'PURCHASED')
    .map((a) => a.transaction.purchaseDate - a.payload.signedDate)
  expect(Math.max(...ahead)).toBeGreaterThan(20 * 3_600_000)
  expect(Math.max(...ahead)).toBeLessThanOrEqual(DAY)
})

test('a lineage keeps its original id through renewals, lapses and changes of product', () => {
  const products = new Map<string, Set<string>>()
  const groups = new Map<string, Set<string>>()
  for (const { transaction: t } of subscriptions) {
    products.set(
      t.originalTransactionId,
      (products.get(t.originalTransactionId) ?? new Set()).add(t.productId),
    )
    const group = (groups.get(t.originalTransactionId) ?? new Set()).add(t.subscriptionGroupIdentifier ?? '')
    groups.set(t.originalTransactionId, group)
  }
  expect([...products.values()].filter((set) => set.size > 1).length).toBeGreaterThan(50)
  expect([...groups.values()].every((set) => set.size === 1)).toBe(true)
})

test('a refund of an older transaction comes with the subscription as it is now', () => {
  const refunds = subscriptions.filter((a) => nameOf(a.payload) === 'REFUND/-')
  const older = refunds.filter(
    (a) => (a.transaction.expiresDate ?? 0) < a.payload.signedDate && a.status === 1,
  )
  const current = refunds.filter((a) => a.status === 5)
  expect(older.length).toBeGreaterThan(5)
  expect(current.length).toBeGreaterThan(20)
  const named = refunds.filter((a) => a.transaction.revocationPercentage !== undefined)
  expect(named.length).toBeLessThan(refunds.length)
  expect(
    named.every(
      (a) =>
        (a.transaction.revocationType === 'REFUND_FULL') === (a.transaction.revocationPercentage === 100_000),
    ),
  ).toBe(true)
})

test('some customers get an appTransactionId later, which joins their lineages', () => {
  const withId = about.filter((a) => a.transaction.appTransactionId !== undefined)
  expect(withId.length / about.length).toBeGreaterThan(0.7)
  const first = new Map<string, boolean>()
  let late = 0
  for (const { transaction: t } of about) {
    const before = first.get(t.originalTransactionId)
    if (before === undefined) first.set(t.originalTransactionId, t.appTransactionId !== undefined)
    else if (!before && t.appTransactionId !== undefined) late += 1
  }
  expect(late).toBeGreaterThan(50)
})

test('some apps give each user a token, one gives all the same, one gives none', () => {
  const tokens = (name: string) => {
    const bundle_id = APPS.find((app) => app.name === name)?.bundle_id
    return about
      .filter((a) => a.transaction.bundleId === bundle_id)
      .flatMap((a) => a.transaction.appAccountToken ?? [])
  }
  expect(new Set(tokens('Tides')).size).toBeGreaterThan(100)
  expect(new Set(tokens('Chord')).size).toBe(1)
  expect(tokens('Margin')).toEqual([])
})

test('offers, commitments and missing prices occur', () => {
  const all = everything.flat().map((a) => a.transaction)
  expect(new Set(all.map((t) => t.offerType))).toEqual(new Set([undefined, 1, 2, 3, 4]))
  const discounts = new Set(all.map((t) => t.offerDiscountType))
  expect(discounts).toEqual(new Set([undefined, 'FREE_TRIAL', 'PAY_AS_YOU_GO', 'PAY_UP_FRONT', 'ONE_TIME']))
  expect(all.some((t) => (t.commitmentInfo?.billingPeriodNumber ?? 0) > 1)).toBe(true)
  expect(all.some((t) => t.price === undefined)).toBe(true)
  expect(new Set(all.map((t) => t.type)).size).toBe(4)
  expect(all.filter((t) => t.offerDiscountType === 'FREE_TRIAL').every((t) => t.price === 0)).toBe(true)
  expect(all.filter((t) => (t.offerType ?? 1) > 1).every((t) => t.offerIdentifier !== undefined)).toBe(true)
})

test('a token of the external purchase program names no environment, and the sandbox one says so in its id', () => {
  const tokens = notifications.flatMap((step) => {
    const token = step.payload.externalPurchaseToken
    return token ? [{ environment: step.environment, id: token.externalPurchaseId, token }] : []
  })
  expect(tokens.map((t) => t.environment === 'sandbox')).toEqual(
    tokens.map((t) => t.id.startsWith('SANDBOX')),
  )
  expect(tokens.every((t) => !('environment' in t.token))).toBe(true)
})

test('signing leaves the unsigned payload as it was', () => {
  const payload = about[0]?.payload
  if (!payload) throw new Error('the history has no notification')
  const before = JSON.stringify(payload)
  signNotification(payload, unsigned.sign)
  expect(JSON.stringify(payload)).toBe(before)
  expect(books.entries.length).toBeGreaterThan(0)
})
