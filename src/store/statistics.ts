/** What we remember: the statistics of the tables, by which SQLite chooses indexes, kept up while Windfall serves. */
import type { Store } from './store.ts'

/** Rows of an index that are read for its statistics: enough to tell a selective index from one that is not. */
const ROWS_READ = 400
/** Lists what `pragma optimize` would analyze of all tables: those without statistics, and those that grew tenfold. */
const OPTIMIZE = 'pragma optimize(0x10003)'

/**
 * Analyzes the tables that have outgrown their statistics, each in a unit of work of its own. Drops SQLite's samples of
 * index values: with them it plans a statement again whenever another value is bound, which takes several times as long
 * as the statement, and they would keep ids of users.
 */
export async function updateStatistics(store: Pick<Store, 'prepare' | 'pragma' | 'commit'>): Promise<void> {
  store.pragma(`analysis_limit = ${ROWS_READ}`)
  for (const statement of store.prepare<[], string>(OPTIMIZE).pluck().all() as string[])
    await store.commit(() => store.prepare(statement).run())
  await store.commit(() => dropSamples(store))
}

function dropSamples({ prepare }: Pick<Store, 'prepare'>): void {
  // The first analysis makes the table, so no statement can be prepared before.
  if (prepare("select 1 from sqlite_schema where name = 'sqlite_stat4'").get() === undefined) return
  if (prepare('delete from sqlite_stat4').run().changes > 0) prepare('analyze sqlite_schema').run()
}
