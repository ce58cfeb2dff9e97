/** Losses, recoveries and customers of ledgers made by hand, with the arithmetic. */
import { expect, test } from 'vitest'
import { at, figuresIn, openTestLedger } from '../test_ledger.ts'

const RETRIED = { isInBillingRetryPeriod: true }

test('churn by cause, and the quick ratio', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  // Four at the start of April: 10, 20, 30 and 40 dollars a month, 100 together.
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', { price: 10_000 }, { autoRenewStatus: 0 })
  await notifyTransaction('2', 0, '2026-03-11', '2026-04-11', { price: 20_000 }, { expirationIntent: 2 })
  const refund = { revocationDate: at('2026-04-12'), revocationReason: 1 }
  await notifyTransaction('3', 0, '2026-03-12', '2027-03-12', { price: 360_000, ...refund })
  await notifyTransaction('4', 0, '2026-03-13', '2026-04-13', { price: 40_000 })
  // In April one of 12 is new, and the last has 18 more from the 13th on.
  await notifyTransaction('4', 1, '2026-04-13', '2026-05-13', { price: 58_000 })
  await notifyTransaction('5', 0, '2026-04-20', '2026-05-20', { price: 12_000 })
  const shares = async (metric: string) => {
    const { series } = await getMetric(`${metric}?interval=month&from=2026-04-01&to=2026-04-30`)
    return Object.fromEntries(
      series.map(({ part, points }) => [part ?? 'all', points.map(({ ratio }) => ratio)]),
    )
  }
  // One of four each; the 13th is no end.
  expect(await shares('churn_rate')).toMatchObject({
    all: [0.75],
    voluntary: [0.25],
    billing: [0.25],
    refund: [0.25],
  })
  // 10, 20 and 30 of 100.
  expect(await shares('mrr_churn_rate')).toMatchObject({
    all: [0.6],
    voluntary: [0.1],
    billing: [0.2],
    refund: [0.3],
  })
  // (12 + 18) ÷ (10 + 20 + 30)
  expect(await shares('quick_ratio')).toEqual({ all: [0.5] })
  const { series } = await getMetric('active_subscriptions?interval=month&from=2026-03-01&to=2026-04-30')
  expect(figuresIn(series, 'count')).toEqual({ '2026-03-01': 4, '2026-04-01': 2 })
})

test.each([1, 5])(
  'a loss that began with a failed payment stays billing when Apple expires it with intent %i',
  async (expirationIntent) => {
    const { notifyTransaction, getMetric, get } = await openTestLedger()
    // 9.990 a month to the end of February, and renewed until 1 March, when the payment fails without a grace.
    await notifyTransaction('1', 0, '2026-02-01', '2026-03-01')
    await notifyTransaction(
      '1',
      0,
      '2026-02-01',
      '2026-03-01',
      {},
      { ...RETRIED, signedDate: at('2026-03-01') },
    )
    /** The loss of the one active when March began, and of its 9.990. */
    async function march() {
      const days = 'interval=month&from=2026-03-01&to=2026-04-30'
      const { series } = await getMetric(`churn_rate?${days}`)
      const money = (await getMetric(`mrr_churn_rate?${days}`)).series
      return {
        billing: figuresIn(series, 'ratio', { part: 'billing' }),
        all: figuresIn(series, 'ratio'),
        lost_milli: figuresIn(money, 'numerator', { part: 'billing' }),
      }
    }
    const before = await march()
    // Nothing is active in April: the denominator is zero.
    expect(before).toEqual({
      billing: { '2026-03-01': 1, '2026-04-01': null },
      all: { '2026-03-01': 1, '2026-04-01': null },
      lost_milli: { '2026-03-01': 9_990, '2026-04-01': 0 },
    })
    // 60 days later it expires, and Apple sends another reason. March stays as it was.
    const over = { expirationIntent, isInBillingRetryPeriod: false, signedDate: at('2026-04-30') }
    await notifyTransaction('1', 0, '2026-02-01', '2026-03-01', {}, over)
    expect(await march()).toEqual(before)
    const { cohorts } = (await (await get('cohorts?metric=recovery&from=2026-03-01')).json()) as {
      cohorts: object[]
    }
    expect(cohorts).toMatchObject([{ cohort: '2026-03-01', failed: 1, recovered: 0, lost: 1, pending: 0 }])
  },
)

test('failed payments: recovered, lost, lost after 60 days, or pending', async () => {
  const { notifyTransaction, get } = await openTestLedger()
  /** A month that ends on a day on which its renewal failed. */
  async function failed(id: string, from: string, to: string) {
    await notifyTransaction(id, 0, from, to)
    await notifyTransaction(id, 0, from, to, {}, { ...RETRIED, signedDate: at(to) })
  }
  // Due on 20 March without another notification: 60 days were over on 19 May.
  await failed('1', '2026-02-20', '2026-03-20')
  // Due on 8 April, paid on the 12th: within the fifth day.
  await failed('2', '2026-03-08', '2026-04-08')
  await notifyTransaction('2', 1, '2026-04-12', '2026-05-12')
  // Due on 9 April, paid on the 10th, 23 hours later: within the first day.
  await failed('3', '2026-03-09', '2026-04-09')
  await notifyTransaction('3', 1, '2026-04-10T11:00:00Z', '2026-05-10')
  // Due on 10 April, and Apple stopped retrying.
  await failed('4', '2026-03-10', '2026-04-10')
  const over = { expirationIntent: 2, isInBillingRetryPeriod: false, signedDate: at('2026-04-26') }
  await notifyTransaction('4', 0, '2026-03-10', '2026-04-10', {}, over)
  // Due on 25 May, with retries until 24 July.
  await failed('5', '2026-04-25', '2026-05-25')
  const answer = await get('cohorts?metric=recovery&from=2026-03-01')
  const { cohorts } = (await answer.json()) as { cohorts: object[] }
  const nothing = { failed: 0, recovered: 0, lost: 0, pending: 0 }
  expect(cohorts).toMatchObject([
    { ...nothing, cohort: '2026-03-01', failed: 1, lost: 1, recovery_rate: 0, complete: true },
    // 2 of 3; (5 + 1) ÷ 2 days.
    {
      ...nothing,
      cohort: '2026-04-01',
      failed: 3,
      recovered: 2,
      lost: 1,
      recovery_rate: 0.666667,
      days_to_recover: 3,
      complete: true,
    },
    { ...nothing, cohort: '2026-05-01', failed: 1, pending: 1, complete: false },
  ])
})

test('current status and MRR at risk', async () => {
  const { notifyTransaction, get } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10', { price: 4_000 })
  await notifyTransaction('2', 0, '2026-05-11', '2026-06-11', { price: 5_000 }, { autoRenewStatus: 0 })
  const grace = { ...RETRIED, gracePeriodExpiresDate: at('2026-06-13'), signedDate: at('2026-05-28') }
  await notifyTransaction('3', 0, '2026-04-28', '2026-05-28', { price: 6_000 }, grace)
  await notifyTransaction(
    '4',
    0,
    '2026-04-20',
    '2026-05-20',
    { price: 7_000 },
    { ...RETRIED, signedDate: at('2026-05-20') },
  )
  const { customers } = (await (await get('customers?sort=risk')).json()) as { customers: object[] }
  // At risk: 5 + 6 + 7 of 22. A payment awaited without a grace period has no MRR meanwhile.
  expect(customers).toMatchObject([
    { status: 'billing_retry', mrr_milli: 0, risk_milli: 7_000, next_renewal_at: null, ends_at: null },
    { status: 'grace', mrr_milli: 6_000, risk_milli: 6_000, ends_at: at('2026-06-13') },
    {
      status: 'will_cancel',
      mrr_milli: 5_000,
      risk_milli: 5_000,
      next_renewal_at: null,
      ends_at: at('2026-06-11'),
    },
    { status: 'renewing', mrr_milli: 4_000, risk_milli: 0, next_renewal_at: at('2026-06-10'), ends_at: null },
  ])
})

test('LTV of a customer: purchases less refunds, gross and proceeds', async () => {
  const { notifyTransaction, get } = await openTestLedger({ rates: ['2026-05-05,EUR,0.5'] })
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', { price: 10_000 })
  const refund = { revocationDate: at('2026-04-20'), revocationPercentage: 40_000, revocationReason: 0 }
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10', { price: 10_000, ...refund })
  await notifyTransaction('1', 2, '2026-05-10', '2026-06-10', { price: 10_000 })
  // Another purchase of the same person, in euros at two dollars each.
  const coins = { type: 'Consumable', subscriptionGroupIdentifier: undefined, productId: 'coins' }
  const same = { appTransactionId: '704000001', currency: 'EUR', storefront: 'DEU', price: 1_000 }
  await notifyTransaction('2', 0, '2026-05-05', null, { ...coins, ...same })
  const { customers } = (await (await get('customers')).json()) as { customers: { id: string }[] }
  // 3 × 10.000 + 2 × 1.000 = 32.000; 40 % of 10.000 = 4.000 refunded.
  expect(customers).toMatchObject([
    { charged_milli: 32_000, refunded_milli: 4_000, prorated_milli: 0, ltv_milli: 28_000, payments: 4 },
  ])
  const profile = await (await get(`customers/${customers[0]?.id}`)).json()
  // No report has proceeds, so 30 % is subtracted: 70 % of 10.000, of 6.000, of 10.000 and of 2.000.
  expect(profile).toMatchObject({ proceeds: { base_milli: 19_600, transactions: 4, estimated: 4 } })
})

test('the cohort of the first day is whole for each metric, and shares round half to even', async () => {
  const { notifyTransaction, get } = await openTestLedger()
  // 9.985 and 10.000 in March: 19.985 of two customers are 9.992,5 each, which rounds to 9.992.
  await notifyTransaction('1', 0, '2026-03-02', '2026-04-02', { price: 9_985 })
  await notifyTransaction('2', 0, '2026-03-20', '2026-04-20', { price: 10_000 })
  const failed = { ...RETRIED, signedDate: at('2026-04-02') }
  await notifyTransaction('1', 0, '2026-03-02', '2026-04-02', { price: 9_985 }, failed)
  type Cohorts = { cohorts: Record<string, unknown>[] }
  const first = async (query: string) =>
    ((await (await get(`cohorts?${query}`)).json()) as Cohorts).cohorts[0]
  const march = { cohort: '2026-03-01', size: 2 }
  expect(await first('metric=retention&from=2026-03-15&to=2026-03-18')).toMatchObject(march)
  expect(await first('metric=retention&by=week&from=2026-03-04&to=2026-03-04')).toMatchObject({
    cohort: '2026-03-02',
    size: 1,
  })
  expect(await first('metric=retention&by=year&from=2026-03-15')).toMatchObject({ size: 2 })
  expect(await first('metric=recovery&from=2026-04-15&to=2026-04-20')).toMatchObject({ failed: 1 })
  expect(await first('metric=ltv&from=2026-03-15&to=2026-03-18&days=0')).toMatchObject({
    customers: 2,
    values: [{ net_milli: 19_985, per_customer_milli: 9_992 }],
  })
  expect(await first('metric=arppu&from=2026-03-15&to=2026-03-18')).toMatchObject({
    payers: 2,
    per_payer_milli: 9_992,
  })
})
