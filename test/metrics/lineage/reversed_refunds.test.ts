/** Reversed refunds: revenue counts the refund and its reversal on their days, and MRR is restored. */
import { expect, test } from 'vitest'
import { levelsOn, moneyIn } from '../metric_lines.ts'
import { at, figuresIn, openTestLedger } from '../test_ledger.ts'

const PRICE = 10_000
const plain = (signed: string) => ({ price: PRICE, signedDate: at(signed) })
const refunded = (signed: string, on: string, percentage: number) => ({
  ...plain(signed),
  revocationDate: at(on),
  revocationReason: 0,
  revocationPercentage: percentage,
  revocationType: percentage === 100_000 ? 'REFUND_FULL' : 'REFUND_PRORATED',
})

type NotificationInput = [fields: object, type: string]

/**
 * 10.000 a month since March 1st. The first is fully refunded on March 10th, reversed on April 5th; on April 20th 40 %
 * of it are refunded for good.
 */
const FIRST: readonly NotificationInput[] = [
  [plain('2026-03-01'), 'SUBSCRIBED'],
  [refunded('2026-03-10', '2026-03-10', 100_000), 'REFUND'],
  [plain('2026-04-05'), 'REFUND_REVERSED'],
  // As Apple’s history has it later.
  [plain('2026-04-12'), 'DID_CHANGE_RENEWAL_STATUS'],
  [refunded('2026-04-20', '2026-04-20', 40_000), 'REFUND'],
]

async function openInOrder(order: readonly number[]) {
  const ledger = await openTestLedger()
  for (const index of order) {
    const [fields, type] = FIRST[index] ?? [{}, '']
    await ledger.notifyTransaction('1', 0, '2026-03-01', '2026-04-01', { ...fields }, {}, type)
  }
  await ledger.notifyTransaction('1', 1, '2026-04-01', '2026-05-01', { price: PRICE })
  return ledger
}

test('a refund counts on its day, and its reversal on the day of the reversal', async () => {
  const { getMetric } = await openInOrder([0, 1, 2, 3])
  expect(await moneyIn(getMetric)).toEqual([
    '2026-03-01 new 10000',
    '2026-03-10 refunds -10000',
    '2026-04-01 renewal 10000',
    '2026-04-05 refund_reversed 10000',
  ])
  // March: 10.000 charged and 10.000 refunded. April: 10.000 charged, and a reversal of 10.000.
  const monthly = await getMetric('revenue?interval=month&from=2026-03-01&to=2026-04-30')
  expect(figuresIn(monthly.series, 'milli')).toEqual({ '2026-03-01': 0, '2026-04-01': 20_000 })
  // By the day of the purchase the two cancel out, and nothing of March is refunded.
  const byCharge = 'revenue?interval=month&from=2026-03-01&to=2026-04-30&refunds=purchase_day'
  expect(figuresIn((await getMetric(byCharge)).series, 'milli')).toEqual({
    '2026-03-01': 10_000,
    '2026-04-01': 10_000,
  })
  const rate = await getMetric('refund_rate?interval=month&from=2026-03-01&to=2026-03-31')
  expect(rate.series[0]?.points[0]).toMatchObject({ numerator: 0, denominator: 1 })
  // It was active throughout.
  expect(await levelsOn(getMetric, ['2026-03-09', '2026-03-20', '2026-04-10'])).toEqual({
    '03-09': [10_000, 1],
    '03-20': [10_000, 1],
    '04-10': [10_000, 1],
  })
})

test('a refund, its reversal and a later partial refund count separately, in any order of arrival', async () => {
  const expected = [
    '2026-03-01 new 10000',
    '2026-03-10 refunds -10000',
    '2026-04-01 renewal 10000',
    '2026-04-05 refund_reversed 10000',
    // 40 % of 10.000.
    '2026-04-20 refunds -4000',
  ]
  for (const order of [
    [0, 1, 2, 3, 4],
    [4, 3, 2, 1, 0],
    [2, 0, 4, 1, 3],
    [3, 2, 0, 1, 4, 1, 2],
  ]) {
    const { getMetric } = await openInOrder(order)
    expect(await moneyIn(getMetric), order.join(' ')).toEqual(expected)
  }
})

test('a refund of Monday that is reversed on Thursday has a part of its own, which adds up to the same total', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  const pay = (id: string, fields: object, type: string) =>
    notifyTransaction(id, 0, '2026-05-01', '2026-06-01', { ...fields }, {}, type)
  const yearly = { productId: 'yearly', price: 2 * PRICE }
  await pay('1', plain('2026-05-01'), 'SUBSCRIBED')
  await pay('2', { ...plain('2026-05-01'), ...yearly }, 'SUBSCRIBED')
  const monday = refunded('2026-05-04', '2026-05-04', 100_000)
  await pay('1', monday, 'REFUND')
  await pay('2', { ...monday, ...yearly }, 'REFUND')
  await pay('1', plain('2026-05-07'), 'REFUND_REVERSED')
  expect(await moneyIn(getMetric)).toEqual([
    '2026-05-01 new 30000',
    '2026-05-04 refunds -30000',
    '2026-05-07 refund_reversed 10000',
  ])
  const may = 'revenue?interval=month&from=2026-05-01&to=2026-05-31'
  const gross = await getMetric(may)
  const figures = (part: string | null) => gross.series.find((one) => one.part === part)?.points[0]
  expect(figures(null)).toMatchObject({ milli: 10_000, count: 2 })
  expect(figures('refunds')).toMatchObject({ milli: -30_000, count: 2 })
  expect(figures('refund_reversed')).toMatchObject({ milli: 10_000, count: 1 })
  // 70 % of the same amounts.
  const proceeds = await getMetric(`${may}&basis=proceeds`)
  expect(proceeds.series.map(({ part, points }) => [part, points[0]?.milli])).toEqual([
    [null, 7_000],
    ['new', 21_000],
    ['refunds', -21_000],
    ['refund_reversed', 7_000],
  ])
  expect(proceeds.proceeds_known).toEqual({ exact: 0, ratio: 0, estimated: 7_000 })
  const split = await getMetric(`${may}&split=product&part=refund_reversed`)
  expect(split.series.map(({ value, points }) => [value, points[0]?.milli])).toEqual([['monthly', 10_000]])
  // By the day of the purchase, the two cancel out.
  const byCharge = (await getMetric(`${may}&refunds=purchase_day`)).series
  expect(byCharge.map(({ part, points }) => [part, points[0]?.milli])).toEqual([
    [null, 10_000],
    ['new', 30_000],
    ['refunds', -20_000],
  ])
})
