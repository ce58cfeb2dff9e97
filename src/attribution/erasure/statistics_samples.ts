/** What we remember: nothing of who was forgotten in SQLite's own statistics, which keep samples of what indexes hold. */
import type { Store } from '../../store/store.ts'

export function openStatisticsSamples(store: Pick<Store, 'prepare'>) {
  const findStatisticsTable = store.prepare("select 1 from sqlite_schema where name = 'sqlite_stat4'")

  /** Drops the samples that hold a text, inside a unit of work. SQLite takes others when it next looks. */
  function drop(text: string): void {
    // The table is made when SQLite first looks, so this cannot be prepared before.
    if (findStatisticsTable.get() === undefined) return
    store.prepare<[Buffer]>('delete from sqlite_stat4 where instr(sample, ?) > 0').run(Buffer.from(text))
  }

  return { drop }
}
