/** Changes tables in ways that ALTER TABLE cannot (https://sqlite.org/lang_altertable.html#otheralter). */
import type { Database } from 'better-sqlite3'

/**
 * Replaces `table` by the table that `create` creates as `new_<table>`, and keeps its rows, indexes and triggers.
 * Copies columns of the same name; `values` has SQL for new or changed columns. Call it in a migration: inside a
 * transaction, with foreign keys not enforced.
 */
export function rebuildTable(
  db: Database,
  { table, create, values = {} }: { table: string; create: string; values?: Record<string, string> },
): void {
  const attached = db
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
  for (const { sql } of attached) db.exec(sql)
}

const columnsOf = (db: Database, table: string): string[] =>
  db.prepare<[string], string>('select name from pragma_table_info(?)').pluck().all(table)

/** Keeps the autoincrement sequence, so that numbers of deleted rows are not reused. */
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
