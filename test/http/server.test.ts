import { once } from 'node:events'
import { createServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createEventStream } from 'h3'
import { expect, onTestFinished, test } from 'vitest'
import { readJson } from '../../src/http/body/body.ts'
import { listen } from '../../src/http/server.ts'
import {
  dial,
  openTestHttp,
  post,
  problemIn,
  response,
  route,
  sendRaw,
  serveTest,
  untilClosed,
} from './wire.ts'

const echo = route('POST', '/echo', async (event) => ({ got: await readJson(event, 1000) }))
const hello = route('GET', '/hello', () => 'hello')
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const quick = { headers_timeout_ms: 100, request_timeout_ms: 200, check_every_ms: 20 }
const quickHeaders = { ...quick, request_timeout_ms: 60_000 }

/** A promise and what settles it, for handlers that wait until the test lets them go on. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: () => resolve() }
}

test('listens on a free port and returns the URL', async () => {
  const { url, port } = await serveTest([hello])
  expect(url).toBe(`http://127.0.0.1:${port}`)
  expect(await (await fetch(`${url}/hello`)).json()).toBe('hello')
})

test('explains that a port is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const address = other.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const { http } = openTestHttp([])
  await expect(listen(http, { port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is already in use.`)
})

test('shows a wildcard address as a reachable URL', async () => {
  const { http } = openTestHttp([hello])
  const server = await listen(http, { host: '0.0.0.0', port: 0 })
  onTestFinished(() => server.close())
  expect(await (await fetch(`${server.url}/hello`)).json()).toBe('hello')
})

test('refuses new routes after listening', async () => {
  const { http } = await serveTest([hello])
  expect(() => http.add([route('GET', '/more', () => 1)])).toThrow()
})

test('answers several requests on one connection in order', async () => {
  const { port } = await serveTest([hello, echo])
  const socket = await dial(port)
  const all = untilClosed(socket)
  socket.write(
    Buffer.concat([Buffer.from(get('/hello')), post('/echo', '[1]'), Buffer.from(get('/nowhere'))]),
  )
  socket.end()
  expect((await all).match(/HTTP\/1.1 \d+|"hello"|"got":\[1\]|not_found/g)).toEqual([
    'HTTP/1.1 200',
    '"hello"',
    'HTTP/1.1 200',
    '"got":[1]',
    'HTTP/1.1 404',
    'not_found',
  ])
})

test.each([
  ['transfer-encoding and content-length', 'transfer-encoding: chunked\r\ncontent-length: 2'],
  ['content-length and transfer-encoding', 'content-length: 2\r\ntransfer-encoding: chunked'],
  ['two lengths', 'content-length: 2\r\ncontent-length: 3'],
  ['a negative length', 'content-length: -1'],
  ['a length in hexadecimal', 'content-length: 0x2'],
  ['an unknown transfer-encoding', 'transfer-encoding: xchunked'],
  ['a transfer-encoding after chunked', 'transfer-encoding: chunked, identity'],
  ['a folded header', 'x: 1\r\n 2'],
  ['a space before the colon', 'content-length : 2'],
  ['a line that is no header', 'nonsense'],
  ['a null byte', 'x: \0'],
])('%s: refused, and the connection closed', async (_, lines) => {
  const { port } = await serveTest([echo])
  const socket = await dial(port)
  const answer = untilClosed(socket)
  socket.write(
    `POST /echo HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n${lines}\r\n\r\n{}`,
  )
  const text = await answer
  expect(problemIn(text)).toMatchObject({ status: 400, code: 'bad_request' })
  expect(text.match(/HTTP\/1.1 \d/g)).toHaveLength(1)
  expect(text).toMatch(/x-request-id: req_.*x-content-type-options: nosniff.*connection: close/s)
})

test.each([
  ['no request at all', 'hello?\r\n\r\n', 400],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['an unknown method', 'BREW /hello HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['a target without a slash', 'GET hello HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['a target of another kind', 'GET ftp://localhost/hello HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['HTTP/3', 'GET /hello HTTP/3.0\r\nHost: localhost\r\n\r\n', 400],
  ['17 KB of headers', `GET /hello HTTP/1.1\r\nHost: localhost\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ['17 KB of path', `GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
  ['an expectation', 'GET /hello HTTP/1.1\r\nHost: localhost\r\nexpect: 200\r\n\r\n', 417],
  ['an encoded null byte', get('/hello%00'), 404],
  ['an encoded slash', get('/%2fhello'), 404],
  ['TRACE', 'TRACE /hello HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
  ['the asterisk', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n', 421],
  ['the absolute form', 'GET http://localhost/hello HTTP/1.1\r\nHost: localhost\r\n\r\n', 421],
  [
    'the absolute form, the host hidden in it',
    'GET http://x@localhost/hello HTTP/1.1\r\nHost: localhost\r\n\r\n',
    421,
  ],
])('%s is answered with a problem', async (_, bytes, status) => {
  const { port } = await serveTest([hello])
  const answer = await sendRaw(port, Buffer.from(bytes, 'latin1'))
  expect(problemIn(answer).status).toBe(status)
  expect(answer).toMatch(/x-request-id: req_/)
  expect(await sendRaw(port, get('/hello'))).toMatch(/"hello"$/)
})

test('answers a malformed request after a valid one with 400', async () => {
  const { port } = await serveTest([hello])
  const socket = await dial(port)
  const answers = untilClosed(socket)
  socket.write(get('/hello'))
  await once(socket, 'data')
  socket.write('nonsense\r\n\r\n')
  expect((await answers).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
})

test('closes the connection of a CONNECT request', async () => {
  const { port } = await serveTest([hello])
  const socket = await dial(port)
  const answer = untilClosed(socket)
  socket.write('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n')
  expect(await answer).toBe('')
})

test.each([
  ['at once', ''],
  ['after another request', get('/hello')],
])('nonsense %s, after a request that is still answered, does not get into that answer', async (_, first) => {
  const { passed, open } = gate()
  const { port } = await serveTest([
    hello,
    route('GET', '/stream', (event) => {
      const stream = createEventStream(event)
      void stream.push('one').then(open)
      return stream
    }),
  ])
  const socket = await dial(port)
  const answer = untilClosed(socket)
  socket.write(get('/stream'))
  await passed
  await once(socket, 'data')
  socket.write(`${first}nonsense\r\n\r\n`)
  expect((await answer).match(/HTTP\/1.1 \d/g)).toHaveLength(1)
})

test('closes connections that send headers slowly or nothing', async () => {
  const { port } = await serveTest([hello], quickHeaders)
  const slow = await dial(port)
  const answers = [untilClosed(slow), untilClosed(await dial(port))]
  const drip = setInterval(() => slow.write('x: 1\r\n'), 20)
  slow.write('GET /hello HTTP/1.1\r\nHost: localhost\r\n')
  const [slowly, nothing] = await Promise.all(answers)
  clearInterval(drip)
  expect(problemIn(slowly ?? '')).toMatchObject({ status: 408, code: 'request_timeout' })
  expect(problemIn(nothing ?? '')).toMatchObject({ status: 408, code: 'request_timeout' })
})

test('closes connections that send a body byte by byte, and ends the handler', async () => {
  const { passed, open } = gate()
  const read = route('POST', '/echo', (event) => readJson(event, 1000).finally(open))
  const { port } = await serveTest([read], quick)
  const socket = await dial(port)
  const answer = untilClosed(socket)
  const bytes = post('/echo', JSON.stringify('x'.repeat(500)))
  socket.write(bytes.subarray(0, -500))
  const drip = setInterval(() => socket.write('x'), 20)
  expect(problemIn(await answer)).toMatchObject({ status: 408, code: 'request_timeout' })
  clearInterval(drip)
  await passed
})

test('closes two hundred slow connections while it answers others', async () => {
  const { port } = await serveTest([hello], quick)
  const slow = await Promise.all(Array.from({ length: 200 }, () => dial(port)))
  const closed = slow.map((socket) => untilClosed(socket))
  for (const socket of slow) socket.write('GET /hello HTTP/1.1\r\nHo')
  expect(await sendRaw(port, get('/hello'))).toMatch(/"hello"$/)
  for (const text of await Promise.all(closed)) expect(text).toMatch(/^HTTP\/1.1 408/)
})

test('closes a connection that never reads the response', async () => {
  const { passed, open } = gate()
  const large = 'x'.repeat(30_000_000)
  const answer = route('GET', '/large', (event) => {
    event.runtime?.node?.req.socket.once('close', open)
    return large
  })
  const { port } = await serveTest([answer], { idle_timeout_ms: 100 })
  const socket = await dial(port)
  socket.write(get('/large'))
  await passed
  expect((await untilClosed(socket)).length).toBeLessThan(large.length)
})

test('closes an idle connection after the keep-alive time', async () => {
  const { port } = await serveTest([hello], { keep_alive_ms: 20 })
  const socket = await dial(port)
  const all = untilClosed(socket)
  socket.write(get('/hello'))
  expect(await all).toMatch(/"hello"$/)
})

test('closes connections above the limit, keeps those with a request, and logs it once', async () => {
  const { passed, open } = gate()
  let begun = 0
  const wait = route('GET', '/wait', async () => {
    begun += 1
    await passed
    return 'finished'
  })
  const { port, lines } = await serveTest([wait], { max_connections: 5 })
  const answers: Promise<string>[] = []
  for (let n = 1; n <= 5; n += 1) {
    const socket = await dial(port)
    answers.push(response(socket))
    socket.write(get('/wait'))
    while (begun < n) await new Promise(setImmediate)
  }
  const refused = await Promise.all(Array.from({ length: 20 }, async () => untilClosed(await dial(port))))
  expect(refused.every((text) => text === '')).toBe(true)
  open()
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/"finished"$/)
  expect(lines().filter(({ level }) => level === 'warn')).toMatchObject([{ max_connections: 5 }])
})

test('accepts a connection again after another has closed', async () => {
  const { port } = await serveTest([hello], { max_connections: 1 })
  const first = await dial(port)
  const answer = response(first)
  first.write(get('/hello'))
  await answer
  first.end()
  await untilClosed(first)
  expect(await sendRaw(port, get('/hello'))).toMatch(/"hello"$/)
})

test('shutdown finishes running requests and accepts no new connections', async () => {
  const begun = gate()
  const go = gate()
  const wait = route('GET', '/wait', async () => {
    begun.open()
    await go.passed
    return 'finished'
  })
  const { port, server, http } = await serveTest([wait, hello], { shutdown_ms: 5000 })
  const waiting = await dial(port)
  const answer = untilClosed(waiting)
  waiting.write(get('/wait'))
  await begun.passed
  expect(http.closing.aborted).toBe(false)
  const closed = server.close()
  expect(http.closing.aborted).toBe(true)
  await expect(fetch(`http://127.0.0.1:${port}/hello`)).rejects.toThrow()
  go.open()
  expect(await answer).toMatch(/connection: close.*"finished"$/s)
  await closed
})

test('shutdown closes idle and silent connections immediately', async () => {
  const { port, server } = await serveTest([hello], { keep_alive_ms: 60_000, shutdown_ms: 60_000 })
  const idle = await dial(port)
  const answered = response(idle)
  idle.write(get('/hello'))
  await answered
  const silent = await dial(port)
  await Promise.all([server.close(), untilClosed(idle), untilClosed(silent)])
})

test('shutdown ends streams immediately', async () => {
  const { http, lines } = openTestHttp([])
  http.add([
    route('GET', '/stream', (event) => {
      const stream = createEventStream(event)
      http.closing.addEventListener('abort', () => void stream.close())
      void stream.push('one')
      return stream
    }),
  ])
  const server = await listen(http, { port: 0, shutdown_ms: 60_000 })
  const clients = await Promise.all(Array.from({ length: 50 }, () => fetch(`${server.url}/stream`)))
  await server.close()
  for (const client of clients) expect(await client.text()).toBe('data: one\n\n')
  expect(lines().filter(({ path }) => path === '/stream')).toHaveLength(50)
})

test('shutdown aborts requests that do not finish in time', async () => {
  const { passed, open } = gate()
  const forever = route('GET', '/forever', () => {
    open()
    return new Promise(() => undefined)
  })
  const { port, server } = await serveTest([forever], { shutdown_ms: 50 })
  const socket = await dial(port)
  const answer = untilClosed(socket)
  socket.write(get('/forever'))
  await passed
  await server.close()
  expect(await answer).toBe('')
})

test('a second shutdown waits for the first', async () => {
  const { server } = await serveTest([hello])
  expect(server.close()).toBe(server.close())
})

function abuse(i: number): Buffer {
  const kinds = [
    () => post('/echo', '{"a":'),
    () => post('/echo', '['.repeat(900)),
    () => post('/echo', Buffer.alloc(5000, 0xff)),
    () => post('/echo', `{"__proto__":{"n":${i}},"__proto__":1e999}`),
    () => Buffer.from(`GET /${i} HTTP/1.1\r\nHost: h${i}.example\r\n\r\n`),
    () => Buffer.from(`NONSENSE${i}\r\n\r\n`),
    () => Buffer.from(`GET /hello HTTP/1.1\r\nHost: localhost\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`),
    () => Buffer.from(`POST /echo HTTP/1.1\r\nHost: localhost\r\ncontent-length: 5000000\r\n\r\nxxx`),
  ]
  return kinds[i % kinds.length]?.() ?? Buffer.alloc(0)
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** What is alive, on the heap and in buffers beside it, in bytes. */
function memoryUsed(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

test('thousands of abusive requests do not leak memory', async () => {
  const { port, http } = await serveTest([echo, hello], quick)
  http.log.setLevel('error')
  const round = async (from: number) => {
    for (let i = from; i < from + 1000; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, j) => sendRaw(port, abuse(i + j))))
    }
  }
  await round(0)
  const before = memoryUsed()
  for (const from of [1000, 2000, 3000]) await round(from)
  expect(memoryUsed() - before).toBeLessThan(8_000_000)
  expect(await sendRaw(port, get('/hello'))).toMatch(/"hello"$/)
})
