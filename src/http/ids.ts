/** What we compute: the id of each request, which answers and log lines carry. */
import { randomBytes } from 'node:crypto'

const PREFIX = `req_${randomBytes(6).toString('hex')}_`
let counter = 0

/** An id that no other request has: a random beginning for the process, then a number. Costs no system call. */
export function newRequestId(): string {
  counter += 1
  return PREFIX + counter.toString(36)
}
