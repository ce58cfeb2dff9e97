/** Wraps every handler with the host check, a request id, problem documents for errors, and one log line. */

import { IncomingMessage } from 'node:http'
import { type H3Event, HTTPError } from 'h3'
import { preciseTime } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Log } from '../log.ts'
import { openRequestLines } from './admission/refused_lines.ts'
import { header } from './body/body.ts'
import { newRequestId } from './ids.ts'
import { PROBLEM_TYPE, problemOf } from './problems.ts'
import { refusalOf } from './refusals.ts'
import { addedHeaders, isResponse, jsonOf, overrideHeaders, sendText, withHeaders } from './response.ts'
import type { Wrap } from './routing.ts'
import { COMMON_HEADERS, CORS_HEADERS, type FlatHeaders, HTTPS_HEADERS } from './security_headers.ts'

/**
 * The maximum number of bytes of an unread body that are received, so that the client can read the response. Each chunk
 * counts as at least MIN_CHUNK_BYTES, because tiny chunks cost more processor time than their size suggests.
 */
const MAX_DISCARDED_BYTES = 65_536
const MIN_CHUNK_BYTES = 64

/**
 * A request in progress. `cors` are the headers that let a web page read the response. `path` is the path for the log.
 * `end` is called when the response begins.
 */
type RequestState = Readonly<{
  event: H3Event
  id: string
  began_at: number
  cors: FlatHeaders
  path: string
  /** The pattern of the path; `*` without a route. */
  route: string
  end: () => void
}>

const READING = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Whether the answer to a request can acknowledge a write. */
const kindOf = ({ req }: H3Event): 'reading' | 'writing' => (READING.has(req.method) ? 'reading' : 'writing')

/** The path for the log, by default that of the request; and the pattern of the route. */
type Names = { path?: string | undefined; route?: string | undefined }

const NO_HEADERS: FlatHeaders = []

const corsOf = (event: H3Event, isOpen: boolean): FlatHeaders =>
  isOpen && header(event, 'origin') !== undefined ? CORS_HEADERS : NO_HEADERS

/** Receives a small unread body to its end, and closes the connection of a large one. */
function discardRest(event: H3Event): void {
  const req = event.runtime?.node?.req
  if (!(req instanceof IncomingMessage) || req.complete || req.destroyed) return
  if (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined) return
  let remainingBytes = MAX_DISCARDED_BYTES
  req.on('data', (chunk: Buffer) => {
    remainingBytes -= Math.max(chunk.length, MIN_CHUNK_BYTES)
    if (remainingBytes < 0) req.socket.destroy()
  })
}

/** The status of an answer, how long it took, and why the request was refused. */
export type Answer = { status: number; ms: number; refusal: Refusal | undefined }

type Options = {
  log: Log
  beginRequest: (kind: 'reading' | 'writing') => () => void
  admit: (event: H3Event, any_host: boolean) => void
  isHttps: () => boolean
  closing: AbortSignal
  /** Called after each answer with the pattern of the path, such as `/api/v1/apps/:id`. */
  counted: (event: H3Event, route: string, answer: Answer) => void
}

/**
 * Opens the wrapper of every handler. `admit` throws for a foreign host. After `closing` was aborted, the server
 * shuts down, and every response closes its connection.
 */
export function openMiddleware(options: Options) {
  const { log, beginRequest, admit, isHttps, closing, counted } = options
  const logRequest = openRequestLines(log)

  function finish(request: RequestState, status: number, bytes: number | null, refusal?: Refusal): void {
    const { event, id, began_at, path, route, end } = request
    const [ms, code] = [preciseTime() - began_at, refusal?.code ?? null]
    end()
    discardRest(event)
    counted(event, route, { status, ms, refusal })
    logRequest({ method: event.req.method, path, status, ms, bytes, request_id: id, code })
  }

  function headersOf(request: RequestState): string[] {
    const headers = ['x-request-id', request.id, ...COMMON_HEADERS, ...request.cors]
    if (isHttps()) headers.push(...HTTPS_HEADERS)
    if (closing.aborted) headers.push('connection', 'close')
    return headers
  }

  function answer(request: RequestState, result: unknown): unknown {
    const { event } = request
    const headers = headersOf(request)
    if (isResponse(result)) {
      const response = withHeaders(result, headers)
      finish(request, response.status, null)
      return response
    }
    const body = jsonOf(result)
    const status = event.res.status ?? (body === null ? 204 : 200)
    if (body !== null) headers.push('content-type', 'application/json')
    finish(request, status, body === null ? 0 : Buffer.byteLength(body))
    return sendText(event, status, body, overrideHeaders(headers, addedHeaders(event)))
  }

  function refuse(request: RequestState, error: unknown): unknown {
    const refusal = refusalOf(error, request.id)
    const { id, event } = request
    if (refusal.code === 'internal') log.error('a request failed unexpectedly', { request_id: id, error })
    const body = problemOf(refusal)
    const headers = [...headersOf(request), 'content-type', PROBLEM_TYPE]
    const refusalHeaders = Object.entries(refusal.headers).flat()
    finish(request, refusal.status, Buffer.byteLength(body), refusal)
    return sendText(event, refusal.status, body, overrideHeaders(headers, refusalHeaders))
  }

  function beginRequestState(event: H3Event, isOpen: boolean, names: Names = {}): RequestState {
    const { path = event.url.pathname, route = '*' } = names
    const [cors, end] = [corsOf(event, isOpen), beginRequest(kindOf(event))]
    return { event, id: newRequestId(), began_at: preciseTime(), cors, path, route, end }
  }

  const wrap: Wrap = (handler, { cors = false, any_host = false, logged_as, route } = {}) =>
    function answered(event) {
      const request = beginRequestState(event, cors, { path: logged_as, route })
      const refuseThis = (error: unknown) => refuse(request, error)
      function answerThis(result: unknown): unknown {
        try {
          return answer(request, result)
        } catch (error) {
          return refuseThis(error)
        }
      }
      try {
        admit(event, any_host)
        const result = handler(event)
        return result instanceof Promise ? result.then(answerThis, refuseThis) : answerThis(result)
      } catch (error) {
        return refuseThis(error)
      }
    }

  /** Answers requests that h3 refuses before any handler runs, such as an invalid path. */
  function refuseUnrouted(error: unknown, event: H3Event): unknown {
    const malformed = HTTPError.isError(error) && error.status === 400
    const detail = 'The path of the URL is not valid percent-encoding.'
    return refuse(
      beginRequestState(event, false),
      malformed ? new Refusal(400, 'invalid_path', detail) : error,
    )
  }

  return { wrap, refuseUnrouted }
}
