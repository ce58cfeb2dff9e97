/** Databases as SQL text: the schema and every row. Later releases test their upgrade with the text of a release. */
import Database from 'better-sqlite3'

/** SQLite's table of the last number of each AUTOINCREMENT table. */
const SEQUENCES = 'sqlite_sequence'
const ROWS = '\n-- The rows of a database of this version.\n'

/** The tables that a schema marks as `kept`, in order. */
export const keptTables = (schema: string): string[] =>
  [...schema.matchAll(/^create table (\w+) \( -- kept$/gm)].map(([, table = '']) => table)

const columnsOf = (db: Database.Database, table: string): string[] =>
  db.prepare<[string], string>('select name from pragma_table_xinfo(?) where hidden = 0').pluck().all(table)

/** The rows of `table` as sorted texts of SQL values, with all columns or only those in `columns`. */
export function rowsIn(db: Database.Database, table: string, columns = columnsOf(db, table)): string[] {
  const values = columns.map((name) => `quote("${name}")`).join(` || ', ' || `)
  return db.prepare<[], string>(`select ${values} from "${table}" order by 1`).pluck().all()
}

/** The columns of `table` that both databases have. */
export function commonColumns(one: Database.Database, other: Database.Database, table: string): string[] {
  const there = new Set(columnsOf(other, table))
  return columnsOf(one, table).filter((name) => there.has(name))
}

/** Returns `schema`, which is the schema of `db`, and the rows of `db` as SQL text. */
export function dump(db: Database.Database, schema: string): string {
  const tables = [...schema.matchAll(/^create table (\w+)/gm)].map(([, table = '']) => table)
  const filled = [...tables, SEQUENCES].flatMap((table) => {
    const rows = rowsIn(db, table)
    if (rows.length === 0) return []
    const columns = columnsOf(db, table).map((name) => `"${name}"`)
    // The inserts above have created sequences, which are replaced here.
    const first = table === SEQUENCES ? `delete from ${table};\n` : ''
    return [`${first}insert into ${table} (${columns.join(', ')}) values\n(${rows.join('),\n(')});\n`]
  })
  return `${schema}${ROWS}${filled.join('')}`
}

/** Returns the schema at the start of a dump. */
export const schemaOf = (text: string): string => text.slice(0, text.indexOf(ROWS))

/** Creates the database of a dump at `file`. Triggers are created last, so that none changes the inserted rows. */
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
