import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { NOW } from '../apple/samples.ts'
import { certificateFor, OK, openReceiver } from '../outgoing/receiver.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from './receiving.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Whether a connection has received its first request completely. */
function isComplete(received: string): boolean {
  const [head = '', ...body] = received.split('\r\n\r\n')
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
  return Buffer.byteLength(body.join('\r\n\r\n'), 'latin1') >= length
}

/** A receiver on a socket that fails in its own way until it is repaired. */
async function openFailing(fail: (socket: Socket, received: string) => void) {
  let isRepaired = false
  const receiver = await openReceiver((socket, received) => {
    if (!isRepaired) return fail(socket, received)
    if (isComplete(received)) socket.end(OK.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))
  })
  const repair = () => {
    isRepaired = true
  }
  return { ...receiver, url: `http://127.0.0.1:${receiver.port}/hooks`, repair }
}

const whenComplete = (answer: (socket: Socket) => void) => (socket: Socket, received: string) => {
  if (isComplete(received)) answer(socket)
}
const endsWith = (text: string) => whenComplete((socket) => void socket.end(text))
const responseOf = (status: number, more = '') =>
  endsWith(`HTTP/1.1 ${status} X\r\nconnection: close\r\n${more}content-length: 2\r\n\r\nno`)

/** Everything is delivered within ten minutes, once a receiver works. */
async function expectDelivered(app: ForwardingApp, id: string, ids: readonly string[]): Promise<void> {
  await app.run(10 * MINUTE_MS)
  expect(app.rows(id).map(({ event_id, state }) => [event_id, state])).toEqual(
    ids.map((event_id) => [event_id, 'delivered']),
  )
  expect(app.endpoint(id)).toMatchObject({ state: 'active', failures: 0 })
}

const host = expect.stringContaining('127.0.0.1')

test.each([
  ['closes without an answer', (socket: Socket) => void socket.destroy(), { kind: 'closed', words: host }],
  [
    'closes after the request',
    whenComplete((socket) => void socket.destroy()),
    { kind: 'closed', words: host },
  ],
  ['closes within the status line', endsWith('HTTP/1.1 20'), { status: null }],
  ['does not speak HTTP', endsWith('220 mail.example ESMTP\r\n'), { kind: 'invalid_response', words: host }],
  [
    'answers with status 099',
    endsWith('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'),
    { kind: 'invalid_response', words: /did not send a valid HTTP response\.$/ },
  ],
  ['answers 500', responseOf(500), { kind: 'rejected', status: 500, words: /its log/ }],
  ['answers 429', responseOf(429), { kind: 'rejected', status: 429, words: /limits its rate/ }],
  ['answers 503', responseOf(503), { kind: 'rejected', status: 503, excerpt: 'no' }],
  ['redirects', responseOf(301, 'location: /new\r\n'), { kind: 'rejected', status: 301, words: /final URL/ }],
  [
    'answers 500 and closes within the body',
    endsWith('HTTP/1.1 500 X\r\ncontent-length: 99\r\n\r\nbroken'),
    { kind: 'rejected', status: 500, excerpt: 'broken' },
  ],
  [
    'answers 500 before it reads the body',
    (socket: Socket) => void socket.end('HTTP/1.1 500 X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
    { kind: 'rejected', status: 500, excerpt: null },
  ],
])('a receiver that %s gets everything once it works', async (_, fail, attempt) => {
  const receiver = await openFailing(fail)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const ids = await app.append(2)
  await app.settled()
  const { words, ...fields } = { words: '', ...attempt }
  expect(app.attempts(id)).toEqual(
    [0, 1].map(() => expect.objectContaining({ number: 1, is_probe: 0, ...fields })),
  )
  for (const found of app.attempts(id))
    expect(found.words).toEqual(words instanceof RegExp ? expect.stringMatching(words) : words || found.words)
  expect(app.endpoint(id)).toMatchObject({ state: 'active', failures: 2, last_failure_at: app.clock() })
  const waiting = { state: 'waiting', attempts: 1, failures: 1, next_at: app.clock() + 4 * SECOND_MS }
  expect(app.rows(id)).toMatchObject([waiting, waiting])
  receiver.repair()
  await expectDelivered(app, id, ids)
})

test('a receiver that refuses connections gets everything at its new URL', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const { port } = closed.address() as { port: number }
  await new Promise((resolve) => closed.close(resolve))
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(`http://127.0.0.1:${port}/`)).endpoint
  const ids = await app.append(2)
  await app.settled()
  const words = `127.0.0.1:${port} could not be reached (ECONNREFUSED). Check that it runs and accepts connections.`
  expect(app.attempts(id)).toMatchObject([
    { kind: 'connect', words },
    { kind: 'connect', words },
  ])
  const receiver = await openHttpReceiver()
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.change(id, { url: receiver.url }))
  await expectDelivered(app, id, ids)
})

test('a receiver whose certificate is not trusted gets everything once it is', async () => {
  const { ca, secure } = certificateFor('localhost')
  const receiver = await openReceiver((socket, received) => {
    if (isComplete(received)) socket.end(OK.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))
  }, secure)
  const allow = ['127.0.0.1', '::1']
  const app = await openForwardingApp({ env: { WINDFALL_OUTBOUND_ALLOW: allow.join(',') } })
  const { id } = (await app.addEndpoint(`https://localhost:${receiver.port}/`)).endpoint
  const ids = await app.append(2)
  await app.settled()
  const tls = { kind: 'tls', words: expect.stringContaining('not signed by a known authority') }
  expect(app.attempts(id)).toMatchObject([tls, tls])
  app.windfall.outgoing.dispatcher.reconfigure({ allow, ca })
  await expectDelivered(app, id, ids)
})

test('a receiver that hangs before the status line is late after 15 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const receiver = await openFailing(() => {})
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const ids = await app.append(2)
  await expect.poll(() => receiver.texts.filter(isComplete).length).toBe(2)
  vi.advanceTimersByTime(15 * SECOND_MS - 1)
  expect(app.attempts(id)).toEqual([])
  vi.advanceTimersByTime(1)
  await app.settled()
  const words = expect.stringContaining('did not answer within 15 seconds.')
  expect(app.attempts(id)).toMatchObject([
    { kind: 'timeout', words },
    { kind: 'timeout', words },
  ])
  expect(app.endpoint(id)).toMatchObject({ state: 'active', failures: 2 })
  receiver.repair()
  await expectDelivered(app, id, ids)
})

test('2xx counts whatever follows: a body that does not end, a huge one, a broken one', async () => {
  const head = 'HTTP/1.1 202 X\r\ncontent-length: 999999999\r\n\r\n'
  const huge = await openReceiver(whenComplete((socket) => void socket.write(head + 'x'.repeat(1_000_000))))
  const slow = await openReceiver(whenComplete((socket) => void socket.write(`${head}slow`)))
  const broken = await openReceiver(endsWith(`${head}broken`))
  const app = await openForwardingApp()
  const add = async ({ port }: { port: number }) =>
    (await app.addEndpoint(`http://127.0.0.1:${port}/`)).endpoint.id
  const ids = [await add(huge), await add(slow), await add(broken)]
  await app.append(1)
  await app.settled()
  const excerpts = ['x'.repeat(2048), 'slow', 'broken']
  expect(ids.map((id) => app.attempts(id)[0])).toMatchObject(
    excerpts.map((excerpt) => ({ kind: 'delivered', status: 202, excerpt })),
  )
  expect([huge.open(), slow.open()]).toEqual([0, 0])
})

test.each([
  [429, '7200', 2 * HOUR_MS],
  [503, '7200', 2 * HOUR_MS],
  [429, new Date(NOW + 3 * HOUR_MS).toUTCString(), 3 * HOUR_MS],
  [503, new Date(NOW + 90 * HOUR_MS).toUTCString(), 24 * HOUR_MS],
  [503, '999999999', 24 * HOUR_MS],
])('%i with retry-after %s holds the whole endpoint', async (status, retryAfter, ms) => {
  const app = await openForwardingApp()
  const receiver = await openHttpReceiver((_, response) => {
    response.writeHead(status, { 'retry-after': retryAfter }).end()
    return undefined
  })
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const ids = await app.append(1)
  await app.settled()
  receiver.behave(() => 200)
  ids.push(...(await app.append(1)))
  await app.run(ms - 1)
  expect(receiver.requests).toHaveLength(1)
  await app.run(1)
  expect(receiver.requests).toHaveLength(3)
  await expectDelivered(app, id, ids)
})

test('another status with retry-after delays its own delivery only', async () => {
  const receiver = await openHttpReceiver(({ index }, response) => {
    response.writeHead(index === 0 ? 400 : 200, { 'retry-after': '3600' }).end()
    return undefined
  })
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const [first = ''] = await app.append(1)
  await app.settled()
  const [second = ''] = await app.append(1)
  await app.run(HOUR_MS - 1)
  expect(receiver.ids()).toEqual([first, second])
  await app.run(1)
  expect(receiver.ids()).toEqual([first, second, first])
  expect(app.endpoint(id)).toMatchObject({ state: 'active', failures: 0, hold_until_at: null })
})

test('a success of a request that began before does not end a hold', async () => {
  const answers = new Map<string, (status: number, retryAfter?: string) => void>()
  const receiver = await openHttpReceiver(({ id }, response) => {
    answers.set(
      id,
      (status, after) => void response.writeHead(status, after ? { 'retry-after': after } : {}).end(),
    )
    return undefined
  })
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const [one = '', two = ''] = await app.append(2)
  await expect.poll(() => answers.size).toBe(2)
  answers.get(one)?.(429, '600')
  await expect.poll(() => app.attempts(id).length).toBe(1)
  answers.get(two)?.(200)
  await app.settled()
  receiver.behave(() => 200)
  const [three = ''] = await app.append(1)
  await app.run(599 * SECOND_MS)
  expect(receiver.ids()).toEqual([one, two])
  await app.run(SECOND_MS)
  expect(receiver.ids().slice(2).toSorted()).toEqual([one, three].toSorted())
})

test('410 disables the endpoint when it comes again a minute later, and not before', async () => {
  const receiver = await openHttpReceiver(() => 410)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const [event = ''] = await app.append(1)
  await app.settled()
  expect(app.attempts(id)).toMatchObject([
    { kind: 'rejected', status: 410, words: expect.stringContaining('disables') },
  ])
  expect(app.rows(id)).toMatchObject([{ state: 'waiting', failures: 1 }])
  await app.run(MINUTE_MS - 1)
  expect(receiver.ids()).toEqual([event, event])
  expect(app.endpoint(id)).toMatchObject({ state: 'active', failures: 0 })
  await app.append(1)
  await app.settled()
  expect(receiver.requests).toHaveLength(3)
  expect(app.endpoint(id)).toMatchObject({ state: 'active' })
  await app.run(10 * MINUTE_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'disabled', reason: 'gone_410' })
  expect(app.feed(['endpoint.disabled'])).toMatchObject([{ data: { endpoint: { id }, reason: 'gone_410' } }])
  const sent = receiver.requests.length
  await app.append(1)
  await app.run(100 * HOUR_MS)
  expect(receiver.requests).toHaveLength(sent)
})

test('a success between two 410 keeps the endpoint', async () => {
  const receiver = await openHttpReceiver(({ index }) => (index % 2 === 0 ? 410 : 200))
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  for (let round = 0; round < 3; round += 1) {
    await app.append(1)
    await app.run(HOUR_MS)
  }
  expect(app.endpoint(id)).toMatchObject({ state: 'active', gone_at: null })
  expect(app.rows(id).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
})

test('test events change neither the state of the endpoint nor its success rate', async () => {
  const receiver = await openHttpReceiver(() => 410)
  const app = await openForwardingApp()
  const { endpoint } = await app.addEndpoint(receiver.url)
  for (let round = 0; round < 2; round += 1) {
    await app.windfall.forwarding.test.send(endpoint, 'subscription.started')
    app.clock.turn(HOUR_MS)
  }
  expect(app.endpoint(endpoint.id)).toMatchObject({ state: 'active', gone_at: null, last_failure_at: null })
  expect(app.rows(endpoint.id)).toMatchObject([
    { state: 'failed', attempts: 1, is_test: 1, seq: null },
    { state: 'failed', attempts: 1, is_test: 1, seq: null },
  ])
  expect(receiver.ids().every((id) => id.startsWith('evt_test_'))).toBe(true)
  const health = app.windfall.forwarding.log.healthOf(app.endpoint(endpoint.id))
  expect(health).toMatchObject({ attempts: 0, succeeded: 0 })
  await app.run(100 * HOUR_MS)
  expect(receiver.requests).toHaveLength(2)
})

test('an active endpoint of which many attempts fail is unsteady, and steady again after an outage ended', async () => {
  const receiver = await openHttpReceiver(({ index }) => (index % 3 === 0 ? 200 : 400))
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const health = () => app.windfall.forwarding.log.healthOf(app.endpoint(id))
  await app.append(9)
  await app.settled()
  expect(health()).toMatchObject({ attempts: 9, is_unsteady: false })
  await app.append(1)
  await app.settled()
  expect(health()).toMatchObject({ attempts: 10, succeeded: 4, is_unsteady: true })
  receiver.behave(() => 500)
  await app.append(5)
  await app.settled()
  expect(app.endpoint(id).state).toBe('failing')
  receiver.behave(() => 200)
  await app.run(HOUR_MS)
  expect(app.endpoint(id).state).toBe('active')
  expect(health()).toMatchObject({ is_unsteady: false })
  const { attempts, succeeded } = health()
  expect(attempts).toBe(receiver.requests.length)
  expect(10 * succeeded).toBeLessThan(9 * attempts)
})

test('the clock of the receiver is compared with ours', async () => {
  const app = await openForwardingApp()
  const receiver = await openHttpReceiver((_, response) => {
    response.writeHead(200, { date: new Date(app.clock() - 90 * SECOND_MS).toUTCString() }).end()
    return undefined
  })
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1)
  await app.settled()
  expect(app.attempts(id)).toMatchObject([{ clock_ms: -90 * SECOND_MS }])
})
