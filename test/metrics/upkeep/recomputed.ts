/** Compares the shown figures, by the keys of the facts, with those of a complete rebuild. */
import type { Windfall } from '../../../src/app.ts'
import type { Store } from '../../../src/store/store.ts'

/** The shown rows without numbers that a generation assigns. Excludes zero sums. */
const FIGURES: Record<string, string> = {
  metric_rows: `
    select app_id, environment, original_transaction_id, position, on_at, known_at, measure, product_id, storefront, period,
      offer, currency, milli, base_milli, count
    from metric_rows r join metric_lineages l on l.id = lineage_id where generation in shown`,
  metric_counted: `
    select app_id, environment, original_transaction_id, due_at, is_provisional, proceeds_milli, proceeds_estimated,
      last_charge_day
    from metric_counted join metric_lineages l on l.id = lineage_id where generation in shown`,
  metric_days: `
    select app_id, environment, zone, measure, dimension, value, day, milli, base_milli, count
    from metric_days join metric_series on id = series_id
    where generation in shown and (milli <> 0 or base_milli <> 0 or count <> 0)`,
  cohort_cells: `
    select app_id, environment, kind, product_id, storefront, period, cohort, position, count, charged_milli,
      refunded_milli, prorated_milli
    from cohort_cells join cohort_series on id = series_id where generation in shown
      and (count <> 0 or charged_milli <> 0 or refunded_milli <> 0 or prorated_milli <> 0)`,
  cohort_customers: `
    select app_id, environment, original_transaction_id, spread
    from cohort_customers join metric_lineages l on l.id = lineage_id where generation in shown`,
  customer_values: `
    select v.id as customer, app_id, environment, lineages, ltv_milli, ends_at, status, product_id, storefront,
      next_renewal_at, payments, unpriced, months_milli, charged_milli, refunded_milli, prorated_milli, unconverted,
      mrr_milli, risk_milli, proceeds_milli, proceeds_estimated, first_paid_at, last_paid_at, last_seen_at
    from customer_values v join customer_scopes s on s.id = scope_id where v.generation in shown`,
  reported_sums: `
    select app_id, measure, dimension, value, day, milli, base_milli, count
    from reported_sums join reported_series on id = series_id
    where generation in shown and (milli <> 0 or base_milli <> 0 or count <> 0)`,
  reported_days: `
    select organization_id, kind, day_on, is_there, is_provisional, due_since from reported_days where generation in shown`,
  counted_by: `
    select organization_id, time_zone, currency, factors, formula from metric_generations where id in shown`,
}
const SHOWN = "with shown as (select id from metric_generations where state = 'shown') "

/** Tables whose primary key begins with the generation. */
const OF_GENERATIONS = [
  'metric_due',
  'metric_counted',
  'metric_rows',
  'metric_series',
  'customer_scopes',
  'customer_values',
  'cohort_series',
  'cohort_customers',
  'reported_days',
  'reported_series',
]

export type Figures = ReadonlyMap<string, readonly string[]>

/** All shown figures, by table. */
export const figuresOf = (store: Store): Figures =>
  new Map(
    Object.entries(FIGURES).map(([table, sql]) => [
      table,
      store
        .prepare(SHOWN + sql)
        .all()
        .map((row) => JSON.stringify(row))
        .sort(),
    ]),
  )

/** The rows that only one side has, up to a limit for each table. */
export function differencesOf(kept: Figures, counted: Figures, most = 3): string[] {
  const missing = (name: string, rows: readonly string[], others: Figures, word: string) => {
    const there = new Set(others.get(name))
    const only = rows.filter((row) => !there.has(row))
    return only.slice(0, most).map((row) => `${name} (${only.length}), ${word}: ${row}`)
  }
  return [...kept].flatMap(([name, rows]) => [
    ...missing(name, rows, counted, 'only kept'),
    ...missing(name, counted.get(name) ?? [], kept, 'only counted'),
  ])
}

/** The remaining rows of generations that are not shown, once the worker is idle. */
function leftOver(store: Store): string[] {
  const count = (sql: string) =>
    store
      .prepare<[], number>(SHOWN + sql)
      .pluck()
      .get() ?? 0
  return [
    ...OF_GENERATIONS.flatMap((table) => {
      const rows = count(`select count(*) from ${table} where generation not in shown`)
      return rows === 0 ? [] : [`${rows} rows of ${table} are of a generation that is not shown`]
    }),
    ...(count("select count(*) from metric_generations where state <> 'shown'") === 0
      ? []
      : ['a generation is left that is not shown']),
    ...(count('select count(*) from metric_due') === 0 ? [] : ['a lineage is still due']),
  ]
}

/** Brings everything up to date and rebuilds it; returns differences and leftovers, empty where there are none. */
export async function faultsOfFigures({ metrics, store }: Windfall): Promise<string[]> {
  await metrics.whenCurrent()
  const kept = figuresOf(store)
  const left = leftOver(store)
  await metrics.rebuild()
  return [...left, ...differencesOf(kept, figuresOf(store)), ...leftOver(store)]
}
