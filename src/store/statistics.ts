/** Updates the table statistics, which SQLite's query planner uses to choose indexes. */
import type { Store } from './store.ts'

/** The number of rows of an index that ANALYZE reads: enough to recognize a selective index. */
const ROWS_READ = 400
/** Lists the ANALYZE statements for tables that have no statistics or grew tenfold. Does not run the statements. */
const OPTIMIZE = 'pragma optimize(0x10003)'

/**
 * Analyzes the tables that have outgrown their statistics, each in a separate unit of work. Also deletes
 * SQLite's samples of index values (sqlite_stat4). With samples, SQLite plans a statement again for each bound value,
 * which takes several times as long as to run it. Samples would also retain the ids of erased users.
 */
export async function updateStatistics(store: Pick<Store, 'prepare' | 'pragma' | 'commit'>): Promise<void> {
  store.pragma(`analysis_limit = ${ROWS_READ}`)
  for (const statement of store.prepare<[], string>(OPTIMIZE).pluck().all() as string[])
    await store.commit(() => store.prepare(statement).run())
  await store.commit(() => dropSamples(store))
}

function dropSamples({ prepare }: Pick<Store, 'prepare'>): void {
  // The first ANALYZE creates sqlite_stat4. Before that, a statement on the table cannot be prepared.
  if (prepare("select 1 from sqlite_schema where name = 'sqlite_stat4'").get() === undefined) return
  if (prepare('delete from sqlite_stat4').run().changes > 0) prepare('analyze sqlite_schema').run()
}
