import { expect, test } from 'vitest'
import type { OverviewAnswer } from '../../../src/metrics/series/overview.ts'
import { BUNDLE, transactionPayload } from '../../apple/samples.ts'
import { at, figuresIn, openTestLedger } from '../test_ledger.ts'

const FAILED = { isInBillingRetryPeriod: true, expirationIntent: 2 }

/**
 * A: 9.990 a month from 10 May, turned off on the 20th; ends on 10 June.
 * B: 9.990 a month, payment failed on 1 May: grace period until the 7th, billing retry until the 20th, then lost.
 * C: 9.990 a month from 15 May, renewing.
 * D: 4.990 a month, payment failed on 1 May without a grace period; collected on the 12th.
 */
async function openFourStates() {
  const ledger = await openTestLedger()
  const { notifyTransaction } = ledger
  const signedAt = (signed: string) => ({ signedDate: at(signed) })
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10')
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10', signedAt('2026-05-20'), { autoRenewStatus: 0 })
  await notifyTransaction('2', 0, '2026-04-01', '2026-05-01')
  const grace = { ...FAILED, gracePeriodExpiresDate: at('2026-05-07') }
  await notifyTransaction('2', 0, '2026-04-01', '2026-05-01', signedAt('2026-05-01'), grace)
  await notifyTransaction('2', 0, '2026-04-01', '2026-05-01', signedAt('2026-05-07'), FAILED)
  const over = { isInBillingRetryPeriod: false, expirationIntent: 2, autoRenewStatus: 0 }
  await notifyTransaction('2', 0, '2026-04-01', '2026-05-01', signedAt('2026-05-20'), over)
  await notifyTransaction('3', 0, '2026-05-15', '2026-06-15')
  await notifyTransaction('4', 0, '2026-04-01', '2026-05-01', { price: 4_990 })
  await notifyTransaction(
    '4',
    0,
    '2026-04-01',
    '2026-05-01',
    { price: 4_990, ...signedAt('2026-05-01') },
    FAILED,
  )
  await notifyTransaction('4', 1, '2026-05-12', '2026-06-12', { price: 4_990 })
  return ledger
}

const DAYS = ['2026-04-30', '2026-05-05', '2026-05-10', '2026-05-25', '2026-06-01'] as const

test('the status of each subscription, on any past day', async () => {
  const { getMetric, app } = await openFourStates()
  const { series, kind, unit } = await getMetric('status?from=2026-04-30')
  expect({ kind, unit }).toEqual({ kind: 'level', unit: 'count' })
  const counts = (part: string | null) => {
    const all = figuresIn(series, 'count', { part })
    return DAYS.map((on) => all[on])
  }
  // B and D. Then B in grace and D in retry. Then also A, and B without access. Then A, C and D.
  expect(counts(null)).toEqual([2, 2, 3, 3, 3])
  expect(counts('renewing')).toEqual([2, 0, 1, 2, 2])
  expect(counts('will_cancel')).toEqual([0, 0, 0, 1, 1])
  expect(counts('grace')).toEqual([0, 1, 0, 0, 0])
  expect(counts('billing_retry')).toEqual([0, 1, 2, 0, 0])
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})

test('their monthly value at risk, in the series and live', async () => {
  const { getMetric, app, get } = await openFourStates()
  const { series, currency } = await getMetric('mrr_at_risk?from=2026-04-30')
  const milli = (part: string | null) => {
    const all = figuresIn(series, 'milli', { part })
    return DAYS.map((on) => all[on])
  }
  expect(currency).toBe('USD')
  // 9.990 of B and 4.990 of D until they are collected or lost; 9.990 of A since the 20th.
  expect(milli(null)).toEqual([0, 14_980, 14_980, 9_990, 9_990])
  expect(milli('grace')).toEqual([0, 9_990, 0, 0, 0])
  expect(milli('billing_retry')).toEqual([0, 4_990, 14_980, 0, 0])
  expect(milli('will_cancel')).toEqual([0, 0, 0, 9_990, 9_990])
  // The customers currently at risk have the same value.
  const { customers } = (await (await get('customers?sort=risk')).json()) as {
    customers: { status: string; risk_milli: number }[]
  }
  expect(customers.reduce((sum, { risk_milli }) => sum + risk_milli, 0)).toBe(9_990)
  expect(customers.map(({ status }) => status)).toEqual(['will_cancel', 'renewing', 'renewing', 'expired'])
  const overview = (await (await get('overview')).json()) as OverviewAnswer
  const figure = (metric: string, part: string | null) =>
    overview.organizations[0]?.figures.find((one) => one.metric === metric && one.part === part)?.now
  expect(figure('mrr_at_risk', null)).toMatchObject({ milli: 9_990, count: 1, complete: false })
  expect(figure('status', 'renewing')).toMatchObject({ count: 2 })
  // It ends on 10 June without another notification.
  app.clock.set(at('2026-06-11'))
  expect(figuresIn((await getMetric('mrr_at_risk?from=2026-06-11')).series, 'milli')).toEqual({
    '2026-06-11': 0,
  })
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})

test('a renewal turned on again is no longer at risk, and a refunded one never is', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10', {}, { autoRenewStatus: 0 })
  await notifyTransaction(
    '1',
    0,
    '2026-05-10',
    '2026-06-10',
    { signedDate: at('2026-05-12') },
    { autoRenewStatus: 1 },
  )
  const back = { revocationDate: at('2026-05-14'), revocationReason: 0, signedDate: at('2026-05-14') }
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10', back, { ...FAILED, autoRenewStatus: 0 })
  const risk = figuresIn((await getMetric('mrr_at_risk?from=2026-05-10&to=2026-05-15')).series, 'count')
  expect(Object.values(risk)).toEqual([1, 1, 0, 0, 0, 0])
})

test('a trial has no status, and a split has the parts of each value', async () => {
  const { notifyTransaction, getMetric } = await openFourStates()
  const trial = { offerType: 1, offerDiscountType: 'FREE_TRIAL', offerPeriod: 'P1W', price: 0 }
  await notifyTransaction('5', 0, '2026-05-28', '2026-06-04', trial, { autoRenewStatus: 0 })
  await notifyTransaction('6', 0, '2026-05-20', '2026-06-20', { storefront: 'DEU' }, { autoRenewStatus: 0 })
  const split = await getMetric('mrr_at_risk?from=2026-06-01&split=country')
  expect(split.series.map(({ value, points }) => [value, points[0]?.milli])).toEqual([
    ['DEU', 9_990],
    ['USA', 9_990],
  ])
  const german = await getMetric('status?from=2026-06-01&country=DEU&part=will_cancel')
  expect(german.series.map(({ points }) => points[0]?.count)).toEqual([1])
})

/**
 * 9.990 a month from 1 April, renewal turned off on the 20th; ends on 1 May. Bought again on 10 May and renewed on 10
 * June, both known from transactions only, as an app sends them. `order` is their order of arrival.
 */
async function openReturned(order: readonly number[]) {
  const ledger = await openTestLedger()
  const { app, notifyTransaction } = ledger
  app.clock.set(at('2026-06-12'))
  const send = async (transactionId: string, reason: string, from: string, to: string) => {
    const ids = { transactionId, originalTransactionId: '1000', appTransactionId: '704000001' }
    const dates = { purchaseDate: at(from), originalPurchaseDate: at('2026-04-01'), signedDate: at(from) }
    const price = { productId: 'monthly', price: 9_990, transactionReason: reason, expiresDate: at(to) }
    const jws = app.authority.sign(transactionPayload({ ...ids, ...dates, ...price }))
    const call = { appUserId: 'ada', bundleId: BUNDLE, originalTransactionId: '1000', jws }
    expect((await app.post('/api/sdk/v1/attribute', call)).status).toBe(200)
  }
  const off = { autoRenewStatus: 0, autoRenewProductId: 'basic', renewalPrice: 4_990 }
  const facts = [
    () => notifyTransaction('1', 0, '2026-04-01', '2026-05-01', { signedDate: at('2026-04-20') }, off),
    () =>
      notifyTransaction(
        '1',
        0,
        '2026-04-01',
        '2026-05-01',
        { signedDate: at('2026-05-10T11:00:00Z') },
        { ...off, expirationIntent: 1 },
      ),
    () => send('1001', 'PURCHASE', '2026-05-10', '2026-06-10'),
    () => send('1002', 'RENEWAL', '2026-06-10', '2026-07-10'),
  ]
  for (const index of order) await facts[index]?.()
  return ledger
}

test.each([[[0, 1, 2, 3]], [[3, 2, 1, 0]], [[2, 0, 3, 1]]])(
  'infos from before a new purchase do not apply to the new subscription (%j)',
  async (order) => {
    const { app, getMetric, get } = await openReturned(order)
    const rows = app.windfall.store.prepare(
      'select transaction_id, auto_renew_status, next_product_id, renewal_price_milli, expiration_intent from subscriptions',
    )
    expect(rows.all()).toEqual([
      {
        transaction_id: '1002',
        auto_renew_status: null,
        next_product_id: null,
        renewal_price_milli: null,
        expiration_intent: null,
      },
    ])
    const risk = figuresIn((await getMetric('mrr_at_risk?from=2026-04-19&to=2026-06-12')).series, 'count')
    const days = ['2026-04-19', '2026-04-20', '2026-04-30', '2026-05-10', '2026-05-20', '2026-06-11']
    expect(days.map((on) => risk[on])).toEqual([0, 1, 1, 0, 0, 0])
    const { customers } = (await (await get('customers')).json()) as { customers: { status: string }[] }
    expect(customers.map(({ status }) => status)).toEqual(['renewing'])
    // No reason for its end is known: the cancellation concerned the first subscription.
    const endings = app.windfall.store
      .prepare("select distinct measure from metric_rows where measure like 'mrr.churn%' order by 1")
      .pluck()
    expect(endings.all()).toEqual(['mrr.churn_other', 'mrr.churn_voluntary'])
    expect((await app.windfall.metrics.verify()).difference).toBeNull()
  },
)
