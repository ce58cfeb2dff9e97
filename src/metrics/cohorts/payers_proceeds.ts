/** Sums the proceeds of payers by day, week or month, from the daily sums that revenue is read from. */
import type { AmountSources } from '../joined/amount_sources.ts'
import { ALWAYS, type RevenueMeasure } from '../joined/days.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import { CERTAINTIES, type ProceedsCertainty } from '../lineage/proceeds.ts'
import type { Amount } from '../reports/daily_amounts.ts'
import type { Filters } from '../sums/tallies.ts'
import { ANY, type MoneySums } from './changes.ts'
import { type CohortQuery, endOf, GRAIN_INDEX, startOf } from './spans.ts'

export type PayersQuery = CohortQuery & { grain: 'day' | 'week' | 'month' }

/** Proceeds less refunds in thousandths, by certainty. */
export type KnownProceeds = Record<ProceedsCertainty, number>

const MEASURES: readonly (readonly [RevenueMeasure, keyof MoneySums])[] = [
  ['revenue.new', 'charged_milli'],
  ['revenue.renewal', 'charged_milli'],
  ['revenue.one_time', 'charged_milli'],
  ['revenue.refund', 'refunded_milli'],
  ['revenue.refund_reversed', 'refunded_milli'],
  ['revenue.proration', 'prorated_milli'],
]

/** The proceeds of each observed day, week or month by its number, and of all of them by certainty. */
export async function payersProceeds(
  proceedsOfLedger: AmountSources['proceedsOfLedger'],
  { scopes, time_zone, grain, product_id, storefront, ...query }: PayersQuery,
  today: DayNumber,
): Promise<{ sums: Map<number, MoneySums>; known: KnownProceeds }> {
  const sums = new Map<number, MoneySums>()
  const known: KnownProceeds = { exact: 0, ratio: 0, estimated: 0 }
  const until = endOf(grain, startOf(grain, Math.min(query.until, today)))
  const filters = filtersOf(product_id, storefront)
  const breakdown = { filters, split: null, currency: null, zone: 'own' } as const
  for (const { generation, app_id, environment, observed = ALWAYS } of scopes) {
    const known_from = Math.max(query.from, observed.any)
    if (known_from > until) continue
    const range = { from: startOf(grain, known_from), until }
    const scope = { shown: { id: generation, time_zone }, app_id, environment, ...breakdown, ...range }
    for (const [measure, name] of MEASURES) {
      const { lines, basis } = await proceedsOfLedger(scope, measure)
      for (const [day, { milli }] of lines.get('') ?? []) addTo(sums, GRAIN_INDEX[grain](day), name, milli)
      const sign = name === 'charged_milli' ? 1 : -1
      for (const one of CERTAINTIES) known[one] += sign * totalOf(basis.get(one))
    }
  }
  return { sums, known }
}

const filtersOf = (product_id: string, storefront: string): Filters => ({
  ...(product_id !== ANY && { product: [product_id] }),
  ...(storefront !== ANY && { country: [storefront] }),
})

function addTo(sums: Map<number, MoneySums>, unit: number, name: keyof MoneySums, milli: number): void {
  const sum = sums.get(unit) ?? { charged_milli: 0, refunded_milli: 0, prorated_milli: 0 }
  sum[name] += milli
  sums.set(unit, sum)
}

const totalOf = (line: ReadonlyMap<DayNumber, Amount> | undefined): number =>
  [...(line?.values() ?? [])].reduce((sum, { milli }) => sum + milli, 0)
