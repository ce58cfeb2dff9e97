/** Deletes the data of dropped generations in steps. */
import type { Store } from '../../store/store.ts'
import type { Generations } from './generations.ts'

/** Rows deleted in one step. */
const AT_ONCE = 500
const SERIES_AT_ONCE = 50

type Deps = {
  store: Store
  generations: Generations
  /** Deletes a part of a generation’s sums of Apple’s reports inside a unit of work; true while there is more. */
  sweepReports: (generation: number, limit: number) => boolean
}

export type Sweeping = ReturnType<typeof openSweeping>

export function openSweeping({ store, generations, sweepReports }: Deps) {
  /** Tables whose primary key begins with the generation. */
  const lineages = ['metric_due', 'metric_counted', 'metric_rows', 'customer_values', 'cohort_customers'].map(
    (table) =>
      store.prepare<{ generation: number; most: number }>(`
        delete from ${table} where generation = :generation and lineage_id in
          (select lineage_id from ${table} where generation = :generation order by lineage_id limit :most)`),
  )
  const scopes = store.prepare<[number]>('delete from customer_scopes where generation = ?')
  const sums = (
    [
      ['metric_series', 'metric_days', 'day'],
      ['cohort_series', 'cohort_cells', 'cohort'],
    ] as const
  ).map(([series, cells, place]) => ({
    some: store.prepare<[number, number], { id: number }>(
      `select id from ${series} where generation = ? limit ?`,
    ),
    removeCells: store.prepare<{ id: number; most: number }>(`
      delete from ${cells} where series_id = :id and ${place} in
        (select ${place} from ${cells} where series_id = :id limit :most)`),
    remove: store.prepare<[number]>(`delete from ${series} where id = ?`),
  }))

  /** Deletes one step of unreferenced data; false where there is none. Runs inside a unit of work. */
  function some(): boolean {
    const [next] = generations.unreferenced()
    if (next === undefined) return false
    const isMore =
      lineages.some((remove) => remove.run({ generation: next.id, most: AT_ONCE }).changes > 0) ||
      sums.some((one) => sweepSums(one, next.id)) ||
      sweepReports(next.id, AT_ONCE)
    if (isMore) return true
    scopes.run(next.id)
    generations.removeRow(next.id)
    return true
  }

  function sweepSums({ some, removeCells, remove }: (typeof sums)[number], generation: number): boolean {
    const series = some.all(generation, SERIES_AT_ONCE)
    let left = AT_ONCE
    for (const { id } of series) {
      left -= removeCells.run({ id, most: left }).changes
      if (left <= 0) return true
      remove.run(id)
    }
    return series.length > 0
  }

  return { some }
}
