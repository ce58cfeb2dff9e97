/** Single customers, posted to Windfall as Apple does, with the arithmetic of their figures. */
import { expect, test } from 'vitest'
import { levelsOn, moneyIn, movementsIn } from '../metric_lines.ts'
import { at, figuresIn, openTestLedger } from '../test_ledger.ts'

const TRIAL = { offerType: 1, offerDiscountType: 'FREE_TRIAL', offerPeriod: 'P1W', price: 0 }
const CANCELLED = { autoRenewStatus: 0, expirationIntent: 1 }
const YEARLY = { productId: 'yearly' }
const BOUGHT = { transactionReason: 'PURCHASE' }

test('a trial, a payment, a grace period and a recovery are one subscription throughout', async () => {
  const { notifyTransaction, getMetric, get } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-03-01', '2026-03-08', TRIAL)
  await notifyTransaction('1', 1, '2026-03-08', '2026-04-08')
  const grace = { gracePeriodExpiresDate: at('2026-04-24'), isInBillingRetryPeriod: true }
  await notifyTransaction('1', 1, '2026-03-08', '2026-04-08', {}, { ...grace, signedDate: at('2026-04-08') })
  await notifyTransaction('1', 2, '2026-04-12', '2026-05-12')
  await notifyTransaction('1', 3, '2026-05-12', '2026-06-12')
  expect(await movementsIn(getMetric)).toEqual(['2026-03-08 new 9990'])
  // A trial has no value; from 8 to 12 April a grace period keeps it active.
  expect(
    await levelsOn(getMetric, ['2026-03-07', '2026-03-08', '2026-04-07', '2026-04-10', '2026-04-12']),
  ).toEqual({
    '03-07': [0, 0],
    '03-08': [9_990, 1],
    '04-07': [9_990, 1],
    '04-10': [9_990, 1],
    '04-12': [9_990, 1],
  })
  expect(await moneyIn(getMetric)).toEqual([
    '2026-03-08 new 9990',
    '2026-04-12 renewal 9990',
    '2026-05-12 renewal 9990',
  ])
  // One trial ended and was paid. One payment failed and was collected 4 whole days late: on the 5th day.
  const { series } = await getMetric('trial_conversion?interval=month&from=2026-03-01&to=2026-03-31')
  expect(series[0]?.points[0]).toMatchObject({ numerator: 1, denominator: 1, ratio: 1 })
  const recovery = (await (await get('cohorts?metric=recovery&from=2026-04-01')).json()) as object
  expect(recovery).toMatchObject({
    cohorts: [{ cohort: '2026-04-01', failed: 1, recovered: 1, lost: 0, pending: 0, days_to_recover: 5 }],
  })
})

test('a past grace period stays time of the subscription', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  const grace = { gracePeriodExpiresDate: at('2026-04-26'), isInBillingRetryPeriod: true }
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', {}, { ...grace, signedDate: at('2026-04-10') })
  // The newest info no longer contains the grace period.
  const over = { signedDate: at('2026-04-26'), expirationIntent: 2, isInBillingRetryPeriod: true }
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', {}, over)
  expect(await movementsIn(getMetric)).toEqual(['2026-03-10 new 9990', '2026-04-26 churn_billing -9990'])
  expect(await levelsOn(getMetric, ['2026-04-10', '2026-04-25', '2026-04-26'])).toEqual({
    '04-10': [9_990, 1],
    '04-25': [9_990, 1],
    '04-26': [0, 0],
  })
})

test('an upgrade within a period is an expansion, and the unused half is prorated', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-04-01', '2026-05-01', { price: 10_000, isUpgraded: true })
  await notifyTransaction('1', 1, '2026-04-16', '2027-04-16', { ...YEARLY, ...BOUGHT, price: 179_880 })
  // 179.880 ÷ 12 = 14.990, which is 4.990 more.
  expect(await movementsIn(getMetric)).toEqual(['2026-04-01 new 10000', '2026-04-16 expansion 4990'])
  expect(await levelsOn(getMetric, ['2026-04-15', '2026-04-16'])).toEqual({
    '04-15': [10_000, 1],
    '04-16': [14_990, 1],
  })
  // 15 of 30 days: 10.000 × 15 ÷ 30.
  expect(await moneyIn(getMetric)).toEqual([
    '2026-04-01 new 10000',
    '2026-04-16 proration -5000',
    '2026-04-16 renewal 179880',
  ])
})

test('a downgrade at the renewal is a contraction without a proration', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2025-04-01', '2026-04-01', { ...YEARLY, price: 119_880 })
  await notifyTransaction('1', 1, '2026-04-01', '2026-05-01', { price: 4_990 })
  await notifyTransaction('1', 2, '2026-05-01', '2026-06-05', { price: 4_990 })
  expect(await moneyIn(getMetric)).toEqual([
    '2025-04-01 new 119880',
    '2026-04-01 renewal 4990',
    '2026-05-01 renewal 4990',
  ])
  // 119.880 ÷ 12 = 9.990, which was 5.000 more.
  expect(await movementsIn(getMetric)).toEqual(['2025-04-01 new 9990', '2026-04-01 contraction -5000'])
})

/** Three months of one subscription; `refund` describes the refund of the first. */
async function threeMonths(refund: Record<string, unknown>) {
  const ledger = await openTestLedger()
  const { notifyTransaction } = ledger
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10')
  await notifyTransaction('1', 2, '2026-05-10', '2026-06-10')
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', { signedDate: at('2026-05-20'), ...refund })
  return ledger
}
const REFUND = { revocationDate: at('2026-05-20'), revocationReason: 0 }

test('a refund of an old period reduces revenue and does not affect the subscription', async () => {
  const { getMetric } = await threeMonths({ ...REFUND, revocationPercentage: 100_000 })
  expect(await movementsIn(getMetric)).toEqual(['2026-03-10 new 9990'])
  expect(await levelsOn(getMetric, ['2026-04-01', '2026-05-20'])).toEqual({
    '04-01': [9_990, 1],
    '05-20': [9_990, 1],
  })
  const charged = ['2026-03-10 new 9990', '2026-04-10 renewal 9990', '2026-05-10 renewal 9990']
  expect(await moneyIn(getMetric)).toEqual([...charged, '2026-05-20 refunds -9990'])
  // By the day of the purchase it counts in March.
  expect(await moneyIn(getMetric, '&refunds=purchase_day')).toEqual(
    [...charged, '2026-03-10 refunds -9990'].sort(),
  )
  // The only transaction of March, refunded at any time; none of April and May.
  const { series } = await getMetric('refund_rate?interval=month&from=2026-03-01&to=2026-05-31')
  expect(figuresIn(series, 'ratio')).toEqual({ '2026-03-01': 1, '2026-04-01': 0, '2026-05-01': 0 })
})

test('a partial refund returns the share that Apple names, and ends its transaction', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-04-01', '2026-05-01')
  const part = { revocationPercentage: 40_000, revocationType: 'REFUND_PRORATED', revocationReason: 0 }
  const on = { revocationDate: at('2026-04-15'), signedDate: at('2026-04-15') }
  await notifyTransaction('1', 0, '2026-04-01', '2026-05-01', { ...part, ...on })
  // 9.990 × 40 % = 3.996
  expect(await moneyIn(getMetric)).toEqual(['2026-04-01 new 9990', '2026-04-15 refunds -3996'])
  expect(await movementsIn(getMetric)).toEqual(['2026-04-01 new 9990', '2026-04-15 churn_refund -9990'])
})

test('a reversed refund has no effect', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10')
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10', { ...REFUND, signedDate: at('2026-05-20') })
  expect(await movementsIn(getMetric)).toEqual(['2026-05-10 new 9990', '2026-05-20 churn_refund -9990'])
  expect(await moneyIn(getMetric)).toEqual(['2026-05-10 new 9990', '2026-05-20 refunds -9990'])
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10', { signedDate: at('2026-05-25') })
  expect(await movementsIn(getMetric)).toEqual(['2026-05-10 new 9990'])
  expect(await moneyIn(getMetric)).toEqual(['2026-05-10 new 9990'])
  expect(await levelsOn(getMetric, ['2026-05-22', '2026-05-31'])).toEqual({
    '05-22': [9_990, 1],
    '05-31': [9_990, 1],
  })
})

test('a return with another product is a resubscription at that product’s value', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction(
    '1',
    0,
    '2026-03-01',
    '2026-04-01',
    {},
    { ...CANCELLED, signedDate: at('2026-04-01') },
  )
  await notifyTransaction('1', 1, '2026-04-20', '2026-05-20', {
    ...BOUGHT,
    productId: 'monthly_max',
    price: 19_990,
  })
  await notifyTransaction('1', 2, '2026-05-20', '2026-06-20', { productId: 'monthly_max', price: 19_990 })
  expect(await movementsIn(getMetric)).toEqual([
    '2026-03-01 new 9990',
    '2026-04-01 churn_voluntary -9990',
    '2026-04-20 resubscribe 19990',
  ])
  expect(await levelsOn(getMetric, ['2026-03-31', '2026-04-19', '2026-04-20'])).toEqual({
    '03-31': [9_990, 1],
    '04-19': [0, 0],
    '04-20': [19_990, 1],
  })
  // The one subscription active at the start of April is not lost: it returns within the month.
  const { series } = await getMetric('churn_rate?interval=month&from=2026-04-01&to=2026-04-30')
  expect(series[0]?.points[0]).toMatchObject({ numerator: 0, denominator: 1, ratio: 0 })
})

test('family sharing does not count', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-04-01', '2026-07-01', { price: 29_970 })
  await notifyTransaction('2', 0, '2026-04-01', '2026-07-01', {
    price: 29_970,
    inAppOwnershipType: 'FAMILY_SHARED',
  })
  // 29.970 ÷ 3, of the one who bought it.
  expect(await levelsOn(getMetric, ['2026-04-01'])).toEqual({ '04-01': [9_990, 1] })
  expect(await moneyIn(getMetric)).toEqual(['2026-04-01 new 29970'])
})
