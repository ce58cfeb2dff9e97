/** Defines lists: a route that answers JSON, in pages, and a route that streams the rows of all pages as CSV. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { type CsvRow, csvHeader, csvRow, csvSlices } from '../http/csv.ts'
import type { QuerySchema } from '../http/parse.ts'
import { defineRoute, type NO_QUERY, type Request, type Route, type RouteDefinition } from '../http/route.ts'
import type { Lag } from '../metrics/series/snapshot_reads.ts'
import { yieldToEventLoop } from '../turns.ts'
import { csvResponse, MAX_WAIT_MS, waitPreferenceOf } from './route_defaults.ts'

/** The `limit` of the pages that a CSV file is read in. */
const CSV_PAGE_SIZE = 100
const API = '/api/v1/'

/** Fields of some lists. `next`: the position of the next page; null on the last. `behind`: the lag of the figures. */
type ListFields = { next?: string | number | null; behind?: Lag | null }

/** The rows of an answer, and the names of the fields that are columns. */
type Table<Answer> = { columns: readonly string[]; rowsOf: (answer: Answer) => readonly object[] }

type ListRequest<Path extends string, Caller, Query extends QuerySchema> = Request<
  Path,
  Caller,
  undefined,
  Query,
  undefined
>

/**
 * The definition of a list. `answer` describes a page. `read` reads one, and waits up to `wait_ms` for due figures; null
 * is its default. A list with pages has the parameter `limit`, and its `next` is the value of `before` or `cursor`, or
 * of `after` if the query has it. `table` is the content of the CSV file; by default, the elements of the first array in
 * the answer. `versionOf` returns a text that must be the same for all pages of a CSV file.
 */
type ListDefinition<Path extends string, Caller, Query extends QuerySchema, Answer extends object> = Omit<
  RouteDefinition<Path, Caller, undefined, Query, undefined>,
  'method' | 'params' | 'body' | 'read_body' | 'answers' | 'handler'
> & {
  answer: { description: string; schema: v.GenericSchema }
  read: (request: ListRequest<Path, Caller, Query>, wait_ms: number | null) => Answer | Promise<Answer>
  table?: Table<Answer>
  versionOf?: (request: ListRequest<Path, Caller, Query>) => string
}

/** Creates the two routes of a list: `path`, and `path` with `.csv`, which has the same parameters except `limit`. */
export function defineList<
  const Path extends string,
  Caller,
  Answer extends object,
  Query extends QuerySchema = typeof NO_QUERY,
>(auth: Auth, definition: ListDefinition<Path, Caller, Query, Answer>): Route[] {
  const { answer, read, table = tableOf(answer.schema), versionOf, ...json } = definition
  const { webhooks: _, around: __, refusals = {}, ...csv } = json
  const { limit, ...filters } = csv.query?.entries ?? {}
  const name = csv.path.slice(API.length).replace(/:(\w+)/g, '{$1}')
  const isLimited = csv.access.security.includes('read_token')
  const { readPage, slicesFrom } = openPages({ ...definition, table })

  return [
    defineRoute({
      ...json,
      method: 'GET',
      answers: { 200: answer },
      handler: (request) => read(request, waitPreferenceOf(request.event)),
    }),
    defineRoute({
      ...csv,
      method: 'GET',
      path: `${csv.path}.csv`,
      summary: `Exports all rows of \`${API}${name}\` as CSV`,
      ...(csv.query && { query: v.object(filters) }),
      answers: { 200: { description: `Columns: ${table.columns.join(', ')}`, content_type: 'text/csv' } },
      refusals: isLimited ? { ...refusals, 429: 'too_many_questions' } : refusals,
      ...(isLimited && { around: auth.limited }),
      async handler(parsed) {
        const query = limit === undefined ? parsed.query : { ...parsed.query, limit: CSV_PAGE_SIZE }
        const request = { ...parsed, query } as ListRequest<Path, Caller, Query>
        // The first page is read before the response begins, so that its refusals are those of the JSON.
        const first = await readPage(request, waitPreferenceOf(request.event) ?? MAX_WAIT_MS)
        auth.noteExport(request.event, name)
        const file = name.replace(/\/\{\w+\}/g, '').replaceAll('/', '-')
        return csvResponse(request.event, file, slicesFrom(request, first), first.behind)
      },
    }),
  ]
}

type Pages<Path extends string, Caller, Query extends QuerySchema, Answer extends object> = Required<
  Pick<ListDefinition<Path, Caller, Query, Answer>, 'path' | 'access' | 'read' | 'table'>
> &
  Pick<ListDefinition<Path, Caller, Query, Answer>, 'versionOf'>

/** Opens reading the pages of a list. */
function openPages<Path extends string, Caller, Query extends QuerySchema, Answer extends object>({
  path,
  access,
  read,
  table: { columns, rowsOf },
  versionOf = () => '',
}: Pages<Path, Caller, Query, Answer>) {
  type ThisRequest = ListRequest<Path, Caller, Query>

  async function readPage(request: ThisRequest, wait_ms: number | null) {
    const answer = await read(request, wait_ms)
    const { next = null, behind = null }: ListFields = answer
    return { rows: rowsOf(answer), next, behind, version: versionOf(request) }
  }

  /**
   * The CSV of `first` and all following pages. Access is checked again for each page.
   *
   * @throws Error if the version changes between two pages: the file ends early instead of mixing both. Refusal as
   * `access`.
   */
  async function* slicesFrom(request: ThisRequest, first: Awaited<ReturnType<typeof readPage>>) {
    yield* csvSlices(csvHeader(columns), linesOf(first.rows))
    for (let { next } = first; next !== null; ) {
      await yieldToEventLoop()
      const caller = access.admit(request.event)
      const page = await readPage({ ...request, caller, query: continued(request.query, next) }, 0)
      if (page.version !== first.version) throw new Error(`${path} was recomputed while it was listed`)
      yield* csvSlices('', linesOf(page.rows))
      // With `after`, the end of the list is a position that stays the same.
      next = page.next === next ? null : page.next
    }
  }

  function* linesOf(rows: readonly object[]) {
    for (const row of rows) yield csvRow(columns, row as CsvRow)
  }

  return { readPage, slicesFrom }
}

/** The query of the page at `next`. */
function continued<Query extends object>(query: Query, next: string | number): Query {
  return 'after' in query ? { ...query, after: next } : { ...query, before: next, cursor: next }
}

/** The elements of the first array in an answer, with a column for each field. */
function tableOf(schema: v.GenericSchema): Table<object> {
  const { entries } = schema as unknown as { entries: Record<string, { item?: { entries: object } }> }
  const [name, list] = Object.entries(entries).find(([, { item }]) => item !== undefined) ?? ['']
  return {
    columns: Object.keys(list?.item?.entries ?? {}),
    rowsOf: (answer) => (answer as Record<string, object[]>)[name] ?? [],
  }
}
