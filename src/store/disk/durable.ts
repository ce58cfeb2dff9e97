/** Verifies the durability settings of each connection that writes. Every 2xx response depends on these settings. */
import type { Database } from 'better-sqlite3'

const REQUIRED_PRAGMAS = { journal_mode: 'wal', synchronous: 2, foreign_keys: 1 }

/**
 * Checks the pragmas of a connection. It reads the schema first, because better-sqlite3 is built with synchronous =
 * NORMAL in WAL mode, and the pragma reports that value only after a statement has read the schema.
 *
 * @throws Error that names a wrong setting.
 */
export function assertDurable(
  db: Database,
  names = Object.keys(REQUIRED_PRAGMAS) as (keyof typeof REQUIRED_PRAGMAS)[],
): void {
  db.prepare('select count(*) from sqlite_schema').get()
  for (const name of names) {
    const found = db.pragma(name, { simple: true })
    if (found !== REQUIRED_PRAGMAS[name])
      throw new Error(`the database opened with ${name} = ${found}; it must be ${REQUIRED_PRAGMAS[name]}`)
  }
}
