/**
 * A store connected late, with and without an In-App Purchase key. Each figure equals that of the same store connected
 * from the first day, or is null, or marked incomplete, or labelled as Apple’s count.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Entry } from '../../../src/demo/world/books.ts'
import { pacificDay } from '../../../src/demo/world/pacific.ts'
import { isLong } from '../../random.ts'
import { compared, type GetMetric, openMetricReader, pointsOf } from './compare_metrics.ts'
import { DAY, type Late, NOW, openLate } from './late_connection.ts'

const CONNECTED = NOW - 40 * DAY
const SEEDS = isLong ? [7, 11] : [7]
const WORLD = isLong
  ? { subscribers: 200, from: NOW - 800 * DAY }
  : { subscribers: 60, from: NOW - 330 * DAY }
/** The days with reports, and the first month that they cover completely. */
const YEAR = { days: 365, first: '2025-04-01' }
/** With a key, the backfill adds 180 days of Apple’s history. */
const WITH_KEY = { with_purchases: true, ...(isLong ? YEAR : { days: 280, first: '2025-06-01' }) }
const WITHOUT_KEY = { with_purchases: false, ...(isLong ? YEAR : { days: 100, first: '2025-12-01' }) }
const INTERVALS = isLong ? ['month', 'week', 'day'] : ['month']

describe.each(SEEDS)('seed %i', (seed) => {
  let whole: Late
  let truth: GetMetric
  beforeAll(async () => {
    whole = await openLate({ ...WORLD, seed, is_plain: true, connected: WORLD.from })
    await whole.live(NOW)
    await whole.importAll(WITH_KEY.days)
    await whole.windfall.metrics.whenCurrent()
    truth = await openMetricReader(whole)
  }, 300_000)
  afterAll(() => whole.close())

  describe.each([
    ['with', WITH_KEY],
    ['without', WITHOUT_KEY],
  ])('%s an In-App Purchase key', (_, { with_purchases, days, first }) => {
    const range = `from=${first}&to=2026-02-28`
    let late: Late
    let getMetric: GetMetric
    beforeAll(async () => {
      late = await openLate({ ...WORLD, seed, is_plain: true, connected: CONNECTED, with_purchases })
      const { history, metrics } = late.windfall
      if (with_purchases) await history.backfill()
      await late.live(NOW)
      if (with_purchases) await history.reconcile()
      await late.importAll(days)
      await metrics.whenCurrent()
      getMetric = await openMetricReader(late)
    }, 300_000)
    afterAll(() => late.close())

    test.each(INTERVALS)('every value of every metric by %s', async (interval) => {
      const { wrong, same, unknown, partly } = await compared(
        truth,
        getMetric,
        `${range}&interval=${interval}`,
      )
      expect(wrong).toEqual([])
      expect(same).toBeGreaterThan((unknown + partly) / 2)
      expect(unknown).toBeGreaterThan(0)
    })

    test('the churn rate of earlier months equals Apple’s count exactly, and is near the true rate', async () => {
      const distances: number[] = []
      for (const { bundle_id, id } of late.apps) {
        const cutover = late.windfall.reported.cutoverOf(id, 'flows')?.at ?? 0
        const path = `churn_rate?${range}&interval=month&app=${bundle_id}`
        const [shown, theirs] = [await getMetric(path), await truth(path)]
        const known = pointsOf(theirs)
        for (const [index, { on, numerator, denominator }] of pointsOf(shown).entries()) {
          if (Date.parse(nextMonth(on)) > cutover) continue
          expect(numerator, `${bundle_id} ${on}`).toBe(cancellations(late, bundle_id, on))
          expect(denominator).toBe(known[index]?.denominator)
          distances.push(Math.abs(Number(numerator) - Number(known[index]?.numerator)))
        }
        const labels = shown.sources.flatMap(({ label }) => label ?? [])
        expect(new Set(labels)).toEqual(new Set(['Apple’s count']))
        expect(pointsOf(shown, 'refund')[0]?.numerator ?? null).toBeNull()
      }
      expect(distances.length).toBeGreaterThan(0)
      const near = distances.filter((distance) => distance <= 1)
      expect(near.length / distances.length).toBeGreaterThanOrEqual(0.95)
    })

    test('amounts that reports lack are null before the ledger, never zero', async () => {
      const path = (name: string) => `${name}?${range}&interval=month`
      for (const name of ['mrr_churn_rate', 'quick_ratio']) {
        const [first] = (await getMetric(path(name))).series[0]?.points ?? []
        expect(first).toMatchObject({ ratio: null, numerator: null, complete: false })
      }
      const { series } = await getMetric(path('mrr_movements'))
      const itemised = series.filter(({ part }) => part !== null && part !== 'not_itemised')
      expect(itemised.length).toBeGreaterThan(0)
      for (const { points } of itemised) expect(points[0]).toMatchObject({ milli: null, complete: false })
    })

    test('a split by app knows of each app what it knows without the split', async () => {
      for (const metric of ['new_trials', 'status', 'mrr_churn_rate', 'first_payments']) {
        const path = `${metric}?${range}&interval=week`
        const { series } = await getMetric(`${path}&split=app`)
        expect(series.length).toBeGreaterThan(1)
        for (const { value, points } of series)
          expect(points, `${metric} ${value}`).toEqual(pointsOf(await getMetric(`${path}&app=${value}`)))
      }
    })

    test('the parts of a split of Apple’s count sum to the total', async () => {
      const path = `churn_rate?${range}&interval=month`
      const [whole] = (await getMetric(path)).series
      for (const split of ['product', 'country', 'period', 'app']) {
        const { series } = await getMetric(`${path}&split=${split}&limit=100`)
        const sums = whole?.points.map((_, index) =>
          series.reduce((sum, { points }) => sum + (points[index]?.numerator ?? 0), 0),
        )
        expect(sums, split).toEqual(whole?.points.map(({ numerator }) => numerator))
      }
    })
  })
})

const nextMonth = (on: string): string => {
  const date = new Date(`${on}T12:00:00Z`)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)).toISOString().slice(0, 10)
}

/**
 * From the store’s books: cancellations in a month of subscriptions paid and begun before it, less those bought again
 * in it.
 */
function cancellations(late: Late, bundle_id: string, month: string): number {
  const { books } = late.simulation
  const isCounted = (entry: Entry): boolean => {
    const segment = books.segmentOf(entry.environment, entry.transaction_id)
    if (segment === undefined || segment.kind === 'trial' || segment.kind === 'free_offer') return false
    return pacificDay(segment.started_at) < month
  }
  const within = books.entries.filter(
    (entry) =>
      entry.bundle_id === bundle_id &&
      entry.environment === 'production' &&
      !entry.shared &&
      pacificDay(entry.at).startsWith(month.slice(0, 7)) &&
      isCounted(entry),
  )
  const cancelled = within.filter(({ kind }) => kind === 'expired')
  const isBack = (entry: Entry): boolean =>
    cancelled.some(
      ({ original_transaction_id: id, at }) => id === entry.original_transaction_id && at < entry.at,
    )
  return cancelled.length - within.filter((entry) => entry.kind === 'resubscribed' && isBack(entry)).length
}
