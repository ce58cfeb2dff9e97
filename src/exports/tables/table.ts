/** The description of an exported table: its columns, its key, where its rows are, and how its changes are found. */

/** A value of an exported row. Flags are 0 or 1. */
export type Cell = string | number | null

/**
 * A column: its name, what SQLite stores, the SQL expression of its value, and what it means. With `redacted`, the value
 * is the result of that function (redaction.ts) on `given`, which are expressions of this column and of others.
 */
export type Column = Readonly<{
  name: string
  type: 'text' | 'integer'
  sql: string
  about: string
  redacted?: Readonly<{ by: RedactionName; given: readonly string[] }>
}>

/** The functions that remove erased users. In `windfall sql` they have the name of the redaction with this prefix. */
export type RedactionName = 'account_token' | 'event_cause' | 'event_data'
export const FUNCTION_PREFIX = 'export_'

/**
 * How changes since a cursor are found.
 * - `whole`: not at all. Each export has the whole table, which is small or is recomputed as a whole.
 * - `logged`: in the change log, under the table `source`. `key` are the columns that a logged key names.
 * - `appended`: rows are only added, in the order of the number `by`. With `source`, the change log names the rows that
 *   were changed nevertheless.
 */
type Tracking =
  | Readonly<{ kind: 'whole' }>
  | Readonly<{ kind: 'logged'; source: string; key: readonly string[] }>
  | Readonly<{ kind: 'appended'; by: AppendedBy; source: string | null }>

/** The numbers that only grow: `event` is the seq of the feed, `payload` the number of a stored payload. */
type AppendedBy = 'event' | 'payload'

/**
 * An exported table, which is a view of the same name in `windfall sql`. `from` and `where` are SQL; they name base
 * tables with `main.`, because the views have the names of some of them. `columns` use the aliases of `from`. `key` are
 * the columns that identify a row. `page` are the expressions by which the rows are read in order, of which an index of
 * the base has a prefix. `app` and `organization` are the expressions of the owner of a row; null if it has none.
 */
export type ExportTable = Readonly<{
  name: string
  about: string
  from: string
  where: string | null
  columns: readonly Column[]
  key: readonly string[]
  page: readonly string[]
  app: string | null
  organization: string | null
  tracking: Tracking
}>

export const text = (name: string, sql: string, about: string): Column => ({ name, type: 'text', sql, about })
export const integer = (name: string, sql: string, about: string): Column => ({
  name,
  type: 'integer',
  sql,
  about,
})

/** Columns with the names that they have in the table of an alias. */
export const columnsOf = (alias: string) => ({
  text: (name: string, about: string): Column => text(name, `${alias}.${name}`, about),
  integer: (name: string, about: string): Column => integer(name, `${alias}.${name}`, about),
})

/** The query of a table, as the body of a view. */
export function viewSql({ columns, from, where }: ExportTable): string {
  const selected = columns.map(({ name, sql, redacted }) =>
    redacted
      ? `${FUNCTION_PREFIX}${redacted.by}(${redacted.given.join(', ')}) as ${name}`
      : `${sql} as ${name}`,
  )
  return `select ${selected.join(', ')} from ${from}${where === null ? '' : ` where ${where}`}`
}
