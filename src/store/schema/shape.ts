/**
 * Reads the structure of a database: tables, columns, indexes, foreign keys, checks and triggers. Comments, white space
 * and the order of columns do not change the structure; a CHECK does.
 */
import type { Database } from 'better-sqlite3'
import { clausesOf, insideParentheses, itemsOf, tokensOf } from './sql_tokens.ts'

/** Maps the name of each object (`column users.locale`) to its description (`text notnull=0 …`). */
type Shape = ReadonlyMap<string, string>

type ShapeEntry = readonly [name: string, description: string]
type SchemaRow = { type: string; name: string; tbl_name: string; sql: string | null }
type ColumnRow = {
  table_name: string
  name: string
  type: string
  notnull: number
  dflt_value: string | null
  pk: number
  hidden: number
}
type IndexRow = {
  table_name: string
  name: string
  is_unique: number
  origin: string
  partial: number
  columns: string
  has_expression: number
}
type ReferenceRow = {
  table_name: string
  id: number
  target: string
  pairs: string
  on_update: string
  on_delete: string
}

/** SQL that excludes SQLite's internal tables and those of Litestream. */
export const IS_APP_TABLE = String.raw`name not like 'sqlite\_%' escape '\' and name not like '\_litestream\_%' escape '\'`
const TABLES = `(select name as table_name from pragma_table_list where schema = 'main' and ${IS_APP_TABLE})`

/** Reads the structure of the main database of `db`. */
export function shapeOf(db: Database): Shape {
  const rows = db
    .prepare<[], SchemaRow>(`select type, name, tbl_name, sql from main.sqlite_schema where ${IS_APP_TABLE}`)
    .all()
  const tokensByObject = new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, tokensOf(sql ?? '')]))
  return new Map([
    ...tablesOf(db),
    ...columnsOf(db, tokensByObject),
    ...indexesOf(db, tokensByObject),
    ...referencesOf(db),
    ...rows.filter(({ type }) => type === 'table').flatMap(({ name }) => checksOf(name, tokensByObject)),
    ...rows
      .filter(({ type }) => type === 'trigger' || type === 'view')
      .map(
        ({ type, name }): ShapeEntry => [
          `${type} ${name}`,
          (tokensByObject.get(`${type} ${name}`) ?? []).join(' '),
        ],
      ),
  ])
}

/** Lists as text what is missing, unexpected or different in `found`; empty if the two shapes are equal. */
export function differencesBetween(found: Shape, expected: Shape): string[] {
  const names = [...new Set([...expected.keys(), ...found.keys()])]
  return names.flatMap((name) => {
    if (!found.has(name)) return [`${name} is missing`]
    if (!expected.has(name)) return [`${name} is unexpected`]
    return found.get(name) === expected.get(name) ? [] : [`${name} differs`]
  })
}

function tablesOf(db: Database): ShapeEntry[] {
  return db
    .prepare<[], { name: string; type: string; wr: number; strict: number }>(
      `select name, type, wr, strict from pragma_table_list where schema = 'main' and ${IS_APP_TABLE}`,
    )
    .all()
    .map(({ name, type, wr, strict }) => [`table ${name}`, `${type} without_rowid=${wr} strict=${strict}`])
}

function columnsOf(db: Database, tokensByObject: ReadonlyMap<string, string[]>): ShapeEntry[] {
  return db
    .prepare<[], ColumnRow>(`
      select table_name, x.name, x.type, x."notnull", x.dflt_value, x.pk, x.hidden
      from ${TABLES} join pragma_table_xinfo(table_name) x`)
    .all()
    .map(({ table_name, name, type, notnull, dflt_value, pk, hidden }) => {
      const reported = `${type.toLowerCase()} notnull=${notnull} default=${tokensOf(dflt_value ?? '').join(' ')}`
      const unreported = unreportedPropertiesOf(
        definitionOf(name, tokensByObject.get(`table ${table_name}`) ?? []),
      )
      return [`column ${table_name}.${name}`, `${reported} pk=${pk} hidden=${hidden} ${unreported}`]
    })
}

const definitionOf = (column: string, table: readonly string[]): string[] =>
  itemsOf(insideParentheses(table)).find(([first]) => first === column.toLowerCase()) ?? []

/** The properties of a column that no pragma reports: collation, generated expression and autoincrement. */
function unreportedPropertiesOf(definition: readonly string[]): string {
  const collation = definition.indexOf('collate')
  return [
    ...(collation < 0 ? [] : [`collate ${definition[collation + 1]}`]),
    ...clausesOf(definition, 'as'),
    ...(definition.includes('autoincrement') ? ['autoincrement'] : []),
  ].join(' ')
}

function indexesOf(db: Database, tokensByObject: ReadonlyMap<string, string[]>): ShapeEntry[] {
  return db
    .prepare<[], IndexRow>(`
      select table_name, i.name, i."unique" as is_unique, i.origin, i.partial,
        (select group_concat(ifnull(k.name, '(…)') || ' ' || k.coll || ' ' || k."desc", ', ' order by k.seqno)
          from pragma_index_xinfo(i.name) k where k.key = 1) as columns,
        exists (select 1 from pragma_index_xinfo(i.name) k where k.key = 1 and k.cid = -2) as has_expression
      from ${TABLES} join pragma_index_list(table_name) i`)
    .all()
    .map(({ table_name, name, is_unique, origin, partial, columns, has_expression }) => {
      // SQLite names the index of a constraint by its position in the SQL text.
      if (origin !== 'c') return [`constraint ${origin} of ${table_name} (${columns})`, '']
      const tokens = tokensByObject.get(`index ${name}`) ?? []
      const text = partial || has_expression ? tokens.slice(tokens.indexOf('(')).join(' ') : ''
      return [`index ${name}`, `on ${table_name} (${columns}) unique=${is_unique} ${text}`]
    })
}

function referencesOf(db: Database): ShapeEntry[] {
  return db
    .prepare<[], ReferenceRow>(`
      select table_name, f.id, f."table" as target, f.on_update, f.on_delete,
        group_concat(f."from" || ' → ' || ifnull(f."to", ''), ', ' order by f.seq) as pairs
      from ${TABLES} join pragma_foreign_key_list(table_name) f group by table_name, f.id`)
    .all()
    .map(({ table_name, target, pairs, on_update, on_delete }) => [
      `reference ${table_name} to ${target} (${pairs})`,
      `${on_update} ${on_delete}`,
    ])
}

const checksOf = (table: string, tokensByObject: ReadonlyMap<string, string[]>): ShapeEntry[] =>
  clausesOf(tokensByObject.get(`table ${table}`) ?? [], 'check').map((check) => [`${check} of ${table}`, ''])
