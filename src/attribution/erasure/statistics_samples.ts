/** Deletes SQLite's statistics samples (sqlite_stat4) that contain an erased id. Samples are copies of index rows. */
import type { Store } from '../../store/store.ts'

export function openStatisticsSamples(store: Pick<Store, 'prepare'>) {
  const findStatisticsTable = store.prepare("select 1 from sqlite_schema where name = 'sqlite_stat4'")

  /** Deletes the samples that contain a text, inside a unit of work. The next ANALYZE creates new ones. */
  function drop(text: string): void {
    // The table is created by the first ANALYZE, so the statement cannot be prepared earlier.
    if (findStatisticsTable.get() === undefined) return
    store.prepare<[Buffer]>('delete from sqlite_stat4 where instr(sample, ?) > 0').run(Buffer.from(text))
  }

  return { drop }
}
