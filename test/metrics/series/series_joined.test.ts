import { beforeAll, expect, test } from 'vitest'
import type { Point } from '../../../src/metrics/series/points.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { type Late, NOW, openLate } from '../reports/late_connection.ts'

const DAY = 86_400_000
const CONNECTED = NOW - 40 * DAY

let late: Late
let token: string
beforeAll(async () => {
  late = await openLate({ subscribers: 60, from: NOW - 200 * DAY, connected: CONNECTED })
  await late.live(NOW)
  await late.importAll(150)
  token = await late.token()
})

async function getMetric(path: string): Promise<SeriesAnswer> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await late.request(`/api/v1/metrics/${path}`, { headers })
  expect(response.status).toBe(200)
  return (await response.json()) as SeriesAnswer
}
const pointsOf = ({ series }: SeriesAnswer, part: string | null = null): Point[] =>
  series.find((one) => one.part === part)?.points ?? []
const total = (points: readonly Point[]): number => points.reduce((sum, { milli }) => sum + (milli ?? 0), 0)

test('figures that the ledger lacks come from the reports, and the answer says so', async () => {
  const from = new Date(CONNECTED - 60 * DAY).toISOString().slice(0, 10)
  const mrr = await getMetric(`mrr?from=${from}`)
  expect(new Set(mrr.sources.map(({ source }) => source))).toContain('reports')
  expect(mrr.sources[0]).toMatchObject({ measure: 'mrr', source: 'reports', from_on: from })
  expect(pointsOf(mrr)[0]?.milli).toBeGreaterThan(0)
  const revenue = await getMetric(`revenue?from=${from}`)
  expect(total(pointsOf(revenue))).toBeGreaterThan(
    total(pointsOf(await getMetric(`revenue?from=${from}&environment=sandbox`))),
  )
  expect(revenue.sources.some(({ source }) => source === 'reports')).toBe(true)
})

test('movements and the not itemized rest sum to the change of a level from reports', async () => {
  const from = new Date(CONNECTED - 20 * DAY).toISOString().slice(0, 10)
  const { series } = await getMetric(`mrr_movements?from=${from}`)
  expect(series.map(({ part }) => part)).toContain('not_itemised')
  const [whole, ...parts] = series
  for (const [index, { milli }] of (whole?.points ?? []).entries())
    expect(parts.reduce((sum, { points }) => sum + (points[index]?.milli ?? 0), 0)).toBe(milli ?? 0)
})

test('proceeds are less than charges, and the answer has their certainty', async () => {
  const from = new Date(CONNECTED - 60 * DAY).toISOString().slice(0, 10)
  const gross = await getMetric(`revenue?from=${from}&interval=month`)
  const net = await getMetric(`revenue?from=${from}&interval=month&basis=proceeds`)
  expect(gross.proceeds_known).toBeNull()
  const share = total(pointsOf(net)) / total(pointsOf(gross))
  expect(share).toBeGreaterThan(0.5)
  expect(share).toBeLessThan(0.9)
  expect(net.proceeds_known?.exact).toBeGreaterThan(0)
  const [level] = pointsOf(await getMetric(`mrr?from=${from}`))
  const [left] = pointsOf(await getMetric(`mrr?from=${from}&basis=proceeds`))
  expect((left?.milli ?? 0) / (level?.milli ?? 0)).toBeGreaterThan(0.5)
  expect((left?.milli ?? 0) / (level?.milli ?? 0)).toBeLessThan(0.9)
})

test('the time before the first report is a gap, not zero, and causes no growth', async () => {
  const iso = (at: number): string => new Date(at).toISOString().slice(0, 10)
  const range = `from=${iso(NOW - 170 * DAY)}&to=${iso(NOW - 130 * DAY)}`
  const levels = pointsOf(await getMetric(`mrr?${range}`))
  // Most amounts have no rate here, so the counts tell what is known.
  const begin = levels.findIndex(({ count }) => count !== null)
  expect(begin).toBeGreaterThan(10)
  expect(levels.slice(0, begin).map(({ milli, count, complete }) => [milli, count, complete])).toEqual(
    levels.slice(0, begin).map(() => [null, null, false]),
  )
  expect(levels.slice(begin).every(({ count }) => (count ?? 0) > 0)).toBe(true)
  const grown = pointsOf(await getMetric(`net_new_mrr?${range}`))
  expect(grown.slice(0, begin + 1).every(({ count }) => count === null)).toBe(true)
  expect(grown[begin + 1]?.count).toBe((levels[begin + 1]?.count ?? 0) - (levels[begin]?.count ?? 0))
  const churn = pointsOf(await getMetric(`churn_rate?${range}`))
  expect(churn[begin]).toMatchObject({ ratio: null, denominator: null })
  expect(churn[begin + 1]?.denominator).toBe(levels[begin]?.count)
  const revenue = pointsOf(await getMetric(`revenue?${range}`))
  expect(revenue.slice(0, begin).every(({ count }) => count === null)).toBe(true)
  expect(revenue.slice(begin).every(({ count }) => count !== null)).toBe(true)
  // A month with some known days is the sum of these.
  const monthly = pointsOf(await getMetric(`revenue?${range}&interval=month`))
  expect(monthly.map(({ complete }) => complete)).toContain(false)
  expect(monthly.at(-1)?.milli).toBeGreaterThan(0)
  // The status of subscriptions is known from the first notification on.
  const status = pointsOf(
    await getMetric(`status?from=${iso(CONNECTED - 5 * DAY)}&to=${iso(CONNECTED + 5 * DAY)}`),
  )
  expect(status[0]?.count).toBeNull()
  expect(status.at(-1)?.count).toBeGreaterThan(0)
})
