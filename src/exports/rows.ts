/** Reads the rows of exported tables by their keys, in pages. Each page is a short read of its own. */
import type { Store } from '../store/store.ts'
import type { Redaction } from './redaction.ts'
import type { Cell, ExportTable } from './tables/table.ts'

/** The number of base rows that one page reads. */
const PAGE_ROWS = 250

/** Which rows a caller may read: of one organization, and of some apps. Null is all. */
export type ExportScope = Readonly<{ organization_id: string | null; apps: readonly string[] | null }>

type PageKey = readonly Cell[]

/**
 * A range of rows. `after` and `until` are values of the page expressions, exclusive and inclusive. `prefix`: only rows
 * whose key columns have these values.
 */
type Range = Readonly<{
  after: PageKey | null
  until: PageKey | null
  prefix: Readonly<{ columns: readonly string[]; values: PageKey }> | null
}>

export const ALL_ROWS: Range = { after: null, until: null, prefix: null }

export type RowReader = ReturnType<typeof openRowReader>

export function openRowReader(store: Pick<Store, 'prepare'>, redaction: Redaction) {
  const statements = new Map<string, ReturnType<typeof prepareRaw>>()

  const prepareRaw = (sql: string) => store.prepare<Cell[], Cell[]>(sql).raw()

  function allOf(sql: string, parameters: readonly Cell[]): Cell[][] {
    const statement = statements.get(sql) ?? prepareRaw(sql)
    statements.set(sql, statement)
    return statement.all(...parameters)
  }

  /**
   * The next page of a range within a scope. `next` is the end of the page, from which the next one continues; null
   * after the last page. A page may be empty before the last one, because it also passes rows outside of the scope.
   */
  function pageOf(
    table: ExportTable,
    scope: ExportScope,
    range: Range,
  ): { rows: Cell[][]; next: PageKey | null } {
    const conditions = conditionsOf(table, range)
    const page = table.page.join(', ')
    const base = `from ${table.from} where ${conditions.sql}`
    const [next = null] = allOf(
      `select ${page} ${base} order by ${page} limit 1 offset ${PAGE_ROWS - 1}`,
      conditions.values,
    )
    const until = next === null ? conditions : conditionsOf(table, { ...range, until: next })
    const within = scopeOf(table, scope)
    const rows = allOf(
      `select ${columnsOf(table)} from ${table.from} where ${until.sql}${within.sql} order by ${page}`,
      [...until.values, ...within.values],
    )
    return { rows: redacted(redaction, table, rows), next }
  }

  /** The rows with the key `values` of `columns`, which identify at most one row. */
  function rowOf(table: ExportTable, scope: ExportScope, columns: readonly string[], values: PageKey) {
    const conditions = conditionsOf(table, { ...ALL_ROWS, prefix: { columns, values } })
    const within = scopeOf(table, scope)
    const sql = `select ${columnsOf(table)} from ${table.from} where ${conditions.sql}${within.sql}`
    return redacted(redaction, table, allOf(sql, [...conditions.values, ...within.values]))
  }

  return { pageOf, rowOf }
}

/** Applies the redactions of the columns, which read the stored values of the row. */
function redacted(redaction: Redaction, table: ExportTable, rows: Cell[][]): Cell[][] {
  const redactions = table.columns.flatMap(({ redacted }, index) =>
    redacted ? [{ index, by: redaction.functions[redacted.by], from: indexesOf(table, redacted.given) }] : [],
  )
  if (redactions.length === 0) return rows
  redaction.refresh()
  return rows.map((row) => {
    const result = [...row]
    for (const { index, by, from } of redactions) result[index] = by(...from.map((one) => row[one]))
    return result
  })
}

const columnsOf = ({ columns }: ExportTable): string => columns.map(({ sql }) => sql).join(', ')

const indexesOf = ({ columns }: ExportTable, expressions: readonly string[]): number[] =>
  expressions.map((given) => columns.findIndex(({ sql }) => sql === given))

function conditionsOf(table: ExportTable, { after, until, prefix }: Range): { sql: string; values: Cell[] } {
  const page = `(${table.page.join(', ')})`
  const marks = `(${table.page.map(() => '?').join(', ')})`
  const parts = [
    ...(table.where === null ? [] : [table.where]),
    ...(prefix?.columns.map((name) => `${sqlOf(table, name)} = ?`) ?? []),
    ...(after === null ? [] : [`${page} > ${marks}`]),
    ...(until === null ? [] : [`${page} <= ${marks}`]),
  ]
  const values = [...(prefix?.values ?? []), ...(after ?? []), ...(until ?? [])]
  return { sql: parts.length === 0 ? 'true' : parts.join(' and '), values }
}

const sqlOf = ({ columns }: ExportTable, name: string): string =>
  columns.find((column) => column.name === name)?.sql ?? name

function scopeOf(
  { app, organization }: ExportTable,
  { organization_id, apps }: ExportScope,
): { sql: string; values: Cell[] } {
  const parts: { sql: string; values: Cell[] }[] = []
  if (organization_id !== null && organization !== null)
    parts.push({ sql: `${organization} = ?`, values: [organization_id] })
  else if (organization_id !== null && app !== null)
    parts.push({
      sql: `${app} in (select id from apps where organization_id = ?)`,
      values: [organization_id],
    })
  if (apps !== null && app !== null)
    parts.push({ sql: `${app} in (select value from json_each(?))`, values: [JSON.stringify(apps)] })
  return {
    sql: parts.map(({ sql }) => ` and ${sql}`).join(''),
    values: parts.flatMap(({ values }) => values),
  }
}
