/** Strangers who want to keep others out, each as hard as one machine can. */
import { connect, type Socket } from 'node:net'
import { BUNDLE } from '../../apple/samples.ts'

type Target = { port: number }

/** From which address of the loopback network the connections of strangers come. */
const STRANGER = '127.0.9.1'
/** More than the server has by default. */
const CONNECTIONS = 2_300

/** An attack in progress. `stop` ends it. */
export type Attack = { stop(): void; answered: ReadonlyMap<number, number> }

/** Opens a connection of the stranger, and counts the answers on it by status. */
function open(port: number, answered: Map<number, number>): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: STRANGER })
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    const [, status] = /^HTTP\/1.1 (\d+)/.exec(chunk.toString('latin1')) ?? []
    if (status !== undefined) answered.set(Number(status), (answered.get(Number(status)) ?? 0) + 1)
  })
  return socket
}

const sendOn = (socket: Socket, text: string): boolean => text === '' || socket.write(text)

/** Keeps `count` connections, each replaced when it ends. `sent` is what the stranger sends on the nth of them. */
function keepConnections({ port }: Target, count: number, sent: (n: number) => string): Attack {
  const sockets = new Set<Socket>()
  const answered = new Map<number, number>()
  let opened = 0
  let isOver = false

  function keep(): void {
    if (isOver) return
    const socket = open(port, answered)
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      setImmediate(keep)
    })
    opened += 1
    sendOn(socket, sent(opened))
  }

  for (let n = 0; n < count; n += 1) keep()
  return {
    answered,
    stop() {
      isOver = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

type PostOptions = { length?: number; client?: string; more?: readonly string[] }

const post = (
  path: string,
  body: string,
  { length = body.length, client = '', more = [] }: PostOptions = {},
): string =>
  [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    `content-length: ${length}`,
    'connection: close',
    ...(client === '' ? [] : [`x-forwarded-for: ${client}`]),
    ...more,
    '',
    body,
  ].join('\r\n')

/** Connections on which nothing is ever sent. */
export const idleConnections = (target: Target): Attack => keepConnections(target, CONNECTIONS, () => '')

/** Requests of which 12 kB of the body come, and no more, each from another /64 of one /48. */
export const unfinishedBodies = (target: Target): Attack => {
  const body = `{"appUserId": "${'x'.repeat(12_000)}`
  return keepConnections(target, CONNECTIONS, (n) =>
    post('/api/sdk/v1/identify', body, {
      length: 20_000,
      client: `2001:db8:2:${(n % 65_536).toString(16)}::1`,
    }),
  )
}

/** Complete requests, after each of which the connection stays open for nothing. */
export const keptAlive = (target: Target): Attack =>
  keepConnections(target, CONNECTIONS, () => 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')

/** Ten calls a second without a proof, each from another /64 of one /48. */
export function callsOfOneSite({ port }: Target): Attack {
  const answered = new Map<number, number>()
  let sent = 0
  const timer = setInterval(() => {
    sent += 1
    const body = JSON.stringify({ appUserId: `stranger-${sent}`, bundleId: BUNDLE })
    const client = `2001:db8:1:${((sent * 7_919) % 65_536).toString(16)}::1`
    sendOn(open(port, answered), post('/api/sdk/v1/identify', body, { client }))
  }, 100)
  return { answered, stop: () => clearInterval(timer) }
}

/** Guesses of the password, from 200 networks, about one at a time from each. */
export const guesses = (target: Target): Attack =>
  keepConnections(target, 200, (n) => {
    const body = JSON.stringify({ password: `a guess number ${n}` })
    return post('/api/v1/login', body, {
      client: `198.18.${n % 200}.1`,
      more: ['sec-fetch-site: same-origin'],
    })
  })
