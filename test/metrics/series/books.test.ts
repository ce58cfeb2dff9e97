/** Compares the metrics with the books of the simulated store, which no code of the metrics writes. */
import { beforeAll, expect, test } from 'vitest'
import { fill } from '../../../src/demo/fill.ts'
import { openSimulation, type Simulation } from '../../../src/demo/simulation.ts'
import { monthlyMilli } from '../../../src/metrics/lineage/months.ts'
import { handClock, openTestApp, sharedAuthority, type TestApp } from '../../helpers.ts'
import { seed } from '../../random.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1)
const FROM = UNTIL - 500 * DAY

type Sums = Record<string, number>
type Row = { measure: string; on_at: number; currency: string; milli: number; count: number }

let app: TestApp
let simulation: Simulation
let rows: Row[]
beforeAll(async () => {
  const authority = await sharedAuthority()
  simulation = openSimulation({
    seed,
    from: FROM,
    until: UNTIL,
    subscribers: 150,
    edgeCases: true,
    authority,
  })
  const clock = handClock(FROM)
  const apps = simulation.apps.map(({ bundle_id }) => ({ bundle_id }))
  app = await openTestApp({ clock, apps, heard_at: FROM })
  await fill(app.windfall, simulation.steps(), clock, () => {})
  await app.windfall.metrics.whenCurrent()
  rows = app.windfall.store
    .prepare<[], Row>(`
      select measure, on_at, currency, milli, count
      from metric_rows join metric_lineages on id = lineage_id where environment = 'production'`)
    .all()
})

const plus = (sums: Sums, key: string, amount: number): void => {
  sums[key] = (sums[key] ?? 0) + amount
}
const nonZero = (sums: Sums): Sums =>
  Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0))

/** The sum of rows up to an instant; for a flow, from another instant on. */
function kept(measures: readonly string[], until: number, from = 0): Sums {
  const sums: Sums = {}
  for (const { measure, on_at, currency, milli, count } of rows) {
    if (!measures.includes(measure) || on_at < from || on_at > until) continue
    plus(sums, currency, milli)
    plus(sums, 'count', count)
  }
  return nonZero(sums)
}

const instants = Array.from({ length: 60 }, (_, week) => FROM + (10 + 8 * week) * DAY + week * 3_600_000)

test('MRR in every currency, and active subscriptions', () => {
  for (const at of instants) {
    const books: Sums = {}
    for (const { price_milli, period, currency, has_price } of simulation.books.activeSubscriptions(at)) {
      plus(books, 'count', 1)
      if (has_price) plus(books, currency, monthlyMilli(price_milli, period, 'calendar') ?? Number.NaN)
    }
    expect(kept(['mrr'], at)).toEqual(nonZero(books))
  }
})

test('active trials', () => {
  for (const at of instants) {
    expect(kept(['trials'], at).count ?? 0).toBe(simulation.books.activeTrials(at).length)
  }
})

test('charges, refunds and prorations, month by month', () => {
  const { books } = simulation
  for (let from = FROM; from < UNTIL; from += 30 * DAY) {
    const until = from + 30 * DAY
    const range = { from, until, has_price: true }
    const money = (...measures: string[]) => {
      const { count, ...amounts } = kept(measures, until - 1, from)
      return amounts
    }
    expect(money('revenue.new', 'revenue.renewal', 'revenue.one_time')).toEqual(nonZero(books.charged(range)))
    expect(money('revenue.refund', 'revenue.refund_reversed')).toEqual(nonZero(books.refunded(range)))
    expect(money('revenue.proration')).toEqual(nonZero(books.prorated(range)))
  }
})

test('the movements of each currency sum to its MRR', () => {
  const moved = [...new Set(rows.map(({ measure }) => measure))].filter((one) => one.startsWith('mrr.'))
  for (const at of instants) expect(kept(moved, at)).toEqual(kept(['mrr'], at))
})
