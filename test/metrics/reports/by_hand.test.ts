/** Reports of one app made by hand, with the arithmetic of their sums. The base currency is the dollar. */
import { expect, test } from 'vitest'
import type { ReportKind } from '../../../src/apple/api/connect.ts'
import { addDays } from '../../../src/days.ts'
import { dayNumber } from '../../../src/metrics/lineage/calendar.ts'
import type { ReportedMeasure } from '../../../src/metrics/reports/cells.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { rowsOf } from '../../helpers.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { type Cells, DAY, download, level, sale, subscriptionEvent } from '../../ledger/reports/samples.ts'
import { reportedSums } from './late_connection.ts'

const BEFORE = addDays(DAY, -1)
const EARLIER = addDays(DAY, -2)

const withoutAny: Cells = {
  'Active Standard Price Subscriptions': '0',
  'Active Free Trial Introductory Offer Subscriptions': '0',
  'Billing Retry': '0',
  'Grace Period': '0',
}

async function opened(folder?: string) {
  const apple = await openApple()
  const windfall = await apple.openWindfall(folder === undefined ? {} : { folder })
  const [app] = windfall.windfall.apps.list()
  if (!app) throw new Error('there is no app')
  const { reported, imports, metrics } = windfall.windfall
  const shown = () => metrics.generations.shown(app.organization_id)

  async function run(days = 3): Promise<void> {
    await imports.run({ days })
    await reported.settled()
  }

  /** A measure’s total on a day. */
  function on(day: string, measure: ReportedMeasure, currency: string | null = null) {
    const at = dayNumber(day)
    const range = { shown: shown(), app, filters: {}, split: null, currency, from: at, until: at } as const
    return reported
      .readReportsOnly(range as Parameters<typeof reported.readReportsOnly>[0], measure)
      .values.get('')?.[0]
  }
  return { ...windfall, apple, app, shown, metrics, reported, run, on }
}

const withReports = (
  apple: Awaited<ReturnType<typeof openApple>>,
  kind: ReportKind,
  day: string,
  rows: readonly Cells[],
) => apple.setReply(kind, day, rows)

test('levels: standard, offers by their own length, trials, grace periods, billing retry', async () => {
  const { apple, run, on } = await opened()
  withReports(apple, 'subscription_event', DAY, [
    // Three months for one payment.
    subscriptionEvent({
      Event: 'Reactivate',
      'Subscription Offer Type': 'Pay Up Front',
      'Subscription Offer Name': 'come_back',
      'Subscription Offer Duration': '3 Months',
    }),
  ])
  withReports(apple, 'subscription', DAY, [
    // 31 × 9.99 = 309.69; one in grace 9.99; together 319.68 and 32 subscriptions. 4 trials, 2 in retry.
    { ...level(), 'Pay Up Front Win-back Offers': '0' },
    // A year for 59.99 is 4.999 a month (4.99916… to the nearest thousandth); two are 9.998.
    {
      ...level({ ...withoutAny, 'Standard Subscription Duration': '1 Year', 'Customer Price': '59.99' }),
      'Subscription Apple ID': '1234567892',
      'Active Standard Price Subscriptions': '2',
      'Pay Up Front Win-back Offers': '0',
    },
    // 15.00 for three months are 5.000 a month, not 15; three are 15.000.
    {
      ...level({ ...withoutAny, 'Customer Price': '15.00', 'Subscription Offer Name': 'come_back' }),
      'Pay Up Front Win-back Offers': '3',
    },
  ])
  await run()
  // 319.680 + 9.998 + 15.000; 32 + 2 + 3.
  expect(on(DAY, 'mrr')).toEqual({ milli: 344_678, count: 37 })
  expect(on(DAY, 'mrr', 'USD')).toEqual({ milli: 344_678, count: 37 })
  expect(on(DAY, 'mrr', 'EUR')).toBeUndefined()
  expect(on(DAY, 'trials')?.count).toBe(4)
  expect(on(DAY, 'grace')?.count).toBe(1)
  expect(on(DAY, 'billing_retry')?.count).toBe(2)
  // 7.00 for each of the 32; for the year 7.00 ÷ 12 = 0.583; for the offer 7.00 ÷ 3 = 2.333: 224 + 1.166 + 6.999.
  expect(on(DAY, 'mrr.proceeds')?.milli).toBe(232_165)
})

test('proceeds without a currency are unknown: the row counts, and its share is estimated', async () => {
  const { apple, run, on, request, token } = await opened()
  const named = { 'Active Standard Price Subscriptions': '1' }
  withReports(apple, 'subscription', DAY, [
    level({ ...withoutAny, ...named }),
    level({ ...withoutAny, ...named, 'Proceeds Currency': ' ' }),
  ])
  // Two of 9.99 with proceeds of 7.00 each, and one of them refunded.
  withReports(apple, 'sales', DAY, [
    sale({ Units: '1' }),
    sale({ Units: '1', 'Currency of Proceeds': ' ' }),
    sale({ Units: '-1', 'Customer Price': '-9.99', 'Currency of Proceeds': '' }),
  ])
  await run(1)
  expect(on(DAY, 'mrr')).toEqual({ milli: 19_980, count: 2 })
  expect(on(DAY, 'mrr.proceeds')).toEqual({ milli: 7_000, count: 1 })
  expect(on(DAY, 'revenue.renewal')).toEqual({ milli: 19_980, count: 2 })
  expect(on(DAY, 'proceeds.renewal')).toEqual({ milli: 7_000, count: 1 })
  const bearer = { headers: { authorization: `Bearer ${await token()}` } }
  const proceeds = async (metric: string): Promise<SeriesAnswer> => {
    const path = `/api/v1/metrics/${metric}?from=${DAY}&to=${DAY}&basis=proceeds&zone=pacific`
    return (await (await request(path, bearer)).json()) as SeriesAnswer
  }
  // 7.000, and for the other 9.990 less Apple’s 30 %: 6.993, which the refund removes from the revenue.
  const mrr = await proceeds('mrr')
  expect(mrr.series[0]?.points[0]).toMatchObject({ milli: 13_993, count: 2 })
  expect(mrr.proceeds_known).toMatchObject({ exact: 0, estimated: 13_993 })
  const revenue = await proceeds('revenue')
  expect(revenue.series.find(({ part }) => part === null)?.points[0]).toMatchObject({ milli: 7_000 })
  expect(revenue.proceeds_known).toEqual({ exact: 7_000, ratio: 0, estimated: 0 })
})

test('an offer length that becomes known later changes days counted without it', async () => {
  const { apple, run, on } = await opened()
  const offer = {
    ...level({ ...withoutAny, 'Customer Price': '15.00', 'Subscription Offer Name': 'come_back' }),
    'Pay Up Front Win-back Offers': '1',
  }
  withReports(apple, 'subscription', EARLIER, [offer])
  await run()
  // By the product’s month, since no better length is known.
  expect(on(EARLIER, 'mrr')?.milli).toBe(15_000)
  withReports(apple, 'subscription_event', BEFORE, [
    subscriptionEvent({
      'Event Date': BEFORE,
      'Subscription Offer Type': 'Pay Up Front',
      'Subscription Offer Name': 'come_back',
      'Subscription Offer Duration': '2 Months',
    }),
  ])
  apple.clock.turn(12 * 3_600_000)
  await run()
  expect(on(EARLIER, 'mrr')?.milli).toBe(7_500)
})

test('sales: charges, refunds, prorations, downloads, and proceeds in another currency', async () => {
  const { apple, run, on } = await opened()
  withReports(apple, 'sales', DAY, [
    sale(),
    sale({ Subscription: 'New', Units: '1' }),
    sale({
      'Product Type Identifier': 'IA1',
      SKU: 'coins',
      Units: '3',
      'Customer Price': '0.99',
      'Developer Proceeds': '0.70',
    }),
    // A refund: units and price below zero, proceeds above.
    sale({ Units: '-1', 'Customer Price': '-9.99' }),
    // A proration at an upgrade: no units.
    sale({ Units: '0', 'Customer Price': '-4.50', 'Developer Proceeds': '3.15' }),
    // Paid in krona, paid out in dollars.
    sale({ Units: '1', 'Customer Price': '99.00', 'Customer Currency': 'SEK', 'Country Code': 'SE' }),
    // Free for a week: nothing was paid.
    sale({ Units: '7', 'Customer Price': '0.00', 'Developer Proceeds': '0.00' }),
    download(),
    download({ 'Product Type Identifier': '3F', Units: '11' }),
  ])
  await run()
  expect(on(DAY, 'revenue.renewal', 'USD')).toEqual({ milli: 19_980, count: 2 })
  expect(on(DAY, 'revenue.renewal', 'SEK')).toEqual({ milli: 99_000, count: 1 })
  // The krona has no rate: the base currency excludes it.
  expect(on(DAY, 'revenue.renewal')).toEqual({ milli: 19_980, count: 3 })
  expect(on(DAY, 'revenue.new')).toEqual({ milli: 9_990, count: 1 })
  expect(on(DAY, 'revenue.one_time')).toEqual({ milli: 2_970, count: 3 })
  expect(on(DAY, 'revenue.refund')).toEqual({ milli: 9_990, count: 1 })
  expect(on(DAY, 'revenue.proration')).toEqual({ milli: 4_500, count: 1 })
  // 2 × 7.00 and 1 × 7.00.
  expect(on(DAY, 'proceeds.renewal')).toEqual({ milli: 21_000, count: 3 })
  expect(on(DAY, 'proceeds.proration')?.milli).toBe(3_150)
  expect(on(DAY, 'downloads')?.count).toBe(5)
})

test('events: trials that began, converted and were lost; cancellations by reason', async () => {
  const { apple, run, on } = await opened()
  const trial = { 'Subscription Offer Type': 'Free Trial', 'Consecutive Paid Periods': '0' }
  withReports(apple, 'subscription_event', DAY, [
    subscriptionEvent({
      Event: 'Start Introductory Offer',
      ...trial,
      Quantity: '5',
      'Cancellation Reason': ' ',
    }),
    subscriptionEvent({
      Event: 'Start Introductory Offer',
      'Subscription Offer Type': 'Pay Up Front',
      Quantity: '2',
    }),
    subscriptionEvent({
      Event: 'Paid Subscription from Introductory Offer',
      'Consecutive Paid Periods': '1',
      Quantity: '3',
    }),
    // Two paid periods at an introductory price came before: no trial.
    subscriptionEvent({ Event: 'Paid Subscription from Introductory Offer', Quantity: '8' }),
    subscriptionEvent({ Event: 'Cancel', ...trial, 'Cancellation Reason': 'Canceled', Quantity: '4' }),
    subscriptionEvent({ Event: 'Cancel', 'Cancellation Reason': 'Canceled', Quantity: '6' }),
    subscriptionEvent({ Event: 'Cancel', 'Cancellation Reason': 'Price increase', Quantity: '1' }),
    subscriptionEvent({
      Event: 'Canceled from Billing Retry',
      'Cancellation Reason': 'Billing issue',
      Quantity: '7',
    }),
    subscriptionEvent({ Event: 'Something Apple thought of later', Quantity: '9' }),
  ])
  await run()
  const counts = [
    'trial.began',
    'trial.won',
    'trial.lost',
    'churned.voluntary',
    'churned.billing',
    'churned.other',
  ] as const
  expect(counts.map((measure) => on(DAY, measure)?.count)).toEqual([5, 3, 4, 6, 7, 1])
})

test('passing and returned losses count separately', async () => {
  const { apple, run, on } = await opened()
  const began = (day: string, quantity: number): Cells => ({
    'Original Start Date': day,
    Quantity: String(quantity),
    'Cancellation Reason': 'Canceled',
    'Days Canceled': ' ',
    'Subscription Offer Type': ' ',
    'Subscription Offer Name': ' ',
  })
  // Friday, 2026-05-01: its week began on 04-27, its fiscal month on Sunday, 03-29 (2026: 5 + 4 + 4 weeks from 09-28 on).
  expect(DAY).toBe('2026-05-01')
  const back = { Event: 'Reactivate', 'Cancellation Reason': ' ' }
  withReports(apple, 'subscription_event', DAY, [
    subscriptionEvent({ Event: 'Cancel', ...began('2026-04-30', 1) }),
    subscriptionEvent({ Event: 'Cancel', ...began('2026-04-26', 2) }),
    subscriptionEvent({ Event: 'Cancel', ...began('2026-03-29', 4) }),
    subscriptionEvent({ Event: 'Cancel', ...began('2026-03-28', 8) }),
    subscriptionEvent({ Event: 'Cancel', ...began(DAY, 16) }),
    // Began on the day of the loss; four days before, on the week’s Monday; in April. Of the week’s losses these two
    // began in it.
    subscriptionEvent({ ...back, ...began('2025-01-31', 1), 'Days Canceled': '0' }),
    subscriptionEvent({ ...back, ...began('2026-04-28', 2), 'Days Canceled': '1' }),
    subscriptionEvent({ ...back, ...began('2025-01-31', 4), 'Days Canceled': '4' }),
    subscriptionEvent({ ...back, ...began('2025-01-31', 8), 'Days Canceled': '5' }),
    // A lapsed trial or a free offer: no loss is reversed.
    subscriptionEvent({
      ...back,
      ...began('2025-01-31', 16),
      'Days Canceled': '0',
      'Consecutive Paid Periods': '1',
    }),
    subscriptionEvent({
      ...back,
      ...began('2025-01-31', 32),
      'Days Canceled': '0',
      'Subscription Offer Type': 'Free Trial',
      'Subscription Offer Name': 'come_back',
    }),
  ])
  await run()
  expect(on(DAY, 'churned.voluntary')?.count).toBe(31)
  const passing = (['day', 'week', 'month', 'fiscal_month'] as const).map(
    (unit) => on(DAY, `passing.${unit}.voluntary`)?.count,
  )
  expect(passing).toEqual([16, 17, 16, 23])
  const returned = (['day', 'week', 'month', 'fiscal_month'] as const).map(
    (unit) => on(DAY, `returned.${unit}`)?.count,
  )
  // Within the week: 1 + 4, and not the 2 that began in it. Within the fiscal month: those and the 8.
  expect(returned).toEqual([1, 5, 1, 13])
  expect(on(DAY, 'paid.direct')?.count).toBe(16)
})

test('sums a revised day again and leaves nothing of the previous sums', async () => {
  const { apple, run, on, shown, store, metrics, reported } = await opened()
  withReports(apple, 'sales', DAY, [sale(), sale({ 'Country Code': 'DE', 'Customer Currency': 'EUR' })])
  await run()
  expect(on(DAY, 'revenue.renewal', 'EUR')?.milli).toBe(19_980)
  withReports(apple, 'sales', DAY, [sale({ Units: '5' })])
  apple.clock.turn(12 * 3_600_000)
  await run()
  expect(on(DAY, 'revenue.renewal', 'USD')).toEqual({ milli: 49_950, count: 5 })
  expect(on(DAY, 'revenue.renewal', 'EUR')?.milli ?? 0).toBe(0)
  const before = { generation: shown().id, sums: reportedSums(store, shown().id) }
  await metrics.rebuild()
  await reported.settled()
  expect(shown().id).not.toBe(before.generation)
  expect(reportedSums(store, shown().id)).toEqual(before.sums)
})

test('applies a rate that arrives while its day is summed', async () => {
  const { apple, run, on, reported, windfall } = await opened()
  const { rates } = windfall
  withReports(apple, 'sales', DAY, [sale({ 'Country Code': 'DE', 'Customer Currency': 'EUR' })])
  // Prices are written after the day’s amounts are converted and before the day is done.
  let isKept = false
  reported.onPrices(() => {
    if (!isKept) rates.importRates(rates.readCsv(`date,currency,rate\n${DAY},EUR,0.5`, 'USD'))
    isKept = true
  })
  await run()
  expect(isKept).toBe(true)
  // 2 × 9.99 € at half a euro for a dollar.
  expect(on(DAY, 'revenue.renewal')).toEqual({ milli: 39_960, count: 2 })
})

test('each generation has its own sums in its currency, and none after it is dropped', async () => {
  const { apple, app, run, shown, store, metrics, organization, reported, windfall } = await opened()
  const { rates, clock, organizations } = windfall
  await store.commit(() => rates.importRates(rates.readCsv(`date,currency,rate\n${DAY},EUR,0.5`, 'USD')))
  withReports(apple, 'sales', DAY, [sale({ 'Country Code': 'DE', 'Customer Currency': 'EUR' })])
  await run()
  await metrics.whenCurrent()
  const before = shown()
  const at = dayNumber(DAY)
  const range = { app, filters: {}, split: null, currency: null, from: at, until: at } as const
  const renewals = (generation: typeof before) =>
    reported.readReportsOnly({ ...range, shown: generation }, 'revenue.renewal').values.get('')
  // 2 × 9.99 €, and that at half a euro for a dollar.
  expect(renewals(before)).toEqual([{ milli: 39_960, count: 2 }])
  await store.commit(() => organizations.declare([{ ...organization, currency: 'EUR' }]))
  await metrics.resume()
  const [next] = metrics.generations.all().filter(({ state }) => state === 'making')
  // Each report was requested for three days.
  expect(reported.dueDays(next?.id ?? 0)).toEqual({ count: 9, since: clock() })
  expect(reported.isDue(before.id)).toBe(false)
  await metrics.whenCurrent()
  expect(shown()).toMatchObject({ id: next?.id, currency: 'EUR' })
  expect(renewals(shown())).toEqual([{ milli: 19_980, count: 2 }])
  expect(reportedSums(store, before.id)).toEqual([])
  expect(reported.dueDays(before.id)).toEqual({ count: 0, since: null })
})

test('a missing day continues the level of the day before, marked; its flows are unknown', async () => {
  const { apple, run, app, shown, reported } = await opened()
  for (const day of [EARLIER, DAY]) {
    withReports(apple, 'subscription', day, [level()])
    withReports(apple, 'sales', day, [sale({ 'Begin Date': us(day), 'End Date': us(day) })])
  }
  apple.setReply('subscription', BEFORE, 'gone')
  apple.setReply('sales', BEFORE, 'gone')
  await run()
  const range = { from: dayNumber(addDays(EARLIER, -1)), until: dayNumber(DAY) }
  const query = {
    shown: shown(),
    app,
    environment: 'production',
    zone: 'own',
    filters: {},
    split: null,
    currency: null,
  } as const
  const levels = await reported.read({ ...query, ...range }, 'mrr')
  // The day before the first is unknown; 32 × 9.99 from then on.
  expect(levels.days.map(({ source, is_known, is_complete }) => [source, is_known, is_complete])).toEqual([
    ['ledger', false, false],
    ['reports', true, true],
    ['anchored', true, false],
    ['reports', true, true],
  ])
  expect(levels.values.get('')?.map(({ milli }) => milli)).toEqual([0, 319_680, 319_680, 319_680])
  const flows = await reported.read({ ...query, ...range }, 'revenue.renewal')
  expect(flows.days.map(({ source, is_known, is_complete }) => [source, is_known, is_complete])).toEqual([
    ['ledger', false, false],
    ['reports', true, true],
    ['ledger', false, false],
    ['reports', true, true],
  ])
  expect(flows.values.get('')?.map(({ milli }) => milli)).toEqual([0, 19_980, 0, 19_980])
  expect(flows.joins).toEqual([])
})

const us = (day: string): string => `${day.slice(5, 7)}/${day.slice(8, 10)}/${day.slice(0, 4)}`

test('a report that Apple says cannot be empty is an unknown day, not one of zeros', async () => {
  const { apple, run, app, shown, reported } = await opened()
  withReports(apple, 'subscription', BEFORE, [level()])
  withReports(apple, 'sales', DAY, [sale()])
  apple.setReply('subscription', DAY, 'empty')
  await run()
  const at = dayNumber(DAY)
  const query = {
    shown: shown(),
    app,
    environment: 'production',
    zone: 'own',
    filters: {},
    split: null,
    currency: null,
  } as const
  const { days } = await reported.read({ ...query, from: at, until: at }, 'mrr')
  expect(days).toMatchObject([{ is_known: false, is_complete: false, reason: 'suspect_report' }])
})

test('days due at a process’s end are summed at the next start', async () => {
  const { apple, run, store, folder, reported } = await opened()
  withReports(apple, 'sales', DAY, [sale()])
  await run()
  const kept = rowsOf(store, 'reported_sums')
  await reported.close()
  await store.commit(() => {
    store.prepare('delete from reported_sums').run()
    store.prepare("delete from reported_days where kind = 'sales'").run()
  })
  const again = await apple.openWindfall({ folder })
  await again.windfall.reported.settled()
  expect(rowsOf(again.store, 'reported_sums')).toEqual(kept)
})

test('proceeds of charges: exact on their day, by ratio after it, estimated without a reported price', async () => {
  const { apple, run, app, reported } = await opened()
  withReports(apple, 'sales', BEFORE, [
    sale({ 'Begin Date': us(BEFORE), 'End Date': us(BEFORE), 'Proceeds Reason': ' ' }),
    sale({
      'Begin Date': us(BEFORE),
      'End Date': us(BEFORE),
      'Proceeds Reason': 'Rate After One Year',
      'Developer Proceeds': '8.50',
    }),
  ])
  await run()
  const noon = (day: string): number => Date.parse(`${day}T20:00:00Z`)
  const charge = {
    product_id: 'pro.monthly',
    storefront: 'USA',
    currency: 'USD',
    price_milli: 9_990,
    quantity: 1,
    at: noon(BEFORE),
  }
  const of = (more: object, is_after_a_year: boolean | null = false) =>
    reported.proceedsOf(app.id, { ...charge, ...more }, is_after_a_year)
  expect(of({})).toEqual({ milli: 7_000, currency: 'USD', basis: 'exact' })
  expect(of({}, true)).toEqual({ milli: 8_500, currency: 'USD', basis: 'exact' })
  expect(of({ at: noon(DAY) })).toEqual({ milli: 7_000, currency: 'USD', basis: 'ratio' })
  // The year of service is unknown: two at 7.00 and two at 8.50 average 7.75.
  expect(of({}, null)).toEqual({ milli: 7_750, currency: 'USD', basis: 'ratio' })
  // Two units in one purchase.
  expect(of({ price_milli: 19_980, quantity: 2 })).toMatchObject({ milli: 14_000, basis: 'exact' })
  // At another price: the share of the price that sold most on the day, which is 7.00 or 8.50 of 9.99.
  expect(of({ price_milli: 19_990, at: noon(DAY) })).toEqual({
    milli: 14_007,
    currency: 'USD',
    basis: 'estimated',
  })
  // Before any report, and in another country: 30 % off, 15 % after a year.
  expect(of({ at: noon(EARLIER) })).toEqual({ milli: 6_993, currency: 'USD', basis: 'estimated' })
  expect(of({ storefront: 'DEU', currency: 'EUR' })).toMatchObject({ milli: 6_993, currency: 'EUR' })
  // 12.345 × 0.85 = 10.49325.
  expect(of({ price_milli: 12_345, storefront: 'DEU' }, true)).toMatchObject({ milli: 10_493 })
})
