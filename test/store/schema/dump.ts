/** A database as the text of SQL: the schema as it is written, and every row. What a release leaves for later ones to upgrade. */
import Database from 'better-sqlite3'

/** Where SQLite keeps the numbers that are never used again. */
const SEQUENCES = 'sqlite_sequence'
const ROWS = '\n-- The rows of a database of this version.\n'

/** The tables that a schema marks as `kept`, in its order. */
export const keptTables = (schema: string): string[] =>
  [...schema.matchAll(/^create table (\w+) \( -- kept$/gm)].map(([, table = '']) => table)

const columnsOf = (db: Database.Database, table: string): string[] =>
  db.prepare<[string], string>('select name from pragma_table_xinfo(?) where hidden = 0').pluck().all(table)

/** The rows of `table` as texts of SQL values, in an order of their own; of `columns` alone where they are named. */
export function rowsIn(db: Database.Database, table: string, columns = columnsOf(db, table)): string[] {
  const values = columns.map((name) => `quote("${name}")`).join(` || ', ' || `)
  return db.prepare<[], string>(`select ${values} from "${table}" order by 1`).pluck().all()
}

/** The columns of `table` that two databases have. */
export function commonColumns(one: Database.Database, other: Database.Database, table: string): string[] {
  const there = new Set(columnsOf(other, table))
  return columnsOf(one, table).filter((name) => there.has(name))
}

/** `schema`, which `db` has, and what is in `db`. */
export function dump(db: Database.Database, schema: string): string {
  const tables = [...schema.matchAll(/^create table (\w+)/gm)].map(([, table = '']) => table)
  const filled = [...tables, SEQUENCES].flatMap((table) => {
    const rows = rowsIn(db, table)
    if (rows.length === 0) return []
    const columns = columnsOf(db, table).map((name) => `"${name}"`)
    // Inserting the rows above has given each table a sequence of its own.
    const first = table === SEQUENCES ? `delete from ${table};\n` : ''
    return [`${first}insert into ${table} (${columns.join(', ')}) values\n(${rows.join('),\n(')});\n`]
  })
  return `${schema}${ROWS}${filled.join('')}`
}

/** The schema that a dump begins with. */
export const schemaOf = (text: string): string => text.slice(0, text.indexOf(ROWS))

/** Makes the database of a dump at `file`. Triggers are made last: the rows are as they were, and none is to act on them. */
export function restore(text: string, file: string): void {
  const schema = schemaOf(text)
  const db = new Database(file)
  db.pragma('foreign_keys = off')
  db.exec(schema)
  const triggers = db
    .prepare<[], { name: string; sql: string }>("select name, sql from sqlite_schema where type = 'trigger'")
    .all()
  for (const { name } of triggers) db.exec(`drop trigger "${name}"`)
  db.transaction(() => db.exec(text.slice(schema.length)))()
  for (const { sql } of triggers) db.exec(sql)
  db.close()
}
