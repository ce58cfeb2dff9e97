/** Listens on a port, with timeouts, a connection limit and a graceful shutdown. */

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../../log.ts'
import { answerClientErrors, refuseCrowded } from './client_errors.ts'
import { type Clients, openConnections } from './connections.ts'
import { type Handler, openStarting } from './starting.ts'
import { normalizeTarget } from './target.ts'

/** The address and the limits of the server. Times are in milliseconds; the defaults suit one small machine. */
export type ListenOptions = Readonly<{
  /** The address to listen on. */
  host?: string
  /** The port; 0 picks a free one. */
  port?: number
  /** The maximum number of connections. Above three quarters of it, see `openConnections`. */
  max_connections?: number
  /** How long a connection of a proxy may wait for a request before a new one may displace it. */
  settle_ms?: number
  /** The timeout for all headers of a request. It starts with the connection if the client sends nothing. */
  headers_timeout_ms?: number
  /** The timeout for the headers and the body of a request. */
  request_timeout_ms?: number
  /** How long a connection waits for its next request. */
  keep_alive_ms?: number
  /** How long a connection may be inactive during a response. Streams must send data more often. */
  idle_timeout_ms?: number
  /** How often the timeouts of headers and requests are checked. */
  check_every_ms?: number
  /** How long after the begin of a start requests wait for the program to open. */
  hold_ms?: number
  /** How long running requests may take to finish during shutdown. */
  shutdown_ms?: number
  /** The maximum size of a body that is read without `readJson`. Not below any limit that is passed to `readJson`. */
  max_body_bytes?: number
}>

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8787,
  max_connections: 2048,
  settle_ms: 1_000,
  headers_timeout_ms: 5_000,
  request_timeout_ms: 10_000,
  keep_alive_ms: 5_000,
  idle_timeout_ms: 60_000,
  check_every_ms: 1_000,
  /** A start takes a tenth of this, unless it upgrades or repairs the database. */
  hold_ms: 2_000,
  shutdown_ms: 10_000,
  max_body_bytes: 1_048_576,
}

const MAX_HEADER_BYTES = 16_384
const SWEEP_EVERY_MS = 20
/**
 * How many connections wait until the server takes them; the most that Linux allows by default. A flood fills a shorter
 * queue at once, and the next connection then waits for seconds.
 */
const BACKLOG = 4_096

function openServer(settings: Required<ListenOptions>): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: settings.headers_timeout_ms,
    requestTimeout: settings.request_timeout_ms,
    connectionsCheckingInterval: settings.check_every_ms,
    keepAliveTimeout: settings.keep_alive_ms,
    // The host check must see a second Host header, and answer requests without one.
    joinDuplicateHeaders: true,
    requireHostHeader: false,
  })
  server.setTimeout(settings.idle_timeout_ms)
  return server
}

/** Stops accepting connections, waits for running requests, and aborts them after `shutdown_ms`. */
function closeServer(server: Server, sockets: Iterable<Socket>, shutdown_ms: number): Promise<void> {
  return new Promise((resolve) => {
    // Without this sweep, a connection that becomes idle would delay the shutdown by its keep-alive time.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_EVERY_MS)
    const abortTimer = setTimeout(() => server.closeAllConnections(), shutdown_ms)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(abortTimer)
      resolve()
    })
    for (const socket of sockets) {
      // Node.js treats a connection that never sent anything as busy.
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
    const advice =
      'Stop the process that listens there (the demo?), or set another port: server.port, WINDFALL_SERVER_PORT.'
    return new Error(`Port ${port} of ${host} is already in use. ${advice}`, { cause: error })
  }
  if (code === 'EACCES')
    return new Error(`This user is not allowed to listen on port ${port}.`, { cause: error })
  return new Error(`Cannot listen on ${host}, port ${port}: ${String(error)}`, { cause: error })
}

/**
 * Listens on a port. Until `handOver`, requests get the answers of a start. `close()` resolves when the last connection
 * has ended; a second call waits for the first.
 *
 * @throws Error with advice when the server cannot listen on the port.
 */
export async function openListener(log: Log, options: ListenOptions) {
  const settings = { ...DEFAULTS, ...options }
  const server = openServer(settings)
  const starting = openStarting(settings.hold_ms)
  const connections = openConnections(log, server, {
    max: settings.max_connections,
    settle_ms: settings.settle_ms,
    refuse: refuseCrowded,
  })
  answerClientErrors(server, log, connections, (req, res) => {
    req.url = normalizeTarget(req.url ?? '')
    return starting.handle(req, res)
  })
  const { host } = settings
  try {
    await once(server.listen({ host, port: settings.port, backlog: BACKLOG }), 'listening')
  } catch (error) {
    throw listenError(error, host, settings.port)
  }

  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : settings.port
  let closing: Promise<void> | null = null
  return {
    url: urlOf(host, port),
    port,
    /** The maximum size of a body, in bytes. */
    max_body_bytes: settings.max_body_bytes,
    /** Gives all requests to `handler` from now on; `clients` determines and counts their clients. */
    handOver(handler: Handler, clients: Clients): void {
      connections.useClients(clients)
      starting.hand(handler)
    },
    close(): Promise<void> {
      starting.refuseHeld()
      closing ??= closeServer(server, connections.sockets(), settings.shutdown_ms)
      return closing
    },
  }
}

/** A server that listens. */
export type Listener = Awaited<ReturnType<typeof openListener>>
