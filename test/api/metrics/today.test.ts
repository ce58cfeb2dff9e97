import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { OverviewAnswer } from '../../../src/metrics/series/overview.ts'
import type { Point } from '../../../src/metrics/series/points.ts'
import { dataBody, outerPayload, renewalPayload, transactionPayload } from '../../apple/samples.ts'
import { reportPrices } from '../../metrics/reported_price.ts'
import { at, figuresIn, openTestLedger } from '../../metrics/test_ledger.ts'

type Counted = { count: number; milli?: number }
type TodayAnswer = Record<string, unknown> & {
  revenue: Point
  usual: { milli: number | null; weeks: number; weekday: string; days: Point[] }
  sales: Counted
  renewals: Counted
  refunds: Counted
  mrr: Counted & { change_milli: number; no_period: number; points: Point[] }
  yesterday: { gross: Point; proceeds: Point; proceeds_known: object; estimated_share: number }
  code?: string
}

/** Noon of 2026-06-01, a Monday: two Mondays before had one charge each, and today has some of everything. */
async function openToday() {
  const ledger = await openTestLedger({ heard_at: at('2026-04-30') })
  const { app, notifyTransaction, get } = ledger
  await notifyTransaction('1', 0, '2026-05-18', '2026-06-18')
  await notifyTransaction('2', 0, '2026-05-25', '2026-06-25', { price: 4_990 })
  await notifyTransaction('3', 0, '2026-05-31', '2026-06-30')
  await notifyTransaction('4', 0, '2026-04-30', '2026-05-30')
  await notifyTransaction('4', 1, '2026-06-01T08:00:00Z', '2026-07-01')
  await notifyTransaction('5', 0, '2026-06-01T09:00:00Z', '2026-07-01')
  await notifyTransaction('6', 0, '2026-06-01T10:00:00Z', null, { type: 'Non-Consumable', price: 990 })
  await notifyTransaction('7', 0, '2026-06-01T10:00:00Z', '2026-06-08', {
    offerType: 1,
    offerDiscountType: 'FREE_TRIAL',
    price: 0,
  })
  await notifyTransaction('3', 0, '2026-05-31', '2026-06-30', {
    revocationDate: Date.parse('2026-06-01T11:00:00Z'),
    revocationReason: 0,
    signedDate: Date.parse('2026-06-01T11:00:00Z'),
  })
  const today = async (query = '') => {
    const response = await get(`today${query}`)
    return { status: response.status, body: (await response.json()) as TodayAnswer }
  }
  /** The renewal of lineage `id` was turned off at an instant. */
  async function turnOff(id: string, signedDate: number, environment = 'Production') {
    const names = { originalTransactionId: `${id}000`, signedDate, environment }
    const inside = {
      environment,
      signedTransactionInfo: app.authority.sign(transactionPayload({ ...names, transactionId: `${id}000` })),
      signedRenewalInfo: app.authority.sign(renewalPayload({ ...names, autoRenewStatus: 0 })),
    }
    const fields = { notificationType: 'DID_CHANGE_RENEWAL_STATUS', subtype: 'AUTO_RENEW_DISABLED' }
    const outer = { notificationUUID: randomUUID(), signedDate, ...fields }
    expect((await app.notify(outerPayload(dataBody(inside), outer))).status).toBe(200)
  }
  return { ...ledger, today, turnOff }
}

test('today has the same figures as the metrics', async () => {
  const { today, getMetric } = await openToday()
  for (const basis of ['gross', 'proceeds']) {
    const { body } = await today(`?basis=${basis}`)
    const revenue = await getMetric(`revenue?from=2026-06-01&basis=${basis}`)
    const part = (name: string) => figuresIn(revenue.series, 'milli', { part: name })['2026-06-01']
    expect(body.revenue).toEqual(revenue.series[0]?.points[0])
    expect(body.renewals.milli).toBe(part('renewal'))
    expect(body.refunds.milli).toBe(part('refunds'))
    expect(body.sales.milli).toBe((part('new') ?? 0) + (part('one_time') ?? 0))
    const mrr = await getMetric(`mrr?from=2026-05-02&basis=${basis}`)
    expect(body.mrr.points).toEqual(mrr.series[0]?.points)
    expect(body.mrr.points).toHaveLength(31)
  }
})

test('counts today’s sales, trials, renewals and refunds', async () => {
  const { today } = await openToday()
  const { body } = await today()
  expect(body).toMatchObject({
    today_on: '2026-06-01',
    yesterday_on: '2026-05-31',
    currency: 'USD',
    basis: 'gross',
    day_gone: 0.5,
    // 9.990 renewed, 9.990 and 0.990 were sold, 9.990 was given back.
    revenue: { milli: 10_980, complete: false },
    sales: { count: 2, milli: 10_980 },
    trials: { count: 1 },
    renewals: { count: 1, milli: 9_990 },
    refunds: { count: 1, milli: -9_990 },
    cancellations: { count: 0 },
  })
})

test('counts cancellations of this environment and day only', async () => {
  const { today, turnOff } = await openToday()
  await turnOff('1', Date.parse('2026-06-01T00:00:00Z'))
  await turnOff('2', Date.parse('2026-05-31T23:59:59Z'))
  await turnOff('2', Date.parse('2026-06-01T11:00:00Z'))
  await turnOff('1', Date.parse('2026-06-01T11:00:00Z'), 'Sandbox')
  expect((await today()).body).toMatchObject({ cancellations: { count: 2 } })
  expect((await today('?environment=sandbox')).body).toMatchObject({ cancellations: { count: 1 } })
})

test('the usual value is the mean of the known same weekdays', async () => {
  const { today } = await openToday()
  const { usual } = (await today()).body
  // Known since 2026-04-30: Mondays from 4 May on, with 0, 0, 9.990 and 4.990.
  expect(usual).toMatchObject({ milli: 3_745, weeks: 4, weekday: 'monday', of: 'whole_day' })
  expect(usual.days.map(({ on, milli }) => [on, milli])).toEqual([
    ['2026-05-25', 4_990],
    ['2026-05-18', 9_990],
    ['2026-05-11', 0],
    ['2026-05-04', 0],
  ])
  const { get } = await openTestLedger({ heard_at: null })
  expect(((await (await get('today')).json()) as TodayAnswer).usual).toMatchObject({ milli: null, weeks: 0 })
})

test('returns yesterday gross and in proceeds, with the estimated share', async () => {
  const { today, getMetric } = await openToday()
  const { yesterday } = (await today('?basis=proceeds')).body
  expect(yesterday.gross).toMatchObject({ on: '2026-05-31', milli: 9_990 })
  // No report has told a price: 30 % off.
  expect(yesterday.proceeds).toMatchObject({ on: '2026-05-31', milli: 6_993 })
  expect(yesterday.estimated_share).toBe(1)
  const { series, proceeds_known } = await getMetric('revenue?from=2026-05-31&to=2026-05-31&basis=proceeds')
  expect(yesterday.proceeds).toEqual(series[0]?.points[0])
  expect(yesterday.proceeds_known).toEqual(proceeds_known)
})

test('a reversed refund adds its proceeds again, with their certainty', async () => {
  const { app, today, notifyTransaction } = await openToday()
  // A report has what is left of a charge in the United States: 8.00. The refund in Germany is estimated.
  const price = { product_id: 'monthly', storefront: 'USA', price_milli: 9_990 }
  await reportPrices(app.windfall, '2026-05-31', [{ ...price, units: 2, proceeds_milli: 16_000 }])
  const notify = (signed: string, more: Record<string, unknown>, type: string) => {
    const fields = { storefront: 'DEU', storefrontId: '143443', signedDate: at(signed), ...more }
    return notifyTransaction('8', 0, '2026-05-20', '2026-06-20', fields, {}, type)
  }
  await notify('2026-05-20', {}, 'SUBSCRIBED')
  await notify('2026-05-25', { revocationDate: at('2026-05-25'), revocationReason: 0 }, 'REFUND')
  await notify('2026-05-31', {}, 'REFUND_REVERSED')
  const { yesterday } = (await today('?basis=proceeds')).body
  expect(yesterday.proceeds_known).toEqual({ exact: 8_000, ratio: 0, estimated: 6_993 })
  expect(yesterday.estimated_share).toBeCloseTo(6_993 / 14_993, 5)
})

test('uses days in the requested time zone', async () => {
  const { today, app } = await openToday()
  app.clock.set(Date.parse('2026-06-02T03:00:00Z'))
  expect((await today('?zone=pacific')).body).toMatchObject({ today_on: '2026-06-01', day_gone: 0.833333 })
  expect((await today()).body).toMatchObject({ today_on: '2026-06-02', day_gone: 0.125 })
})

test.each([
  ['25 hours', '2026-11-01T16:30:00Z', '2026-11-01'],
  ['23 hours', '2027-03-14T16:30:00Z', '2027-03-14'],
])('of a day of %s half is over when half of its hours are', async (_, now, today_on) => {
  const { app, get } = await openTestLedger({ time_zone: 'America/New_York' })
  app.clock.set(Date.parse(now))
  expect(await (await get('today')).json()).toMatchObject({ today_on, day_gone: 0.5 })
})

test.each([
  ['?basis=net', 400, 'invalid_request'],
  ['?currency=dollars', 400, 'invalid_request'],
  ['?zone=moon', 400, 'invalid_request'],
  ['?split=app', 400, 'invalid_request'],
  ['?app=com.example.none', 404, 'unknown_app'],
])('%s is refused', async (query, status, code) => {
  const { today } = await openToday()
  expect(await today(query)).toMatchObject({ status, body: { code } })
})

test('refuses a request without a token', async () => {
  const { get } = await openToday()
  expect((await get('today', 'wf_nothing')).status).toBe(401)
})

test('reports a subscription with an unknown period until the period is known', async () => {
  const { app, getMetric, get, today } = await openToday()
  const sandbox = { environment: 'Sandbox', originalTransactionId: '9000' }
  const buy = async (transactionId: string, price: number | undefined, currency: string | undefined) => {
    const names = { ...sandbox, transactionId, originalTransactionId: transactionId }
    const sold = { productId: 'monthly', price, currency, transactionReason: 'PURCHASE' }
    const inside = {
      environment: 'Sandbox',
      signedTransactionInfo: app.authority.sign(transactionPayload({ ...names, ...sold })),
      signedRenewalInfo: app.authority.sign(renewalPayload({ ...names, signedDate: app.clock() })),
    }
    const outer = { notificationType: 'SUBSCRIBED', notificationUUID: randomUUID() }
    expect((await app.notify(outerPayload(dataBody(inside), outer))).status).toBe(200)
  }
  await buy('9000', 9_990, 'USD')
  await buy('9001', undefined, undefined)
  const on = `from=2026-06-01&environment=sandbox`
  const counts = async () => {
    const { series } = await getMetric(`mrr?${on}`)
    return series.map(({ part, points: [point] }) => [part, point?.milli ?? null, point?.count])
  }
  expect(await counts()).toEqual([
    [null, 0, 2],
    ['no_period', null, 2],
  ])
  expect((await getMetric(`arr?${on}&part=no_period`)).series.map(({ part }) => part)).toEqual(['no_period'])
  expect((await getMetric(`mrr?${on}&period=P1M`)).series.map(({ part }) => part)).toEqual([null])
  const overview = (await (await get('overview?environment=sandbox')).json()) as OverviewAnswer
  const figures = overview.organizations[0]?.figures.filter(({ metric }) => metric === 'mrr')
  expect(figures?.map(({ part, now }) => [part, now.count])).toEqual([
    [null, 2],
    ['unpriced', 0],
    ['no_period', 2],
  ])
  expect((await today('?environment=sandbox')).body.mrr).toMatchObject({ milli: 0, count: 2, no_period: 2 })
  const { products, store, metrics, apps } = app.windfall
  const app_id = apps.list()[0]?.id ?? ''
  await store.commit(() => products.setReportedPeriod(app_id, { product_id: 'monthly', period: 'P1M' }))
  await metrics.whenCurrent()
  expect(await counts()).toEqual([
    [null, 9_990, 2],
    ['unpriced', null, 1],
  ])
  expect((await today('?environment=sandbox')).body.mrr).toMatchObject({ milli: 9_990, no_period: 0 })
})
