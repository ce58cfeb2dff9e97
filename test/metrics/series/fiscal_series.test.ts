/** Series by Apple’s fiscal months, which consist of Pacific days in any time zone. */
import { expect, test } from 'vitest'
import { METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { figuresIn, openTestLedger } from '../test_ledger.ts'

const RANGE = 'interval=fiscal_month&from=2026-04-01&to=2026-06-01'

/** Fiscal months of 2026: P7 is 29 March to 2 May, P8 3 to 30 May, P9 31 May to 27 June. */
const ofThree = <Value>(...[p7, p8, p9]: [Value, Value, Value]): Record<string, Value> => ({
  '2026-03-29': p7,
  '2026-05-03': p8,
  '2026-05-31': p9,
})

/** One purchase in the last minute of P8 in Pacific time, one in the first of P9; both on 31 May in Berlin. */
async function openAtYearEnd() {
  const ledger = await openTestLedger({ time_zone: 'Europe/Berlin' })
  await ledger.notifyTransaction('1', 0, '2026-04-30T12:00:00Z', '2026-05-31T06:59:00Z')
  await ledger.notifyTransaction('1', 1, '2026-05-31T06:59:00Z', '2026-06-30T06:59:00Z')
  await ledger.notifyTransaction('2', 0, '2026-05-31T07:00:00Z', '2026-06-30T07:00:00Z', { price: 5_000 })
  return ledger
}

test('fiscal months consist of Pacific days and have the names of Apple’s finance reports', async () => {
  const { getMetric } = await openAtYearEnd()
  const revenue = await getMetric(`revenue?${RANGE}`)
  expect(revenue).toMatchObject({ time_zone: 'America/Los_Angeles', interval: 'fiscal_month' })
  expect(revenue).toMatchObject({ from_on: '2026-03-29', until_on: '2026-06-27', today_on: '2026-06-01' })
  const { series } = revenue
  expect(figuresIn(series, 'milli')).toEqual(ofThree(9_990, 9_990, 5_000))
  expect(figuresIn(series, 'fiscal_month')).toEqual(ofThree('2026-07', '2026-08', '2026-09'))
  expect(figuresIn(series, 'until_on')).toEqual(ofThree('2026-05-02', '2026-05-30', '2026-06-27'))
  expect(figuresIn(series, 'complete')).toEqual(ofThree(true, true, false))
  // The organization’s zone does not apply, and the answer says so.
  expect(await getMetric(`revenue?${RANGE}&zone=own`)).toEqual(revenue)
  const mrr = await getMetric(`mrr?${RANGE}&split=product`)
  expect(figuresIn(mrr.series, 'milli', { value: 'monthly' })).toEqual(ofThree(9_990, 9_990, 14_990))
  // In Berlin both purchases of 31 May are in May.
  const calendar = await getMetric('revenue?interval=month&from=2026-05-01&to=2026-06-01')
  expect(figuresIn(calendar.series, 'milli')).toEqual({ '2026-05-01': 14_990, '2026-06-01': 0 })
})

test('every metric has fiscal months', async () => {
  const { getMetric } = await openAtYearEnd()
  for (const name of METRIC_NAMES) {
    const { series } = await getMetric(`${name}?${RANGE}`)
    expect(Object.keys(figuresIn(series, 'on')), name).toEqual(Object.keys(ofThree(0, 0, 0)))
  }
})

test('the previous range has as many fiscal months, and the default range has twelve', async () => {
  const { getMetric } = await openAtYearEnd()
  const { previous } = await getMetric(
    'revenue?interval=fiscal_month&from=2026-03-29&to=2026-06-01&compare=previous',
  )
  // P4 to P6 of fiscal year 2026: five weeks, and twice four.
  expect(previous).toMatchObject({ from_on: '2025-12-28', until_on: '2026-03-28' })
  expect(Object.keys(figuresIn(previous?.series ?? [], 'on'))).toEqual([
    '2025-12-28',
    '2026-02-01',
    '2026-03-01',
  ])
  expect(await getMetric('mrr?interval=fiscal_month')).toMatchObject({
    from_on: '2025-06-29',
    until_on: '2026-06-27',
  })
})

test('a CSV file names the fiscal month and its last day', async () => {
  const { get } = await openAtYearEnd()
  const rows = async (path: string) =>
    (await (await get(`metrics/${path}`)).text())
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','))
  const [head = [], first = []] = await rows(`active_trials.csv?${RANGE}`)
  expect(Object.fromEntries(head.map((name, index) => [name, first[index]]))).toMatchObject({
    on: '2026-04-01',
    fiscal_month: '2026-07',
    until_on: '2026-05-02',
    month_length: 'calendar',
  })
  expect((await rows(`active_trials.csv?${RANGE}&layout=wide`)).slice(0, 2)).toEqual([
    ['on', 'fiscal_month', 'until_on', 'active_trials', 'complete', 'month_length', 'reasons'],
    ['2026-04-01', '2026-07', '2026-05-02', '0', 'true', 'calendar', ''],
  ])
})

test('refuses days beyond Apple’s fiscal calendar and names the last known fiscal month', async () => {
  const { app, get } = await openAtYearEnd()
  const errorsOf = async (query: string) => {
    const response = await get(`metrics/mrr?interval=fiscal_month&${query}`)
    const { errors } = (await response.json()) as { errors: object[] }
    return [response.status, errors]
  }
  const refused = (path: string, message: string) => [
    400,
    [{ path, message: expect.stringContaining(message) }],
  ]
  const early = 'before the first known fiscal month'
  expect(await errorsOf('from=2009-01-01&to=2012-01-01')).toEqual(refused('from', early))
  expect(await errorsOf('to=2011-01-01')).toEqual(refused('from', early))
  expect(await errorsOf('from=2011-01-01&to=2012-01-01&compare=previous')).toEqual(refused('from', early))
  expect(await errorsOf('from=2011-01-01&to=2011-03-01&compare=year')).toEqual(refused('from', early))
  app.clock.turn(Date.UTC(2028, 8, 30, 12) - app.clock())
  expect((await get('metrics/mrr?interval=fiscal_month')).status).toBe(200)
  app.clock.turn(86_400_000)
  const late = 'the last fiscal month known is 2028-12, which ends on 2028-09-30'
  expect(await errorsOf('from=2028-08-01')).toEqual(refused('to', late))
  // A range that ends earlier is answered as usual.
  expect((await get('metrics/mrr?interval=fiscal_month&to=2028-09-30')).status).toBe(200)
})
