/** A month of proceeds is one number, in whichever way it is added up, in any time zone and currency. */
import { beforeAll, expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { type Body, bodiesOf, parsed } from '../../forwarding/bodies/opened.ts'
import { nonEmpty } from '../../non_empty.ts'
import { proceedsIn } from '../oracle/cohorts.ts'
import { openDays } from '../oracle/days.ts'
import { openOracle } from '../oracle/oracle.ts'
import { DAY, type Late, NOW, openLate } from './late_connection.ts'

const FROM = NOW - 170 * DAY
const MONTHS = ['2025-10', '2025-11', '2025-12', '2026-01', '2026-02']

let late: Late
beforeAll(async () => {
  late = await openLate({ subscribers: 110, from: FROM, connected: FROM })
  const { rates, metrics } = late.windfall
  await late.live(NOW - 20 * DAY)
  await rates.refresh(new AbortController().signal)
  // No report has the first two months, nor the last three weeks.
  await late.importAll(80)
  await late.live(NOW)
  await rates.refresh(new AbortController().signal)
  await metrics.whenCurrent()
}, 120_000)

async function get<Answer>(path: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${await late.token()}` }
  const response = await late.request(`/api/v1/${path}`, { headers })
  expect(response.status, path).toBe(200)
  return (await response.json()) as Answer
}

/** Recomputes all figures with other settings. */
async function settle(time_zone: string, currency: string): Promise<void> {
  const { organizations, metrics, store } = late.windfall
  const { slug, name, sdk_auth } = late.organization
  await store.commit(() => organizations.declare([{ slug, name, sdk_auth, currency, time_zone }]))
  await metrics.resume()
  await metrics.whenCurrent()
}

/** Revenue in proceeds: the total and its parts. Refunds less reversals and prorations are negative. */
async function revenueOf(range: string) {
  const { series, proceeds_known } = await get<SeriesAnswer>(
    `metrics/revenue?${range}&interval=month&basis=proceeds`,
  )
  const of = (part: string | null): number =>
    series.find((one) => one.part === part)?.points.reduce((sum, { milli }) => sum + (milli ?? 0), 0) ?? 0
  return {
    total: of(null),
    charged: of('new') + of('renewal') + of('one_time'),
    refunds: of('refunds') + of('refund_reversed'),
    proration: of('proration'),
    proceeds_known,
  }
}

type Cohorts<Row> = { cohorts: Row[]; proceeds_known: Record<string, number> }
type Payers = { payers: number; net_milli: number; per_payer_milli: number } & Record<
  'charged_milli' | 'refunded_milli' | 'prorated_milli',
  number
>

/** The charges of every customer, as their pages show them. */
async function customersOf() {
  const { customers, apps } = late.windfall
  const scopes = apps.list().map(({ id }) => ({ app_id: id, environment: 'production' as const }))
  const listing = { scopes, sort: 'ltv' as const, status: null, within_days: null, limit: 500, cursor: null }
  const page = await customers.list(listing)
  return nonEmpty(page.customers).map((value) => ({ value, profile: customers.profile(value.id) }))
}

const sumOf = <One>(all: readonly One[], of: (one: One) => number | null | undefined): number =>
  all.reduce((sum, one) => sum + (of(one) ?? 0), 0)

/** The days of a month, as parameters. */
function rangeOf(month: string): string {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return `from=${month}-01&to=${new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)}`
}

/** When the figures count what a body reports: a charge on the day of the purchase. */
function countedAt({ type, data }: Body): number {
  const { transaction } = data.data as { transaction?: { purchased_at: number } }
  const isCharge = (data.revenue_milli ?? 0) > 0 && !type.endsWith('refund_reversed')
  return isCharge ? (transaction?.purchased_at ?? 0) : (data.occurred_at as number)
}

test.each([
  ['UTC', 'USD'],
  ['America/New_York', 'EUR'],
  ['Asia/Kolkata', 'JPY'],
])('a month in %s and %s, in five ways', async (time_zone, currency) => {
  await settle(time_zone, currency)
  const days = openDays(time_zone)
  const { store, metrics } = late.windfall
  const customers = await customersOf()
  const charges = customers.flatMap(({ profile }) => profile?.transactions ?? [])
  const bodies = parsed(await bodiesOf(late).make(late.feed(EVENT_TYPES)))
  const place = { app_id: null, environment: 'production', factors: 'calendar', now: NOW } as const
  const oracle = openOracle(store, { ...place, time_zone, currency })
  const known = new Set<string>()
  for (const month of MONTHS) {
    const range = rangeOf(month)
    const isIn = (at: number): boolean => days.dayOf(at).startsWith(month)
    const revenue = await revenueOf(range)
    expect(revenue.total).toBe(revenue.charged + revenue.refunds + revenue.proration)
    expect(revenue.charged).toBeGreaterThan(0)
    for (const [basis, milli] of Object.entries(revenue.proceeds_known ?? {}))
      if (milli !== 0) known.add(basis)

    // The oracle, from Apple’s rows.
    expect(proceedsIn(oracle.marks.filter(({ at }) => isIn(at)))).toBe(revenue.total)

    // Customers: their charges, and what was taken back of them at upgrades.
    const charged = charges.filter(({ purchased_at }) => isIn(purchased_at))
    expect(sumOf(charged, ({ proceeds }) => proceeds?.charged_base_milli)).toBe(revenue.charged)
    const prorated = charges.flatMap((one) => (one.prorated && isIn(one.prorated.at) ? [one.prorated] : []))
    expect(0 - sumOf(prorated, (one) => one.proceeds_base_milli)).toBe(revenue.proration)

    // ARPPU × customers.
    const payers = await get<Cohorts<Payers>>(`cohorts?metric=arppu&by=month&${range}&basis=proceeds`)
    const [row] = nonEmpty(payers.cohorts)
    expect(row).toMatchObject({
      net_milli: revenue.total,
      charged_milli: revenue.charged,
      refunded_milli: 0 - revenue.refunds,
      prorated_milli: 0 - revenue.proration,
    })
    expect(Math.abs((row?.per_payer_milli ?? 0) * (row?.payers ?? 0) - revenue.total)).toBeLessThanOrEqual(
      (row?.payers ?? 0) / 2,
    )
    expect(payers.proceeds_known).toEqual(revenue.proceeds_known)

    // Refunds.
    const { totals } = await get<{ totals: { proceeds_milli: number } }>(`refunds?${range}`)
    expect(0 - totals.proceeds_milli).toBe(revenue.refunds)

    // Webhooks: Apple does not notify prorations.
    const sent = bodies.filter((body) => body.data.proceeds && isIn(countedAt(body)))
    expect(sumOf(sent, ({ data }) => data.proceeds?.milli)).toBe(revenue.total - revenue.proration)
  }
  expect([...known].sort()).toEqual(['estimated', 'exact', 'ratio'])

  // All of it, by customer and by cohort.
  const all = sumOf(customers, ({ value }) => value.proceeds_milli)
  expect(sumOf(customers, ({ profile }) => profile?.proceeds?.base_milli)).toBe(all)
  const ltv = await get<Cohorts<{ values: { net_milli: number }[] }>>(
    `cohorts?metric=ltv&from=2025-08-01&days=9999&basis=proceeds`,
  )
  expect(sumOf(ltv.cohorts, ({ values }) => values[0]?.net_milli)).toBe(all)
  expect((await metrics.verify()).difference).toBeNull()
})
