import { beforeAll, expect, test } from 'vitest'
import { DEFINITIONS, METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import type { Figure } from '../../../src/metrics/series/formula_lines.ts'
import type { Point, Series } from '../../../src/metrics/series/points.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { nonEmpty } from '../../non_empty.ts'
import { seed } from '../../random.ts'
import { openBooksOf } from '../oracle/books.ts'
import { openSimulated, type Simulated } from '../oracle/simulated.ts'

const RANGE = 'from=2025-08-01&interval=month'

let played: Simulated
let books: ReturnType<typeof openBooksOf>
let token: string
beforeAll(async () => {
  played = await openSimulated({
    seed,
    subscribers: 80,
    edgeCases: true,
    days: 300,
    is_declared: true,
    time_zone: 'Europe/Berlin',
    currency: 'EUR',
  })
  books = openBooksOf(played.simulation, played.until)
  token = await played.app.token()
})

async function getMetric(path: string): Promise<SeriesAnswer> {
  const response = await played.app.request(`/api/v1/metrics/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(response.status).toBe(200)
  return (await response.json()) as SeriesAnswer
}

/** The range of a month in Berlin in instants, up to now. */
function monthOf(on: string): { from: number; until: number; has: (one: { at: number }) => boolean } {
  const next = new Date(`${on}T00:00:00Z`)
  next.setUTCMonth(next.getUTCMonth() + 1)
  const [from, until] = [midnight(on), Math.min(midnight(next.toISOString().slice(0, 10)), played.until + 1)]
  return { from, until, has: ({ at }) => at >= from && at < until }
}

/** Berlin is an hour before UTC, two from the end of March to the end of October. */
const midnight = (on: string): number =>
  Date.parse(`${on}T00:00:00Z`) - (on >= '2025-10-27' && on <= '2026-03-29' ? 1 : 2) * 3_600_000

const whole = ({ series }: SeriesAnswer): Point[] =>
  series.find(({ part, value }) => part === null && value === null)?.points ?? []

const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY', 'AUD', 'BRL', 'CAD', 'SEK', 'MXN']

test('paid subscriptions and trials at the end of each month equal the books', async () => {
  const points = whole(await getMetric(`active_subscriptions?${RANGE}`))
  const trials = whole(await getMetric(`active_trials?${RANGE}`))
  expect(points).toHaveLength(11)
  for (const [index, { on, count }] of points.entries()) {
    const alive = books.aliveBy(monthOf(on).until - 1, true)
    const paid = Object.entries(alive).filter(([name]) => name.startsWith('count '))
    expect(count).toBe(paid.reduce((sum, [, one]) => sum + one, 0))
    expect(trials[index]?.count).toBe(alive.trials)
  }
})

test('MRR equals the books to the thousandth, by product in each currency', async () => {
  const months = nonEmpty(whole(await getMetric(`mrr?${RANGE}`)))
  for (const currency of CURRENCIES) {
    const { series } = await getMetric(`mrr?${RANGE}&currency=${currency}&split=product&limit=100`)
    for (const [index, { on }] of months.entries()) {
      const expected: Record<string, number> = {}
      for (const [name, milli] of Object.entries(books.aliveBy(monthOf(on).until - 1, true))) {
        const [kind = '', product = ''] = name.split(' ')
        if (kind === currency) expected[product] = (expected[product] ?? 0) + milli
      }
      const found = series.map(({ value, points }) => [value, points[index]?.milli] as const)
      expect(Object.fromEntries(found.filter(([, milli]) => milli !== 0))).toEqual(expected)
    }
  }
})

test('revenue equals the books, by charge, month and currency', async () => {
  for (const currency of CURRENCIES) {
    const points = whole(await getMetric(`revenue?${RANGE}&currency=${currency}`))
    for (const { on, milli } of nonEmpty(points)) {
      const { has } = monthOf(on)
      const sum = (entries: ReturnType<typeof books.refunded>, amount: 'price_milli' | 'refunded_milli') =>
        entries
          .filter((one) => one.currency === currency && has(one))
          .reduce((total, one) => total + one[amount], 0)
      expect(milli).toBe(
        sum(books.money('charge'), 'price_milli') -
          sum(books.refunded(), 'refunded_milli') -
          sum(books.money('proration'), 'refunded_milli'),
      )
    }
  }
})

test('churn and trial conversion equal the books', async () => {
  const churn = whole(await getMetric(`churn_rate?${RANGE}`))
  for (const { on, numerator } of nonEmpty(churn)) {
    const { from, until, has } = monthOf(on)
    const lost = books.losses().filter((one) => {
      const isBack = one.back_at !== null && one.back_at < until && one.back_at <= played.until
      return has(one) && !isBack && books.wasPaidBefore(one.segment.original_transaction_id, from)
    })
    expect(numerator).toBe(lost.length)
  }
  const cohorts = await getMetric(`trial_conversion?${RANGE}&view=cohort`)
  for (const { on, denominator } of nonEmpty(whole(cohorts))) {
    const began = books.own.filter(({ kind, from }) => kind === 'trial' && monthOf(on).has({ at: from }))
    expect(denominator).toBe(began.length)
  }
})

/** The sums of all values and parts, to compare a split with the total. */
function summed(series: readonly Series[]): Record<string, Figure> {
  const sums: Record<string, Figure> = {}
  for (const { part, points } of series) {
    for (const { on, milli, count, numerator, denominator } of points) {
      const sum = sums[`${part} ${on}`] ?? { milli: 0, count: 0, numerator: 0, denominator: 0 }
      sums[`${part} ${on}`] = {
        milli: (sum.milli ?? 0) + (milli ?? 0),
        count: (sum.count ?? 0) + (count ?? 0),
        numerator: (sum.numerator ?? 0) + (numerator ?? 0),
        denominator: (sum.denominator ?? 0) + (denominator ?? 0),
      }
    }
  }
  return sums
}
const isSomething = (figure: Figure): boolean => Object.values(figure).some((one) => one !== 0)
const somethingOf = (sums: Record<string, Figure>) =>
  Object.fromEntries(Object.entries(sums).filter(([, figure]) => isSomething(figure)))

/** For movements and losses only the sum is compared: a move between products is not itemized. */
const withoutParts = (series: readonly Series[]): Series[] => series.filter(({ part }) => part === null)

/** Metrics with downloads come from reports only, which this test does not have. */
const OF_REPORTS_ALONE: readonly string[] = ['downloads', 'download_to_trial', 'download_to_paid']

test('all metrics except those of downloads have a filter by period', () => {
  const others = METRIC_NAMES.filter((name) => !DEFINITIONS[name].filters.includes('period'))
  expect([...others].sort()).toEqual([...OF_REPORTS_ALONE].sort())
})

test.each(METRIC_NAMES.filter((name) => !OF_REPORTS_ALONE.includes(name)))(
  '%s: the splits sum to the total, from other sums or from single rows',
  async (name) => {
    const { splits } = DEFINITIONS[name]
    const all = somethingOf(summed(withoutParts((await getMetric(`${name}?${RANGE}`)).series)))
    const everyPeriod = 'period=P1W,P1M,P2M,P3M,P6M,P1Y'
    const subscribed = somethingOf(
      summed(withoutParts((await getMetric(`${name}?${RANGE}&${everyPeriod}`)).series)),
    )
    expect(Object.keys(subscribed).length).toBeGreaterThan(3)
    for (const split of splits) {
      const { series } = await getMetric(`${name}?${RANGE}&split=${split}&limit=3`)
      expect(
        series.some(({ others }) => others > 0) || new Set(series.map(({ value }) => value)).size <= 3,
      ).toBe(true)
      expect(somethingOf(summed(withoutParts(series)))).toEqual(all)
      // Two dimensions at once come from the finest sums.
      const fine = await getMetric(`${name}?${RANGE}&split=${split}&${everyPeriod}&limit=100`)
      expect(somethingOf(summed(withoutParts(fine.series)))).toEqual(subscribed)
    }
  },
)

test('movements sum to the change of the level, day by day', async () => {
  const range = 'from=2025-08-01'
  const { series } = await getMetric(`mrr_movements?${range}`)
  const levels = whole(await getMetric(`mrr?${range}`))
  expect(series.map(({ part }) => part)).not.toContain('not_itemised')
  for (const [index, { milli }] of levels.entries()) {
    const before = index === 0 ? (levels[0]?.milli ?? 0) : (levels[index - 1]?.milli ?? 0)
    const moved = series
      .filter(({ part }) => part !== null)
      .reduce((sum, { points }) => sum + (points[index]?.milli ?? 0), 0)
    if (index > 0) expect(moved).toBe((milli ?? 0) - before)
  }
  // By product they do not: a move between products is no movement of the first.
  const split = await getMetric(`mrr_movements?${range}&split=product&limit=100&part=not_itemised`)
  const between = split.series.flatMap(({ points }) => points.map(({ milli }) => milli ?? 0))
  expect(between.filter((milli) => milli !== 0).length).toBeGreaterThan(1)
  expect(between.reduce((sum, milli) => sum + milli, 0)).toBe(0)
})

test('Pacific days and the organization’s days have equal totals', async () => {
  const own = whole(await getMetric(`revenue?from=2025-08-01&interval=month`))
  const pacific = whole(await getMetric(`revenue?from=2025-08-01&interval=month&zone=pacific`))
  const total = (points: readonly Point[]) => points.reduce((sum, { milli }) => sum + (milli ?? 0), 0)
  expect(total(pacific)).toBe(total(own))
  expect(total(own)).toBeGreaterThan(0)
})

test('during a rebuild answers say so, and the shown figures stay whole', async () => {
  const before = whole(await getMetric(`mrr?${RANGE}`))
  const rebuilding = played.app.windfall.metrics.rebuild()
  const answers: SeriesAnswer[] = []
  let isOver = false
  void rebuilding.then(() => {
    isOver = true
  })
  while (!isOver) {
    answers.push(await getMetric(`mrr?${RANGE}`))
    await new Promise(setImmediate)
  }
  await rebuilding
  expect(answers.some(({ rebuilding: progress }) => progress !== null && progress.done <= progress.of)).toBe(
    true,
  )
  for (const one of answers) expect(whole(one)).toEqual(before)
})
