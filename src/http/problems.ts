/** Problem documents (RFC 9457). */
import { STATUS_CODES } from 'node:http'
import * as v from 'valibot'
import type { Refusal } from '../errors.ts'

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

/** The problem document of a refusal, as JSON. */
export function problemOf({ status, code, message, head, errors }: Refusal): string {
  const title = STATUS_CODES[status] ?? 'Error'
  return JSON.stringify({ type: 'about:blank', title, status, code, detail: message, head, errors })
}
