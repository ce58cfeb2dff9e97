/** Losses of what was active at the start, and passing subscriptions, calculated by hand. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { monthOf, openCalendar, weekOf } from '../../../src/metrics/lineage/calendar.ts'
import { fiscalMonthOf } from '../../../src/metrics/lineage/fiscal.ts'
import type { LossUnit } from '../../../src/metrics/lineage/losses.ts'
import type { PricedCharge } from '../../../src/metrics/lineage/proceeds.ts'
import { type Measure, type MetricRow, metricRowsOf } from '../../../src/metrics/lineage/rows.ts'
import { runs } from '../../random.ts'
import { day, periodOf } from '../facts.ts'
import { histories } from '../histories.ts'
import { at, figuresIn, openTestLedger } from '../test_ledger.ts'

const WEEKLY = { productId: 'weekly', price: 2_990 }
const REFUNDED = (on: string) => ({ revocationDate: at(on), revocationReason: 0 })

test('churn excludes what begins and ends within a period, so it never exceeds 100 %', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  // One of 9.990 a month is active when April begins, and canceled on the 10th.
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', {}, { autoRenewStatus: 0 })
  // Two weekly ones, from Monday 6 to Monday 13 April: one canceled, one with a failed payment.
  await notifyTransaction('2', 0, '2026-04-06', '2026-04-13', WEEKLY, { autoRenewStatus: 0 })
  await notifyTransaction('3', 0, '2026-04-06', '2026-04-13', WEEKLY, { expirationIntent: 2 })
  const valuesOf = async (metric: string, interval: string) => {
    const { series } = await getMetric(`${metric}?interval=${interval}&from=2026-04-06&to=2026-04-13`)
    const of = (part: string | null) => Object.values(figuresIn(series, 'numerator', { part }))
    return {
      ratio: Object.values(figuresIn(series, 'ratio')),
      lost: [of('voluntary'), of('billing')],
      passing: of('passing'),
    }
  }
  // April: 1 of 1, not 3 of 1.
  expect(await valuesOf('churn_rate', 'month')).toEqual({ ratio: [1], lost: [[1], []], passing: [2] })
  // A week of 2.990 is 13.001 a month; 9.990 of 9.990 was lost, not 35.992.
  expect(await valuesOf('mrr_churn_rate', 'month')).toEqual({
    ratio: [1],
    lost: [[9_990], []],
    passing: [26_002],
  })
  // The week of the 6th loses 1 of 1. When that of the 13th begins, the two are active, and lost: 2 of 2.
  expect(await valuesOf('churn_rate', 'week')).toEqual({
    ratio: [1, 1],
    lost: [
      [1, 1],
      [0, 1],
    ],
    passing: [],
  })
})

test('a loss counts at most the value at the start of the period', async () => {
  const { notifyTransaction, getMetric } = await openTestLedger()
  // 10.000 a month when April begins, 20.000 of another product from the 10th, and all refunded on the 25th.
  await notifyTransaction('1', 0, '2026-03-10', '2026-04-10', { price: 10_000 })
  const more = { productId: 'monthly_max', price: 20_000 }
  await notifyTransaction('1', 1, '2026-04-10', '2026-05-10', { ...more, ...REFUNDED('2026-04-25') })
  const april = 'interval=month&from=2026-04-01&to=2026-04-30'
  const { series } = await getMetric(`mrr_churn_rate?${april}`)
  const whole = (part: string | null) => figuresIn(series, 'numerator', { part })['2026-04-01']
  // 10.000 of 10.000; the other 10.000 began and ended within April.
  expect([whole(null), whole('refund'), whole('passing')]).toEqual([10_000, 10_000, 10_000])
  expect(figuresIn(series, 'ratio')).toEqual({ '2026-04-01': 1 })
  // A split by product counts the loss at the start’s product: `monthly`, which had 1; `monthly_max` had none to lose.
  const split = await getMetric(`churn_rate?${april}&split=product`)
  const lost = split.series.map(({ value, points }) => [
    value,
    points[0]?.numerator,
    points[0]?.denominator,
    points[0]?.ratio,
  ])
  expect(lost.sort()).toEqual([
    ['monthly', 1, 1, 1],
    ['monthly_max', 0, 0, null],
  ])
})

test('fiscal months consist of Pacific days, whatever the organization’s zone', async () => {
  const { app, notifyTransaction } = await openTestLedger()
  // Fiscal months: 29 March to 2 May, 3 to 30 May. In California 06:00 UTC is 23:00 of the previous day.
  await notifyTransaction('1', 0, '2026-04-29', '2026-05-29', REFUNDED('2026-05-03T06:00:00Z'))
  await notifyTransaction('2', 0, '2026-05-01', '2026-06-01', REFUNDED('2026-05-03T08:00:00Z'))
  const rows = app.windfall.store
    .prepare(
      "select measure, storefront from metric_rows where measure like 'passing.%month.%' order by lineage_id, measure",
    )
    .pluck()
  // The first began in April and is lost in May, both within one fiscal month; the second the other way around.
  expect(rows.all()).toEqual(['passing.fiscal_month.refund', 'passing.month.refund'])
})

const UNITS: readonly LossUnit[] = ['day', 'week', 'month', 'fiscal_month']
const ENDINGS = ['voluntary', 'billing', 'refund', 'other'] as const

test('in any history, losses lie between zero and the value at the start, for each unit and product', () => {
  const [calendar, pacific] = [openCalendar('Asia/Kathmandu'), openCalendar('America/Los_Angeles')]
  const toBase = (milli: number, currency: string, on: number): number =>
    currency === 'USD' ? milli : Math.round((milli * (on < day('2026-03-01') ? 110 : 120)) / 100)
  const proceedsOf = ({ price_milli: milli, currency }: PricedCharge) =>
    ({ milli, currency, basis: 'exact' }) as const
  const settings = { factors: 'calendar', toBase, proceedsOf, periodOf, calendar, pacific } as const
  const unitOf: Record<LossUnit, (at: number) => number> = {
    day: (at) => calendar.dayOf(at),
    week: (at) => weekOf(calendar.dayOf(at)),
    month: (at) => monthOf(calendar.dayOf(at)),
    fiscal_month: (at) => fiscalMonthOf(pacific.dayOf(at)) ?? 0,
  }
  const property = fc.property(histories, ({ transactions, renewals }) => {
    const valuesOf = renewals.toSorted((a, b) => a.signed_at - b.signed_at)
    const rows = metricRowsOf({ transactions, renewals: valuesOf, hasFirstTransaction: true }, settings)
    for (const unit of UNITS) {
      const periods = new Set(rows.map(({ on_at }) => unitOf[unit](on_at)))
      for (const product of new Set(rows.map(({ product_id }) => product_id))) {
        const own = rows.filter(({ product_id }) => product_id === product)
        for (const period of periods) {
          const sum = (measures: readonly Measure[], is: (row: MetricRow) => boolean) => {
            const some = own.filter((row) => measures.includes(row.measure) && is(row))
            return {
              count: some.reduce((all, { count }) => all + count, 0),
              base: some.reduce((all, { base_milli }) => all + (base_milli ?? 0), 0),
            }
          }
          const within = ({ on_at }: MetricRow): boolean => unitOf[unit](on_at) === period
          const start = sum(['mrr'], ({ on_at }) => unitOf[unit](on_at) < period)
          const lost = sum(
            ENDINGS.map((ending): Measure => `mrr.churn_${ending}`),
            within,
          )
          const passing = sum(
            ENDINGS.map((ending): Measure => `passing.${unit}.${ending}`),
            within,
          )
          const returned = sum([`returned.${unit}`], within)
          for (const column of ['count', 'base'] as const) {
            const churn = -lost[column] + returned[column] + passing[column]
            expect(churn).toBeGreaterThanOrEqual(0)
            expect(churn).toBeLessThanOrEqual(start[column])
          }
        }
      }
    }
  })
  fc.assert(property, runs(100, 3_000))
})
