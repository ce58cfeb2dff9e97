/** Money that no exchange rate is known for: named beside the figure, never part of it, and never zero. */
import { expect, test } from 'vitest'
import type { OverviewAnswer } from '../../../src/metrics/series/overview.ts'
import type { Point, Series } from '../../../src/metrics/series/points.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { type Cells, DAY, level, sale } from '../../ledger/reports/samples.ts'
import { reportPrices } from '../reported_price.ts'
import { openTestLedger } from '../test_ledger.ts'

const TODAY = '2026-05-02'
const RUBLES: Cells = { 'Customer Currency': 'RUB', 'Customer Price': '299.00', 'Country Code': 'RU' }
const IN_RUBLES: Cells = { 'Currency of Proceeds': 'RUB', 'Developer Proceeds': '200.00' }
const withoutAny: Cells = {
  'Active Free Trial Introductory Offer Subscriptions': '0',
  'Billing Retry': '0',
  'Grace Period': '0',
}

/** Two renewals of 9.99 dollars, one first charge of 299 rubles, and ten and five subscriptions. No ruble has a rate. */
async function opened() {
  const apple = await openApple()
  const app = await apple.openWindfall()
  const { imports, reported, rates, store, metrics } = app.windfall
  apple.setReply('sales', DAY, [sale(), sale({ ...RUBLES, ...IN_RUBLES, Units: '1', Subscription: 'New' })])
  apple.setReply('subscription', DAY, [
    level({ ...withoutAny, 'Active Standard Price Subscriptions': '10' }),
    level({
      ...withoutAny,
      'Active Standard Price Subscriptions': '5',
      'Customer Price': '299.00',
      'Customer Currency': 'RUB',
      'Developer Proceeds': '2.00',
      Country: 'RU',
    }),
  ])
  await imports.run({ days: 3 })
  await reported.settled()
  await metrics.whenCurrent()
  const headers = { authorization: `Bearer ${await app.token()}` }
  async function get<Answer>(path: string): Promise<Answer> {
    const response = await app.request(`/api/v1/${path}`, { headers })
    expect(response.status).toBe(200)
    return (await response.json()) as Answer
  }
  const seriesOf = async (path: string): Promise<Series[]> =>
    (await get<SeriesAnswer>(`metrics/${path}&zone=pacific`)).series
  const point = async (path: string, part: string | null = null): Promise<Point | undefined> =>
    (await seriesOf(path)).find((one) => one.part === part)?.points[0]
  async function learn(): Promise<void> {
    const csv = ['date,currency,rate', ...[DAY, TODAY].map((on) => `${on},RUB,100`)].join('\n')
    await store.commit(() => void rates.importRates(rates.readCsv(csv, 'USD')))
    await metrics.whenCurrent()
  }
  return { ...app, get, seriesOf, point, learn }
}

const ON = `from=${DAY}&to=${DAY}`
const CHARGE = [{ currency: 'RUB', milli: 299_000 }]
const LEVEL = [{ currency: 'RUB', milli: 1_495_000 }]

test('a charge in a report is named, and its day is incomplete, in total and by each split', async () => {
  const { point, seriesOf } = await opened()
  const named = { complete: false, not_converted: CHARGE }
  expect(await point(`revenue?${ON}`)).toMatchObject({ milli: 19_980, count: 3, ...named })
  expect(await point(`revenue?${ON}`, 'new')).toMatchObject({ milli: null, count: 1, ...named })
  expect(await point(`revenue?${ON}`, 'renewal')).toEqual({
    on: DAY,
    milli: 19_980,
    count: 2,
    complete: true,
  })
  expect(await point(`revenue?from=2026-05-01&to=2026-05-02&interval=month`)).toMatchObject(named)
  for (const [split, rubles, dollars] of [
    ['country', 'RUS', 'USA'],
    ['currency', 'RUB', 'USD'],
    ['offer', 'paid', null],
    ['period', 'P1M', null],
    ['product', 'pro.monthly', null],
    ['app', 'com.example.lantern', null],
  ] as const) {
    const series = await seriesOf(`revenue?${ON}&split=${split}`)
    const of = (value: string) => series.find((one) => one.value === value)?.points[0]
    expect(of(rubles), split).toMatchObject({ milli: dollars === null ? 19_980 : null, ...named })
    if (dollars !== null) expect(of(dollars)).toEqual({ on: DAY, milli: 19_980, count: 2, complete: true })
  }
  expect(await point(`revenue?${ON}&country=RUS`)).toMatchObject({ milli: null, count: 1, ...named })
  expect(await point(`revenue?${ON}&country=USA`)).toMatchObject({ milli: 19_980, complete: true })
  expect(await point(`revenue?${ON}&currency=RUB`)).toMatchObject({ milli: 299_000, complete: true })
})

test('a level in a report is named on its day and until the next report', async () => {
  const { point, seriesOf } = await opened()
  for (const [metric, factor] of [
    ['mrr', 1],
    ['arr', 12],
  ] as const)
    for (const on of [DAY, TODAY])
      expect(await point(`${metric}?from=${on}&to=${on}`), `${metric} ${on}`).toMatchObject({
        milli: 99_900 * factor,
        count: 15,
        complete: false,
        not_converted: [{ currency: 'RUB', milli: 1_495_000 * factor }],
      })
  const byCountry = await seriesOf(`mrr?${ON}&split=country`)
  expect(byCountry.find(({ value }) => value === 'RUS')?.points[0]).toMatchObject({
    milli: null,
    count: 5,
    not_converted: LEVEL,
  })
  expect(await point(`active_subscriptions?${ON}`)).toEqual({ on: DAY, count: 15, complete: true })
})

test('proceeds are named where they are in a currency without a rate', async () => {
  const { point } = await opened()
  // 2 × 7.00; the rubles were paid out as rubles.
  expect(await point(`revenue?${ON}&basis=proceeds`)).toMatchObject({
    milli: 14_000,
    complete: false,
    not_converted: [{ currency: 'RUB', milli: 200_000 }],
  })
  // 10 × 7.00 and 5 × 2.00: Apple pays these rubles out as dollars.
  expect(await point(`mrr?${ON}&basis=proceeds`)).toEqual({
    on: DAY,
    milli: 80_000,
    count: 15,
    complete: true,
  })
  expect(await point(`mrr?${ON}&basis=proceeds&country=RUS`)).toMatchObject({ milli: 10_000, complete: true })
})

test('proceeds of the ledger are named in the currency in which Apple pays, in revenue and cohorts', async () => {
  const { app, notifyTransaction, get, getMetric } = await openTestLedger()
  const inEuros = { price: 10_000, currency: 'EUR', storefront: 'DEU' }
  await notifyTransaction('1', 0, '2026-05-10', '2026-06-10', inEuros)
  await notifyTransaction('2', 0, '2026-05-20', '2026-06-20', { price: 10_000 })
  const may = 'from=2026-05-01&to=2026-05-31'
  const revenue = async (basis: string): Promise<Point | undefined> => {
    const { series } = await getMetric(`revenue?${may}&interval=month&basis=${basis}`)
    return series.find(({ part }) => part === null)?.points[0]
  }
  type Row = Record<string, unknown> & { values?: Record<string, unknown>[] }
  const cohort = async (metric: string) => {
    const response = await get(`cohorts?metric=${metric}&days=0&${may}&basis=proceeds`)
    const [row] = ((await response.json()) as { cohorts: Row[] }).cohorts
    return row?.values?.[0] ?? row
  }
  async function expectProceeds(milli: number, not_converted?: object[]): Promise<void> {
    const rest = { complete: not_converted === undefined, ...(not_converted && { not_converted }) }
    expect(await revenue('proceeds')).toMatchObject({ milli, ...rest })
    for (const metric of ['ltv', 'arppu'])
      expect(await cohort(metric), metric).toMatchObject({ net_milli: milli, ...rest })
  }

  // No report has a price: 70 % of each.
  await expectProceeds(7_000, [{ currency: 'EUR', milli: 7_000 }])
  // Apple pays dollars for these euros: nothing of the proceeds is missing, but the gross is.
  const euros = { product_id: 'monthly', storefront: 'DEU', currency: 'EUR', price_milli: 10_000 }
  await reportPrices(app.windfall, '2026-05-10', [
    { ...euros, proceeds_milli: 8_000, proceeds_currency: 'USD' },
  ])
  await expectProceeds(15_000)
  expect(await revenue('gross')).toMatchObject({
    milli: 10_000,
    complete: false,
    not_converted: [{ currency: 'EUR', milli: 10_000 }],
  })
  // Apple pays yen, which have no rate, for dollars.
  const dollars = { product_id: 'monthly', storefront: 'USA', price_milli: 10_000 }
  await reportPrices(app.windfall, '2026-05-20', [
    { ...dollars, proceeds_milli: 900_000, proceeds_currency: 'JPY' },
  ])
  await expectProceeds(8_000, [{ currency: 'JPY', milli: 900_000 }])
})

test('the overview, today and the CSV name the same amounts, until a rate is known', async () => {
  const { get, point, request, token, learn } = await opened()
  const { organizations } = await get<OverviewAnswer>('overview?zone=pacific')
  const figure = (metric: string, part: string | null = null) =>
    organizations[0]?.figures.find((one) => one.metric === metric && one.part === part)?.now
  expect(figure('revenue')).toMatchObject({ milli: 19_980, not_converted: CHARGE })
  expect(figure('revenue', 'new')).toMatchObject({ milli: null, not_converted: CHARGE })
  expect(figure('mrr')).toMatchObject({ milli: 99_900, not_converted: LEVEL })
  expect(await get('today?zone=pacific')).toMatchObject({
    mrr: { milli: 99_900, not_converted: LEVEL },
    yesterday: { gross: { milli: 19_980, complete: false, not_converted: CHARGE } },
  })
  const headers = { authorization: `Bearer ${await token()}` }
  const csv = await request(`/api/v1/metrics/revenue.csv?${ON}&zone=pacific&part=new`, { headers })
  expect(await csv.text()).toContain('false,RUB 299.000')

  await learn()
  // 299 ÷ 100, and 5 × 2.99.
  expect(await point(`revenue?${ON}`)).toEqual({ on: DAY, milli: 22_970, count: 3, complete: true })
  expect(await point(`mrr?${ON}`)).toEqual({ on: DAY, milli: 114_850, count: 15, complete: true })
})

test('cohorts and the counters of today name charges and refunds of the ledger', async () => {
  const { notifyTransaction, get } = await openTestLedger()
  const euros = { price: 29_940, currency: 'EUR', storefront: 'DEU' }
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10')
  await notifyTransaction('4', 0, '2026-03-20', '2027-03-20', euros)
  await notifyTransaction('5', 0, '2026-04-20', '2027-04-20', euros)
  await notifyTransaction('6', 0, '2026-06-01T09:00:00Z', '2027-06-01', euros)
  await notifyTransaction('5', 0, '2026-04-20', '2027-04-20', {
    ...euros,
    revocationDate: Date.parse('2026-04-30T12:00:00Z'),
    revocationReason: 0,
    signedDate: Date.parse('2026-04-30T12:00:00Z'),
  })
  const cohorts = async (query: string): Promise<Record<string, unknown>[]> =>
    ((await (await get(`cohorts?${query}`)).json()) as { cohorts: Record<string, unknown>[] }).cohorts
  const waiting = [{ currency: 'EUR', milli: 29_940 }]
  const ltv = await cohorts('metric=ltv&days=0,10&from=2026-03-01')
  expect(ltv).toMatchObject([
    {
      cohort: '2026-03-01',
      customers: 2,
      // 9.990 and nothing of the euros, for two customers.
      values: [0, 10].map((days) => ({
        days,
        charged_milli: 9_990,
        per_customer_milli: 4_995,
        complete: false,
        not_converted: waiting,
      })),
    },
    {
      cohort: '2026-04-01',
      // Given back on the tenth day: nothing is left to convert.
      values: [
        { days: 0, charged_milli: 0, per_customer_milli: null, complete: false, not_converted: waiting },
        { days: 10, per_customer_milli: 0, complete: true },
      ],
    },
    { cohort: '2026-06-01', customers: 1 },
  ])
  expect(await cohorts('metric=ltv&days=0&from=2026-03-01&country=USA')).toMatchObject([
    { cohort: '2026-03-01', values: [{ per_customer_milli: 9_990, complete: true }] },
  ])
  expect(await cohorts('metric=arppu&from=2026-03-01')).toMatchObject([
    { cohort: '2026-03-01', payers: 2, per_payer_milli: 4_995, complete: false, not_converted: waiting },
    { cohort: '2026-04-01', payers: 1, per_payer_milli: 0, complete: true },
    { cohort: '2026-06-01', payers: 1, per_payer_milli: null, complete: false, not_converted: waiting },
  ])
  const csv = await (await get('cohorts.csv?metric=arppu&from=2026-03-01')).text()
  expect(csv.split(/\r?\n/)[1]).toContain('EUR 29.940')
  expect(await (await get('today')).json()).toMatchObject({
    sales: { count: 1, milli: null, not_converted: waiting },
    renewals: { count: 0, milli: 0 },
  })
})
