/** What we remember: the settings on which the promise of every 2xx hangs, asked for on each connection that writes. */
import type { Database } from 'better-sqlite3'

const REQUIRED_PRAGMAS = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1 }

/**
 * better-sqlite3 is built with synchronous = NORMAL in WAL, and the pragma tells it only after the first statement
 * that reads the schema: so that is read here, and the question asked after it.
 *
 * @throws Error naming the setting that is not as it must be.
 */
export function assertDurable(
  db: Database,
  names = Object.keys(REQUIRED_PRAGMAS) as (keyof typeof REQUIRED_PRAGMAS)[],
): void {
  db.prepare('select count(*) from sqlite_schema').get()
  for (const name of names) {
    const found = db.pragma(name, { simple: true })
    if (found !== REQUIRED_PRAGMAS[name])
      throw new Error(`the database opened with ${name} = ${found} where ${REQUIRED_PRAGMAS[name]} is needed`)
  }
}
