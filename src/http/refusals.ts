/** Turns any error of a handler into a refusal. */
import { STATUS_CODES } from 'node:http'
import { HTTPError } from 'h3'
import { Refusal } from '../errors.ts'

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
