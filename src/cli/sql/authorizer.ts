/** Decides what a statement of `windfall sql` may do: read the views, call functions, and nothing else. */
import sqlite, { type DatabaseSync } from 'node:sqlite'
import { FUNCTION_PREFIX } from '../../exports/tables/table.ts'
import type { Views } from './views.ts'

/** Table-valued functions that read only their arguments. */
const TABLE_FUNCTIONS = ['json_each', 'json_tree']
const REFUSED_FUNCTIONS = ['load_extension', 'fts3_tokenizer']

/** What SQLite reports of a read: the table, the column, the database, and the view or expression that it is in. */
type Read = { table: string; column: string; database: string | null; within: string | null }

/**
 * Permits `db` to prepare the statement `sql` only if it reads the views alone (sqlite.org/c3ref/set_authorizer.html).
 * A refused statement fails with "not authorized" or "access to … is prohibited".
 */
export function authorize(db: DatabaseSync, sql: string, views: Views): void {
  const hidden = hiddenNames(db, views)
  const text = sql.toLowerCase()

  function mayRead({ table, column, database, within }: Read): boolean {
    if (views.isPrivate(within) || views.isPrivate(table)) return true
    if (column === '') return mayCount(table.toLowerCase())
    if (database === 'temp') return views.isPublic(table)
    return TABLE_FUNCTIONS.includes(table)
  }

  /**
   * Whether rows may be read without a column, as by `count(*)`. SQLite reports such a read of a view with the name of
   * the base table, and not that it is in a view. So a hidden table is refused if the statement can have named it.
   */
  function mayCount(table: string): boolean {
    if (views.isPublic(table)) return !/\bmain\b/.test(text)
    return !hidden.has(table) || !text.includes(table)
  }

  function isPermitted(action: number, read: Read): boolean {
    if (action === sqlite.constants.SQLITE_SELECT || action === sqlite.constants.SQLITE_RECURSIVE) return true
    if (action === sqlite.constants.SQLITE_READ) return mayRead(read)
    if (action !== sqlite.constants.SQLITE_FUNCTION) return false
    const name = read.column.toLowerCase()
    if (name.startsWith(FUNCTION_PREFIX)) return views.isPrivate(read.within)
    return !REFUSED_FUNCTIONS.includes(name)
  }

  db.setAuthorizer((action, first, second, database, within) => {
    const read = { table: first ?? '', column: second ?? '', database, within }
    return isPermitted(action, read) ? sqlite.constants.SQLITE_OK : sqlite.constants.SQLITE_DENY
  })
}

/** The names, in lower case, of everything that can be read from and is not a view: tables and modules. */
function hiddenNames(db: DatabaseSync, views: Views): Set<string> {
  const rows = db
    .prepare(`
      select name from main.sqlite_schema union select name from pragma_module_list
      union values ('sqlite_schema'), ('sqlite_master'), ('sqlite_temp_schema'), ('sqlite_temp_master')`)
    .all()
  const names = rows.map(({ name }) => String(name).toLowerCase())
  return new Set(names.filter((name) => !views.isPublic(name) && !TABLE_FUNCTIONS.includes(name)))
}
