/** What routes have in common: tags, error codes, CSV files, how long a reader waits for figures. */
import type { H3Event } from 'h3'
import { streamOfText } from '../http/csv.ts'
import type { Lag } from '../metrics/series/snapshot_reads.ts'

/** A route that reads. */
export const READ_ROUTE = { method: 'GET', tag: 'Read' } as const

/** The error codes of an app or organization that a reader names. */
export const UNKNOWN_APP = { 404: 'unknown_app' } as const

/** The error codes of a costly question, of which a caller may ask few at once. */
export const QUERY_LIMIT_ERRORS = { 404: 'unknown_app', 429: 'too_many_questions' } as const

/** A table as comma-separated values, to be kept as `name`.csv, made while it is sent. */
export const csvResponse = (
  event: H3Event,
  name: string,
  parts: AsyncGenerator<string, void>,
  behind: Lag | null = null,
): Response =>
  new Response(event.req.method === 'HEAD' ? null : streamOfText(parts), {
    headers: { ...csvHeaders(name), ...behindHeaders(behind) },
  })

/** So long a file waits for figures that are behind the facts, in milliseconds. */
export const MAX_WAIT_MS = 30_000
/** So long the page of one customer waits for that customer. */
export const CUSTOMER_WAIT_MS = 50

/**
 * How long a reader waits for figures that are behind the facts (`prefer: wait=n`, RFC 7240 §4.3), in milliseconds, at
 * most 30 s; null where it does not say.
 */
export function waitPreferenceOf(event: H3Event): number | null {
  const [, seconds] =
    /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/.exec(event.req.headers.get('prefer') ?? '') ?? []
  return seconds === undefined ? null : Math.min(MAX_WAIT_MS, Number(seconds) * 1_000)
}

/** How far figures are behind the facts, for an answer whose body cannot say so. */
export const behindHeaders = (behind: Lag | null): Record<string, string> =>
  behind === null
    ? {}
    : {
        'x-windfall-behind': `lineages=${behind.lineages}, report_days=${behind.report_days}, reason=${behind.reason}`,
      }

/** The headers of such a table. */
export const csvHeaders = (name: string): Record<string, string> => ({
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="${name}.csv"`,
})

/** A route for the owner alone. */
export const OWNER_ROUTE = { tag: 'Owner' } as const
