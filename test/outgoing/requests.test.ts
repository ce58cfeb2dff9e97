import { expect, test } from 'vitest'
import { openTestApp } from '../helpers.ts'
import { answering, certificateFor, dispatcherWith, OK, openReceiver, resolverOf, send } from './receiver.ts'

const allow = ['127.0.0.0/8']
const urlOf = ({ port }: { port: number }, path = '/') => `http://127.0.0.1:${port}${path}`

test('sends the request as it is, and returns status, headers, excerpt and address', async () => {
  const receiver = await openReceiver((socket, received) => {
    if (received.endsWith('hello'))
      socket.write('HTTP/1.1 503 Busy\r\nRetry-After: 7\r\ncontent-length: 4\r\n\r\nlate')
  })
  const headers = { 'content-type': 'text/plain', 'webhook-id': 'evt_1' }
  const outcome = await send(dispatcherWith({ allow }), urlOf(receiver, '/a?b=c'), {
    headers,
    body: Buffer.from('hello'),
  })
  expect(outcome).toEqual({
    status: 503,
    headers: { 'retry-after': '7', 'content-length': '4' },
    excerpt: 'late',
    address: '127.0.0.1',
    ms: expect.any(Number),
  })
  expect(receiver.texts[0]).toMatch(/^POST \/a\?b=c HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n/)
  expect(receiver.texts[0]).toContain('webhook-id: evt_1\r\n')
})

test('keeps connections open for later requests', async () => {
  const receiver = await openReceiver()
  const dispatcher = dispatcherWith({ allow })
  for (let sent = 0; sent < 10; sent++)
    expect(await send(dispatcher, urlOf(receiver))).toMatchObject({ status: 200, address: '127.0.0.1' })
  expect(receiver.connections()).toBeLessThanOrEqual(2)
})

test('reads 2,048 bytes of a body and drops the connection if more comes', async () => {
  const receiver = await openReceiver((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(3_000_000)}`)
  })
  const outcome = await send(dispatcherWith({ allow }), urlOf(receiver))
  expect(outcome).toMatchObject({ status: 200, excerpt: 'a'.repeat(2048) })
  await expect.poll(receiver.open).toBe(0)
})

test('reads a body for at most a second', async () => {
  const receiver = await openReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nslow')
  })
  const outcome = await send(dispatcherWith({ allow }), urlOf(receiver))
  expect(outcome).toMatchObject({ status: 200, excerpt: 'slow' })
  await expect.poll(receiver.open).toBe(0)
})

test('a response that breaks off after the status line counts by its status', async () => {
  for (const end of ['destroy', 'resetAndDestroy'] as const) {
    const receiver = await openReceiver((socket) => {
      socket.write('HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\npart', () => socket[end]())
    })
    const outcome = await send(dispatcherWith({ allow }), urlOf(receiver))
    expect(outcome).toMatchObject({ status: 201 })
  }
})

test.each(['connection: close\r\n', ''])(
  'a response before the body was read counts (%j)',
  async (header) => {
    const receiver = await openReceiver((socket) => {
      socket.pause()
      socket.end(`HTTP/1.1 413 Too Large\r\n${header}content-length: 3\r\n\r\nbig`)
      socket.destroySoon()
    })
    const dispatcher = dispatcherWith({ allow })
    for (const size of [10_000, 256_000, 8_000_000])
      for (let sent = 0; sent < 5; sent++)
        expect(await send(dispatcher, urlOf(receiver), { body: Buffer.alloc(size) })).toMatchObject({
          status: 413,
        })
  },
)

test('a status line that is late, or a server that says nothing, is a timeout', async () => {
  const silent = await openReceiver(() => {})
  const slow = await openReceiver((socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 2'))
  for (const receiver of [silent, slow])
    expect(await send(dispatcherWith({ allow }), urlOf(receiver), { timeoutMs: 60 })).toEqual({
      kind: 'timeout',
      words: `127.0.0.1:${receiver.port} did not answer within 0.06 seconds.`,
    })
  await expect.poll(silent.open).toBe(0)
})

test('a resolver that hangs is a timeout', async () => {
  const dispatcher = dispatcherWith({ resolve: () => new Promise(() => {}) })
  const outcome = await send(dispatcher, 'https://hooks.example/', { timeoutMs: 30 })
  expect(outcome).toMatchObject({ kind: 'timeout' })
  const running = expect(send(dispatcher, 'https://hooks.example/')).rejects.toThrow('Windfall is stopping')
  await dispatcher.close()
  await running
})

test('a refused connection, a closed one and a response that is not HTTP are failures of their own', async () => {
  const dispatcher = dispatcherWith({ allow })
  expect(await send(dispatcher, 'http://127.0.0.1:1/')).toMatchObject({
    kind: 'connect',
    words: expect.stringContaining('ECONNREFUSED'),
  })
  const closing = await openReceiver((socket) => socket.destroy())
  expect(await send(dispatcher, urlOf(closing))).toMatchObject({ kind: 'closed' })
  const resetting = await openReceiver((socket) => socket.resetAndDestroy())
  expect(await send(dispatcher, urlOf(resetting))).toMatchObject({ kind: 'closed' })
  const headers = `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(9000)}\r\n`
  for (const response of ['SSH-2.0-OpenSSH_9.9\r\n\r\n', headers]) {
    const other = await openReceiver(answering(response))
    expect(await send(dispatcher, urlOf(other))).toMatchObject({ kind: 'invalid_response' })
  }
})

test('100 Continue before the answer is a failure with words of its own; 103 Early Hints is skipped', async () => {
  const dispatcher = dispatcherWith({ allow })
  const continuing = await openReceiver(answering(`HTTP/1.1 100 Continue\r\n\r\n${OK}`))
  expect(await send(dispatcher, urlOf(continuing))).toMatchObject({
    kind: 'invalid_response',
    words: expect.stringContaining('sent status 100 or 101, which Windfall did not ask for'),
  })
  const hinting = await openReceiver(answering(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`))
  expect(await send(dispatcher, urlOf(hinting))).toMatchObject({ status: 200 })
})

test('a certificate is checked against the host name and the authorities', async () => {
  const resolve = resolverOf(['127.0.0.1'])
  const { ca, secure } = certificateFor('hooks.example')
  const receiver = await openReceiver(answering(OK), secure)
  const dispatcher = dispatcherWith({ allow, resolve })
  const url = `https://hooks.example:${receiver.port}/`
  expect(await send(dispatcher, url)).toMatchObject({
    kind: 'tls',
    words: expect.stringContaining('[outbound] ca_file'),
  })
  dispatcher.reconfigure({ allow, ca })
  expect(await send(dispatcher, url)).toMatchObject({ status: 200, address: '127.0.0.1' })
  expect(await send(dispatcher, url.replace('hooks', 'other'))).toMatchObject({
    kind: 'tls',
    words: expect.stringContaining('another host name'),
  })
  expect(receiver.texts.filter((text) => text !== '')).toHaveLength(1)
})

test('a server without TLS, or that ends the handshake, is a failure of TLS', async () => {
  const plain = await openReceiver((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const closing = await openReceiver((socket) => socket.end())
  for (const { port } of [plain, closing])
    expect(await send(dispatcherWith({ allow }), `https://127.0.0.1:${port}/`)).toMatchObject({ kind: 'tls' })
})

test('the signal of a request and the end of the dispatcher abort it', async () => {
  const silent = await openReceiver(() => {})
  const dispatcher = dispatcherWith({ allow })
  const reason = new Error('no longer needed')
  await expect(send(dispatcher, urlOf(silent), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const running = send(dispatcher, urlOf(silent))
  await expect.poll(silent.connections).toBe(1)
  const aborted = expect(running).rejects.toThrow('Windfall is stopping')
  await dispatcher.close()
  await aborted
  await expect(send(dispatcher, urlOf(silent))).rejects.toThrow('Windfall is stopping')
})

test('new settings let a running request finish', async () => {
  let answer = () => {}
  const receiver = await openReceiver((socket) => {
    answer = () => socket.write(OK)
  })
  const dispatcher = dispatcherWith({ allow })
  const running = send(dispatcher, urlOf(receiver))
  await expect.poll(() => receiver.texts[0]).toContain('\r\n\r\n')
  dispatcher.reconfigure({ allow: [], ca: null })
  answer()
  expect(await running).toMatchObject({ status: 200 })
})

test('an invalid header is an error of the caller', async () => {
  const receiver = await openReceiver()
  const headers = { 'webhook-id': 'a\r\nb: c' }
  await expect(send(dispatcherWith({ allow }), urlOf(receiver), { headers })).rejects.toThrow('invalid')
  expect(receiver.connections()).toBe(0)
})

test('the server uses the settings of the configuration, and of a reload', async () => {
  const receiver = await openReceiver()
  const app = await openTestApp({ env: { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1' } })
  const { declare, outgoing } = app.windfall
  const { dispatcher } = outgoing
  expect(await send(dispatcher, urlOf(receiver))).toMatchObject({ status: 200 })
  await declare({ ...app.config, outbound: { allow: [], ca_file: null, ca: null } })
  expect(await send(dispatcher, urlOf(receiver))).toMatchObject({ kind: 'address' })
  await app.close()
  await expect(send(dispatcher, urlOf(receiver))).rejects.toThrow('Windfall is stopping')
})
