/** Defaults that routes share: tags, error codes, CSV responses, and how long a request waits for figures. */
import type { H3Event } from 'h3'
import { streamOfText } from '../http/csv.ts'
import type { Lag } from '../metrics/series/snapshot_reads.ts'

/** Defaults of a route that reads. */
export const READ_ROUTE = { method: 'GET', tag: 'Read' } as const

/** The error codes of a route that resolves an app or organization. */
export const UNKNOWN_APP = { 404: 'unknown_app' } as const

/** The error codes of an expensive query. A caller may run only a few expensive queries at the same time. */
export const QUERY_LIMIT_ERRORS = { 404: 'unknown_app', 429: 'too_many_questions' } as const

/** Streams a table as the CSV file `name`.csv. */
export const csvResponse = (
  event: H3Event,
  name: string,
  chunks: AsyncGenerator<string, void>,
  behind: Lag | null = null,
): Response =>
  new Response(event.req.method === 'HEAD' ? null : streamOfText(chunks), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
      ...(behind && { 'x-windfall-behind': behindText(behind) }),
    },
  })

/** How far figures are behind the facts, for CSV files, which have no field for it. */
const behindText = ({ lineages, report_days, reason }: Lag): string =>
  `lineages=${lineages}, report_days=${report_days}, reason=${reason}`

/** How long a CSV file waits for due figures, in milliseconds. */
export const MAX_WAIT_MS = 30_000
/** How long the page of one customer waits for that customer's figures, in milliseconds. */
export const CUSTOMER_WAIT_MS = 50

/**
 * How long a request waits for due figures (`prefer: wait=n`, RFC 7240 §4.3), in milliseconds, at most 30 s; null
 * without that header.
 */
export function waitPreferenceOf(event: H3Event): number | null {
  const [, seconds] =
    /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/.exec(event.req.headers.get('prefer') ?? '') ?? []
  return seconds === undefined ? null : Math.min(MAX_WAIT_MS, Number(seconds) * 1_000)
}

/** Defaults of a route that only the owner may call. */
export const OWNER_ROUTE = { tag: 'Owner' } as const
