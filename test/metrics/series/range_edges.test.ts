/** What the figure of the requested days is where their first or last interval is not whole. */
import { expect, test } from 'vitest'
import type { Series } from '../../../src/metrics/series/points.ts'
import { at, openTestLedger } from '../test_ledger.ts'

const CONSUMABLE = { type: 'Consumable', subscriptionGroupIdentifier: undefined }
const ENDS = { autoRenewStatus: 0, expirationIntent: 1 }

const rangeOf = (series: readonly Series[], part: string | null = null) =>
  series.find((one) => one.part === part)?.range

/** One subscription throughout, and three from 20 March to 20 April. */
async function openLosing(heard_at?: number) {
  const ledger = await openTestLedger({ ...(heard_at !== undefined && { heard_at }) })
  const { notifyTransaction } = ledger
  for (const [index, [from, until]] of [
    ['2026-03-10', '2026-04-10'],
    ['2026-04-10', '2026-05-10'],
    ['2026-05-10', '2026-06-10'],
  ].entries())
    await notifyTransaction('1', index, from ?? '', until ?? '')
  for (const id of ['2', '3', '4'])
    await notifyTransaction(id, 0, '2026-03-20', '2026-04-20', {}, { ...ENDS, signedDate: at('2026-04-19') })
  return ledger
}

test('a churn rate is that of one whole interval, and null for other days', async () => {
  const { getMetric } = await openLosing()
  for (const name of ['churn_rate', 'mrr_churn_rate']) {
    // Three are lost, and only one was active on 15 March.
    const parts = await getMetric(`${name}?from=2026-03-15&to=2026-04-30&interval=month`)
    const unknown = { ratio: null, numerator: null, denominator: null, complete: false }
    for (const part of [null, 'voluntary']) {
      expect(rangeOf(parts.series, part)).toMatchObject({ ...unknown, reasons: ['not_one_interval'] })
      expect(rangeOf(parts.series, part)?.clipped).toEqual([
        {
          of: '2026-03-01',
          on: '2026-03-15',
          until_on: '2026-03-31',
          ...unknown,
          reasons: ['not_one_interval'],
        },
      ])
    }
    expect(parts.series[0]?.points[1]).toMatchObject({ on: '2026-04-01', ratio: 0.75 })

    const days = 'from=2026-04-01&to=2026-04-30'
    const month = await getMetric(`${name}?${days}&interval=month`)
    const { on: _, ...april } = month.series[0]?.points[0] ?? {}
    expect(month.series[0]?.range).toEqual({ ...april, reasons: [], clipped: [] })
    expect(april).toMatchObject({ ratio: 0.75, complete: true })
    const daily = await getMetric(`${name}?${days}`)
    expect(rangeOf(daily.series)).toMatchObject({ ...unknown, reasons: ['not_one_interval'] })
    const lossDay = await getMetric(`${name}?from=2026-04-20&to=2026-04-20`)
    expect(rangeOf(lossDay.series)).toMatchObject({ ratio: 0.75, reasons: [] })
    const june = await getMetric(`${name}?from=2026-06-01&interval=month`)
    expect(rangeOf(june.series)).toMatchObject({ ratio: 0, complete: false, reasons: ['unfinished'] })
  }
})

test('a churn rate of other days says what of these days is not known, too', async () => {
  const { getMetric } = await openLosing(at('2026-04-10'))
  const { series } = await getMetric('churn_rate?from=2026-04-12&to=2026-05-20&interval=month')
  expect(rangeOf(series)).toMatchObject({
    ratio: null,
    reasons: ['not_one_interval', 'older_unknown', 'grace'],
  })
})

test('a CSV file of churn has a line without a figure for the days that are not a whole interval', async () => {
  const { app } = await openLosing()
  const text = await app
    .request('/api/v1/metrics/churn_rate.csv?from=2026-03-15&to=2026-04-30&interval=month&layout=wide', {
      headers: { authorization: `Bearer ${await app.token()}` },
    })
    .then((response) => response.text())
  const [head = [], ...rows] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  const cells = (name: string) => rows.map((row) => row[head.indexOf(name)])
  expect(cells('on')).toEqual(['2026-03-15', '2026-04-01'])
  expect(cells('until_on')).toEqual(['2026-03-31', '2026-04-30'])
  expect(cells('churn_rate')).toEqual(['', '0.75'])
  expect(cells('reasons')[0]).toBe('not_one_interval')
})

test('a split names the values with the largest figures of the requested days', async () => {
  const { getMetric, notifyTransaction } = await openTestLedger()
  const sell = (id: string, on: string, price: number, fields = {}) =>
    notifyTransaction(id, 0, on, null, { ...CONSUMABLE, productId: `product_${id}`, price, ...fields })
  await sell('1', '2026-04-01', 100_000)
  await sell('2', '2026-04-08', 1_000)
  await sell('3', '2026-04-08', 2_000)
  await sell('4', '2026-04-09', 50_000)
  const refund = { revocationDate: at('2026-04-10'), revocationReason: 0, revocationPercentage: 100_000 }
  await sell('4', '2026-04-09', 50_000, { ...refund, signedDate: at('2026-04-10') })
  const days = 'from=2026-04-03&to=2026-04-10&interval=week&split=product'
  const figures = ({ series }: { series: readonly Series[] }) =>
    series.map(({ value, others, range, points }) => [value, others, range.milli, points[0]?.milli])
  // Product 1 has sales before the requested days only, in their first week.
  expect(figures(await getMetric(`revenue?${days}`))).toEqual([
    ['product_3', 0, 2_000, 0],
    ['product_2', 0, 1_000, 0],
    ['product_4', 0, 0, 0],
    [null, 1, 0, 100_000],
  ])
  expect(figures(await getMetric(`revenue?${days}&limit=1`))).toEqual([
    ['product_3', 0, 2_000, 0],
    [null, 3, 1_000, 100_000],
  ])
})

test('a part is listed where it has a value at the end of the requested days only', async () => {
  const { getMetric, notifyTransaction } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-04-08', '2026-05-08', {}, { ...ENDS, signedDate: at('2026-05-05') })
  await notifyTransaction('2', 0, '2026-05-05', '2026-05-08', { price: undefined, currency: undefined }, ENDS)
  const days = 'from=2026-05-04&to=2026-05-07&interval=week'
  const { series } = await getMetric(`status?${days}`)
  expect(rangeOf(series, 'will_cancel')).toMatchObject({ count: 2 })
  expect(series.find(({ part }) => part === 'will_cancel')?.points[0]).toMatchObject({ count: 0 })
  const mrr = await getMetric(`mrr?${days}`)
  expect(rangeOf(mrr.series, 'unpriced')).toMatchObject({ count: 1 })
})

test('the last day of a clipped interval is not in the future', async () => {
  const { app, getMetric } = await openTestLedger()
  app.clock.set(at('2026-06-10T12:00:00Z'))
  for (const interval of ['week', 'month', 'fiscal_month'])
    for (const to of ['', '&to=2026-06-10', '&to=2026-07-15']) {
      const days = `from=2026-06-09${to}&interval=${interval}`
      const { range, series } = await getMetric(`revenue?${days}`)
      expect(range).toEqual({ from_on: '2026-06-09', until_on: '2026-06-10' })
      expect(series[0]?.range.clipped).toMatchObject([
        { on: '2026-06-09', until_on: '2026-06-10', complete: false },
      ])
      expect(series[0]?.range.clipped[0]?.reasons).toContain('unfinished')
    }
})
