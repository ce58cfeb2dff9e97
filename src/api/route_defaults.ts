/** What may be asked: what every route that reads has in common: who may, what is refused, and how a file is given. */
import type { H3Event } from 'h3'
import { streamOfText } from '../http/csv.ts'
import type { Behind } from '../metrics/series/questions.ts'

/** A route for a holder of a read token and for the owner. */
export const READ = { method: 'GET', tag: 'Read', security: ['read_token', 'session'] } as const

/** One that a guest may ask, too, within what the share link says. */
export const GUESTS_READ = { ...READ, security: ['read_token', 'session', 'guest'] } as const

/** What such a route refuses, by status; a route takes those that it can give. */
export const REFUSED = {
  400: { description: 'invalid_request' },
  401: { description: 'token_required, invalid_token, sign_in_required' },
  403: { description: 'not_for_guests' },
  404: { description: 'unknown_app' },
} as const

/** What an expensive question refuses besides. */
export const RATIONED = { 429: { description: 'too_many_questions' } } as const

/** Nobody is let in without a name, and guests only to a few places. */
export const UNKNOWN = { 401: REFUSED[401], 403: REFUSED[403] } as const

/** A table as comma-separated values, to be kept as `name`.csv, made while it is sent. */
export const csvResponse = (
  event: H3Event,
  name: string,
  parts: AsyncGenerator<string, void>,
  behind: Behind | null = null,
): Response =>
  new Response(event.req.method === 'HEAD' ? null : streamOfText(parts), {
    headers: { ...csvHeaders(name), ...behindHeaders(behind) },
  })

/** So long a file waits for figures that are behind the facts, in milliseconds. */
export const PATIENCE_MS = 30_000
/** So long the page of one customer waits for that customer. */
export const CUSTOMER_WAIT_MS = 50

/**
 * How long a reader waits for figures that are behind the facts (`prefer: wait=n`, RFC 7240 §4.3), in milliseconds, at
 * most 30 s; null where it does not say.
 */
export function patienceOf(event: H3Event): number | null {
  const [, seconds] =
    /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/.exec(event.req.headers.get('prefer') ?? '') ?? []
  return seconds === undefined ? null : Math.min(PATIENCE_MS, Number(seconds) * 1_000)
}

/** How far figures are behind the facts, for an answer whose body cannot say so. */
export const behindHeaders = (behind: Behind | null): Record<string, string> =>
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

/** Of the body of a wish of the owner's, in bytes. */
export const LARGEST_WISH = 16_384

/** A route for the owner alone, who has signed in. */
export const OWNERS = { tag: 'Owner', security: ['session'] } as const

export const OWNER_REFUSED = {
  401: { description: 'sign_in_required' },
  403: { description: 'not_for_guests, cross_site' },
} as const

/** Where something secret is made or shown: the password has to have been entered lately. */
export const SECRETS_REFUSED = {
  400: { description: 'invalid_request, invalid_json' },
  401: OWNER_REFUSED[401],
  403: { description: 'reauthentication_required, not_for_guests, cross_site' },
  404: { description: 'unknown_app, unknown_organization' },
} as const
