/** The month length that makes prices per day or week monthly, and the answers that name it. */
import { expect, test } from 'vitest'
import { monthlyMilli } from '../../../src/metrics/lineage/months.ts'
import { figuresIn, openTestLedger } from '../test_ledger.ts'

const ON = 'from=2026-05-31&to=2026-05-31'

/** A price of 7.000 for each duration. By days of 30.4375 a month: 7 × 30.4375 ÷ days. */
const WORTH = {
  P1D: { calendar: 213_062, revenuecat: 210_000 }, // × 30.4375 = 213.0625, half to even; × 30
  P3D: { calendar: 71_021, revenuecat: 70_000 }, // 71.020833…; × 10
  P1W: { calendar: 30_438, revenuecat: 28_000 }, // 30.4375, half to even; × 4
  P2W: { calendar: 15_219, revenuecat: 14_000 }, // 15.21875; × 2
  P4W: { calendar: 7_609, revenuecat: 7_000 }, // 7.609375; × 1
  P1M: { calendar: 7_000, revenuecat: 7_000 },
  P1Y: { calendar: 583, revenuecat: 583 }, // ÷ 12 = 0.583333…
} as const

test.each(['calendar', 'revenuecat'] as const)(
  '%s months convert each duration by its factor, and every answer names them',
  async (factors) => {
    const { app, notifyTransaction, get, getMetric } = await openTestLedger({
      env: { WINDFALL_METRICS_FACTORS: factors },
    })
    const [own] = app.windfall.apps.list()
    for (const [index, period] of Object.keys(WORTH).entries()) {
      await app.windfall.store.commit(() =>
        app.windfall.products.setReportedPeriod(own?.id ?? '', { product_id: period, period }),
      )
      await notifyTransaction(String(index + 1), 0, '2026-05-30', '2026-06-05', {
        productId: period,
        price: 7_000,
      })
    }
    const mrr = await getMetric(`mrr?${ON}&split=product`)
    for (const [period, worth] of Object.entries(WORTH)) {
      expect(figuresIn(mrr.series, 'milli', { value: period })['2026-05-31'], period).toBe(worth[factors])
      expect(monthlyMilli(7_000, period, factors), period).toBe(worth[factors])
    }
    expect(mrr.month_length).toBe(factors)
    const json = async (path: string) => (await get(path)).json()
    expect(await json('overview')).toMatchObject({ organizations: [{ month_length: factors }] })
    for (const metric of ['retention', 'ltv', 'arppu', 'recovery'])
      expect(await json(`cohorts?metric=${metric}`)).toMatchObject({ month_length: factors })
    for (const path of ['metrics/mrr.csv', 'overview.csv']) {
      const [head = '', ...lines] = (await (await get(path)).text()).trimEnd().split('\r\n')
      const column = head.split(',').indexOf('month_length')
      expect(lines.length).toBeGreaterThan(0)
      for (const line of lines) expect(line.split(',')[column]).toBe(factors)
    }
  },
)
