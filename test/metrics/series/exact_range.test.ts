/** The figure of exactly the requested days, whatever the interval of the points, and the days that it is compared with. */
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { DEFINITIONS, METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { dayNumber, dayText } from '../../../src/metrics/lineage/calendar.ts'
import { comparedDays, INTERVALS, type Interval } from '../../../src/metrics/series/buckets.ts'
import type { CompleteFigure, Series } from '../../../src/metrics/series/points.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { runs } from '../../random.ts'
import { type GetMetric, openMetricReader } from '../reports/compare_metrics.ts'
import { DAY, type Late, NOW, openLate } from '../reports/late_connection.ts'

const LAST = Math.floor(NOW / DAY)
const FIRST = LAST - 200

let late: Late
let metric: GetMetric
beforeAll(async () => {
  late = await openLate({ subscribers: 120, from: NOW - 320 * DAY, connected: NOW - 90 * DAY })
  await late.live(NOW)
  await late.importAll()
  metric = await openMetricReader(late)
}, 120_000)

const nameOf = ({ value, others, part }: Series): string => `${others > 0 ? 'others' : value} ${part}`
const seriesByName = ({ series }: Pick<SeriesAnswer, 'series'>) =>
  new Map(series.map((one) => [nameOf(one), one]))

/** The known values of a field, added up; null if none is known. */
function sumOf(figures: readonly CompleteFigure[], field: 'milli' | 'count'): number | null | undefined {
  const known = figures.flatMap((one) => one[field] ?? [])
  return known.length > 0 ? known.reduce((sum, one) => sum + one, 0) : figures[0]?.[field]
}

/** A change over the range needs the level before it, and money a rate; neither is a matter of single days. */
const needsMoreThanDays = (name: string, { not_converted }: CompleteFigure): boolean =>
  /mrr/.test(name) || not_converted !== undefined

function expectSum({ kind }: SeriesAnswer, name: string, one: Series, daily: Series): void {
  for (const field of ['milli', 'count'] as const) {
    expect(one.range[field], `${name} ${field}`).toEqual(daily.range[field])
    if (one.range[field] === null && needsMoreThanDays(name, one.range)) continue
    const expected = kind === 'level' ? daily.points.at(-1)?.[field] : sumOf(daily.points, field)
    expect(one.range[field], `${name} ${field}`).toEqual(expected)
  }
}

function expectExact(answer: SeriesAnswer, daily: SeriesAnswer, name: string): void {
  const days = seriesByName(daily)
  for (const one of answer.series) {
    const own = days.get(nameOf(one))
    // A part that has a value outside of the requested days only is no part of the daily answer.
    if (own === undefined) continue
    const what = `${name} ${nameOf(one)}`
    expect(one.range.complete, what).toBe(own.range.complete)
    expect(new Set(one.range.reasons), what).toEqual(new Set(own.range.reasons))
    if (answer.unit !== 'ratio') expectSum(answer, what, one, own)
    // Churn leaves out who comes back within the same interval.
    else if (!/churn/.test(name)) expect({ ...one.range, clipped: [] }, what).toEqual(own.range)
  }
}

test('the range of a series is the sum of its days, its last level or the ratio of its sums, whatever the interval', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...METRIC_NAMES),
      fc.constantFrom(...INTERVALS),
      fc.integer({ min: FIRST, max: LAST }),
      fc.integer({ min: 0, max: 120 }),
      fc.constantFrom('gross', 'proceeds'),
      fc.constantFrom('', '&split=product'),
      async (name, interval, from, length, basis, split) => {
        const { bases, splits } = DEFINITIONS[name]
        if (!bases.some((one) => one === basis) || (split !== '' && !splits.some((one) => one === 'product')))
          return
        const days = `from=${dayText(from)}&to=${dayText(Math.min(from + length, LAST))}`
        const zone = interval === 'fiscal_month' ? '&zone=pacific' : ''
        const query = `basis=${basis}${split}${zone}`
        const answer = await metric(`${name}?${days}&interval=${interval}&${query}`)
        const daily = await metric(`${name}?${days}&${query}`)
        expect(answer.range).toEqual({ from_on: daily.from_on, until_on: daily.until_on })
        expectExact(answer, daily, `${name} ${interval} ${days} ${query}`)
        const aligned = await metric(
          `${name}?from=${answer.from_on}&to=${answer.until_on}&interval=${interval}&${query}`,
        )
        // A value that only the days outside of the range have is one of the others.
        const named = answer.series.filter(({ others }) => others === 0)
        expect(aligned.series.map(({ points }) => points)).toEqual(
          expect.arrayContaining(named.map(({ points }) => points)),
        )
      },
    ),
    runs(60, 600),
  )
}, 120_000)

/** The rows of a CSV file. */
async function rowsOf(path: string): Promise<Record<string, string>[]> {
  const headers = { authorization: `Bearer ${await late.token()}` }
  const text = await (await late.request(`/api/v1/metrics/${path}`, { headers })).text()
  const [head = [], ...rows] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  return rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ''])))
}

test('a CSV file has exactly the requested days, whose lines add up to the range', async () => {
  for (const interval of ['week', 'month', 'fiscal_month'] as const) {
    const query = `from=2025-12-10&to=2026-02-17&interval=${interval}`
    const { series, from_on } = await metric(`revenue?${query}`)
    expect(from_on < '2025-12-10').toBe(true)
    const rows = (await rowsOf(`revenue.csv?${query}`)).filter(({ part }) => part === '')
    expect(rows[0]).toMatchObject({ on: '2025-12-10' })
    expect(rows.at(-1)).toMatchObject({ until_on: '2026-02-17' })
    const sum = rows.reduce((all, { amount }) => all + Math.round(Number(amount) * 1000), 0)
    expect(sum).toBe(series.find(({ part }) => part === null)?.range.milli)
    const wide = await rowsOf(`revenue.csv?${query}&layout=wide`)
    expect(wide.map(({ revenue }) => revenue)).toEqual(rows.map(({ amount }) => amount))
    expect(wide.map(({ on, until_on }) => [on, until_on])).toEqual(
      rows.map(({ on, until_on }) => [on, until_on]),
    )
  }
})

test('a clipped point says which of its days are in the range, and has their figures', async () => {
  const { series, from_on } = await metric('revenue?from=2025-12-10&to=2026-02-17&interval=week')
  expect(from_on).toBe('2025-12-08')
  const whole = series.find(({ part }) => part === null)
  expect(whole?.range.clipped.map(({ of, on, until_on }) => [of, on, until_on])).toEqual([
    ['2025-12-08', '2025-12-10', '2025-12-14'],
    ['2026-02-16', '2026-02-16', '2026-02-17'],
  ])
  for (const { on, until_on, milli, count } of whole?.range.clipped ?? []) {
    const own = await metric(`revenue?from=${on}&to=${until_on}`)
    expect(own.series.find(({ part }) => part === null)?.range).toMatchObject({ milli, count })
  }
})

test('the compared range is of exactly the compared days', async () => {
  for (const interval of ['day', 'week', 'month'] as const) {
    const { previous } = await metric(
      `revenue?from=2026-02-01&to=2026-02-17&interval=${interval}&compare=month`,
    )
    expect(previous?.range).toEqual({ from_on: '2026-01-01', until_on: '2026-01-17' })
    const own = await metric('revenue?from=2026-01-01&to=2026-01-17')
    expect(previous?.series[0]?.range.milli).toBe(own.series[0]?.range.milli)
  }
})

const compared = (
  days: string,
  interval: Interval,
  comparison: Parameters<typeof comparedDays>[2],
): string => {
  const [from = '', until = ''] = days.split(' ')
  const found = comparedDays({ from: dayNumber(from), until: dayNumber(until) }, interval, comparison)
  return `${dayText(found.from)} ${dayText(found.until)}`
}

test('ranges are compared with the same days of the unit before', () => {
  expect(compared('2026-11-01 2026-11-27', 'day', 'month')).toBe('2026-10-01 2026-10-27')
  expect(compared('2026-10-01 2026-10-31', 'week', 'month')).toBe('2026-09-01 2026-09-30')
  expect(compared('2026-02-01 2026-02-28', 'day', 'month')).toBe('2026-01-01 2026-01-31')
  expect(compared('2026-03-01 2026-03-30', 'day', 'month')).toBe('2026-02-01 2026-02-28')
  expect(compared('2026-10-01 2026-11-27', 'day', 'quarter')).toBe('2026-07-01 2026-08-27')
  expect(compared('2026-07-01 2026-09-30', 'day', 'quarter')).toBe('2026-04-01 2026-06-30')
  expect(compared('2025-01-01 2025-12-31', 'week', 'year')).toBe('2024-01-01 2024-12-31')
  expect(compared('2028-02-01 2028-02-29', 'day', 'year')).toBe('2027-02-01 2027-02-28')
  expect(compared('2028-02-10 2028-02-29', 'day', 'year')).toBe('2027-02-10 2027-02-28')
  expect(compared('2027-02-01 2027-02-28', 'day', 'year')).toBe('2026-02-01 2026-02-28')
  expect(compared('2026-11-23 2026-11-27', 'day', 'week')).toBe('2026-11-16 2026-11-20')
  // P1 of fiscal year 2026 has five weeks, P2 four: 2 to 29 November.
  expect(compared('2025-11-02 2025-11-29', 'day', 'fiscal_month')).toBe('2025-09-28 2025-11-01')
  expect(compared('2025-11-02 2025-11-10', 'day', 'fiscal_month')).toBe('2025-09-28 2025-10-06')
})

test('the previous days are as many, or as many intervals if the range begins with one', () => {
  expect(compared('2026-11-05 2026-11-27', 'day', 'previous')).toBe('2026-10-13 2026-11-04')
  expect(compared('2026-11-05 2026-11-27', 'month', 'previous')).toBe('2026-10-13 2026-11-04')
  expect(compared('2026-11-01 2026-11-27', 'month', 'previous')).toBe('2026-10-01 2026-10-27')
  expect(compared('2026-09-01 2026-10-31', 'month', 'previous')).toBe('2026-07-01 2026-08-31')
  expect(compared('2026-11-16 2026-11-25', 'week', 'previous')).toBe('2026-11-02 2026-11-11')
})

test('as many days directly before are the same days at every interval', () => {
  for (const interval of INTERVALS) {
    expect(compared('2026-11-01 2026-11-28', interval, 'days')).toBe('2026-10-04 2026-10-31')
    expect(compared('2026-02-01 2026-02-28', interval, 'days')).toBe('2026-01-04 2026-01-31')
    expect(compared('2026-11-16 2026-11-25', interval, 'days')).toBe('2026-11-06 2026-11-15')
  }
})

test('a level is compared with its start: its value at the end of the day before, and the reasons of that day', async () => {
  for (const interval of INTERVALS) {
    const days = 'from=2026-01-21&to=2026-02-17&zone=pacific'
    const { previous } = await metric(`mrr?${days}&interval=${interval}&compare=start`)
    expect(previous?.range).toEqual({ from_on: '2026-01-20', until_on: '2026-01-20' })
    const own = await metric('mrr?from=2026-01-20&to=2026-01-20&zone=pacific')
    expect(previous?.series[0]?.range).toMatchObject({
      milli: own.series[0]?.range.milli,
      count: own.series[0]?.range.count,
      reasons: own.series[0]?.range.reasons,
    })
  }
})
