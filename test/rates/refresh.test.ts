import { expect, test } from 'vitest'
import { APPLE_CURRENCIES } from '../../src/rates/currencies.ts'
import { dayAt, daysOf } from '../../src/rates/series.ts'
import { NOW } from '../apple/samples.ts'
import { handClock, openTestApp, rowsOf } from '../helpers.ts'
import { costOn, isWorkingDay, openPublisher, type Replacement } from './publisher.ts'

const DAY = 86_400_000
const OTHERS = APPLE_CURRENCIES.filter((currency) => currency !== 'USD')

/** A Windfall at noon on a Wednesday, and its publishers. */
async function opened(env: Record<string, string> = {}, apps?: readonly []) {
  const publisher = await openPublisher()
  const wednesday = Math.floor(NOW / DAY)
  const clock = handClock((wednesday - ((wednesday + 1) % 7) + 7) * DAY + DAY / 2)
  const app = await openTestApp({ rate_origins: publisher.origins, clock, env, ...(apps && { apps }) })
  const { rates, store } = app.windfall
  const ago = (days: number) => dayAt(clock() - days * DAY)
  const refresh = () => rates.refresh(new AbortController().signal)
  const sources = () => [
    ...new Set(store.prepare<[], string>('select source from rates order by source').pluck().all()),
  ]
  return { ...publisher, app, clock, rates, store, ago, refresh, sources }
}

test('fetches a year of all currencies in one request, up to yesterday', async () => {
  const { rates, refresh, takeRequestCounts, requests, ago, store } = await opened()
  expect(ago(0)).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  await refresh()
  expect(requests.map(({ url }) => new URL(url).searchParams.get('to'))).toEqual([ago(1)])
  expect(takeRequestCounts()).toEqual({ frankfurter: 1 })
  const days = daysOf({ from_on: ago(373), until_on: ago(1) }).filter(isWorkingDay)
  expect(rowsOf(store, 'rates')).toHaveLength(days.length * OTHERS.length)
  for (const on of [days[0], days[100], days.at(-1)].map(String)) {
    expect(rates.rateOn('JPY', on)).toEqual({
      rated_on: on,
      per_usd_nano: Math.round(Number(costOn('JPY', on)) * 1e9),
      source: 'frankfurter',
      is_final: true,
    })
  }
  expect(rates.rateOn('JPY', ago(375))).toBeNull()
})

test('never fetches or writes a stored rate again', async () => {
  const { refresh, takeRequestCounts, store, clock, rate, ago, requests } = await opened()
  await refresh()
  const before = rowsOf(store, 'rates')
  takeRequestCounts()
  expect(await refresh()).toBe('no new rates')
  expect(takeRequestCounts()).toEqual({})
  rate.of = () => '777'
  clock.turn(DAY)
  await expect(refresh()).rejects.toThrow('pegged')
  rate.of = (_, currency, on) => costOn(currency, on)
  takeRequestCounts()
  await refresh()
  const after = new Set(rowsOf(store, 'rates'))
  expect(before.filter((row) => !after.has(row))).toEqual([])
  const [question] = requests
  expect(new URL(question?.url ?? '').searchParams.get('from')).toBe(ago(1))
})

test('uses Friday’s rate over a weekend, provisional until a later one is published', async () => {
  const { rates, refresh, clock, ago } = await opened()
  // From Wednesday to Sunday.
  clock.turn(4 * DAY)
  await refresh()
  const [friday, saturday] = [ago(2), ago(1)]
  expect(rates.rateOn('EUR', friday)).toMatchObject({ rated_on: friday, is_final: true })
  expect(rates.rateOn('EUR', saturday)).toMatchObject({ rated_on: friday, is_final: false })
  const provisional = rates.convert(10_000, 'EUR', 'USD', saturday)
  expect(provisional).toMatchObject({ rated_on: friday, is_final: false })
  clock.turn(DAY)
  expect(await refresh()).toBe('no new rates')
  clock.turn(DAY)
  await refresh()
  expect(rates.rateOn('EUR', saturday)).toMatchObject({ rated_on: friday, is_final: true })
  expect(rates.convert(10_000, 'EUR', 'USD', saturday)).toEqual({ ...provisional, is_final: true })
})

test('fetches rates back to a first sale years ago, one year for each request', async () => {
  const { app, refresh, takeRequestCounts, rates, clock, ago, store } = await opened()
  await store.commit(() =>
    store
      .prepare("insert into customers values ('cus_1', ?, 'production', '1', ?, 'cus_1')")
      .run(app.windfall.apps.list()[0]?.id, clock() - 1000 * DAY),
  )
  await refresh()
  expect(takeRequestCounts()).toEqual({ frankfurter: 3 })
  expect(rates.rateOn('GBP', ago(1000))?.is_final).toBe(true)
  expect(await refresh()).toBe('no new rates')
  expect(takeRequestCounts()).toEqual({})
})

const NONSENSE: [string, Replacement, RegExp][] = [
  ['a closed port', 'nothing', /frankfurter: its server could not be reached/],
  ['an error', { status: 503, body: 'busy' }, /frankfurter: it returned status 503/],
  [
    'a refusal',
    { status: 422, body: '{"message":"invalid currency"}' },
    /frankfurter: it returned status 422/,
  ],
  ['a web page', { headers: { 'content-type': 'text/html' }, body: '<html>hello' }, /a web page/],
  ['a web page in disguise', { body: '\n<!doctype html>' }, /a web page/],
  ['no JSON', { body: '[{"date":' }, /frankfurter: the response has no rates/],
  ['other JSON', { body: '{"rates":{"EUR":1}}' }, /frankfurter: the response has no rates/],
  ['another base', { body: '[{"date":"2026-01-01","base":"EUR","quote":"USD","rate":1}]' }, /of the dollar/],
  [
    'the future',
    { body: '[{"date":"2999-01-01","base":"USD","quote":"EUR","rate":1}]' },
    /has a rate of 2999-01-01/,
  ],
  [
    'no date',
    { body: '[{"date":"2026-02-30","base":"USD","quote":"EUR","rate":1}]' },
    /"2026-02-30" is not a date/,
  ],
  [
    'rates upside down',
    { body: '[{"date":"2026-01-05","base":"USD","quote":"AED","rate":0.2723}]' },
    /0.2723 AED, but it is pegged/,
  ],
]

test('refuses an invalid response with a reason, and asks the next source', async () => {
  const { refresh, faults, takeRequestCounts, clock, rates, ago, origins } = await opened()
  await refresh()
  const redirect = { status: 302, headers: { location: `${origins.ecb}/elsewhere` } }
  const all = [
    ...NONSENSE,
    ['another address', redirect, /frankfurter: it redirects \(status 302\)/] as const,
  ]
  for (const [what, instead, words] of all) {
    takeRequestCounts()
    clock.turn(DAY)
    faults.instead.frankfurter = instead
    expect(await refresh(), what).toMatch(words)
    expect(takeRequestCounts(), what).toEqual({ frankfurter: 1, fawazahmed0: 1 })
    expect(rates.rateOn('EUR', ago(1)), what).toMatchObject({ rated_on: ago(1), source: 'fawazahmed0' })
  }
})

test('refuses a currency with an impossible rate, asks the next source for it, and keeps the others', async () => {
  const { refresh, rate, rates, ago, clock, takeRequestCounts } = await opened()
  await refresh()
  const wrongs: [string, RegExp][] = [
    ['0', /JPY has no rate above zero on/],
    ['-3.5', /JPY has no rate above zero on/],
    ['15000', /JPY is 15000 on .* and was 15/],
    ['0.15', /JPY is 0.15 on .* and was 15/],
  ]
  for (const [wrong, words] of wrongs) {
    takeRequestCounts()
    clock.turn(isWorkingDay(ago(0)) ? DAY : 3 * DAY)
    rate.of = (source, currency, on) =>
      source === 'frankfurter' && currency === 'JPY' ? wrong : costOn(currency, on)
    expect(await refresh()).toMatch(words)
    expect(takeRequestCounts()).toMatchObject({ frankfurter: 1 })
    expect(rates.rateOn('JPY', ago(1))).toMatchObject({
      rated_on: ago(1),
      source: 'fawazahmed0',
      per_usd_nano: Math.round(Number(costOn('JPY', ago(1))) * 1e9),
    })
    expect(rates.rateOn('EUR', ago(1))).toMatchObject({ rated_on: ago(1), source: 'frankfurter' })
  }
})

test('fetches missing rates from the next source, and computes the rest from pegs', async () => {
  const { refresh, faults, rates, ago, takeRequestCounts } = await opened()
  faults.lacks = ['TWD', 'BGN', 'AED']
  faults.instead.fawazahmed0 = 'nothing'
  faults.instead.fawazahmed0_fallback = { status: 404 }
  const outcome = await refresh()
  expect(takeRequestCounts()).toEqual({ frankfurter: 1, fawazahmed0: 373, fawazahmed0_fallback: 373, ecb: 1 })
  expect(outcome).toContain('days without a rate: TWD')
  expect(rates.rateOn('AED', ago(40))).toMatchObject({ per_usd_nano: 3_672_500_000, source: 'peg' })
  const euro = rates.rateOn('EUR', ago(40))?.per_usd_nano ?? 0
  expect(rates.rateOn('BGN', ago(40))).toMatchObject({
    per_usd_nano: Math.round(euro * 1.95583),
    source: 'peg',
  })
  expect(rates.convert(1000, 'TWD', 'USD', ago(40))).toBeNull()
  // All sources have answered, so last year is not requested again for now.
  await refresh()
  expect(takeRequestCounts()).toEqual({})
})

test('uses the fallback address of fawazahmed0 when the first fails', async () => {
  const { refresh, faults, sources, takeRequestCounts } = await opened()
  faults.instead.frankfurter = 'nothing'
  faults.instead.fawazahmed0 = { status: 500 }
  await refresh()
  expect(sources()).toEqual(['fawazahmed0'])
  expect(takeRequestCounts()).toEqual({ frankfurter: 1, fawazahmed0: 373, fawazahmed0_fallback: 373 })
})

test('refuses a file of another day', async () => {
  const { refresh, faults, sources, ago } = await opened()
  faults.instead.frankfurter = 'nothing'
  faults.instead.fawazahmed0 = { body: '{"date":"2025-01-01","usd":{"eur":0.9}}' }
  faults.instead.fawazahmed0_fallback = { body: '{"date":"2025-01-01","usd":{"eur":0.9}}' }
  await expect(refresh()).rejects.toThrow(
    `fawazahmed0: the response to the request for ${ago(373)} is for 2025-01-01`,
  )
  expect(sources()).toEqual(['ecb', 'peg'])
})

test('converts the ECB’s rates of the euro to rates of the dollar', async () => {
  const { refresh, faults, rates, ago } = await opened()
  for (const source of ['frankfurter', 'fawazahmed0', 'fawazahmed0_fallback'] as const)
    faults.instead[source] = 'nothing'
  await expect(refresh()).rejects.toThrow(
    /days without a rate: CLP, COP, EGP, KZT, NGN, PEN, PKR, RUB, TWD, TZS, VND;/,
  )
  expect(rates.rateOn('EUR', ago(1))).toMatchObject({ per_usd_nano: 800_000_000, source: 'ecb' })
  expect(rates.rateOn('JPY', ago(1))?.per_usd_nano).toBe(Math.round(Number(costOn('JPY', ago(1))) * 1e9))
})

test('fails with a reason when no source answers, and has only pegged rates', async () => {
  const { refresh, faults, sources } = await opened()
  for (const source of ['frankfurter', 'fawazahmed0', 'fawazahmed0_fallback', 'ecb'] as const)
    faults.instead[source] = 'nothing'
  await expect(refresh()).rejects.toThrow(
    /frankfurter: its server could not be reached.*; fawazahmed0: its server could not be reached.*; ecb: its server could not be reached/,
  )
  expect(sources()).toEqual(['peg'])
})

test('sends no requests when fetching is off, and has the pegged rates', async () => {
  const { refresh, rates, takeRequestCounts, ago } = await opened({ WINDFALL_RATES_FETCH: 'false' })
  expect(await refresh()).toContain('rates.fetch is off')
  expect(takeRequestCounts()).toEqual({})
  expect(rates.convert(3672, 'AED', 'USD', ago(2))).toMatchObject({ milli: 1000 })
})

test('requests nothing before an app is connected, and has no finding', async () => {
  const { app, refresh, takeRequestCounts, rates } = await opened({}, [])
  const { health, apps, store, jobs } = app.windfall
  const about = async () =>
    (await health.findings()).filter(({ details }) => /rates/.test(details?.id ?? '')).map(({ text }) => text)
  await jobs.runNow('rates')
  expect(jobs.list().find(({ job }) => job === 'rates')).toMatchObject({
    outcome: 'no rates fetched: no app is connected',
    failures: 0,
  })
  expect(takeRequestCounts()).toEqual({})
  expect(await about()).toEqual([])
  await store.commit(() => apps.add(app.organization.id, { bundle_id: 'com.example.first' }, 'test'))
  expect(await about()).toEqual([expect.stringContaining('currencies have no rate')])
  await refresh()
  expect(takeRequestCounts()).toEqual({ frankfurter: 1 })
  expect(rates.rateOn('EUR', '2026-06-01')).not.toBeNull()
  expect(await about()).toEqual([])
})

test('turns fetching off on reload', async () => {
  const { app, refresh, takeRequestCounts } = await opened()
  await app.windfall.declare({ ...app.config, rates: { fetch: false } })
  await refresh()
  expect(takeRequestCounts()).toEqual({})
})

test('ends a stopped refresh immediately with the reason of its signal', async () => {
  const { rates, store } = await opened()
  await expect(rates.refresh(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  expect(rowsOf(store, 'rates')).toEqual([])
})

test('fetches the base currencies of organizations', async () => {
  const { app, refresh, rates, ago } = await opened()
  await app.windfall.declare({
    ...app.config,
    organizations: [
      {
        slug: 'isle',
        name: 'Isle',
        sdk_auth: 'any',
        time_zone: 'UTC',
        currency: 'ISK',
        publishable_key: null,
        secret_key: null,
      },
    ],
  })
  await refresh()
  expect(rates.rateOn('ISK', ago(1))?.source).toBe('frankfurter')
})

test('calls listeners with a change inside its unit of work', async () => {
  const { refresh, rates, store, ago, clock } = await opened()
  await refresh()
  const heard: object[] = []
  rates.onChange((change) => {
    store.prepare("insert or replace into settings values ('heard', ?)").run(change.currency)
    heard.push(change)
  })
  clock.turn(DAY)
  await refresh()
  expect(heard).toHaveLength(OTHERS.length)
  expect(heard[0]).toEqual({ currency: 'AED', from_on: ago(1), until_on: null, is_removal: false })
  expect(store.prepare("select value from settings where key = 'heard'").pluck().get()).toBe('ZAR')
})
