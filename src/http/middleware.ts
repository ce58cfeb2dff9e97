/** What we compute: what happens around every handler: host check, request id, errors as problems, one log line. */
import { IncomingMessage } from 'node:http'
import { type H3Event, HTTPError } from 'h3'
import { Refusal } from '../errors.ts'
import type { Log } from '../log.ts'
import { header } from './body/body.ts'
import { newRequestId } from './ids.ts'
import { problemOf, problemType, refusalOf } from './problems.ts'
import {
  always,
  corsHeaders,
  dressed,
  type FlatHeaders,
  headersSetOn,
  isResponse,
  jsonOf,
  onlyHttps,
  overruled,
  sendText,
} from './response.ts'
import type { Around } from './routing.ts'

/**
 * How much of a body that nobody reads is taken in so that its sender gets to see the answer. Each piece counts as at
 * least so many bytes, because tiny pieces cost the processor more than their bytes.
 */
const mostDiscarded = 65_536
const leastPerPiece = 64

/**
 * One request under way. `cors`: what a web page must be told to be able to read the answer; `path`: as it is logged;
 * `end`: says that it is answered.
 */
type Asked = Readonly<{
  event: H3Event
  id: string
  began: number
  cors: FlatHeaders
  path: string
  end: () => void
}>

const none: FlatHeaders = []

/** Throws a `Refusal` where the request is not for us. */
type HostCheck = (target: string, host: string) => void

/** Lets a sender finish a small body that was not read and cuts off who sends a large one. */
function discardRest(event: H3Event): void {
  const req = event.runtime?.node?.req
  if (!(req instanceof IncomingMessage) || req.complete || req.destroyed) return
  if (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined) return
  let left = mostDiscarded
  req.on('data', (chunk: Buffer) => {
    left -= Math.max(chunk.length, leastPerPiece)
    if (left < 0) req.socket.destroy()
  })
}

function demandOurHost(check: HostCheck, event: H3Event): void {
  const node = event.runtime?.node
  check(
    node?.req.url ?? event.url.pathname,
    header(event, 'host') ?? (node === undefined ? event.url.host : ''),
  )
}

/**
 * Opens what every handler is wrapped in. `hosts` is asked for the check of the moment, `closing` says that the server
 * is going down, after which every answer is the last of its connection.
 */
export function openAnswering(options: {
  log: Log
  beginRequest: () => () => void
  hosts: () => HostCheck
  is_https: () => boolean
  closing: AbortSignal
}) {
  const { log, beginRequest, hosts, is_https, closing } = options

  function finish(asked: Asked, status: number, bytes: number | null, code: string | null): void {
    const { event, id, began, path, end } = asked
    end()
    discardRest(event)
    log.request({
      method: event.req.method,
      path,
      status,
      ms: performance.now() - began,
      bytes,
      request_id: id,
      code,
    })
  }

  function headersOf(asked: Asked): string[] {
    const headers = ['x-request-id', asked.id, ...always, ...asked.cors]
    if (is_https()) headers.push(...onlyHttps)
    if (closing.aborted) headers.push('connection', 'close')
    return headers
  }

  function answer(asked: Asked, given: unknown): unknown {
    const { event } = asked
    const headers = headersOf(asked)
    if (isResponse(given)) {
      const response = dressed(given, headers)
      finish(asked, response.status, null, null)
      return response
    }
    const body = jsonOf(given)
    const status = event.res.status ?? (body === null ? 204 : 200)
    if (body !== null) headers.push('content-type', 'application/json')
    finish(asked, status, body === null ? 0 : Buffer.byteLength(body), null)
    return sendText(event, status, body, overruled(headers, headersSetOn(event)))
  }

  function refuse(asked: Asked, error: unknown): unknown {
    const refusal = refusalOf(error, asked.id)
    const { id, event } = asked
    if (refusal.code === 'internal') log.error('a request failed unexpectedly', { request_id: id, error })
    const body = problemOf(refusal)
    const headers = [...headersOf(asked), 'content-type', problemType]
    const own = Object.entries(refusal.headers).flat()
    finish(asked, refusal.status, Buffer.byteLength(body), refusal.code)
    return sendText(event, refusal.status, body, overruled(headers, own))
  }

  function ask(event: H3Event, isOpen: boolean, path = event.url.pathname): Asked {
    const cors = isOpen && header(event, 'origin') !== undefined ? corsHeaders : none
    return { event, id: newRequestId(), began: performance.now(), cors, path, end: beginRequest() }
  }

  const around: Around = (handler, { cors = false, any_host = false, logged_as } = {}) =>
    function answered(event) {
      const asked = ask(event, cors, logged_as)
      const refuseThis = (error: unknown) => refuse(asked, error)
      function answerThis(given: unknown): unknown {
        try {
          return answer(asked, given)
        } catch (error) {
          return refuseThis(error)
        }
      }
      try {
        if (!any_host) demandOurHost(hosts(), event)
        const given = handler(event)
        return given instanceof Promise ? given.then(answerThis, refuseThis) : answerThis(given)
      } catch (error) {
        return refuseThis(error)
      }
    }

  /** The answer to what h3 refuses before any handler runs: a path that is no path. */
  function refuseUnrouted(error: unknown, event: H3Event): unknown {
    const malformed = HTTPError.isError(error) && error.status === 400
    const detail = 'The path of the address is not valid percent-encoding.'
    return refuse(ask(event, false), malformed ? new Refusal(400, 'invalid_path', detail) : error)
  }

  return { around, refuseUnrouted }
}
