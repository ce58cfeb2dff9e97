/**
 * Answers requests while the program starts. The server listens before the database is open, so that a monitor sees a
 * running process during a long upgrade, and a client that connects at once waits instead of being refused.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../../errors.ts'
import { newRequestId } from '../ids.ts'
import { PROBLEM_TYPE, problemOf } from '../problems.ts'
import { COMMON_HEADERS } from '../security_headers.ts'

export type Handler = (req: IncomingMessage, res: ServerResponse) => unknown

const STARTING = new Refusal(503, 'starting', 'The server is starting. Try again in a few seconds.', {
  headers: { 'retry-after': '5' },
})

/** The answer of `/healthz`. */
export const ALIVE = { status: 'ok' } as const

function send(res: ServerResponse, status: number, type: string, body: string, headers: string[] = []): void {
  const length = String(Buffer.byteLength(body))
  const own = ['x-request-id', newRequestId(), 'content-type', type, 'content-length', length, ...headers]
  res.writeHead(status, [...COMMON_HEADERS, ...own]).end(body)
}

const refuse = (res: ServerResponse): void =>
  send(res, STARTING.status, PROBLEM_TYPE, problemOf(STARTING), Object.entries(STARTING.headers).flat())

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'

/**
 * Opens the answers of a start. `/healthz` is answered with 200 and `/readyz` with 503. Other requests wait for `hand`,
 * until `hold_ms` have passed since the start; then they are refused with 503 `starting`.
 */
export function openStarting(hold_ms: number) {
  const held: [IncomingMessage, ServerResponse][] = []
  let handler: Handler | null = null
  let isHolding = true
  const timer = setTimeout(refuseHeld, hold_ms).unref()

  /** Refuses the requests that wait, and all later ones. */
  function refuseHeld(): void {
    isHolding = false
    for (const [, res] of held.splice(0)) refuse(res)
  }

  function handle(req: IncomingMessage, res: ServerResponse): unknown {
    if (handler !== null) return handler(req, res)
    const [path] = (req.url ?? '').split('?', 1)
    if (path === '/healthz' && isRead(req)) return send(res, 200, 'application/json', JSON.stringify(ALIVE))
    if (path === '/readyz' || !isHolding) return refuse(res)
    held.push([req, res])
  }

  /** Gives all requests to `next`, those that wait first. A client that has disconnected is no longer served. */
  function hand(next: Handler): void {
    clearTimeout(timer)
    handler = next
    for (const [req, res] of held.splice(0)) if (!res.closed) next(req, res)
  }

  return { handle, hand, refuseHeld }
}
