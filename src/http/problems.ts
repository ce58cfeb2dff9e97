/** Turns errors into problem documents (RFC 9457). */
import { STATUS_CODES } from 'node:http'
import { HTTPError } from 'h3'
import * as v from 'valibot'
import { Refusal } from '../errors.ts'

/** The content type of every error response. */
export const PROBLEM_TYPE = 'application/problem+json'

/** The members of a problem document. `code` is stable; `detail` is for people and may change. */
export const Problem = v.object({
  type: v.string(),
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  code: v.pipe(v.string(), v.description('A stable error code')),
  detail: v.pipe(v.string(), v.description('What went wrong and what to do about it')),
  head: v.optional(v.pipe(v.number(), v.description('With feed_restarted: the newest seq of the feed'))),
  errors: v.optional(
    v.array(
      v.object({
        path: v.pipe(v.string(), v.description('The path of the invalid field, such as attributes.plan')),
        message: v.string(),
      }),
    ),
  ),
})

function codeOf(status: number): string {
  return (STATUS_CODES[status] ?? 'error').toLowerCase().replace(/\W+/g, '_')
}

/**
 * The refusal for an error. A refusal stays unchanged, and an h3 error keeps its status. Any other error becomes
 * `internal`, which reveals only the request id.
 */
export function refusalOf(error: unknown, request_id: string): Refusal {
  if (error instanceof Refusal) return error
  if (HTTPError.isError(error) && error.status < 500) {
    return new Refusal(error.status, codeOf(error.status), error.message)
  }
  return new Refusal(
    500,
    'internal',
    `Something went wrong on the server. The log has the details under request ID ${request_id}.`,
  )
}

/** The problem document of a refusal, as JSON. */
export function problemOf({ status, code, message, head, errors }: Refusal): string {
  const title = STATUS_CODES[status] ?? 'Error'
  return JSON.stringify({ type: 'about:blank', title, status, code, detail: message, head, errors })
}
