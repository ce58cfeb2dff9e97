/** What may be asked: what cannot be: the answers to requests that never get as far as a route. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import { Refusal } from '../errors.ts'
import type { Log } from '../log.ts'
import { newRequestId } from './ids.ts'
import { PROBLEM_TYPE, problemOf } from './problems.ts'
import { COMMON_HEADERS } from './response.ts'

const NOT_HTTP = new Refusal(400, 'bad_request', 'This is not a request in HTTP/1.1.')
const NOT_OURS = new Refusal(
  400,
  'bad_request',
  'The request is for something else than a path of this server.',
)
const UNEXPECTED_EXPECTATION = new Refusal(417, 'expectation_failed', 'Only 100-continue may be expected.')
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: new Refusal(431, 'headers_too_large', 'The headers are too large.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Refusal(
    413,
    'too_large',
    'The chunk extensions of the body are too long.',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal(408, 'request_timeout', 'The request did not arrive in time.'),
}

function headersOf(body: string): string[] {
  const length = String(Buffer.byteLength(body))
  return [
    'x-request-id',
    newRequestId(),
    ...COMMON_HEADERS,
    'content-type',
    PROBLEM_TYPE,
    'content-length',
    length,
  ]
}

/** A whole response by hand, where there is no response to write to. */
function rawResponse(refusal: Refusal): string {
  const body = problemOf(refusal)
  const headers = [...headersOf(body), 'connection', 'close']
  const lines = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`]
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  return [...lines, '', body].join('\r\n')
}

function refuse(res: ServerResponse, refusal: Refusal): void {
  const body = problemOf(refusal)
  res.writeHead(refusal.status, headersOf(body)).end(body)
}

/** The responses under way on each connection: several where requests are pipelined. */
function openUnderWay() {
  const all = new WeakMap<Socket, Set<ServerResponse>>()

  function add({ socket }: IncomingMessage, res: ServerResponse): void {
    const responses = all.get(socket) ?? new Set()
    all.set(socket, responses.add(res))
    res.once('close', () => responses.delete(res))
  }

  /** Whether a response was begun and has not ended; another one in the middle of it would only confuse. */
  const isBegun = (socket: Socket): boolean => [...(all.get(socket) ?? [])].some((res) => res.headersSent)

  return { add, isBegun }
}

function refuseConnection(log: Log, error: NodeJS.ErrnoException, socket: Socket, isBegun: boolean): void {
  const refusal = REFUSALS[error.code ?? ''] ?? NOT_HTTP
  log.debug('a request was not understood', { reason: error.code, status: refusal.status })
  if (error.code === 'ECONNRESET' || !socket.writable || isBegun) {
    socket.destroy()
    return
  }
  socket.write(rawResponse(refusal))
  socket.destroySoon()
}

/** Whether the target is a path, `*`, or the absolute form of RFC 9112 §3.2.2, which a route can refuse itself. */
function isTarget(target: string): boolean {
  return target.startsWith('/') || target === '*' || (/^https?:/i.test(target) && URL.canParse(target))
}

/** Answers what is no request with a problem document too: a wrong request line, headers too large or too slow. */
export function answerClientErrors(
  server: Server,
  log: Log,
  handle: (req: IncomingMessage, res: ServerResponse) => unknown,
): void {
  const underWay = openUnderWay()
  server.removeAllListeners('request')
  server.on('request', (req, res) => {
    underWay.add(req, res)
    if (isTarget(req.url ?? '')) handle(req, res)
    else refuse(res, NOT_OURS)
  })
  server.on('checkExpectation', (req, res) => {
    underWay.add(req, res)
    refuse(res, UNEXPECTED_EXPECTATION)
  })
  server.on('clientError', (error, socket) => {
    if (socket instanceof Socket) refuseConnection(log, error, socket, underWay.isBegun(socket))
  })
}
