/** The `.csv` form of a list: all its pages, with the filters, the access and the columns of its JSON form. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { type CsvValue, csvHeader, csvRow } from '../http/csv.ts'
import { parseQuery } from '../http/parse.ts'
import type { Route } from '../http/route.ts'
import { yieldToEventLoop } from '../turns.ts'
import { csvResponse } from './route_defaults.ts'

type Entries = Readonly<Record<string, v.GenericSchema>>
type Row = Readonly<Record<string, unknown>>
/** The number of items that are read in one turn of the event loop; each list permits it. */
const PAGE_SIZE = 100

type Page = Readonly<{ rows: readonly Row[]; next: unknown }>
/** How the JSON form is read: its handler, where its items are, and the parameter that names a page. */
type Source = Readonly<{ route: Route; path: readonly string[]; entries: Entries }>

/** The `.csv` routes of the routes that declare a `list`. */
export const listCsvRoutes = (routes: readonly Route[], auth: Auth): Route[] =>
  routes.flatMap((route) => (route.list === undefined ? [] : [csvRoute(route, route.list.split('.'), auth)]))

function csvRoute(route: Route, path: readonly string[], auth: Auth): Route {
  const { webhooks: _, list: __, query, ...described } = route
  const table = route.path.replace('/api/v1/', '')
  const name = table.replaceAll(/:\w+\//g, '').replaceAll('/', '-')
  const source = { route, path, entries: query === undefined ? {} : entriesOf(query) }
  const { limit: ___, ...filters } = source.entries
  const columns = columnsOf(route.answers[200]?.schema, path)
  return {
    ...described,
    path: `${route.path}.csv`,
    summary: `${route.summary}, as CSV`,
    ...(query && { query: v.object(filters) }),
    answers: {
      ...route.answers,
      200: {
        description: 'One line for each item, of this page and all following ones',
        content_type: 'text/csv',
      },
    },
    async handler(event) {
      const given = new URLSearchParams(event.url.searchParams)
      const first = await readPage(event, source)
      parseQuery(v.object(filters), given, true)
      auth.noteExport(event, table)
      return csvResponse(event, name, linesOf(event, source, first, columns))
    },
  }
}

/** Reads a page with the JSON form, which checks the access and the filters of each page. */
async function readPage(event: H3Event, { route, path, entries }: Source): Promise<Page> {
  if ('limit' in entries) event.url.searchParams.set('limit', String(PAGE_SIZE))
  const answer = (await route.handler(event)) as Row
  return { rows: rowsIn(answer, path), next: answer.next ?? null }
}

async function* linesOf(
  event: H3Event,
  source: Source,
  first: Page,
  columns: readonly string[],
): AsyncGenerator<string, void> {
  const { searchParams } = event.url
  const parameter = searchParams.has('after') ? 'after' : 'cursor' in source.entries ? 'cursor' : 'before'
  yield csvHeader(columns)
  for (let page = first; ; page = await readPage(event, source)) {
    if (page.rows.length > 0) yield page.rows.map((row) => csvRow(columns, cellsOf(row))).join('')
    if (page.next === null || String(page.next) === searchParams.get(parameter)) return
    searchParams.set(parameter, String(page.next))
    await yieldToEventLoop()
  }
}

/** The items at a path such as `apps`, or `organizations.states`: then with the plain fields of their parent. */
function rowsIn(answer: Row, [field = '', inner]: readonly string[]): readonly Row[] {
  const found = [answer[field] ?? []].flat() as unknown as readonly Row[]
  if (inner === undefined) return found
  return found.flatMap((parent) =>
    (parent[inner] as readonly Row[]).map((row): Row => ({ ...parent, ...row })),
  )
}

/** Nested values are JSON. */
const cellsOf = (row: Row): Readonly<Record<string, CsvValue>> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as CsvValue),
    ]),
  )

/** The columns of the items at a path in the schema of an answer. */
function columnsOf(schema: v.GenericSchema | undefined, [field = '', inner]: readonly string[]): string[] {
  const found = entriesOf(entriesOf(schema)[field])
  if (inner === undefined) return Object.keys(found)
  const plain = Object.keys(found).filter((name) => !isNested(found[name]))
  return [...plain, ...Object.keys(entriesOf(found[inner]))]
}

/** The entries of an object, of the items of an array, or of what is nullable. */
function entriesOf(schema: v.GenericSchema | undefined): Entries {
  if (schema === undefined) return {}
  const { entries, item, wrapped } = schema as {
    entries?: Entries
    item?: v.GenericSchema
    wrapped?: v.GenericSchema
  }
  return entries ?? entriesOf(item ?? wrapped)
}

const isNested = (schema: v.GenericSchema | undefined): boolean =>
  schema?.type === 'array' || Object.keys(entriesOf(schema)).length > 0
