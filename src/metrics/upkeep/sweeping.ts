/** Deletes the data of dropped generations in steps. */
import type { Store } from '../../store/store.ts'
import type { Generations } from './generations.ts'

/** Rows deleted in one step. */
const STEP_ROWS = 500
const STEP_SERIES = 50

type Deps = {
  store: Store
  generations: Generations
  /** Deletes up to `limit` sums of Apple’s reports in a generation inside a unit of work. True while there are more. */
  sweepReports: (generation: number, limit: number) => boolean
}

export type Sweeping = ReturnType<typeof openSweeping>

export function openSweeping({ store, generations, sweepReports }: Deps) {
  /** Deletes from the tables with rows by generation and lineage. */
  const lineageDeletes = [
    'metric_due',
    'metric_counted',
    'metric_rows',
    'customer_values',
    'cohort_customers',
  ].map((table) =>
    store.prepare<{ generation: number; most: number }>(`
        delete from ${table} where generation = :generation and lineage_id in
          (select lineage_id from ${table} where generation = :generation order by lineage_id limit :most)`),
  )
  const deleteScopes = store.prepare<[number]>('delete from customer_scopes where generation = ?')
  const sumTables = (
    [
      ['metric_series', 'metric_days', 'day'],
      ['cohort_series', 'cohort_cells', 'cohort'],
    ] as const
  ).map(([series, cells, keyColumn]) => ({
    some: store.prepare<[number, number], { id: number }>(
      `select id from ${series} where generation = ? limit ?`,
    ),
    removeCells: store.prepare<{ id: number; most: number }>(`
      delete from ${cells} where series_id = :id and ${keyColumn} in
        (select ${keyColumn} from ${cells} where series_id = :id limit :most)`),
    remove: store.prepare<[number]>(`delete from ${series} where id = ?`),
  }))

  /** Deletes one step of the data of dropped generations; false if none is left. Runs inside a unit of work. */
  function some(): boolean {
    const [next] = generations.unreferenced()
    if (next === undefined) return false
    const isMore =
      lineageDeletes.some((remove) => remove.run({ generation: next.id, most: STEP_ROWS }).changes > 0) ||
      sumTables.some((one) => sweepSums(one, next.id)) ||
      sweepReports(next.id, STEP_ROWS)
    if (isMore) return true
    deleteScopes.run(next.id)
    generations.removeRow(next.id)
    return true
  }

  function sweepSums({ some, removeCells, remove }: (typeof sumTables)[number], generation: number): boolean {
    const series = some.all(generation, STEP_SERIES)
    let left = STEP_ROWS
    for (const { id } of series) {
      left -= removeCells.run({ id, most: left }).changes
      if (left <= 0) return true
      remove.run(id)
    }
    return series.length > 0
  }

  return { some }
}
