/** Compares cohorts and customers with the oracle on a simulated history. */
import { beforeAll, expect, test } from 'vitest'
import { renewalDay } from '../../../src/metrics/cohorts/renewal_days.ts'
import type { CohortQuery } from '../../../src/metrics/cohorts/spans.ts'
import type { CustomerValue } from '../../../src/metrics/customers/value_statements.ts'
import { dayNumber } from '../../../src/metrics/lineage/calendar.ts'
import { nonEmpty } from '../../non_empty.ts'
import { seed } from '../../random.ts'
import type { Oracle } from '../oracle/oracle.ts'
import { openSimulated, type Simulated } from '../oracle/simulated.ts'

const DAY = 86_400_000
const ZONE = { time_zone: 'Australia/Lord_Howe', currency: 'EUR', unrated: ['MXN'] }

let played: Simulated
let oracle: Oracle
let today: number
beforeAll(async () => {
  played = await openSimulated({ seed: seed + 7, subscribers: 160, edgeCases: true, days: 400, ...ZONE })
  oracle = played.oracle()
  today = dayNumber(oracle.days.dayOf(played.until))
})

function question(more: Partial<CohortQuery> = {}): CohortQuery {
  const scopes = played.app.windfall.apps
    .list()
    .map(({ id }) => ({
      generation: played.app.windfall.metrics.generations.shownOf(id)?.id ?? 0,
      app_id: id,
      environment: 'production' as const,
    }))
  const everything = {
    time_zone: ZONE.time_zone,
    grain: 'month' as const,
    product_id: '*',
    storefront: '*',
    from: 0,
    until: today,
    metrics: null,
  }
  return { scopes, ...everything, from: today - 420, ...more }
}

/** The best-selling product and country, so that filters match something. */
function common(): { product_id: string; storefront: string } {
  const bought = oracle.marks.filter(({ measure }) => measure.startsWith('revenue.'))
  const most = (of: (mark: (typeof bought)[number]) => string) =>
    [...Map.groupBy(bought, of)].sort(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? ''
  return { product_id: most(({ by }) => by.product_id), storefront: most(({ by }) => by.storefront ?? '') }
}

const filters = () => {
  const { product_id, storefront } = common()
  return [{}, { product_id }, { storefront }, { product_id, storefront }]
}

test('realized LTV by month of the first payment, in total and by product and country', async () => {
  const { cohorts } = played.app.windfall
  let compared = 0
  for (const filter of filters()) {
    const { rows } = await cohorts.ltv(question(filter), [0, 7, 30, 100, 365], today)
    for (const { cohort, customers, values } of rows) {
      for (const { days, charged_milli, refunded_milli, prorated_milli, complete } of values) {
        const wanted = oracle.realizedLtv('month', cohort.slice(0, 7), days, filter)
        expect({ customers, charged_milli, refunded_milli, prorated_milli }).toEqual({
          customers: wanted.customers,
          charged_milli: wanted.charged_base_milli,
          refunded_milli: wanted.refunded_base_milli,
          prorated_milli: wanted.prorated_base_milli,
        })
        if (complete) expect(wanted.is_complete).toBe(true)
        compared += 1
      }
    }
  }
  expect(compared).toBeGreaterThan(100)
})

test.each(['day', 'week', 'month'] as const)(
  'the customers who paid in each %s, and how much',
  async (grain) => {
    for (const filter of filters()) {
      const { rows } = await played.app.windfall.cohorts.arppu({ ...question(filter), grain }, today)
      for (const row of nonEmpty(rows)) {
        const begin = dayNumber(row.cohort)
        const length = grain === 'day' ? 1 : grain === 'week' ? 7 : renewalDay(begin, 'P1M', 1) - begin
        const span = {
          from_on: row.cohort,
          until_on: new Date((begin + length - 1) * DAY).toISOString().slice(0, 10),
        }
        const {
          new: first,
          renewal,
          one_time,
          refund,
          refund_reversed,
          proration,
        } = oracle.revenue(span, filter)
        const { payers } = oracle.arppu(span, filter)
        const charged_milli = first.base_milli + renewal.base_milli + one_time.base_milli
        expect(row).toMatchObject({
          payers,
          charged_milli,
          refunded_milli: refund.base_milli + refund_reversed.base_milli,
          prorated_milli: proration.base_milli,
        })
      }
    }
  },
)

test('the payments of each customer', async () => {
  const { store } = played
  const kept = new Map(
    store
      .prepare<[], CustomerValue & { environment: string }>(
        'select v.*, environment from customer_values v join customer_scopes s on s.id = scope_id',
      )
      .all()
      .filter(({ environment }) => environment === 'production')
      .map((value) => [value.id, value]),
  )
  const wanted = oracle.customerValues()
  expect(wanted.length).toBeGreaterThan(100)
  for (const { customer, charged_base_milli, refunded_base_milli, prorated_base_milli } of wanted) {
    expect(kept.get(customer)).toMatchObject({
      charged_milli: charged_base_milli,
      refunded_milli: refunded_base_milli,
      prorated_milli: prorated_base_milli,
    })
  }
  const mrr = [...kept.values()].reduce((sum, { mrr_milli }) => sum + mrr_milli, 0)
  expect(mrr).toBe(oracle.mrrAt(played.until).base_milli)
})

/** A subscription is held at its k-th renewal if it is paid a day after that was due. */
function retentionInWords(cohort: string, period: string, k: number) {
  const lives = oracle.concluded.flatMap(({ lineage, worths }) => {
    const first = worths.find(({ is_paid }) => is_paid)
    if (!first || first.from > played.until || !lineage.is_whole) return []
    const isHere = oracle.cohortOf(first.from, 'month') === cohort && (first.period ?? '') === period
    return isHere ? [{ first, worths }] : []
  })
  const due = lives.filter(({ first }) => {
    const on = dayNumber(oracle.days.dayOf(first.from))
    return k === 0 || renewalDay(on, period, k) + 3 <= today
  })
  const held = due.filter(({ first: { from }, worths }) => {
    const start = Math.floor(from / DAY)
    const at = from + (renewalDay(start, period, k) - start + 1) * DAY
    return k === 0 || worths.some((one) => one.is_paid && one.from <= at && at < one.to)
  })
  return { size: lives.length, due: due.length, held: held.length }
}

test('retention by month of the first payment and its period', async () => {
  const rows = await played.app.windfall.cohorts.retention(question(), today)
  expect(rows.length).toBeGreaterThan(20)
  for (const { cohort, period, size, renewals } of rows) {
    for (const { k, due, held, complete } of renewals) {
      expect({ size, due, held }).toEqual(retentionInWords(cohort.slice(0, 7), period, k))
      expect(complete).toBe(due === size)
    }
  }
})

test('failed payments are recovered, lost or pending', async () => {
  const rows = await played.app.windfall.cohorts.recovery(question({ grain: 'year', from: 0 }), today)
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0)
  const { books } = played.simulation
  const recovered = books.entries.filter(
    ({ kind, environment }) => kind === 'recovered' && environment === 'production',
  )
  expect(sum((row) => row.failed)).toBe(sum((row) => row.recovered + row.lost + row.pending))
  expect(sum((row) => row.recovered)).toBeGreaterThan(0)
  expect(recovered.length).toBeGreaterThan(0)
  expect(sum((row) => row.recovered)).toBe(recovered.length)
})

test('the proceeds of cohorts are those of their charges, for every product and country', async () => {
  const { cohorts } = played.app.windfall
  for (const filter of filters()) {
    const { rows, known } = await cohorts.ltv(question(filter), [7, 500], today, 'proceeds')
    expect(rows.length).toBeGreaterThan(2)
    for (const { cohort, customers, values } of rows) {
      for (const { days, net_milli } of values) {
        const wanted = oracle.realizedLtv('month', cohort.slice(0, 7), days, filter)
        expect({ customers, net_milli }).toEqual({
          customers: wanted.customers,
          net_milli: wanted.proceeds_base_milli,
        })
      }
    }
    // No report has a price.
    const all = rows.reduce((sum, { values }) => sum + (values.at(-1)?.net_milli ?? 0), 0)
    expect(known).toEqual({ exact: 0, ratio: 0, estimated: all })
  }
})

test('all of it follows from the facts', async () => {
  expect((await played.app.windfall.metrics.verify()).difference).toBeNull()
})
