/**
 * The views of `windfall sql`: one for each exported table, with the same name and columns. Each is defined on a private
 * view with an unguessable name, from within which alone base tables may be read: SQLite reports a read with the name of
 * the view that it happens in, and a statement can give any name that it knows to a common table expression.
 */
import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { openRedaction } from '../../exports/redaction.ts'
import { FUNCTION_PREFIX, viewSql } from '../../exports/tables/table.ts'
import { EXPORT_TABLES } from '../../exports/tables/tables.ts'

export type Views = Readonly<{
  isPublic: (name: string) => boolean
  isPrivate: (name: string | null) => boolean
}>

/** Creates the views on `db`, a read-only connection. `lookups` is a second one, which the functions of the views read. */
export function createViews(db: DatabaseSync, lookups: DatabaseSync): Views {
  const prefix = `view_${randomBytes(16).toString('hex')}_`
  createFunctions(db, lookups)
  for (const table of EXPORT_TABLES) {
    db.exec(`create temp view ${prefix}${table.name} as ${viewSql(table)}`)
    db.exec(`create temp view ${table.name} as select * from ${prefix}${table.name}`)
  }
  const names = new Set(EXPORT_TABLES.map(({ name }) => name))
  return { isPublic: (name) => names.has(name), isPrivate: (name) => name?.startsWith(prefix) ?? false }
}

type RedactionStore = Parameters<typeof openRedaction>[0]

/** Functions that remove erased users from values, for the columns that need them. */
function createFunctions(db: DatabaseSync, lookups: DatabaseSync): void {
  // Both connections are of one library: two libraries in one process would release each other's locks on the file.
  const prepare = (sql: string) => {
    const statement = lookups.prepare(sql)
    return { get: statement.get.bind(statement), all: statement.all.bind(statement) }
  }
  const store = { prepare, cached: (_: unknown, load: unknown) => load } as unknown as RedactionStore
  const redaction = openRedaction(store)
  redaction.refresh()
  for (const [name, redact] of Object.entries(redaction.functions))
    db.function(`${FUNCTION_PREFIX}${name}`, { varargs: true }, redact)
}
