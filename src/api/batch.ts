/** `/api/v1/batch`: the answers of several reads in one answer, each with its own status. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { Refusal } from '../errors.ts'
import { header } from '../http/body/body.ts'
import { jsonSchema } from '../http/documented.ts'
import type { Http } from '../http/http.ts'
import { PROBLEM_TYPE, problemOf } from '../http/problems.ts'
import { jsonText } from '../http/response.ts'
import { defineRoute, type Route } from '../http/route.ts'
import { READ_ROUTE } from './route_defaults.ts'

type Deps = { http: Http; auth: Auth }

const MAX_READS = 25
/** As many as a token or a share link may run, so that a batch alone is never refused. */
const MAX_RUNNING = 2
/** The headers that decide who reads and how long a read waits. */
const KEPT_HEADERS = ['host', 'authorization', 'cookie', 'sec-fetch-site', 'prefer'] as const
const JSON_TYPES: readonly (string | null)[] = ['application/json', PROBLEM_TYPE]
const BASE = '/api/v1/'

const BatchQuery = v.object({
  get: v.pipe(
    v.string(),
    jsonSchema({ pattern: `^ *[^ ]+( +[^ ]+){0,${MAX_READS - 1}} *$` }),
    v.description(
      `Up to ${MAX_READS} paths below \`${BASE}\` with their parameters, separated by spaces, such as \`overview metrics/mrr?interval=month\``,
    ),
    v.transform((text) => text.split(' ').filter((path) => path !== '')),
    v.minLength(1, 'must have at least one path'),
    v.maxLength(MAX_READS, `must have at most ${MAX_READS} paths`),
  ),
})

const BatchAnswer = v.object({
  answers: v.pipe(
    v.array(
      v.object({
        status: v.number(),
        retry_after: v.pipe(v.nullable(v.number()), v.description('Seconds to wait before another attempt')),
        body: v.pipe(v.unknown(), v.description('The answer of the read, or its problem document')),
      }),
    ),
    v.description('One for each path, in the same order'),
  ),
})

/** An entry of the answer, as JSON. `body` is JSON. */
const entryOf = (status: number, body: string, retry_after: string | null = null): string =>
  `{"status":${status},"retry_after":${retry_after ?? 'null'},"body":${body}}`

const refusedEntry = (refusal: Refusal): string => entryOf(refusal.status, problemOf(refusal))

const notFound = (): string =>
  refusedEntry(new Refusal(404, 'not_found', `there is no such path below ${BASE}`))

const notJson = (): string =>
  refusedEntry(
    new Refusal(400, 'invalid_request', 'a batch has only answers in JSON, no files and no streams'),
  )

/** The requests of batches, which cannot be batches themselves: there would be no limit. */
const ownRequests = new WeakSet<Request>()

/** Opens the reads of batches. Each goes through the routes of the server, with the credentials of the batch. */
function openReads({ http }: Pick<Deps, 'http'>) {
  function headersOf(event: H3Event): Headers {
    const kept = KEPT_HEADERS.flatMap((name): [string, string][] => {
      const value = header(event, name)
      return value === undefined ? [] : [[name, value]]
    })
    return new Headers(kept)
  }

  async function read(path: string, event: H3Event, headers: Headers): Promise<string> {
    const url = new URL(`${BASE}${path}`, event.url.origin)
    if (!url.pathname.startsWith(BASE)) return notFound()
    const request = new Request(url, { headers })
    ownRequests.add(request)
    const response = await http.app.request(request)
    if (!JSON_TYPES.includes(response.headers.get('content-type'))) {
      await response.body?.cancel()
      return notJson()
    }
    return entryOf(response.status, await response.text(), response.headers.get('retry-after'))
  }

  /** The entries of all reads. A client that disconnected needs no more of them. */
  return async function readAll(event: H3Event, paths: readonly string[]): Promise<string[]> {
    const headers = headersOf(event)
    const entries: string[] = []
    let next = 0
    async function readNext(): Promise<void> {
      for (let at = next++; at < paths.length; at = next++) {
        if (event.runtime?.node?.res?.closed) return
        entries[at] = await read(paths[at] ?? '', event, headers)
      }
    }
    await Promise.all(Array.from({ length: MAX_RUNNING }, readNext))
    return entries
  }
}

export function batchRoutes({ http, auth }: Deps): Route[] {
  const readAll = openReads({ http })
  return [
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/batch',
      summary: 'Returns the answers of several reads, each with its own status',
      description:
        'A read that is refused or fails does not change the others. Each has the checks and limits that it has alone.',
      access: auth.viewer,
      query: BatchQuery,
      answers: { 200: { description: 'The answers', schema: BatchAnswer } },
      async handler({ event, query }) {
        if (ownRequests.has(event.req)) throw new Refusal(400, 'invalid_request', 'a batch has no batches')
        const entries = await readAll(event, query.get)
        return jsonText(`{"answers":[${entries.join(',')}]}`)
      },
    }),
  ]
}
