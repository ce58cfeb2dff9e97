/** Effects of prices, periods, currencies, rates and clock changes on a subscription, with the arithmetic. */
import { expect, test } from 'vitest'
import type { TestApp } from '../../helpers.ts'
import { levelsOn, moneyIn, movementsIn } from '../metric_lines.ts'
import { at, figuresIn, openTestLedger } from '../test_ledger.ts'

/** The period of a product in Apple’s list. */
const learn = (app: TestApp, product_id: string, period: string) => {
  const [own] = app.windfall.apps.list()
  return app.windfall.store.commit(() =>
    app.windfall.products.setReportedPeriod(own?.id ?? '', { product_id, period }),
  )
}
const EURO = { currency: 'EUR', storefront: 'DEU', price: 10_000 }

test('an introductory price paid upfront covers the whole offer', async () => {
  const { app, notifyTransaction, getMetric } = await openTestLedger()
  await learn(app, 'monthly', 'P1M')
  const intro = { offerType: 1, offerDiscountType: 'PAY_UP_FRONT', offerPeriod: 'P2M', price: 9_980 }
  await notifyTransaction('1', 0, '2026-03-01', '2026-05-01', intro)
  await notifyTransaction('1', 1, '2026-05-01', '2026-06-05')
  // 9.980 ÷ 2 = 4.990; then 9.990, which is 5.000 more.
  expect(await movementsIn(getMetric)).toEqual(['2026-03-01 new 4990', '2026-05-01 expansion 5000'])
  expect(await levelsOn(getMetric, ['2026-04-30', '2026-05-01'])).toEqual({
    '04-30': [4_990, 1],
    '05-01': [9_990, 1],
  })
  expect(await moneyIn(getMetric)).toEqual(['2026-03-01 new 9980', '2026-05-01 renewal 9990'])
})

test('a pay-as-you-go introductory price covers each period, whatever the offer’s length', async () => {
  const { app, notifyTransaction, getMetric } = await openTestLedger()
  await learn(app, 'monthly', 'P1M')
  const intro = { offerType: 1, offerDiscountType: 'PAY_AS_YOU_GO', offerPeriod: 'P2M', price: 4_990 }
  await notifyTransaction('1', 0, '2026-03-01', '2026-04-01', intro)
  await notifyTransaction('1', 1, '2026-04-01', '2026-05-01', intro)
  await notifyTransaction('1', 2, '2026-05-01', '2026-06-05')
  expect(await movementsIn(getMetric)).toEqual(['2026-03-01 new 4990', '2026-05-01 expansion 5000'])
  expect(await moneyIn(getMetric)).toEqual([
    '2026-03-01 new 4990',
    '2026-04-01 renewal 4990',
    '2026-05-01 renewal 9990',
  ])
  const { series } = await getMetric('mrr?from=2026-04-15&to=2026-05-15&split=offer')
  expect(figuresIn(series, 'milli', { value: 'intro' })['2026-04-15']).toBe(4_990)
  expect(figuresIn(series, 'milli', { value: 'paid' })['2026-05-15']).toBe(9_990)
})

test('a commitment billed monthly counts each month’s price, also where Apple sends the year', async () => {
  const { app, notifyTransaction, getMetric } = await openTestLedger()
  await learn(app, 'yearly', 'P1Y')
  const monthly = { productId: 'yearly', billingPlanType: 'MONTHLY', price: 5_990 }
  await notifyTransaction('1', 0, '2026-03-01', '2026-04-01', monthly)
  await notifyTransaction('1', 1, '2026-04-01', '2026-05-01', monthly)
  await notifyTransaction('1', 2, '2026-05-01', '2026-06-05', monthly)
  await notifyTransaction('2', 0, '2026-03-01', '2027-03-01', { productId: 'yearly', price: 59_880 })
  // 5.990 × 1, and for the year paid upfront 59.880 ÷ 12 = 4.990.
  expect(await levelsOn(getMetric, ['2026-03-15', '2026-05-15'])).toEqual({
    '03-15': [10_980, 2],
    '05-15': [10_980, 2],
  })
})

test('a week is 7 of 30.4375 days', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  const weekly = { productId: 'weekly', price: 2_990 }
  await notifyTransaction('1', 0, '2026-05-18', '2026-05-25', weekly)
  await notifyTransaction('1', 1, '2026-05-25', '2026-06-01', weekly, { autoRenewStatus: 0 })
  // 2.990 × 30.4375 ÷ 7 = 13.00116…, once, not for each week; ends at noon of 1 June, which is now.
  expect(await movementsIn(getMetric)).toEqual(['2026-05-18 new 13001', '2026-06-01 churn_voluntary -13001'])
  expect(await levelsOn(getMetric, ['2026-05-24', '2026-05-31'])).toEqual({
    '05-24': [13_001, 1],
    '05-31': [13_001, 1],
  })
  // × 12 = 156.012
  const { series } = await getMetric('arr?from=2026-05-31&to=2026-05-31')
  expect(figuresIn(series, 'milli')).toEqual({ '2026-05-31': 156_012 })
})

test('a renewal signed a day early counts from its start', async () => {
  const { app, notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-02', '2026-06-02')
  const early = { signedDate: at('2026-06-01T11:00:00Z'), purchaseDate: at('2026-06-01T10:00:00Z') }
  await notifyTransaction('1', 1, '2026-06-02', '2026-07-02', { ...early, price: 19_990 })
  // Charged today, with a higher value from tomorrow noon, when the previous period ends.
  expect(await moneyIn(getMetric)).toEqual(['2026-05-02 new 9990', '2026-06-01 renewal 19990'])
  expect(await movementsIn(getMetric)).toEqual(['2026-05-02 new 9990'])
  expect(await levelsOn(getMetric, ['2026-06-01'])).toEqual({ '06-01': [9_990, 1] })
  app.clock.set(at('2026-06-02T12:00:00Z'))
  const { series } = await getMetric('mrr_movements?from=2026-06-01&to=2026-06-02')
  expect(figuresIn(series, 'milli', { part: 'expansion' })).toEqual({ '2026-06-01': 0, '2026-06-02': 10_000 })
})

test('a subscription with an unknown price has no value until the next price', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  const unknown = { price: undefined, currency: undefined }
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', unknown)
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10')
  await notifyTransaction('1', 2, '2026-05-10', '2026-06-10')
  expect(await levelsOn(getMetric, ['2026-04-09', '2026-04-10'])).toEqual({
    '04-09': [0, 1],
    '04-10': [9_990, 1],
  })
  expect(await movementsIn(getMetric)).toEqual(['2026-04-10 repriced 9990'])
  // The purchase of March is not zero but counted separately.
  const { series } = await getMetric('revenue?interval=month&from=2026-03-01&to=2026-04-30')
  expect(figuresIn(series, 'count', { part: 'unpriced' })).toEqual({ '2026-03-01': 1, '2026-04-01': 0 })
  expect(figuresIn(series, 'milli')).toEqual({ '2026-03-01': 0, '2026-04-01': 9_990 })
  // Sent again with its price: it counts from the first day on.
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', { signedDate: at('2026-05-20') })
  expect(await movementsIn(getMetric)).toEqual(['2026-03-10 new 9990'])
  expect((await moneyIn(getMetric))[0]).toBe('2026-03-10 new 9990')
})

test('a currency change switches out of one currency and into the other, and is a contraction in the base', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger({
    rates: ['2026-03-10,EUR,0.5', '2026-04-10,EUR,0.5'],
  })
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', EURO)
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10')
  await notifyTransaction('1', 2, '2026-05-10', '2026-06-10')
  // A euro is two dollars: 20.000 were paid, and now 9.990.
  expect(await movementsIn(getMetric)).toEqual(['2026-03-10 new 20000', '2026-04-10 contraction -10010'])
  expect(await movementsIn(getMetric, '&currency=EUR')).toEqual([
    '2026-03-10 new 10000',
    '2026-04-10 switched_out -10000',
  ])
  expect(await movementsIn(getMetric, '&currency=USD')).toEqual(['2026-04-10 switched_in 9990'])
  expect(await levelsOn(getMetric, ['2026-04-09', '2026-04-10'])).toEqual({
    '04-09': [20_000, 1],
    '04-10': [9_990, 1],
  })
})

test('a rate change moves a renewed value through the rate alone', async () => {
  const rates = ['2026-03-10,EUR,0.5', '2026-04-10,EUR,0.4', '2026-05-10,EUR,0.4']
  const { notifyTransaction, getMetric } = await openTestLedger({ rates })
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', EURO)
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10', EURO)
  await notifyTransaction('1', 2, '2026-05-10', '2026-06-10', { ...EURO, price: 12_000 })
  // 10.000 euros: ÷ 0.5 = 20.000 dollars, ÷ 0.4 = 25.000. Then 2.000 euros more: ÷ 0.4 = 5.000.
  expect(await movementsIn(getMetric)).toEqual([
    '2026-03-10 new 20000',
    '2026-04-10 fx 5000',
    '2026-05-10 expansion 5000',
  ])
  expect(await moneyIn(getMetric)).toEqual([
    '2026-03-10 new 20000',
    '2026-04-10 renewal 25000',
    '2026-05-10 renewal 30000',
  ])
  expect(await movementsIn(getMetric, '&currency=EUR')).toEqual([
    '2026-03-10 new 10000',
    '2026-05-10 expansion 2000',
  ])
})

test('a subscription across midnight and a clock change counts in its organization’s days', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger({ time_zone: 'Europe/Berlin' })
  // Berlin is an hour before UTC until 29 March, then two: 22:30 UTC is 23:30, and then 0:30 of the next day.
  await notifyTransaction('1', 0, '2026-02-28T22:30:00Z', '2026-03-28T22:30:00Z')
  await notifyTransaction('1', 1, '2026-03-28T22:30:00Z', '2026-04-28T22:30:00Z', {}, { autoRenewStatus: 0 })
  expect(await moneyIn(getMetric)).toEqual(['2026-02-28 new 9990', '2026-03-28 renewal 9990'])
  expect(await movementsIn(getMetric)).toEqual(['2026-02-28 new 9990', '2026-04-29 churn_voluntary -9990'])
  expect(
    await levelsOn(getMetric, ['2026-02-27', '2026-02-28', '2026-03-29', '2026-04-28', '2026-04-29']),
  ).toEqual({
    '02-27': [0, 0],
    '02-28': [9_990, 1],
    '03-29': [9_990, 1],
    '04-28': [9_990, 1],
    '04-29': [0, 0],
  })
  // In California it is 14:30, then 15:30 of the previous day.
  expect(await movementsIn(getMetric, '&zone=pacific')).toEqual([
    '2026-02-28 new 9990',
    '2026-04-28 churn_voluntary -9990',
  ])
})
