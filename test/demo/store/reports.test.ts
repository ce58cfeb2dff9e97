import { afterAll, beforeEach, expect, test } from 'vitest'
import { salesRows } from '../../../src/demo/store/sales.ts'
import { endOfSegment } from '../../../src/demo/world/books.ts'
import { dayAfter, pacificDay, pacificInstant } from '../../../src/demo/world/pacific.ts'
import type { Reported } from '../../../src/demo/world/report_lines.ts'
import { storefrontOf } from '../../../src/demo/world/storefronts.ts'
import { nonEmpty } from '../../non_empty.ts'
import { openTestStore, rowsOf, UNTIL } from './opened.ts'

const opened = await openTestStore({ seed: 4, subscribers: 300 })
const { store, report, clock, simulation } = opened
const { books } = simulation
simulation.skip(UNTIL)
const NO_FAULTS = structuredClone(store.faults)
beforeEach(() => {
  Object.assign(store.faults, structuredClone(NO_FAULTS))
  clock.set(UNTIL)
})
afterAll(() => opened.close())

const TODAY = pacificDay(UNTIL)
const milli = (text: string) => Math.round(Number(text) * 1000)

async function fileOf(type: string, day: string) {
  const { status, json, body } = await report(type, day)
  if (status === 404) expect(json.errors[0].detail).toBe('There were no sales for the date specified.')
  else expect(status).toBe(200)
  return status === 200 ? rowsOf(body) : []
}

/** Sums rows by Apple's rules. A partial refund has 0 units, a negative price and positive proceeds. */
function sumsOf(rows: Record<string, string>[], day: string): Map<string, number[]> {
  const sums = new Map<string, number[]>()
  for (const row of rows) {
    const units = Number(row.Units)
    const price = milli(row['Customer Price'] ?? '')
    const proceeds = milli(row['Developer Proceeds'] ?? '')
    const download = !row['Product Type Identifier']?.startsWith('IA')
    const app = download ? row.SKU : row['Parent Identifier']
    const key = [
      day,
      app,
      row['Product Type Identifier'],
      row.SKU,
      row['Country Code'],
      row['Customer Currency'],
    ]
    const [u = 0, gross = 0, net = 0] = sums.get(key.join()) ?? []
    const given = units === 0 && price < 0
    sums.set(key.join(), [
      u + units,
      gross + (given ? price : units * Math.abs(price)),
      net + (given ? -proceeds : units * proceeds),
    ])
  }
  return sums
}

function sumsIn(reported: readonly Reported[]): Map<string, number[]> {
  return new Map(
    reported.map((r) => [
      [r.day, r.sku, r.product_type, r.product_id, r.country, r.currency].join(),
      [r.units, r.gross_milli, r.proceeds_milli],
    ]),
  )
}

test('a year of SALES matches the books to the thousandth', async () => {
  const found = new Map<string, number[]>()
  const first = dayAfter(TODAY, -300)
  let days = 0
  for (let day = first; day < dayAfter(TODAY, -2); day = dayAfter(day, 3)) {
    for (const [key, sum] of sumsOf(await fileOf('SALES', day), day)) found.set(key, sum)
    days += 1
  }
  const wanted = sumsIn(store.reported({ from: first, until: dayAfter(TODAY, -2) }))
  const isReleaseDay = (key: string) =>
    (Date.parse(key.slice(0, 10)) - Date.parse(first)) % (3 * 86_400_000) === 0
  expect(found).toEqual(new Map([...wanted].filter(([key]) => isReleaseDay(key))))
  expect(days).toBeGreaterThan(90)
  expect([...found.values()].flat().every(Number.isSafeInteger)).toBe(true)
})

test('the books of reports are the books of charges: the same money, but for tax, days and hundredths', () => {
  const gross: Record<string, number> = {}
  for (const line of books.reported().filter(({ bundle_id }) => bundle_id !== null))
    gross[line.currency] = (gross[line.currency] ?? 0) + line.gross_milli
  const [charged, refunded, prorated] = [books.charged(), books.refunded(), books.prorated()]
  for (const [currency, sum] of Object.entries(gross)) {
    const net = (charged[currency] ?? 0) - (refunded[currency] ?? 0) - (prorated[currency] ?? 0)
    // Each partial refund is rounded to hundredths.
    expect(Math.abs(sum - net), currency).toBeLessThanOrEqual(5 * 200)
  }
  expect(Object.keys(gross).sort()).toEqual(Object.keys(charged).sort())
})

test('full and partial refunds have Apple’s signs', async () => {
  const days = new Set(
    books.entries.filter((e) => /refund$|proration/.test(e.kind)).map((e) => pacificDay(e.at)),
  )
  const rows: Record<string, string>[] = []
  for (const day of [...days]
    .filter((d) => d > dayAfter(TODAY, -360) && d < dayAfter(TODAY, -2))
    .slice(0, 60))
    rows.push(...(await fileOf('SALES', day)))
  const back = rows.filter((row) => row['Customer Price']?.startsWith('-'))
  const parts = back.filter((row) => row.Units === '0')
  const whole = back.filter((row) => Number(row.Units) < 0)
  expect([parts.length > 5, whole.length > 5, parts.length + whole.length]).toEqual([true, true, back.length])
  expect(back.every((row) => Number(row['Developer Proceeds']) > 0)).toBe(true)
  expect(rows.filter((row) => Number(row.Units) < 0).every((row) => whole.includes(row))).toBe(true)
})

test('two equal partial refunds have two rows, two equal sales one', () => {
  const back = Array.from({ length: 700 }, (_, n) => books.linesOf(dayAfter(TODAY, -n))).flat()
  const [part] = back.filter((line) => line.units === 0)
  const [sale] = back.filter((line) => line.units === 1)
  if (!part || !sale) throw new Error('the history has no partial refund')
  expect(salesRows([part, part]).map((row) => row.Units)).toEqual([0, 0])
  expect(salesRows([sale, sale]).map((row) => row.Units)).toEqual([2])
})

test('reports exclude sandbox and Family Sharing, and include free trials, downloads and a removed app', async () => {
  const lines = Array.from({ length: 730 }, (_, n) => books.linesOf(dayAfter(TODAY, -n))).flat()
  const sandbox = new Set(books.entries.filter((e) => e.environment === 'sandbox').map((e) => e.person))
  expect(sandbox.size).toBeGreaterThan(1)
  expect(lines.filter((line) => line.person !== null && sandbox.has(line.person))).toEqual([])
  expect(lines.filter((line) => /^(subscriber|shopper).*\./.test(line.person ?? ''))).toEqual([])
  expect(lines.some((line) => line.plan !== null && line.price_milli === 0)).toBe(true)
  const types = new Set(lines.map((line) => line.product_type))
  expect(types).toEqual(new Set(['IAY', 'IA1', 'IA9', '1F', '3F', '7F']))
  expect(
    lines.filter((line) => line.sku === 'LL-KELP-00' && line.product_type === 'IAY').length,
  ).toBeGreaterThan(20)
})

test('SUBSCRIPTION counts active subscriptions at the end of the day, with grace and retry separate', async () => {
  for (const back of [300, 200, 100, 30]) {
    const day = dayAfter(TODAY, -back)
    const at = pacificInstant(dayAfter(day)) - 1
    const rows = await fileOf('SUBSCRIPTION', day)
    const sum = (column: string) => rows.reduce((total, row) => total + Number(row[column]), 0)
    const alive = books.segments.filter(
      (s) => s.environment === 'production' && !s.shared && s.from <= at && at < endOfSegment(s),
    )
    const inGrace = alive.filter((s) => at >= s.paid_until)
    const standard = alive.filter((s) => at < s.paid_until && s.offer === null)
    const trials = alive.filter((s) => s.kind === 'trial' && at < s.paid_until)
    expect(sum('Active Standard Price Subscriptions')).toBe(standard.length)
    expect(sum('Active Free Trial Introductory Offer Subscriptions')).toBe(trials.length)
    expect(sum('Grace Period')).toBe(inGrace.length)
    expect(sum('Subscribers')).toBe(alive.length)
    const german = rows
      .filter((row) => row.Country === 'DE')
      .reduce((n, row) => n + Number(row.Subscribers), 0)
    expect(german).toBe(alive.filter((s) => storefrontOf(s.storefront).country === 'DE').length)
  }
})

test('counts failed payments as billing retry until they succeed or expire', async () => {
  const failing = books.segments.filter(
    (s) => s.retry_from !== null && s.environment === 'production' && !s.shared,
  )
  expect(failing.length).toBeGreaterThan(5)
  for (const segment of failing.slice(-4)) {
    const day = dayAfter(pacificDay(segment.retry_from ?? 0))
    if (day >= dayAfter(TODAY, -2)) continue
    const at = pacificInstant(dayAfter(day)) - 1
    const there = failing.filter((s) => (s.retry_from ?? 0) <= at && at < (s.retry_until ?? Infinity)).length
    const rows = await fileOf('SUBSCRIPTION', day)
    expect(rows.reduce((total, row) => total + Number(row['Billing Retry']), 0)).toBe(there)
  }
})

test('SUBSCRIPTION_EVENT lists each start, renewal and end once', async () => {
  const kinds = new Set(['started', 'renewed', 'resubscribed', 'recovered', 'expired', 'upgraded', 'refund'])
  const events = new Map<string, number>()
  let checked = 0
  for (let back = 330; back > 10; back -= 16) {
    const day = dayAfter(TODAY, -back)
    const those = books.entries.filter(
      (e) =>
        kinds.has(e.kind) &&
        e.environment === 'production' &&
        !e.shared &&
        books.segmentOf('production', e.transaction_id) !== undefined &&
        pacificDay(e.at) === day,
    )
    const rows = (await fileOf('SUBSCRIPTION_EVENT', day)).filter(
      (row) => !/^(Billing|Down|Cross)/.test(row.Event ?? ''),
    )
    const moved = (await fileOf('SUBSCRIPTION_EVENT', day)).filter((row) =>
      /^(Down|Cross)/.test(row.Event ?? ''),
    )
    const sum = (list: typeof rows) => list.reduce((total, row) => total + Number(row.Quantity), 0)
    const atOnce = books.entries.filter(
      (e) =>
        e.kind === 'crossgraded' && pacificDay(e.at) === day && !e.shared && e.environment === 'production',
    )
    const renewed = atOnce.filter((e) => !those.some((r) => r.transaction_id === e.transaction_id))
    expect(sum(rows) + sum(moved)).toBe(those.length + renewed.length)
    for (const row of rows)
      events.set(row.Event ?? '', (events.get(row.Event ?? '') ?? 0) + Number(row.Quantity))
    checked += sum(rows)
  }
  expect(checked).toBeGreaterThan(40)
  expect([...events.keys()]).toEqual(expect.arrayContaining(['Renew', 'Cancel', 'Start Introductory Offer']))
})

test('SUBSCRIPTION_EVENT counts no periods of offers, and names a paid introductory offer in later rows too', async () => {
  const rows: Record<string, string>[] = []
  for (let back = 330; back > 10; back -= 4)
    rows.push(...(await fileOf('SUBSCRIPTION_EVENT', dayAfter(TODAY, -back))))
  /** The offers and paid periods of an event. */
  const seenIn = (event: string) => [
    ...new Set(
      rows
        .filter((row) => row.Event === event)
        .map((row) => `${row['Subscription Offer Type']} ${row['Consecutive Paid Periods']}`.trim()),
    ),
  ]
  expect(seenIn('Start Introductory Offer').sort()).toEqual([
    'Free Trial 0',
    'Pay As You Go 0',
    'Pay Up Front 0',
  ])
  // A free trial is named only while it lasts.
  expect(seenIn('Paid Subscription from Introductory Offer').sort()).toEqual([
    '1',
    'Pay As You Go 1',
    'Pay Up Front 1',
  ])
  expect(seenIn('Renew')).toEqual(expect.arrayContaining(['2', 'Pay As You Go 2']))
})

test('SUBSCRIBER has a row for each payment of a subscription, and dates what is refunded', async () => {
  for (const back of [250, 120, 20]) {
    const day = dayAfter(TODAY, -back)
    const rows = await fileOf('SUBSCRIBER', day)
    const lines = nonEmpty(books.linesOf(day).filter((line) => line.plan !== null))
    expect(rows.map((row) => milli(row['Customer Price'] ?? ''))).toEqual(
      lines.map((line) => line.price_milli),
    )
    expect(rows.filter((row) => (row.Refund === 'Yes') !== (row['Purchase Date'] !== ''))).toEqual([])
    expect(rows.every((row) => /^\d{15}$/.test(row['Subscriber ID'] ?? ''))).toBe(true)
  }
})

test('a report is available from 8 am Pacific time the next day, for 365 days', async () => {
  const day = '2026-02-10'
  clock.set(Date.UTC(2026, 1, 11, 15, 59, 59, 999))
  const early = await report('SALES', day)
  expect([early.status, early.json.errors[0].detail]).toEqual([
    404,
    expect.stringMatching(/^Report is not available yet\./),
  ])
  clock.turn(1)
  const there = await report('SALES', day)
  expect([there.status, there.headers.get('content-type'), there.headers.get('content-encoding')]).toEqual([
    200,
    'application/a-gzip',
    null,
  ])
  store.faults.report_delay_hours = 3
  expect((await report('SALES', day)).status).toBe(404)
  store.faults.report_delay_hours = 0
  clock.set(pacificInstant('2027-02-11', 8) - 1)
  expect((await report('SALES', day)).status).toBe(200)
  clock.turn(1)
  const gone = await report('SALES', day)
  expect([gone.status, gone.json.errors[0].detail]).toEqual([
    410,
    expect.stringMatching(/^Report is no longer/),
  ])
})

test('some rows come a day late: the file changes once', async () => {
  const days = Array.from({ length: 60 }, (_, n) => dayAfter('2025-08-01', n))
  const day = days.find((one) => books.linesOf(one).some((line) => line.late)) ?? ''
  const size = async () =>
    (await fileOf('SALES', day)).reduce((sum, row) => sum + Math.abs(Number(row.Units)), 0)
  clock.set(pacificInstant(dayAfter(day), 9))
  const [first, known] = [await size(), sumsIn(store.reported({ from: day, until: dayAfter(day) }))]
  expect(sumsOf(await fileOf('SALES', day), day)).toEqual(known)
  clock.set(pacificInstant(dayAfter(day, 2), 9))
  expect(await size()).toBeGreaterThan(first)
})

test('returns only the latest version, which the refusal names', async () => {
  const detail = async (type: string, version: string) => {
    const { status, json } = await report(type, '2026-02-10', { version })
    return status === 200 ? 200 : [status, json.errors[0].detail, json.errors[0].source]
  }
  const invalid = 'The version parameter you have specified is invalid. The latest version for this report is'
  const source = { parameter: 'filter[version]' }
  expect(await detail('SUBSCRIPTION', '1_3')).toEqual([400, `${invalid} 1_4.`, source])
  expect(await detail('SUBSCRIPTION', '1_4')).toBe(200)
  store.faults.refused_version = '1_4'
  expect(await detail('SUBSCRIPTION', '1_4')).toEqual([400, `${invalid} 1_5.`, source])
  expect(await detail('SUBSCRIPTION', '1_5')).toBe(200)
  expect(await detail('SALES', '1_0')).toBe(200)
  store.faults.old_versions_have_no_sales = true
  expect(await detail('SUBSCRIPTION', '1_4')).toEqual([
    404,
    'There were no sales for the date specified.',
    undefined,
  ])
  const filters = 'filter[frequency]=DAILY&filter[reportType]=SUBSCRIPTION&filter[reportSubType]=SUMMARY'
  const path = `/v1/salesReports?${filters}&filter[vendorNumber]=${store.vendor_number}`
  const without = await opened.connect(path, {}, 'application/a-gzip')
  expect(without.json.errors[0].detail).toBe(
    'Please include the version parameter. The latest version for this report is 1_5.',
  )
})

test('refuses invalid requests', async () => {
  const status = async (type: string, day: string, more = {}) => (await report(type, day, more)).status
  expect(await status('SALES', '2026-02-10', { vendorNumber: '80012345' })).toBe(400)
  expect(await status('SALES', '2026-02-10', { frequency: 'HOURLY' })).toBe(400)
  expect(await status('SALES', '2026-02-10', { reportSubType: 'DETAILED' })).toBe(400)
  expect(await status('NEWSSTAND', '2026-02-10')).toBe(400)
  expect(await status('SALES', '02/10/2026')).toBe(400)
  expect(await status('SALES', '2026-02-10', { accept: 'application/json' })).toBe(406)
})

test('returns 404 with a message for a day without sales', async () => {
  const small = await openTestStore({ subscribers: 2 })
  const { status, json } = await small.report('SUBSCRIBER', dayAfter(TODAY, -350))
  expect([status, json.errors[0].detail]).toEqual([404, 'There were no sales for the date specified.'])
})
