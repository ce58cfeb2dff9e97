import { expect, test } from 'vitest'
import type { OverviewAnswer } from '../../src/metrics/overview.ts'
import { at, figuresIn, openLedger } from './told_ledger.ts'

const FAILED = { isInBillingRetryPeriod: true, expirationIntent: 2 }

/**
 * A: 9.990 a month from 10 May, turned off on the 20th: over on 10 June.
 * B: 9.990 a month, not collected on 1 May: in grace until the 7th, then tried again until the 20th, then given up.
 * C: 9.990 a month from 15 May, to be renewed.
 * D: 4.990 a month, not collected on 1 May, without a grace; collected on the 12th.
 */
async function openFour() {
  const ledger = await openLedger()
  const { tell } = ledger
  const said = (signed: string) => ({ signedDate: at(signed) })
  await tell('1', 0, '2026-05-10', '2026-06-10')
  await tell('1', 0, '2026-05-10', '2026-06-10', said('2026-05-20'), { autoRenewStatus: 0 })
  await tell('2', 0, '2026-04-01', '2026-05-01')
  const grace = { ...FAILED, gracePeriodExpiresDate: at('2026-05-07') }
  await tell('2', 0, '2026-04-01', '2026-05-01', said('2026-05-01'), grace)
  await tell('2', 0, '2026-04-01', '2026-05-01', said('2026-05-07'), FAILED)
  const over = { isInBillingRetryPeriod: false, expirationIntent: 2, autoRenewStatus: 0 }
  await tell('2', 0, '2026-04-01', '2026-05-01', said('2026-05-20'), over)
  await tell('3', 0, '2026-05-15', '2026-06-15')
  await tell('4', 0, '2026-04-01', '2026-05-01', { price: 4_990 })
  await tell('4', 0, '2026-04-01', '2026-05-01', { price: 4_990, ...said('2026-05-01') }, FAILED)
  await tell('4', 1, '2026-05-12', '2026-06-12', { price: 4_990 })
  return ledger
}

const DAYS = ['2026-04-30', '2026-05-05', '2026-05-10', '2026-05-25', '2026-06-01'] as const

test('who will renew, will not, or waits for a payment, on any day that there was', async () => {
  const { ask, app } = await openFour()
  const { series, kind, unit } = await ask('status?from=2026-04-30')
  expect({ kind, unit }).toEqual({ kind: 'level', unit: 'count' })
  const counts = (part: string | null) => {
    const all = figuresIn(series, 'count', { part })
    return DAYS.map((on) => all[on])
  }
  // B and D. Then B in grace and D tried again. Then A besides, and B without access. Then A, C and D.
  expect(counts(null)).toEqual([2, 2, 3, 3, 3])
  expect(counts('renewing')).toEqual([2, 0, 1, 2, 2])
  expect(counts('will_cancel')).toEqual([0, 0, 0, 1, 1])
  expect(counts('grace')).toEqual([0, 1, 0, 0, 0])
  expect(counts('billing_retry')).toEqual([0, 1, 2, 0, 0])
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})

test('what they are worth a month is at risk, and live', async () => {
  const { ask, app, get } = await openFour()
  const { series, currency } = await ask('mrr_at_risk?from=2026-04-30')
  const milli = (part: string | null) => {
    const all = figuresIn(series, 'milli', { part })
    return DAYS.map((on) => all[on])
  }
  expect(currency).toBe('USD')
  // 9.990 of B and 4.990 of D until they are collected or given up; 9.990 of A since the 20th.
  expect(milli(null)).toEqual([0, 14_980, 14_980, 9_990, 9_990])
  expect(milli('grace')).toEqual([0, 9_990, 0, 0, 0])
  expect(milli('billing_retry')).toEqual([0, 4_990, 14_980, 0, 0])
  expect(milli('will_cancel')).toEqual([0, 0, 0, 9_990, 9_990])
  // The customers that are at risk now are worth the same.
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
  // It ends on 10 June, and nobody has to say so.
  app.clock.set(at('2026-06-11'))
  expect(figuresIn((await ask('mrr_at_risk?from=2026-06-11')).series, 'milli')).toEqual({ '2026-06-11': 0 })
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})

test('a renewal that is turned on again is at risk no longer, and what was refunded never', async () => {
  const { tell, ask } = await openLedger()
  await tell('1', 0, '2026-05-10', '2026-06-10', {}, { autoRenewStatus: 0 })
  await tell('1', 0, '2026-05-10', '2026-06-10', { signedDate: at('2026-05-12') }, { autoRenewStatus: 1 })
  const back = { revocationDate: at('2026-05-14'), revocationReason: 0, signedDate: at('2026-05-14') }
  await tell('1', 0, '2026-05-10', '2026-06-10', back, { ...FAILED, autoRenewStatus: 0 })
  const risk = figuresIn((await ask('mrr_at_risk?from=2026-05-10&to=2026-05-15')).series, 'count')
  expect(Object.values(risk)).toEqual([1, 1, 0, 0, 0, 0])
})

test('a trial is none of them, and a split has the parts of each', async () => {
  const { tell, ask } = await openFour()
  const trial = { offerType: 1, offerDiscountType: 'FREE_TRIAL', offerPeriod: 'P1W', price: 0 }
  await tell('5', 0, '2026-05-28', '2026-06-04', trial, { autoRenewStatus: 0 })
  await tell('6', 0, '2026-05-20', '2026-06-20', { storefront: 'DEU' }, { autoRenewStatus: 0 })
  const split = await ask('mrr_at_risk?from=2026-06-01&split=country')
  expect(split.series.map(({ value, points }) => [value, points[0]?.milli])).toEqual([
    ['DEU', 9_990],
    ['USA', 9_990],
  ])
  const german = await ask('status?from=2026-06-01&country=DEU&part=will_cancel')
  expect(german.series.map(({ points }) => points[0]?.count)).toEqual([1])
})
