import { expect, test } from 'vitest'
import { openDaySumCache } from '../../../src/metrics/sums/day_sum_cache.ts'
import type { DaySumSource } from '../../../src/metrics/sums/series_lists.ts'
import { openTestApp } from '../../helpers.ts'
import { reportPrices } from '../reported_price.ts'
import { figuresIn, openTestLedger } from '../test_ledger.ts'

const days = (...values: number[]) =>
  Object.fromEntries(values.map((value, index) => [`2026-05-${28 + index}`, value]))
const DAYS = 'from=2026-05-28&to=2026-05-31'
const USA = { value: 'USA' }
const DEU = { value: 'DEU' }

test('a chart drawn again contains what arrived meanwhile', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-29', '2026-06-29')
  const by = `mrr?${DAYS}&split=country`
  expect(figuresIn((await getMetric(by)).series, 'milli', USA)).toEqual(days(0, 9_990, 9_990, 9_990))
  expect(figuresIn((await getMetric(`revenue?${DAYS}`)).series, 'milli')).toEqual(days(0, 9_990, 0, 0))
  // One within the cached days, one before them, and one in a new country.
  await notifyTransaction('2', 0, '2026-05-30', '2026-06-30')
  await notifyTransaction('3', 0, '2026-05-20', '2026-06-20')
  await notifyTransaction('4', 0, '2026-05-31', '2026-06-30', { storefront: 'DEU' })
  const { series } = await getMetric(by)
  expect(figuresIn(series, 'milli', USA)).toEqual(days(9_990, 19_980, 29_970, 29_970))
  expect(figuresIn(series, 'milli', DEU)).toEqual(days(0, 0, 0, 9_990))
  expect(figuresIn((await getMetric(`revenue?${DAYS}`)).series, 'milli')).toEqual(
    days(0, 9_990, 9_990, 9_990),
  )
})

test('earlier and fewer days than those cached have correct sums', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10')
  await notifyTransaction('2', 0, '2026-05-30', '2026-06-30')
  await getMetric(`mrr?${DAYS}`)
  const longer = await getMetric('mrr?from=2026-05-09&to=2026-05-31')
  expect(longer.series[0]?.points.map(({ milli }) => milli).slice(0, 3)).toEqual([0, 9_990, 9_990])
  const last = await getMetric('mrr?from=2026-05-31&to=2026-05-31')
  expect(figuresIn(last.series, 'milli')).toEqual({ '2026-05-31': 19_980 })
  const flow = await getMetric('revenue?from=2026-05-31&to=2026-05-31&split=country')
  expect(flow.series).toEqual([])
})

test('a chart uses the sums of a rebuild', async () => {
  const { app, notifyTransaction, getMetric } = await openTestLedger()
  await notifyTransaction('1', 0, '2026-05-29', '2026-06-29')
  const before = await getMetric(`mrr?${DAYS}`)
  await app.windfall.metrics.rebuild()
  await notifyTransaction('2', 0, '2026-05-30', '2026-06-30')
  const { series } = await getMetric(`mrr?${DAYS}`)
  expect(figuresIn(before.series, 'milli')).toEqual(days(0, 9_990, 9_990, 9_990))
  expect(figuresIn(series, 'milli')).toEqual(days(0, 9_990, 19_980, 19_980))
})

/** Charges less Apple’s 30 %, and the reported proceeds of 9.990: 8.000. */
test('proceeds follow new charges, reported prices and rates', async () => {
  const { app, notifyTransaction, getMetric } = await openTestLedger({
    rates: ['2026-05-20,EUR,0.5', '2026-05-29,EUR,0.5'],
  })
  const { store, rates } = app.windfall
  const net = async (value = USA) =>
    figuresIn((await getMetric(`revenue?${DAYS}&basis=proceeds&split=country`)).series, 'milli', value)
  const euros = { storefront: 'DEU', currency: 'EUR', price: 5_000 }
  await notifyTransaction('1', 0, '2026-05-29', '2026-06-29')
  await notifyTransaction('2', 0, '2026-05-29', '2026-06-29', euros)
  expect(await net()).toEqual(days(0, 6_993, 0, 0))
  expect(await net(DEU)).toEqual(days(0, 7_000, 0, 0))

  // A second one on a cached day, and the first one of another day.
  await notifyTransaction('3', 0, '2026-05-29', '2026-06-29')
  await notifyTransaction('4', 0, '2026-05-31', '2026-06-30')
  expect(await net()).toEqual(days(0, 13_986, 0, 6_993))

  const price = { product_id: 'monthly', storefront: 'USA', price_milli: 9_990 }
  await reportPrices(app.windfall, '2026-05-31', [{ ...price, proceeds_milli: 8_000 }])
  expect(await net()).toEqual(days(0, 13_986, 0, 8_000))
  await notifyTransaction('5', 0, '2026-05-31', '2026-06-30')
  expect(await net()).toEqual(days(0, 13_986, 0, 16_000))

  await store.commit(() => rates.remove('EUR', '2026-05-29'))
  const other = rates.readCsv('date,currency,rate\n2026-05-29,EUR,0.25', 'USD')
  await store.commit(() => rates.importRates(other))
  expect(await net(DEU)).toEqual(days(0, 14_000, 0, 0))
})

test('evicted sums are whole for callers that wait, and take no room afterwards', async () => {
  const app = await openTestApp()
  const { store } = app.windfall
  const place: DaySumSource = {
    generation: 99,
    app_id: 'app',
    environment: 'production' as const,
    zone: 'UTC',
    measure: 'mrr' as const,
    dimension: 'country' as const,
  }
  const far = 1_600_000
  await store.commit(() => {
    const series = store.prepare<object>(
      'insert into metric_series values (:id, :generation, :app_id, :environment, :zone, :measure, :dimension, :value)',
    )
    series.run({ ...place, id: 901, value: 'A' })
    series.run({ ...place, id: 902, value: 'B' })
    // Enough that the read yields between the two.
    store
      .prepare<[number]>(`
        insert into metric_days (series_id, day, milli, base_milli, count)
        with recursive n(day) as (select 1 union all select day + 1 from n where day < ?) select 901, day, 1, 1, 1 from n`)
      .run(25_000)
    store
      .prepare('insert into metric_days (series_id, day, milli, base_milli, count) values (902, ?, 1, 1, 1)')
      .run([far])
  })
  const lines = openDaySumCache(store)
  const read = (name: string, from: number, only?: string) =>
    lines.read(
      place,
      {
        name,
        keyOf: (value) => (only && value !== only ? null : value),
        is_original: true,
        has_before: false,
      },
      from,
    )
  const waiting = read('all', 10)
  const next = read('all', 0)
  lines.applyWritten(901, { ...place, value: 'A' }, new Map([[20, { milli: 5, base_milli: 5, count: 1 }]]))
  expect((await waiting).sumsByKey.get('A')?.milli[10]).toBe(6)
  expect((await next).sumsByKey.get('A')?.days).toBe(25_001)
  const kept = await read('small', 0, 'A')
  await read('another', 0, 'A')
  expect(await read('small', 0, 'A')).toBe(kept)
})
