/** `/api/v1/exports`: whole tables, and what has changed in them since an earlier export. */
import { Readable } from 'node:stream'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import type { AccessScope } from '../access/tokens.ts'
import { Refusal } from '../errors.ts'
import { CONTENT_TYPES, rowWriter, SERVED_FORMATS, type ServedFormat } from '../exports/formats.ts'
import { keyColumnsOf, type Pages, type TablePlan } from '../exports/plan_reader.ts'
import type { ServedExports } from '../exports/served.ts'
import type { ExportTable } from '../exports/tables/table.ts'
import { EXPORT_TABLES } from '../exports/tables/tables.ts'
import { streamOfText } from '../http/csv.ts'
import { defineRoute, type Route } from '../http/route.ts'
import { READ_ROUTE } from './route_defaults.ts'

const TABLE_NAMES = EXPORT_TABLES.map(({ name }) => name)

const SqliteQuery = v.object({
  after: v.optional(
    v.pipe(
      v.string(),
      v.description('The cursor of an earlier export: only what has changed since; all rows by default'),
    ),
  ),
})
const ExportQuery = v.object({
  ...SqliteQuery.entries,
  format: v.optional(
    v.pipe(
      v.picklist(SERVED_FORMATS),
      v.description(
        'jsonl: one JSON object a line. csv: the exact values. spreadsheet: CSV in which a text that a spreadsheet would run as a formula gets an apostrophe before it',
      ),
    ),
    'jsonl',
  ),
})
const TablesAnswer = v.object({
  cursor: v.pipe(v.string(), v.description('The cursor of an export that begins now')),
  feed_seq: v.pipe(v.number(), v.description('The newest seq of the feed')),
  tables: v.array(
    v.object({
      name: v.picklist(TABLE_NAMES),
      about: v.string(),
      key: v.pipe(v.array(v.string()), v.description('The columns that identify a row')),
      tracking: v.pipe(
        v.picklist(['appended', 'logged', 'whole']),
        v.description(
          'What an export with a cursor has: new rows; changed and deleted rows; or always all rows',
        ),
      ),
      columns: v.array(
        v.object({ name: v.string(), type: v.picklist(['text', 'integer']), about: v.string() }),
      ),
    }),
  ),
})

const TAG = 'Exports'
const SQLITE_TYPE = 'application/vnd.sqlite3'
const EXPORT_ERRORS = { 400: 'invalid_cursor', 410: 'cursor_expired', 429: 'too_many_questions' } as const
const TABLE_ERRORS = { ...EXPORT_ERRORS, 404: 'unknown_table' } as const

type Deps = { exports: ServedExports; auth: Auth; closing: AbortSignal }

export function exportRoutes({ exports, auth, closing }: Deps): Route[] {
  const common = { ...READ_ROUTE, tag: TAG, access: auth.reader } as const

  const planOf = (name: string, after: string | undefined, scope: AccessScope): Promise<TablePlan> =>
    exports.plan(tableOf(name), exports.begin(after ?? null), scope)

  return [
    defineRoute({
      ...common,
      path: '/api/v1/exports',
      summary: 'Lists the tables that can be exported, with their columns',
      answers: { 200: { description: 'Every table', schema: TablesAnswer } },
      handler: (): v.InferOutput<typeof TablesAnswer> => {
        const { cursor, until } = exports.begin(null)
        return { cursor, feed_seq: until.event, tables: EXPORT_TABLES.map(describedTable) }
      },
    }),
    sqliteRoute({ exports, auth, closing }),
    defineRoute({
      ...common,
      path: '/api/v1/exports/:table',
      summary: 'Exports the rows of a table, all or those that changed since a cursor',
      query: ExportQuery,
      answers: { 200: answer('One row a line. `x-windfall-cursor` has the cursor of the next export') },
      refusals: TABLE_ERRORS,
      around: auth.limited,
      async handler({ event, caller, params, query }) {
        const plan = await planOf(params.table, query.after, caller)
        auth.noteExport(event, params.table, `/api/v1/exports/${params.table}`)
        const columns = plan.table.columns.map(({ name }) => name)
        return streamed(event, plan, query.format, {
          name: params.table,
          columns,
          pages: exports.rowsOf(plan),
        })
      },
    }),
    defineRoute({
      ...common,
      path: '/api/v1/exports/:table/deleted',
      summary: 'Lists the keys of the rows that a copy must delete before it stores the changed rows',
      query: ExportQuery,
      answers: { 200: answer('One key a line; none if `x-windfall-export` is `all`') },
      refusals: TABLE_ERRORS,
      around: auth.limited,
      async handler({ event, caller, params, query }) {
        const plan = await planOf(params.table, query.after, caller)
        const columns = keyColumnsOf(plan.table)
        const name = `${params.table}.deleted`
        return streamed(event, plan, query.format, { name, columns, pages: exports.deletedOf(plan) })
      },
    }),
  ]
}

/** @throws Refusal 404 `unknown_table` */
function tableOf(name: string): ExportTable {
  const table = EXPORT_TABLES.find((one) => one.name === name)
  if (table) return table
  throw new Refusal(404, 'unknown_table', `there is no table ${name.slice(0, 40)}: ${TABLE_NAMES.join(', ')}`)
}

function sqliteRoute({ exports, auth, closing }: Deps): Route {
  return defineRoute({
    ...READ_ROUTE,
    tag: TAG,
    access: auth.reader,
    path: '/api/v1/exports.sqlite',
    summary: 'Exports all tables as one SQLite file, whole or what changed since a cursor',
    query: SqliteQuery,
    answers: { 200: { description: 'The file', content_type: SQLITE_TYPE } },
    refusals: { ...EXPORT_ERRORS, 507: 'no_room' },
    around: auth.limited,
    async handler({ event, caller, query }) {
      auth.noteExport(event, 'exports', '/api/v1/exports.sqlite')
      const headers = { 'content-type': SQLITE_TYPE, 'content-disposition': attachment('windfall.sqlite') }
      if (event.req.method === 'HEAD') return new Response(null, { headers })
      const signal = AbortSignal.any([closing, event.req.signal])
      const file = await exports
        .sqliteFile({ after: query.after ?? null, scope: caller, signal })
        .catch((error: unknown) => {
          throw signal.aborted ? interrupted() : error
        })
      const { size } = await file.stat()
      const body = Readable.toWeb(file.createReadStream()) as ReadableStream<Uint8Array>
      return new Response(body, { headers: { ...headers, 'content-length': String(size) } })
    },
  })
}

const interrupted = (): Refusal =>
  new Refusal(503, 'store_closing', 'the export ended, because the server stopped or the client left')

const answer = (description: string) => ({ description, content_type: 'application/x-ndjson' })

type Table = { name: string; columns: readonly string[]; pages: Pages }

/** Streams rows. The next page is read when the client has received the previous one. */
function streamed(
  event: H3Event,
  plan: TablePlan,
  format: ServedFormat,
  { name, columns, pages }: Table,
): Response {
  const { head, line } = rowWriter(format, columns)
  async function* texts(): AsyncGenerator<string, void> {
    if (head !== '') yield head
    for await (const rows of pages) yield rows.map(line).join('')
  }
  return new Response(event.req.method === 'HEAD' ? null : streamOfText(texts()), {
    headers: {
      'content-type': CONTENT_TYPES[format],
      'content-disposition': attachment(`${name}.${format === 'spreadsheet' ? 'spreadsheet.csv' : format}`),
      'x-windfall-export': plan.mode,
      'x-windfall-cursor': plan.span.cursor,
      'x-windfall-feed-seq': String(plan.span.until.event),
    },
  })
}

const attachment = (name: string): string => `attachment; filename="${name}"`

const describedTable = ({ name, about, key, tracking, columns }: ExportTable) => ({
  name,
  about,
  key: [...key],
  tracking: tracking.kind,
  columns: columns.map((column) => ({ name: column.name, type: column.type, about: column.about })),
})
