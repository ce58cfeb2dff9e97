/** What may be asked: the server on its port: whom it cuts off and when, and how it goes down. */
import { Server } from 'node:http'
import type { Socket } from 'node:net'
import { serve } from 'h3'
import { answerClientErrors } from './client_errors.ts'
import type { Http } from './http.ts'
import { normalizeTarget } from './target.ts'

/** Where to listen and what a connection may do. Times in milliseconds; the defaults suit one small machine. */
export type ListenOptions = Readonly<{
  /** The address to listen on. */
  host?: string
  /** 0 takes any free one. */
  port?: number
  /** More are closed at once. */
  max_connections?: number
  /** For all headers; counts from the beginning of the connection where nothing is sent at all. */
  headers_timeout_ms?: number
  /** For headers and body together. */
  request_timeout_ms?: number
  /** How long a connection waits for its next request. */
  keep_alive_ms?: number
  /** How long nothing may move while a request is answered; a stream must say something more often. */
  idle_timeout_ms?: number
  /** How often the timeouts of headers and requests are looked after. */
  check_every_ms?: number
  /** How long requests under way may take to finish once the server goes down. */
  shutdown_ms?: number
  /** The last bound for whatever reads a body without `readJson`; not below any limit given to that. */
  max_body_bytes?: number
}>

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8787,
  max_connections: 2048,
  headers_timeout_ms: 5_000,
  request_timeout_ms: 10_000,
  keep_alive_ms: 5_000,
  idle_timeout_ms: 60_000,
  check_every_ms: 1_000,
  shutdown_ms: 10_000,
  max_body_bytes: 1_048_576,
}

const MAX_HEADER_BYTES = 16_384
const SWEEP_EVERY_MS = 20
const WARN_EVERY_MS = 60_000

function openServer(http: Http, settings: Required<ListenOptions>) {
  const srvx = serve(http.app, {
    manual: true,
    silent: true,
    gracefulShutdown: false,
    hostname: settings.host,
    port: settings.port,
    maxRequestBodySize: settings.max_body_bytes,
    node: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: settings.headers_timeout_ms,
      requestTimeout: settings.request_timeout_ms,
      connectionsCheckingInterval: settings.check_every_ms,
      keepAliveTimeout: settings.keep_alive_ms,
      // The second of two Host headers must not go unseen, and who sends none gets an answer like any other.
      joinDuplicateHeaders: true,
      requireHostHeader: false,
    },
  })
  const { server, handler } = srvx.node ?? {}
  if (!(server instanceof Server) || handler === undefined) throw new Error('h3 made no server of node:http')
  server.maxConnections = settings.max_connections
  server.setTimeout(settings.idle_timeout_ms)
  answerClientErrors(server, http.log, (req, res) => {
    req.url = normalizeTarget(req.url ?? '')
    return handler(req, res)
  })
  return { server, start: async () => void (await srvx.serve()) }
}

function watchConnections(http: Http, server: Server, maxConnections: number): Set<Socket> {
  const sockets = new Set<Socket>()
  let warned = Number.NEGATIVE_INFINITY
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('drop', () => {
    if (performance.now() - warned < WARN_EVERY_MS) return
    warned = performance.now()
    http.log.warn('more connections than allowed; the latest are turned away', {
      max_connections: maxConnections,
    })
  })
  return sockets
}

/** Stops accepting, tells streams to end, waits for what is under way, and cuts that off too after `shutdown_ms`. */
function closeServer(http: Http, server: Server, sockets: Set<Socket>, shutdown_ms: number): Promise<void> {
  http.beginClosing()
  return new Promise((resolve) => {
    // A connection that has just become idle would otherwise hold the server for its keep-alive time.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_EVERY_MS)
    const cut = setTimeout(() => server.closeAllConnections(), shutdown_ms)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(cut)
      resolve()
    })
    for (const socket of sockets) {
      // To Node a connection that never said a word is busy.
      if (socket.bytesRead === 0) socket.destroy()
    }
  })
}

function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

function listenError(error: unknown, host: string, port: number): Error {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'EADDRINUSE') {
    const advice = 'Stop what listens there (the demo?), or take another: server.port, WINDFALL_SERVER_PORT.'
    return new Error(`Port ${port} of ${host} is taken already. ${advice}`, { cause: error })
  }
  if (code === 'EACCES') return new Error(`This user may not listen on port ${port}.`, { cause: error })
  return new Error(`Cannot listen on ${host}, port ${port}: ${String(error)}`, { cause: error })
}

/**
 * Listens. Routes must have been added before. `close()` resolves when the last connection has ended; a second call
 * waits for the first. Throws an error in words where the port cannot be had.
 */
export async function listen(http: Http, options: ListenOptions = {}) {
  const settings = { ...DEFAULTS, ...options }
  const { server, start } = openServer(http, settings)
  const sockets = watchConnections(http, server, settings.max_connections)
  try {
    await start()
  } catch (error) {
    throw listenError(error, settings.host, settings.port)
  }

  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : settings.port
  let closed: Promise<void> | null = null
  return {
    url: urlOf(settings.host, port),
    port,
    close(): Promise<void> {
      closed ??= closeServer(http, server, sockets, settings.shutdown_ms)
      return closed
    },
  }
}

/** A server on its port. */
export type Listening = Awaited<ReturnType<typeof listen>>
