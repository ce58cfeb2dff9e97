import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readJson } from '../../src/http/body/body.ts'
import type { ListenOptions } from '../../src/http/listening/listener.ts'
import { dial, problemIn, response, route, serveTest, untilClosed } from './wire.ts'

const turn = () => new Promise(setImmediate)
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`
/** The head of a request whose body of ten bytes does not come, and its first byte. */
const unfinished = (headers = '') =>
  `POST /echo HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n${headers}content-length: 10\r\n\r\n[`
const from = (address: string) => `x-forwarded-for: ${address}\r\n`
const STRANGER = '127.0.1.1'
/** An answer that does not end, sent as fast as the client takes it. */
const endless = () => {
  const chunk = new Uint8Array(1_000_000)
  return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }))
}
/** Long enough that no timeout ends a connection. */
const patient = {
  settle_ms: 0,
  headers_timeout_ms: 60_000,
  request_timeout_ms: 60_000,
  keep_alive_ms: 60_000,
}

async function opened(options: ListenOptions) {
  let begun = 0
  const finish = Promise.withResolvers<void>()
  const routes = [
    route('GET', '/hello', () => 'hello'),
    route('POST', '/echo', async (event) => {
      begun += 1
      return readJson(event, 1000)
    }),
    route('GET', '/endless', () => {
      begun += 1
      return endless()
    }),
    route('GET', '/wait', async () => {
      begun += 1
      await finish.promise
      return 'finished'
    }),
  ]
  const { http, port, lines } = await serveTest(routes, { ...patient, ...options })
  const sockets: Socket[] = []
  onTestFinished(() => {
    finish.resolve()
    for (const socket of sockets) socket.destroy()
  })

  async function connected(address: string): Promise<Socket> {
    const socket = await dial(port, address)
    sockets.push(socket)
    return socket
  }

  /** Connects, sends a request, and resolves once its handler runs. */
  async function begin(bytes: string, address = '127.0.0.1'): Promise<Socket> {
    const socket = await connected(address)
    const nth = begun
    socket.write(bytes)
    while (begun === nth) await turn()
    return socket
  }

  /** The status of a request on a new connection; 0 if it is closed instead. */
  async function status(bytes = get('/hello'), address = '127.0.0.1'): Promise<number> {
    const socket = await connected(address)
    const answer = response(socket)
    socket.write(bytes)
    const text = await answer
    socket.destroy()
    return Number(text.slice(9, 12))
  }

  return { http, connected, begin, status, finish, lines, calls: http.calls.read }
}

/** Whether the other side has closed, for each of them. */
const closedOf = (sockets: readonly Socket[]): boolean[] => sockets.map((socket) => socket.closed)

async function untilCount(sockets: readonly Socket[], count: number): Promise<void> {
  while (closedOf(sockets).filter(Boolean).length < count) await turn()
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

describe('while more than three quarters of the connections are in use', () => {
  test('a stranger who opens far more than the limit keeps nobody out', async () => {
    const { connected, status, lines, calls } = await opened({ max_connections: 32 })
    const statuses: number[] = []
    for (const n of numbers(100)) {
      // Never read: what the server closes shows as such all the same.
      ;(await connected(STRANGER)).resume()
      if (n % 2 === 0) statuses.push(await status())
    }
    expect(statuses).toEqual(Array(50).fill(200))
    expect(lines().filter(({ level }) => level === 'warn')).toMatchObject([
      { client: '127.0.1.0/24', max_connections: 32 },
    ])
    const { areas, networks } = calls()
    const [ended] = areas.find(({ area }) => area === 'connection')?.reasons ?? []
    expect(ended).toMatchObject({ code: 'connection_ended', limit: null })
    expect(networks).toEqual([{ address: '127.0.1.0/24', calls: ended?.calls }])
  })

  test('the oldest of the client with most goes first, whether it sent nothing or a part of a request', async () => {
    const { connected, begin, status, calls } = await opened({ max_connections: 16 })
    const honest = await connected('127.0.0.1')
    const strangers = [await connected(STRANGER), await begin(unfinished(), STRANGER)]
    const answers = strangers.map(untilClosed)
    // The thirteenth connection displaces the first, and the fourteenth the second.
    for (let n = 0; n < 10; n += 1) strangers.push((await connected(STRANGER)).resume())
    expect(await status()).toBe(200)
    await untilCount(strangers, 2)
    expect(closedOf(strangers)).toEqual(numbers(12).map((n) => n < 2))
    expect(await answers[0]).toBe('')
    expect(problemIn((await answers[1]) ?? '')).toMatchObject({ status: 503, code: 'busy' })
    expect(await answers[1]).toMatch(/retry-after: 1\r\n/)
    expect(honest.closed).toBe(false)
    // The request without its body is counted once, as a connection.
    const refused = calls().areas.map(({ area, refused }) => [area, refused])
    expect(refused).toEqual([
      ['other', 0],
      ['connection', 2],
    ])
  })

  test('a connection that waits for its next request counts, one that is answered does not', async () => {
    const { connected, begin, status, finish } = await opened({ max_connections: 16 })
    const waiting = await begin(get('/wait'), STRANGER)
    const answer = response(waiting)
    const idle: Socket[] = []
    for (let n = 0; n < 12; n += 1) {
      const socket = await connected(STRANGER)
      const answered = response(socket)
      socket.write(get('/hello'))
      await answered
      idle.push(socket)
    }
    expect(await status()).toBe(200)
    await untilCount(idle, 2)
    expect(closedOf(idle).slice(0, 3)).toEqual([true, true, false])
    finish.resolve()
    expect(await answer).toMatch(/"finished"$/)
  })

  test('a stranger who takes no answer keeps nobody out', async () => {
    const { begin, status, finish } = await opened({ max_connections: 16 })
    const waiting = await begin(get('/wait'), '127.0.0.1')
    const answer = response(waiting)
    const statuses: number[] = []
    for (let n = 0; n < 30; n += 1) {
      await begin(get('/endless'), STRANGER)
      statuses.push(await status())
    }
    expect(statuses).toEqual(Array(30).fill(200))
    finish.resolve()
    expect(await answer).toMatch(/"finished"$/)
  })

  test('behind a proxy, requests count for the client that sends them, by network', async () => {
    const { begin, status } = await opened({ max_connections: 16 })
    const honest = [
      await begin(unfinished(from('203.0.113.1'))),
      await begin(unfinished(from('203.0.113.1'))),
    ]
    // Each address of the stranger has one request only.
    const strangers: Socket[] = []
    for (let n = 0; n < 40; n += 1)
      strangers.push((await begin(unfinished(from(`2001:db8:0:${n.toString(16)}::1`)))).resume())
    for (const n of numbers(20)) expect(await status(get('/hello', from(`198.51.${n}.1`)))).toBe(200)
    expect(closedOf(honest)).toEqual([false, false])
    await untilCount(strangers, 30)
  })

  test('what a proxy has just opened stays while another waits for its client', async () => {
    const { connected, begin, status } = await opened({ max_connections: 16, settle_ms: 60_000 })
    const stranger: Socket[] = []
    for (const _ of numbers(3)) stranger.push((await begin(unfinished(from('198.51.100.1')))).resume())
    const ofProxy: Socket[] = []
    for (const _ of numbers(9)) ofProxy.push((await connected('127.0.0.1')).resume())
    expect(await status()).toBe(200)
    await untilCount(stranger, 1)
    expect(closedOf(ofProxy)).toEqual(numbers(9).map(() => false))
  })

  test('what a stranger has just opened counts at once', async () => {
    const { http, connected, begin, status } = await opened({ max_connections: 16, settle_ms: 60_000 })
    http.configure({ trusted_proxies: ['127.0.0.1'] })
    const honest = [
      (await begin(unfinished(from('203.0.113.1')))).resume(),
      (await begin(unfinished(from('203.0.113.1')))).resume(),
    ]
    const strangers: Socket[] = []
    for (const _ of numbers(30)) strangers.push((await connected(STRANGER)).resume())
    for (const _ of numbers(20)) expect(await status()).toBe(200)
    await untilCount(strangers, 15)
    expect(closedOf(honest)).toEqual([false, false])
  })

  test('what was just opened goes when no other waits and hardly any is left', async () => {
    const { connected, status } = await opened({ max_connections: 16, settle_ms: 60_000 })
    const strangers: Socket[] = []
    for (const _ of numbers(30)) strangers.push((await connected(STRANGER)).resume())
    for (const _ of numbers(20)) expect(await status()).toBe(200)
    expect(closedOf(strangers.slice(0, 5))).toEqual(numbers(5).map(() => true))
  })
})
