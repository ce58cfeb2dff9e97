/**
 * Keeps the connections of the server, and ends some of them before one client has them all. A connection counts against
 * a client while the server waits for the client: for a request, for the rest of one, or until it takes the answer.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { preciseTime } from '../../clock.ts'
import type { Refusal } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { peerAddress } from '../addresses.ts'
import { type Client, clientAt } from '../clients/client.ts'
import { chooseOfLargest } from '../clients/largest.ts'

/** The share of the limit above which connections are ended. */
const CROWDED = 3 / 4
/** Above this share, connections that a proxy has just opened are ended, too, if no other one waits for its client. */
const FULL = 15 / 16
/** This share of the limit is ended at once, because it takes a while to find the largest client. */
const ENDED_AT_ONCE = 1 / 64
const WARN_EVERY_MS = 60_000

/**
 * What the program knows of clients. `addressOf` is the client address of a request; `isProxy` is whether others send
 * theirs over a connection. `noteRefused` counts a connection that ended before it was a request, with a code that says why.
 */
export type Clients = {
  addressOf: (req: IncomingMessage) => string
  isProxy: (socket: Socket) => boolean
  noteRefused: (code: string, client: Client) => void
}

/** What is known of clients before the program has opened: a client is the peer. */
const PEERS: Clients = {
  addressOf: ({ socket }) => peerAddress(socket),
  isProxy: () => false,
  noteRefused: () => {},
}

/**
 * `req` is the newest request, `responses` are those that have not ended: several if requests are pipelined. `since` is
 * when it connected, when the headers of `req` had arrived, or when the last response ended. `isOfProxy`: others send their
 * requests over it.
 */
type Connection = {
  socket: Socket
  req: IncomingMessage | null
  responses: Set<ServerResponse>
  since: number
  isOfProxy: boolean
}

export type Connections = ReturnType<typeof openConnections>

type Options = {
  max: number
  /**
   * How long a connection of a proxy may wait for a request before it counts, in milliseconds. Under load a proxy opens
   * many connections, and a moment later sends the requests that say for whom.
   */
  settle_ms: number
  /** Answers a request whose body has not arrived, and closes its connection. */
  refuse: (socket: Socket) => void
}

/**
 * Opens the connections of `server`, at most `max`. Above three quarters of them, each further one displaces another: of
 * those on which the server waits for the client, the oldest of the client that has most of them. A connection whose
 * request is complete and whose client takes the answer stays.
 */
export function openConnections(log: Log, server: Server, { max, settle_ms, refuse }: Options) {
  const connections = new Map<Socket, Connection>()
  const warnFull = openWarning(log, 'the connection limit is reached; new connections are refused')
  const warnCrowded = openWarning(log, 'most connections are in use; the oldest of one client are ended')
  /** Whether makeRoom found too few to end. Then it waits until the server has read what other connections sent. */
  let isSpent = false
  let clients = PEERS

  /** While no request is in progress on it, a connection counts for its peer, which may be a proxy. */
  const holderOf = ({ req, responses, socket }: Connection): Client =>
    clientAt(req !== null && responses.size > 0 ? clients.addressOf(req) : peerAddress(socket))

  function makeRoom(): void {
    const before = preciseTime() - settle_ms
    const candidates = endable([...connections.values()], before, connections.size >= max * FULL)
    const chosen = chooseOfLargest(candidates, holderOf, Math.ceil(max * ENDED_AT_ONCE))
    isSpent = chosen.length < max * ENDED_AT_ONCE
    if (isSpent) setImmediate(() => (isSpent = false))
    for (const connection of chosen) {
      const holder = holderOf(connection)
      warnCrowded({ client: holder.network, max_connections: max })
      clients.noteRefused('connection_ended', holder)
      // It counts no longer, although its close comes later.
      connections.delete(connection.socket)
      if (awaitsBody(connection)) refuse(connection.socket)
      else connection.socket.destroy()
    }
  }

  server.maxConnections = max
  server.on('drop', (data) => {
    warnFull({ max_connections: max })
    clients.noteRefused('connection_refused', clientAt(peerAddress(data ?? {})))
  })
  server.on('connection', (socket) => {
    if (connections.size + 1 > max * (isSpent ? FULL : CROWDED)) makeRoom()
    const isOfProxy = clients.isProxy(socket)
    connections.set(socket, { socket, req: null, responses: new Set(), since: preciseTime(), isOfProxy })
    socket.once('close', () => connections.delete(socket))
  })

  return {
    /** Notes a request whose headers have arrived. */
    noteRequest(req: IncomingMessage, res: ServerResponse): void {
      const connection = connections.get(req.socket)
      if (connection !== undefined) begin(connection, req, res)
    },
    /** Whether a response of the connection has begun and not ended. Then no other response can be sent. */
    hasBegunResponse: (socket: Socket): boolean => hasBegun(connections.get(socket)?.responses ?? []),
    /** Determines the clients of requests with `next` from now on. Until then a client is the peer. */
    useClients(next: Clients): void {
      clients = next
    },
    /** Counts a request that is refused before it reaches the program. */
    noteRefused: (socket: Socket, { code }: Refusal): void =>
      clients.noteRefused(code, clientAt(peerAddress(socket))),
    sockets: (): Iterable<Socket> => connections.keys(),
  }
}

/**
 * The connections on which the server waits for the client, oldest first. Those of a proxy that wait for a request only
 * since `before` or later are left out, unless there are no others and it `isFull`.
 */
function endable(connections: readonly Connection[], before: number, isFull: boolean): Connection[] {
  const waiting = connections.filter(awaitsClient)
  const settled = waiting.filter((one) => one.responses.size > 0 || one.since <= before || !one.isOfProxy)
  return (settled.length === 0 && isFull ? waiting : settled).sort((a, b) => a.since - b.since)
}

function begin(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
  connection.req = req
  connection.since = preciseTime()
  connection.responses.add(res)
  res.once('close', () => {
    connection.responses.delete(res)
    connection.since = preciseTime()
  })
}

const hasBegun = (responses: Iterable<ServerResponse>): boolean =>
  [...responses].some((res) => res.headersSent)

/** Whether the server has the headers of a single request, waits for its body, and has not begun to answer. */
const awaitsBody = (connection: Connection): boolean =>
  connection.responses.size === 1 && connection.req?.complete === false && !hasBegun(connection.responses)

/** Whether the server waits for the client. The client takes no answer while bytes of it wait in this process. */
const awaitsClient = (connection: Connection): boolean =>
  connection.responses.size === 0 || awaitsBody(connection) || connection.socket.writableLength > 0

/** Logs a warning at most once a minute. */
function openWarning(log: Log, message: string) {
  let warned_at = Number.NEGATIVE_INFINITY
  return (fields: Record<string, unknown>): void => {
    if (preciseTime() - warned_at < WARN_EVERY_MS) return
    warned_at = preciseTime()
    log.warn(message, fields)
  }
}
