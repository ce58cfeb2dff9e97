/** The funnel from download to payment: from reports, from the ledger, and unknown. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { dataBody, outerPayload, transactionPayload } from '../../apple/samples.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { DAY, download, sale, subscriptionEvent } from '../../ledger/reports/samples.ts'
import { at, figuresIn, months, openTestLedger } from '../test_ledger.ts'

const FREE = { 'Subscription Offer Type': 'Free Trial', 'Consecutive Paid Periods': '0' }
const RANGE = 'zone=pacific&from=2026-04-30&to=2026-05-02'

/** One day of reports, 1 May: 7 downloads, 5 new trials, 2 converted and 1 lost trial, 3 direct payments. */
async function openReported() {
  const apple = await openApple()
  const app = await apple.openWindfall()
  apple.setReply('sales', DAY, [
    download(),
    download({ 'Country Code': 'DE', Units: '2' }),
    download({ 'Product Type Identifier': '7F', Units: '40' }),
    sale(),
  ])
  apple.setReply('subscription_event', DAY, [
    subscriptionEvent({ Event: 'Start Introductory Offer', ...FREE, Quantity: '5' }),
    subscriptionEvent({ Event: 'Subscribe', Quantity: '3' }),
    subscriptionEvent({ Event: 'Opt-In', Quantity: '4' }),
    subscriptionEvent({ Event: 'Reactivate', Quantity: '6' }),
    subscriptionEvent({ Event: 'Start Promotional Offer', ...FREE, Quantity: '8' }),
    subscriptionEvent({
      Event: 'Paid Subscription from Introductory Offer',
      Quantity: '2',
      'Consecutive Paid Periods': '1',
    }),
    subscriptionEvent({ Event: 'Cancel', ...FREE, 'Cancellation Reason': 'Canceled', Quantity: '1' }),
  ])
  await app.imports.run({ days: 1 })
  await app.windfall.reported.settled()
  const headers = { authorization: `Bearer ${await app.token()}` }
  const get = (path: string) => app.request(`/api/v1/metrics/${path}`, { headers })
  const getMetric = async (path: string) => (await (await get(path)).json()) as SeriesAnswer
  return { ...app, get, getMetric }
}

const days = <Value>(...[before, day, after]: [Value, Value, Value]): Record<string, Value> => ({
  '2026-04-30': before,
  '2026-05-01': day,
  '2026-05-02': after,
})

test('reports provide downloads, and the funnel before the ledger began; the rest is a gap', async () => {
  const { getMetric, get } = await openReported()
  const downloads = await getMetric(`downloads?${RANGE}`)
  expect(figuresIn(downloads.series, 'count')).toEqual(days(null, 7, null))
  expect(figuresIn(downloads.series, 'complete')).toEqual(days(false, true, false))
  expect(downloads.sources).toMatchObject([
    { measure: 'downloads', source: 'reports', from_on: DAY, until_on: DAY },
  ])
  const split = await getMetric(`downloads?${RANGE}&split=country`)
  expect(split.series.map(({ value, points }) => [value, points[1]?.count])).toEqual([
    ['USA', 5],
    ['DEU', 2],
  ])
  const first = await getMetric(`first_payments?${RANGE}`)
  expect(figuresIn(first.series, 'count')).toEqual(days(null, 5, null))
  expect(figuresIn(first.series, 'count', { part: 'after_trial' })).toEqual(days(null, 2, null))
  expect(figuresIn(first.series, 'count', { part: 'direct' })).toEqual(days(null, 3, null))
  const trial = await getMetric(`download_to_trial?${RANGE}`)
  // 5 ÷ 7
  expect(figuresIn(trial.series, 'ratio')).toEqual(days(null, 0.714286, null))
  expect(figuresIn(trial.series, 'denominator')).toEqual(days(null, 7, null))
  expect(figuresIn((await getMetric(`download_to_paid?${RANGE}`)).series, 'ratio')).toEqual(
    days(null, 0.714286, null),
  )
  // 2 of the 3 that ended.
  expect(figuresIn((await getMetric(`trial_conversion?${RANGE}`)).series, 'ratio')).toEqual(
    days(null, 0.666667, null),
  )
  // A month has what is known; no report has trial outcomes by start.
  const month = await getMetric('downloads?interval=month&from=2026-05-01')
  expect(month.series[0]?.points).toEqual([{ on: '2026-05-01', count: 7, complete: false }])
  const cohort = await getMetric(`trial_conversion?${RANGE}&view=cohort`)
  expect(figuresIn(cohort.series, 'ratio')).toEqual(days(null, null, null))

  const lines = (await (await get(`downloads.csv?${RANGE}`)).text()).trimEnd().split('\r\n')
  expect(lines.slice(1).map((line) => line.split(',').slice(2, 3).concat(line.split(',').slice(8)))).toEqual([
    ['2026-04-30', '', '', '', '', '', '', 'false', '', 'calendar', 'no_reports'],
    ['2026-05-01', '', '', '7', '', '', '', 'true', '', 'calendar', ''],
    ['2026-05-02', '', '', '', '', '', '', 'false', '', 'calendar', 'no_reports'],
  ])
})

/** A notification of a trial that began on 2 May, which no report has yet. */
async function notifyTrial({ notify, authority }: Awaited<ReturnType<typeof openReported>>) {
  const [from, to] = [at('2026-05-02'), at('2026-05-09')]
  const trial = transactionPayload({
    transactionId: '1000',
    originalTransactionId: '1000',
    transactionReason: 'PURCHASE',
    price: 0,
    purchaseDate: from,
    originalPurchaseDate: from,
    signedDate: from,
    expiresDate: to,
    offerType: 1,
    offerDiscountType: 'FREE_TRIAL',
    offerPeriod: 'P1W',
  })
  const body = dataBody({ signedTransactionInfo: authority.sign(trial) })
  const outer = { notificationUUID: randomUUID(), signedDate: from, notificationType: 'SUBSCRIBED' }
  expect((await notify(outerPayload(body, outer))).status).toBe(200)
}

test('a ratio over downloads counts only the days that a download report covers', async () => {
  const reported = await openReported()
  await notifyTrial(reported)
  const { getMetric } = reported
  // Five trials on the day of the report, one on the day after it.
  const trials = await getMetric(`new_trials?${RANGE}`)
  expect(figuresIn(trials.series, 'count')).toEqual(days(null, 5, 1))
  // 5 ÷ 7 by the day; the week, the month and the fiscal month of both days have the same.
  const point = { numerator: 5, denominator: 7, ratio: 0.714286 }
  const day = await getMetric(`download_to_trial?${RANGE}`)
  expect(day.series[0]?.points).toMatchObject([{ numerator: null }, point, { numerator: null }])
  for (const interval of ['week', 'month', 'fiscal_month']) {
    const { series } = await getMetric(`download_to_trial?zone=pacific&from=${DAY}&interval=${interval}`)
    expect(series[0]?.points[0], interval).toMatchObject({ ...point, complete: false })
    const split = await getMetric(`download_to_trial?zone=pacific&from=${DAY}&interval=${interval}&split=app`)
    expect(split.series[0]?.points[0], interval).toMatchObject(point)
  }
})

test('sandbox downloads are unknown, and a level before the reports is a gap', async () => {
  const { getMetric } = await openReported()
  const sandbox = await getMetric(`downloads?${RANGE}&environment=sandbox`)
  expect(figuresIn(sandbox.series, 'count')).toEqual(days(null, null, null))
  for (const metric of ['revenue', 'new_trials', 'status', 'mrr_at_risk']) {
    const { series } = await getMetric(`${metric}?${RANGE}`)
    const [before] = series[0]?.points ?? []
    expect([before?.milli ?? null, before?.count, before?.complete]).toEqual([null, null, false])
  }
})

test('the ledger provides first payments, with and without a trial', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  const trial = { offerType: 1, offerDiscountType: 'FREE_TRIAL', offerPeriod: 'P1W', price: 0 }
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10')
  await notifyTransaction('2', 0, '2026-04-01', '2026-04-08', trial)
  await notifyTransaction('2', 1, '2026-04-08', '2026-05-08')
  // Lost after its trial, and paid a month later.
  await notifyTransaction('3', 0, '2026-04-01', '2026-04-08', trial, { autoRenewStatus: 0 })
  await notifyTransaction('3', 1, '2026-05-08', '2026-06-08', { transactionReason: 'PURCHASE' })
  // It began before the first notification: its first payment is unknown.
  await notifyTransaction('4', 3, '2026-04-20', '2026-05-20')
  const { series, sources } = await getMetric('first_payments?interval=month&from=2026-03-01&to=2026-06-01')
  expect(figuresIn(series, 'count')).toEqual(months(1, 1, 1, 0))
  expect(figuresIn(series, 'count', { part: 'after_trial' })).toEqual(months(0, 1, 0, 0))
  expect(figuresIn(series, 'count', { part: 'direct' })).toEqual(months(1, 0, 1, 0))
  expect(sources).toEqual([])
  // Without reports downloads are unknown.
  const shares = await getMetric('download_to_paid?interval=month&from=2026-03-01&to=2026-06-01')
  expect(figuresIn(shares.series, 'numerator')).toEqual(months(null, null, null, null))
})

test('a payment after a trial counts at its own product and country, the conversion at those of the trial', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  const trial = { offerType: 1, offerDiscountType: 'FREE_TRIAL', offerPeriod: 'P1W', price: 0 }
  await notifyTransaction('1', 0, '2026-04-01', '2026-04-08', trial)
  const year = { productId: 'yearly', storefront: 'DEU', price: 99_990 }
  await notifyTransaction('1', 1, '2026-04-08', '2027-04-08', year)
  const april = 'interval=month&from=2026-04-01&to=2026-04-30'
  const splitOf = async (metric: string, split: string) => {
    const { series } = await getMetric(`${metric}?${april}&split=${split}`)
    return series.map(({ value, points: [point] }) => [value, point?.count ?? point?.numerator])
  }
  expect(await splitOf('first_payments', 'product')).toEqual([['yearly', 1]])
  expect(await splitOf('first_payments', 'country')).toEqual([['DEU', 1]])
  expect(await splitOf('first_payments', 'period')).toEqual([['P1Y', 1]])
  expect(await splitOf('trial_conversion', 'product')).toEqual([['monthly', 1]])
  const { series } = await getMetric(`first_payments?${april}&product=yearly`)
  expect(series.map(({ part, points: [point] }) => [part, point?.count])).toEqual([
    [null, 1],
    ['after_trial', 1],
  ])
})

test('a split of pending trials has zeros where none is pending', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  const trial = { offerType: 1, offerDiscountType: 'FREE_TRIAL', offerPeriod: 'P1W', price: 0 }
  await notifyTransaction('1', 0, '2026-04-01', '2026-04-08', trial)
  await notifyTransaction('1', 1, '2026-04-08', '2026-05-08')
  const april = 'interval=month&from=2026-04-01&to=2026-04-30&view=cohort'
  const { series } = await getMetric(`trial_conversion?${april}&split=product&part=pending`)
  expect(series).toMatchObject([
    { value: 'monthly', part: 'pending', points: [{ numerator: 0, denominator: 1, ratio: 0 }] },
  ])
})
