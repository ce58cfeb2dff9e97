/** Creates request ids for responses and log lines. */
import { randomBytes } from 'node:crypto'

const PREFIX = `req_${randomBytes(6).toString('hex')}_`
let counter = 0

/** A unique request id: a random prefix of the process and a counter. The counter needs no system call. */
export function newRequestId(): string {
  counter += 1
  return PREFIX + counter.toString(36)
}
