/** The answers of a server that listens and whose program is not open yet. */
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { readJson } from '../../src/http/body/body.ts'
import { type ListenOptions, openListener } from '../../src/http/listening/listener.ts'
import { serveOn } from '../../src/http/server.ts'
import { dial, openTestHttp, post, problemIn, response, route, sendRaw } from './wire.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const echo = route('POST', '/echo', async (event) => ({ got: await readJson(event, 1000) }))

async function startListening(options: ListenOptions = {}) {
  const { http, lines } = openTestHttp([echo])
  const listener = await openListener(http.log, { port: 0, shutdown_ms: 100, ...options })
  onTestFinished(() => listener.close())
  return { listener, http, lines, port: listener.port }
}

test('a server that starts is alive and not ready', async () => {
  const { port } = await startListening()
  expect(await sendRaw(port, get('/healthz?x=1'))).toMatch(
    /^HTTP\/1.1 200 .*x-content-type-options: nosniff.*x-request-id: req_.*{"status":"ok"}$/s,
  )
  const answer = await sendRaw(port, get('/readyz'))
  expect(problemIn(answer)).toMatchObject({ status: 503, code: 'starting' })
  expect(answer).toMatch(/retry-after: 5/)
  expect(await sendRaw(port, 'HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /)
})

test('another request waits for the program, which then answers it with its body', async () => {
  const { listener, http, port } = await startListening()
  const socket = await dial(port)
  const answer = response(socket)
  socket.write(post('//api/sdk/none', '{}'))
  const other = await dial(port)
  const echoed = response(other)
  other.write(post('/echo', '[1]'))
  // Its answer shows that the server has read the requests before it.
  await sendRaw(port, get('/healthz'))
  serveOn(listener, http)
  expect(problemIn(await answer)).toMatchObject({ status: 404 })
  expect(await echoed).toMatch(/^HTTP\/1.1 200 .*{"got":\[1\]}$/s)
  expect(await sendRaw(port, get('/healthz'))).toMatch(/^HTTP\/1.1 200 /)
})

test('a client that gives up before the program is open is not served', async () => {
  const { listener, http, lines, port } = await startListening()
  const socket = await dial(port)
  socket.write(post('/echo', '[1]'))
  await sendRaw(port, get('/healthz'))
  socket.destroy()
  await once(socket, 'close')
  await sendRaw(port, get('/healthz'))
  serveOn(listener, http)
  await sendRaw(port, get('/healthz'))
  expect(lines().flatMap(({ path }) => path ?? [])).toEqual(['/healthz'])
})

test('a request does not wait for a long start', async () => {
  const { port } = await startListening({ hold_ms: 20 })
  const socket = await dial(port)
  const answer = response(socket)
  socket.write(get('/echo'))
  expect(problemIn(await answer)).toMatchObject({ status: 503, code: 'starting' })
  expect(problemIn(await sendRaw(port, get('/echo')))).toMatchObject({ status: 503, code: 'starting' })
  expect(await sendRaw(port, get('/healthz'))).toMatch(/^HTTP\/1.1 200 /)
})

test('a request that waits for a program which does not open is refused', async () => {
  const { listener, port } = await startListening()
  const socket = await dial(port)
  const answer = response(socket)
  socket.write(get('/echo'))
  await sendRaw(port, get('/healthz'))
  await listener.close()
  expect(problemIn(await answer)).toMatchObject({ status: 503, code: 'starting' })
})
