/** What we compute: whether the metrics that are kept are those that the facts give; the first difference otherwise. */
import { setImmediate } from 'node:timers/promises'
import type { LineageKey } from '../ledger/ledger.ts'
import type { Store } from '../store/store.ts'
import type { MetricRow } from './rows.ts'
import type { Upkeep } from './upkeep.ts'

/** `difference` is null where everything is as the facts say. */
export type Verified = { lineages: number; difference: string | null }

type Part = { app_id: string; measure: string; dimension: string }
type Cell = { measure: string; dimension: string; value: string; day: number }

const LINEAGES_AT_ONCE = 200
const COLUMNS = [
  ...['on_at', 'known_at', 'measure', 'product_id', 'storefront', 'period', 'offer', 'currency', 'milli'],
  ...['base_milli', 'count'],
] as const satisfies (keyof MetricRow)[]

/** Compares in slices, between which others get their turn. */
export function openComparison(store: Store, { rowsFromFacts, generations }: Upkeep) {
  const lineages = store.prepare<[number, number], LineageKey & { id: number }>(
    'select * from metric_lineages where id > ? order by id limit ?',
  )
  const uncounted = store.prepare<[], LineageKey>(`
    select app_id, environment, original_transaction_id from transactions t
    where not exists (select 1 from metric_lineages m where m.app_id = t.app_id and m.environment = t.environment
      and m.original_transaction_id = t.original_transaction_id) limit 1`)
  const rowsOf = store.prepare<[number], MetricRow>(
    'select * from metric_rows where lineage_id = ? order by position',
  )
  const parts = store.prepare<[number, number], Part>(
    'select distinct app_id, measure, dimension from metric_series where generation in (?, ?)',
  )
  const sums = `
    select environment, zone, measure, dimension, value, day, milli, base_milli, count
    from metric_series join metric_days on series_id = id
    where app_id = :app_id and measure = :measure and dimension = :dimension
      and (milli <> 0 or base_milli <> 0 or count <> 0) and generation = `
  const onlyIn = store.prepare<Part & { one: number; other: number }, Cell>(
    `${sums} :one except ${sums} :other limit 1`,
  )

  /** Whether each lineage has the rows that its facts give. */
  async function rows(): Promise<Verified> {
    const missing = uncounted.get()
    if (missing) return { lineages: 0, difference: `${missing.original_transaction_id} is not counted` }
    let done = 0
    for (let some = lineages.all(0, LINEAGES_AT_ONCE); some.length > 0; ) {
      for (const key of some) {
        const difference = differenceOf(key)
        if (difference !== null) return { lineages: done, difference }
        done += 1
      }
      some = lineages.all(some.at(-1)?.id ?? 0, LINEAGES_AT_ONCE)
      await setImmediate()
    }
    return { lineages: done, difference: null }
  }

  function differenceOf(key: LineageKey & { id: number }): string | null {
    const wanted = (rowsFromFacts(key) ?? []).map(textOf)
    const kept = rowsOf.all(key.id).map(textOf)
    const at = wanted.findIndex((row, index) => row !== kept[index])
    if (at < 0 && wanted.length === kept.length) return null
    const index = at < 0 ? wanted.length : at
    const [has, should] = [kept[index] ?? 'nothing', wanted[index] ?? 'nothing']
    return `${key.original_transaction_id}: ${has} is kept, the facts give ${should}`
  }

  /** Whether the sums being made are those that are shown. */
  async function sumsAreSame(): Promise<string | null> {
    const [one, other] = [generations.shown(), generations.making()?.generation ?? 0]
    for (const part of parts.all(one, other)) {
      const cell = onlyIn.get({ ...part, one, other }) ?? onlyIn.get({ ...part, one: other, other: one })
      if (cell) return `the sum of ${cell.measure} by ${cell.dimension} ${cell.value}, day ${cell.day}`
      await setImmediate()
    }
    return null
  }

  return { rows, sums: sumsAreSame }
}

const textOf = (row: MetricRow): string => JSON.stringify(COLUMNS.map((name) => row[name]))
