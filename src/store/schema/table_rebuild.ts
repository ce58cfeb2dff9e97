/** Changes tables in ways that ALTER TABLE cannot (https://sqlite.org/lang_altertable.html#otheralter). */
import type { Database } from 'better-sqlite3'

/**
 * Replaces `table`. `create` is the SQL that creates the replacement as `new_<table>`. The rows, indexes and triggers
 * are preserved. Columns of the same name are copied; `values` maps new or changed columns to SQL expressions. Call it
 * in a migration: inside a transaction, with foreign keys not enforced.
 */
export function rebuildTable(
  db: Database,
  { table, create, values = {} }: { table: string; create: string; values?: Record<string, string> },
): void {
  const indexesAndTriggers = db
    .prepare<[string], { sql: string }>(
      "select sql from sqlite_schema where tbl_name = ? and type in ('index', 'trigger') and sql is not null",
    )
    .all(table)
  db.exec(create)
  const old = new Set(columnsOf(db, table))
  const copied = columnsOf(db, `new_${table}`).filter((name) => old.has(name) || Object.hasOwn(values, name))
  const sources = copied.map((name) => values[name] ?? `"${name}"`)
  db.exec(`insert into "new_${table}" (${copied.map((name) => `"${name}"`).join(', ')})
    select ${sources.join(', ')} from "${table}"`)
  keepSequence(db, table)
  db.exec(`drop table "${table}"`)
  db.exec(`alter table "new_${table}" rename to "${table}"`)
  for (const { sql } of indexesAndTriggers) db.exec(sql)
}

const columnsOf = (db: Database, table: string): string[] =>
  db.prepare<[string], string>('select name from pragma_table_info(?)').pluck().all(table)

/** Copies the autoincrement sequence to the new table, so that numbers of deleted rows are not reused. */
function keepSequence(db: Database, table: string): void {
  if (db.prepare("select 1 from sqlite_schema where name = 'sqlite_sequence'").get() === undefined) return
  const seq = db
    .prepare<[string], number>('select seq from sqlite_sequence where name = ?')
    .pluck()
    .get(table)
  if (seq === undefined) return
  db.prepare('delete from sqlite_sequence where name = ?').run(`new_${table}`)
  db.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(`new_${table}`, seq)
}
