import { expect, test } from 'vitest'
import { isMoney } from '../../../src/metrics/definitions/definition.ts'
import { DEFINITIONS } from '../../../src/metrics/definitions/definitions.ts'
import { at, figuresIn, months, openTestLedger } from '../test_ledger.ts'

const TRIAL = { offerType: 1, offerDiscountType: 'FREE_TRIAL', offerPeriod: 'P1W', price: 0 }
const EUROS = { currency: 'EUR', storefront: 'DEU', price: 29_940, productId: 'yearly' }
const RANGE = 'interval=month&from=2026-03-01&to=2026-06-01'
/** A euro is two dollars, published every Monday and carried forward in between. */
const RATES = Array.from({ length: 15 }, (_, week) => {
  const on = new Date(Date.UTC(2026, 1, 23 + 7 * week)).toISOString().slice(0, 10)
  return `${on},EUR,0.5`
})

/**
 * A: $9.990 a month from 10 March, renewed on 10 April and 10 May.
 * B: a trial from 1 to 8 April, then $9.990 for a month with renewal turned off; ends on 8 May.
 * C: a trial from 28 May to 4 June, active on 1 June.
 * D: €29.940 for a year from 1 March ($59.880), fully refunded on 15 April.
 * E: a trial from 20 to 27 April, not converted.
 */
async function openFive(options = {}) {
  const ledger = await openTestLedger({ rates: RATES, ...options })
  const { notifyTransaction } = ledger
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10')
  await notifyTransaction('1', 2, '2026-05-10', '2026-06-10')
  await notifyTransaction('2', 0, '2026-04-01', '2026-04-08', TRIAL)
  await notifyTransaction(
    '2',
    1,
    '2026-04-08',
    '2026-05-08',
    {},
    { autoRenewStatus: 0, expirationIntent: 1, signedDate: at('2026-05-07') },
  )
  await notifyTransaction('3', 0, '2026-05-28', '2026-06-04', TRIAL)
  await notifyTransaction('4', 0, '2026-03-01', '2027-03-01', EUROS)
  const refund = { revocationDate: at('2026-04-15'), revocationReason: 0, revocationPercentage: 100_000 }
  await notifyTransaction('4', 0, '2026-03-01', '2027-03-01', {
    ...EUROS,
    ...refund,
    signedDate: at('2026-04-15'),
  })
  await notifyTransaction('5', 0, '2026-04-20', '2026-04-27', TRIAL, { autoRenewStatus: 0 })
  return ledger
}

test('a level is its value at the end of each month, or now in the current month', async () => {
  const { getMetric } = await openFive()
  const mrr = await getMetric(`mrr?${RANGE}`)
  // March: A 9.990 + D 59.880 ÷ 12 = 4.990. April: A + B, D is gone. May and today: A.
  expect(figuresIn(mrr.series, 'milli')).toEqual(months(14_980, 19_980, 9_990, 9_990))
  expect(figuresIn(mrr.series, 'count')).toEqual(months(2, 2, 1, 1))
  expect(figuresIn(mrr.series, 'complete')).toEqual(months(true, true, true, false))
  expect(mrr).toMatchObject({
    unit: 'money',
    kind: 'level',
    currency: 'USD',
    time_zone: 'UTC',
    split: null,
    sources: [],
    cutovers: [],
    from_on: '2026-03-01',
    until_on: '2026-06-30',
    today_on: '2026-06-01',
    first_on: '2026-03-01',
    rebuilding: null,
    previous: null,
  })
  expect(mrr.series).toHaveLength(1)
  const daily = await getMetric('mrr?from=2026-05-31')
  expect(figuresIn(daily.series, 'complete')).toEqual({ '2026-05-31': true, '2026-06-01': false })
  const arr = await getMetric(`arr?${RANGE}`)
  expect(figuresIn(arr.series, 'milli')).toEqual(months(179_760, 239_760, 119_880, 119_880))
  expect(figuresIn((await getMetric(`active_subscriptions?${RANGE}`)).series, 'count')).toEqual(
    months(2, 2, 1, 1),
  )
  // C alone is on trial at the end of May.
  expect(figuresIn((await getMetric(`active_trials?${RANGE}`)).series, 'count')).toEqual(months(0, 0, 1, 1))
})

test('movements sum to the change of the level', async () => {
  const { getMetric } = await openFive()
  const { series } = await getMetric(`mrr_movements?${RANGE}`)
  expect(series.map(({ part }) => part)).toEqual([null, 'new', 'churn_voluntary', 'churn_refund'])
  expect(figuresIn(series, 'milli')).toEqual(months(14_980, 5_000, -9_990, 0))
  expect(figuresIn(series, 'milli', { part: 'new' })).toEqual(months(14_980, 9_990, 0, 0))
  expect(figuresIn(series, 'count', { part: 'new' })).toEqual(months(2, 1, 0, 0))
  expect(figuresIn(series, 'milli', { part: 'churn_refund' })).toEqual(months(0, -4_990, 0, 0))
  expect(figuresIn(series, 'milli', { part: 'churn_voluntary' })).toEqual(months(0, 0, -9_990, 0))
  const two = await getMetric(`mrr_movements?${RANGE}&view=two_buckets`)
  // The movements explain everything: nothing is not itemized.
  expect(two.series.map(({ part }) => part)).toEqual([null, 'new', 'churned'])
  expect(figuresIn(two.series, 'milli', { part: 'churned' })).toEqual(months(0, -4_990, -9_990, 0))
  expect(figuresIn((await getMetric(`net_new_mrr?${RANGE}`)).series, 'milli')).toEqual(
    months(14_980, 5_000, -9_990, 0),
  )
})

test('churn is the lost share of what was active at the start, by subscriptions and by MRR', async () => {
  const { getMetric } = await openFive()
  const { series } = await getMetric(`churn_rate?${RANGE}`)
  // April: D of A and D. May: B of A and B.
  expect(figuresIn(series, 'ratio')).toEqual(months(null, 0.5, 0.5, 0))
  expect(figuresIn(series, 'denominator')).toEqual(months(0, 2, 2, 1))
  expect(figuresIn(series, 'ratio', { part: 'voluntary' })).toEqual(months(null, 0, 0.5, 0))
  expect(figuresIn(series, 'ratio', { part: 'refund' })).toEqual(months(null, 0.5, 0, 0))
  // April: 4.990 of 14.980. May: 9.990 of 19.980.
  const money = await getMetric(`mrr_churn_rate?${RANGE}`)
  expect(figuresIn(money.series, 'ratio')).toEqual(months(null, 0.333111, 0.5, 0))
  expect(figuresIn(money.series, 'numerator')).toEqual(months(0, 4_990, 9_990, 0))
  // March: nothing lost. April: 9.990 ÷ 4.990. May: 0 ÷ 9.990.
  const quick = await getMetric(`quick_ratio?${RANGE}`)
  expect(figuresIn(quick.series, 'ratio')).toEqual(months(null, 2.002004, 0, null))
})

test('in two buckets, what leaves a filter without a loss is not itemized instead of churned', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  // 9.990 of `monthly` from 10 March, changed to 19.990 of `monthly_max` on 10 April.
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10', { productId: 'monthly_max', price: 19_990 })
  const two = async (more = '') => {
    const { series } = await getMetric(
      `mrr_movements?interval=month&from=2026-04-01&to=2026-04-30&view=two_buckets${more}`,
    )
    return [null, 'new', 'churned', 'not_itemised'].map(
      (part) => figuresIn(series, 'milli', { part })['2026-04-01'] ?? 0,
    )
  }
  // Unfiltered it is a change of 10.000, which RevenueCat also counts as Churned.
  expect(await two()).toEqual([10_000, 0, 10_000, 0])
  // `monthly` lost no subscription: its 9.990 moved to the other product, without a movement of `monthly`.
  expect(await two('&product=monthly')).toEqual([-9_990, 0, 0, -9_990])
  // `monthly_max` has the expansion of 10.000 and the 9.990 from before.
  expect(await two('&product=monthly_max')).toEqual([19_990, 0, 10_000, 9_990])
})

test('each metric of money documents which day’s rate converts it', () => {
  for (const definition of Object.values(DEFINITIONS).filter(isMoney))
    expect(definition.formula, definition.name).toMatch(/rate of/)
})

test('a subscription lost and regained within a month is lost in its day but not in the month', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  // Paid until 10 April, and again from 20 April on.
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', {}, { autoRenewStatus: 0, expirationIntent: 1 })
  await notifyTransaction(
    '1',
    1,
    '2026-04-20',
    '2026-05-20',
    { transactionReason: 'PURCHASE' },
    { autoRenewStatus: 0, expirationIntent: 2 },
  )
  const monthly = await getMetric(`churn_rate?${RANGE}`)
  expect(figuresIn(monthly.series, 'numerator')).toEqual(months(0, 0, 1, 0))
  expect(figuresIn(monthly.series, 'numerator', { part: 'voluntary' })).toEqual(months(0, 1, 0, 0))
  expect(figuresIn(monthly.series, 'numerator', { part: 'returned' })).toEqual(months(0, -1, 0, 0))
  expect(figuresIn(monthly.series, 'numerator', { part: 'billing' })).toEqual(months(0, 0, 1, 0))
  const daily = await getMetric('churn_rate?from=2026-04-09&to=2026-04-21')
  const lost = figuresIn(daily.series, 'numerator')
  expect(Object.entries(lost).filter(([, count]) => count !== 0)).toEqual([['2026-04-10', 1]])
  const weekly = await getMetric('churn_rate?interval=week&from=2026-04-09&to=2026-04-21')
  // Weeks begin on Monday: the loss is in that of 6 to 12 April, 20 April in another.
  expect(figuresIn(weekly.series, 'numerator')).toEqual({ '2026-04-06': 1, '2026-04-13': 0, '2026-04-20': 0 })
})

test('trials count by their end and by their start', async () => {
  const { getMetric } = await openFive()
  expect(figuresIn((await getMetric(`new_trials?${RANGE}`)).series, 'count')).toEqual(months(0, 2, 1, 0))
  const ended = await getMetric(`trial_conversion?${RANGE}`)
  expect(figuresIn(ended.series, 'ratio')).toEqual(months(null, 0.5, null, null))
  const { series } = await getMetric(`trial_conversion?${RANGE}&view=cohort`)
  expect(figuresIn(series, 'ratio')).toEqual(months(null, 0.5, 0, null))
  expect(figuresIn(series, 'numerator', { part: 'converted' })).toEqual(months(0, 1, 0, 0))
  expect(figuresIn(series, 'numerator', { part: 'pending' })).toEqual(months(0, 0, 1, 0))
  expect(figuresIn(series, 'numerator', { part: 'lost' })).toEqual(months(0, 1, 0, 0))
  // May is over, and C is not.
  expect(figuresIn(series, 'complete')).toEqual(months(true, true, false, false))
})

test('revenue is charges less refunds, each on its own day', async () => {
  const { notifyTransaction, getMetric } = await openFive()
  await notifyTransaction('6', 0, '2026-05-03', null, {
    type: 'Consumable',
    subscriptionGroupIdentifier: undefined,
    price: 1_000,
  })
  await notifyTransaction('7', 0, '2026-05-04', '2026-06-04', { price: undefined, currency: undefined })
  const { series } = await getMetric(`revenue?${RANGE}`)
  // March: 9.990 + 59.880. April: 9.990 + 9.990 − 59.880. May: 9.990 + 1.000, and one of an unknown price.
  expect(figuresIn(series, 'milli')).toEqual(months(69_870, -39_900, 10_990, 0))
  expect(figuresIn(series, 'count')).toEqual(months(2, 2, 2, 0))
  expect(figuresIn(series, 'milli', { part: 'new' })).toEqual(months(69_870, 9_990, 0, 0))
  expect(figuresIn(series, 'milli', { part: 'renewal' })).toEqual(months(0, 9_990, 9_990, 0))
  expect(figuresIn(series, 'milli', { part: 'refunds' })).toEqual(months(0, -59_880, 0, 0))
  expect(figuresIn(series, 'milli', { part: 'one_time' })).toEqual(months(0, 0, 1_000, 0))
  expect(figuresIn(series, 'count', { part: 'unpriced' })).toEqual(months(0, 0, 1, 0))
  const byPurchase = await getMetric(`revenue?${RANGE}&refunds=purchase_day`)
  expect(figuresIn(byPurchase.series, 'milli')).toEqual(months(9_990, 19_980, 10_990, 0))
  // One of the two transactions of March, ever.
  expect(figuresIn((await getMetric(`refund_rate?${RANGE}`)).series, 'ratio')).toEqual(
    months(0.5, 0, 0, null),
  )
  const mrr = await getMetric(`mrr?${RANGE}`)
  expect(figuresIn(mrr.series, 'count', { part: 'unpriced' })).toEqual(months(0, 0, 1, 1))
})

test('a currency filter leaves amounts unconverted, and amounts without a rate are listed separately', async () => {
  const { getMetric } = await openFive()
  const euros = await getMetric(`mrr?${RANGE}&currency=EUR`)
  // 29.940 ÷ 12
  expect(euros.currency).toBe('EUR')
  expect(figuresIn(euros.series, 'milli')).toEqual(months(2_495, 0, 0, 0))
  expect(figuresIn((await getMetric(`revenue?${RANGE}&currency=EUR`)).series, 'milli')).toEqual(
    months(29_940, -29_940, 0, 0),
  )

  const unrated = await openFive({ rates: [] })
  const [whole] = (await unrated.getMetric(`mrr?${RANGE}`)).series
  expect(whole?.points[0]).toEqual({
    on: '2026-03-01',
    milli: 9_990,
    count: 2,
    complete: false,
    not_converted: [{ currency: 'EUR', milli: 2_495 }],
  })
  expect(whole?.points[1]).toEqual({ on: '2026-04-01', milli: 19_980, count: 2, complete: true })
  // The same with a filter by country, from single rows.
  const split = await unrated.getMetric(`mrr?${RANGE}&split=country`)
  expect(split.series.map(({ value }) => value)).toEqual(['USA', 'DEU'])
  expect(split.series[1]?.points[0]?.not_converted).toEqual([{ currency: 'EUR', milli: 2_495 }])
  const german = await unrated.getMetric(`revenue?${RANGE}&country=DEU`)
  expect(german.series[0]?.points[1]).toMatchObject({
    milli: null,
    not_converted: [{ currency: 'EUR', milli: -29_940 }],
  })
  const churn = await unrated.getMetric(`mrr_churn_rate?${RANGE}`)
  expect(churn.series[0]?.points[1]?.not_converted?.[0]).toMatchObject({
    currency: 'EUR',
    denominator: 2_495,
  })
})

test('a currency that first appears after a read is listed by the next one', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger({ rates: [] })
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  const march = async () => (await getMetric(`revenue?${RANGE}`)).series[0]?.points[0]
  expect(await march()).not.toHaveProperty('not_converted')
  await notifyTransaction('4', 0, '2026-03-01', '2027-03-01', EUROS)
  expect(await march()).toMatchObject({ not_converted: [{ currency: 'EUR', milli: 29_940 }] })
})

test('an amount converted at a provisional rate is incomplete', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger({
    rates: ['2026-05-26,EUR,0.5', '2026-05-27,EUR,0.5'],
  })
  await notifyTransaction('1', 0, '2026-05-26', '2026-06-26', EUROS)
  const early = await getMetric('revenue?from=2026-05-25&to=2026-05-30')
  expect(figuresIn(early.series, 'complete')).toEqual({
    '2026-05-25': true,
    '2026-05-26': true,
    '2026-05-27': true,
    '2026-05-28': false,
    '2026-05-29': false,
    '2026-05-30': false,
  })
  const counted = await getMetric('active_subscriptions?from=2026-05-25&to=2026-05-30')
  expect(Object.values(figuresIn(counted.series, 'complete'))).toEqual([true, true, true, true, true, true])
})

test('a split has a series for each value and one for the others, and filters restrict both', async () => {
  const { getMetric } = await openFive()
  const byCountry = await getMetric(`mrr?${RANGE}&split=country`)
  expect(figuresIn(byCountry.series, 'milli', { value: 'USA' })).toEqual(months(9_990, 19_980, 9_990, 9_990))
  expect(figuresIn(byCountry.series, 'milli', { value: 'DEU' })).toEqual(months(4_990, 0, 0, 0))
  const most = await getMetric(`mrr?${RANGE}&split=country&limit=1`)
  expect(most.series.map(({ value, others }) => [value, others])).toEqual([
    ['USA', 0],
    [null, 1],
  ])
  expect(most.series[1]?.points[0]).toMatchObject({ milli: 4_990, count: 1 })
  // The values that contain a text, and no sum of the others.
  const found = await getMetric(`mrr?${RANGE}&split=country&find=%20d-E`)
  expect(found.series.map(({ value }) => value)).toEqual(['DEU'])
  // A split has the total, or the requested part.
  const lost = await getMetric(`churn_rate?${RANGE}&split=country&part=refund`)
  expect(lost.series.map(({ value, part }) => [value, part])).toEqual([
    ['USA', 'refund'],
    ['DEU', 'refund'],
  ])
  const of = (value: string) => figuresIn(lost.series, 'numerator', { value, part: 'refund' })
  expect([of('USA'), of('DEU')]).toEqual([months(0, 0, 0, 0), months(0, 1, 0, 0)])
  const alone = await getMetric(`revenue?${RANGE}&part=refunds`)
  expect(alone.series.map(({ part }) => part)).toEqual(['refunds'])
  const none = await getMetric(`revenue?${RANGE}&part=one_time`)
  expect(figuresIn(none.series, 'milli', { part: 'one_time' })).toEqual(months(0, 0, 0, 0))
  const german = await getMetric(`mrr?${RANGE}&split=product&country=DEU`)
  expect(german.series.map(({ value }) => value)).toEqual(['yearly'])
  expect(figuresIn((await getMetric(`mrr?${RANGE}&period=P1M,P1Y&offer=paid`)).series, 'milli')).toEqual(
    months(14_980, 19_980, 9_990, 9_990),
  )
  expect(figuresIn((await getMetric(`mrr?${RANGE}&product=monthly`)).series, 'count')).toEqual(
    months(1, 2, 1, 1),
  )
  expect((await getMetric(`mrr?${RANGE}&product=nothing&split=country`)).series).toEqual([])
  expect(figuresIn((await getMetric(`mrr?${RANGE}&product=nothing`)).series, 'milli')).toEqual(
    months(0, 0, 0, 0),
  )
  const byApp = await getMetric(`revenue?${RANGE}&split=app`)
  expect(byApp.series[0]).toMatchObject({ value: 'com.example.lantern', part: null })
  expect(figuresIn((await getMetric(`mrr?${RANGE}&environment=sandbox`)).series, 'count')).toEqual(
    months(0, 0, 0, 0),
  )
})

test('an attribute filter keeps only subscriptions linked to users with it', async () => {
  const { app, getMetric } = await openFive()
  const secret = { authorization: `Bearer ${await app.key('secret')}` }
  const call = { bundleId: 'com.example.lantern' }
  for (const [appUserId, attributes, original] of [
    ['ann', { plan: 'pro', seats: 3 }, '1000'],
    ['bob', { plan: 'free', seats: 3 }, '4000'],
  ] as const) {
    await app.post('/api/sdk/v1/identify', { ...call, appUserId, attributes }, secret)
    const linked = await app.post(
      '/api/sdk/v1/attribute',
      { ...call, appUserId, originalTransactionId: original },
      secret,
    )
    expect(linked.status).toBe(200)
  }
  // A alone; A and D; none.
  expect(figuresIn((await getMetric(`mrr?${RANGE}&attribute=plan=pro`)).series, 'milli')).toEqual(
    months(9_990, 9_990, 9_990, 9_990),
  )
  expect(figuresIn((await getMetric(`mrr?${RANGE}&attribute=seats=3`)).series, 'milli')).toEqual(
    months(14_980, 9_990, 9_990, 9_990),
  )
  expect(
    figuresIn((await getMetric(`revenue?${RANGE}&attribute=plan=free&currency=EUR`)).series, 'milli'),
  ).toEqual(months(29_940, -29_940, 0, 0))
  expect(
    (await getMetric(`churn_rate?${RANGE}&attribute=seats=3&split=product`)).series.map(({ value }) => value),
  ).toContain('yearly')
  expect(figuresIn((await getMetric(`mrr?${RANGE}&attribute=plan=nobody`)).series, 'count')).toEqual(
    months(0, 0, 0, 0),
  )
})

test('a day follows the organization’s time zone across clock changes, or that of Apple’s reports', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger({ time_zone: 'America/New_York' })
  // New York's clocks go from 2 to 3 at night on 8 March: that day begins at 5:00 UTC and the next at 4:00.
  const instants = [
    '2026-03-08T04:59:59Z',
    '2026-03-08T05:00:00Z',
    '2026-03-09T03:59:59Z',
    '2026-03-09T04:00:00Z',
  ]
  for (const [index, instant] of instants.entries())
    await notifyTransaction(String(index + 1), 0, instant, '2026-04-08')
  const range = 'from=2026-03-07&to=2026-03-09'
  const { series, time_zone } = await getMetric(`revenue?${range}`)
  expect(time_zone).toBe('America/New_York')
  expect(figuresIn(series, 'count')).toEqual({ '2026-03-07': 1, '2026-03-08': 2, '2026-03-09': 1 })
  // Three hours earlier: all but the first are within 8 March, which begins at 8:00 UTC and ends at 7:00.
  const pacific = await getMetric(`revenue?${range}&zone=pacific`)
  expect(pacific.time_zone).toBe('America/Los_Angeles')
  expect(figuresIn(pacific.series, 'count')).toEqual({ '2026-03-07': 2, '2026-03-08': 2, '2026-03-09': 0 })
  const byPeriod = await getMetric(`mrr?${range}&zone=pacific&split=period`)
  expect(figuresIn(byPeriod.series, 'count', { value: 'P1M' })).toEqual({
    '2026-03-07': 2,
    '2026-03-08': 4,
    '2026-03-09': 4,
  })
})

test('a change with a future effect is shown from then on', async () => {
  const { app, notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-02', '2026-06-02')
  await notifyTransaction('1', 1, '2026-06-02', '2026-07-02', {
    signedDate: at('2026-06-01T11:00:00Z'),
    price: 19_990,
  })
  expect(figuresIn((await getMetric('mrr?from=2026-06-01')).series, 'milli')).toEqual({ '2026-06-01': 9_990 })
  app.clock.set(at('2026-06-02T12:00:01Z'))
  expect(figuresIn((await getMetric('mrr?from=2026-06-01')).series, 'milli')).toEqual({
    '2026-06-01': 9_990,
    '2026-06-02': 19_990,
  })
})

test('proceeds without a report are the price less Apple’s commission', async () => {
  const { getMetric } = await openFive()
  // 30 % of each: 9.990 → 6.993; 59.880 → 41.916.
  const net = await getMetric(`revenue?${RANGE}&basis=proceeds`)
  expect(figuresIn(net.series, 'milli')).toEqual(months(48_909, -27_930, 6_993, 0))
  expect(net.proceeds_known).toEqual({ exact: 0, ratio: 0, estimated: expect.any(Number) })
  // 30 % of the level: 14.980, 19.980, 9.990.
  const mrr = await getMetric(`mrr?${RANGE}&basis=proceeds`)
  expect(figuresIn(mrr.series, 'milli')).toEqual(months(10_486, 13_986, 6_993, 6_993))
})
