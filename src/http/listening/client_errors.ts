/** Answers requests that are rejected before routing. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import { Refusal } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { newRequestId } from '../ids.ts'
import { PROBLEM_TYPE, problemOf } from '../problems.ts'
import { COMMON_HEADERS } from '../security_headers.ts'
import type { Connections } from './connections.ts'

const NOT_HTTP = new Refusal(400, 'bad_request', 'Malformed HTTP request.')
const INVALID_TARGET = new Refusal(
  400,
  'bad_request',
  'The request target is not a path. Send a path that begins with /.',
)
const UNSUPPORTED_EXPECTATION = new Refusal(
  417,
  'expectation_failed',
  'The only supported expectation is 100-continue.',
)
const CROWDED = new Refusal(503, 'busy', 'Most connections are in use, and this request came too slowly.', {
  headers: { 'retry-after': '1' },
})
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: new Refusal(431, 'headers_too_large', 'The headers are too large.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Refusal(
    413,
    'too_large',
    'The chunk extensions of the body are too long.',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal(408, 'request_timeout', 'The request did not arrive in time.'),
}

function headersOf(refusal: Refusal, body: string): string[] {
  const length = String(Buffer.byteLength(body))
  return [
    'x-request-id',
    newRequestId(),
    ...COMMON_HEADERS,
    'content-type',
    PROBLEM_TYPE,
    'content-length',
    length,
    ...Object.entries(refusal.headers).flat(),
  ]
}

/** A raw HTTP response, for sockets without a ServerResponse. */
function rawResponse(refusal: Refusal): string {
  const body = problemOf(refusal)
  const headers = [...headersOf(refusal, body), 'connection', 'close']
  const lines = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`]
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  return [...lines, '', body].join('\r\n')
}

function refuse(res: ServerResponse, refusal: Refusal): void {
  const body = problemOf(refusal)
  res.writeHead(refusal.status, headersOf(refusal, body)).end(body)
}

function refuseConnection(
  log: Log,
  error: NodeJS.ErrnoException,
  socket: Socket,
  { hasBegunResponse, noteRefused }: Pick<Connections, 'hasBegunResponse' | 'noteRefused'>,
): void {
  const refusal = REFUSALS[error.code ?? ''] ?? NOT_HTTP
  log.debug('rejected a malformed request', { reason: error.code, status: refusal.status })
  if (error.code !== 'ECONNRESET') noteRefused(socket, refusal)
  if (error.code === 'ECONNRESET' || !socket.writable || hasBegunResponse(socket)) {
    socket.destroy()
    return
  }
  refuseOn(socket, refusal)
}

function refuseOn(socket: Socket, refusal: Refusal): void {
  socket.write(rawResponse(refusal))
  socket.destroySoon()
}

/** Refuses a request whose body has not arrived, because most connections are in use. Closes its connection. */
export const refuseCrowded = (socket: Socket): void => refuseOn(socket, CROWDED)

/** Whether the target is a path, `*`, or the absolute form of RFC 9112 §3.2.2, which the host check refuses. */
function isValidTarget(target: string): boolean {
  return target.startsWith('/') || target === '*' || (/^https?:/i.test(target) && URL.canParse(target))
}

/**
 * Answers malformed requests with a problem document, such as for an invalid request line or for headers that are too
 * large or too slow. Passes other requests to `handle`.
 */
export function answerClientErrors(
  server: Server,
  log: Log,
  connections: Pick<Connections, 'noteRequest' | 'hasBegunResponse' | 'noteRefused'>,
  handle: (req: IncomingMessage, res: ServerResponse) => unknown,
): void {
  server.on('request', (req, res) => {
    connections.noteRequest(req, res)
    if (isValidTarget(req.url ?? '')) handle(req, res)
    else refuse(res, INVALID_TARGET)
  })
  server.on('checkExpectation', (req, res) => {
    connections.noteRequest(req, res)
    refuse(res, UNSUPPORTED_EXPECTATION)
  })
  server.on('clientError', (error, socket) => {
    if (socket instanceof Socket) refuseConnection(log, error, socket, connections)
  })
}
