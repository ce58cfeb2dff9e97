import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { MAX_NESTING, readJson } from '../../../src/http/body/body.ts'
import { parse } from '../../../src/http/parse.ts'
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
} from '../wire.ts'

const limit = 1000
const echo = route('POST', '/echo', async (event) => ({ got: await readJson(event, limit) }))
const json = { 'content-type': 'application/json' }

/** What the handler got, through a real server. */
async function gotFrom(body: string | Buffer, headers = ''): Promise<unknown> {
  const { port } = await serveTest([echo])
  const answer = await sendRaw(port, post('/echo', body, headers))
  expect(answer).toMatch(/^HTTP\/1.1 200/)
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).got
}

async function refusalOf(body: string | Buffer, headers = '') {
  const { port } = await serveTest([echo])
  return problemIn(await sendRaw(port, post('/echo', body, headers)))
}

test('reads JSON in one chunk or in many', async () => {
  const { port } = await serveTest([echo])
  const whole = post('/echo', '{"name":"Zoë","list":[1,true,null]}')
  const socket = await dial(port)
  const answer = response(socket)
  for (let i = 0; i < whole.length; i += 7) socket.write(whole.subarray(i, i + 7))
  expect(await answer).toContain('{"got":{"name":"ZoÃ«","list":[1,true,null]}}')
  socket.destroy()
})

test('ignores a byte order mark before the JSON, and nowhere else', async () => {
  expect(await gotFrom('\ufeff{"a":1}')).toEqual({ a: 1 })
  for (const body of ['\ufeff', '\ufeff\ufeff{}', '{}\ufeff'])
    expect(await refusalOf(body)).toMatchObject({ status: 400, code: 'invalid_json' })
})

test('reads a chunked body', async () => {
  const { url } = await serveTest([echo])
  async function* pieces() {
    yield '{"a":'
    yield '1}'
  }
  const body = ReadableStream.from(pieces()).pipeThrough(new TextEncoderStream())
  const answer = await fetch(`${url}/echo`, { method: 'POST', headers: json, body, duplex: 'half' })
  expect(await answer.json()).toEqual({ got: { a: 1 } })
})

test('reads a body without a socket', async () => {
  const { http } = openTestHttp([echo])
  const answer = await http.app.request('/echo', { method: 'POST', headers: json, body: '{"a":"é"}' })
  expect(await answer.json()).toEqual({ got: { a: 'é' } })
})

test('enforces the limits without a socket', async () => {
  const { http } = openTestHttp([echo])
  const postBody = (body: Buffer) => http.app.request('/echo', { method: 'POST', headers: json, body })
  expect((await postBody(Buffer.alloc(limit + 1, 32))).status).toBe(413)
  expect((await postBody(Buffer.from([0x22, 0xff, 0x22]))).status).toBe(400)
})

test.each([
  ['none', 'x-nothing: 1'],
  ['text/plain', 'content-type: text/plain'],
  ['application/jsonp', 'content-type: application/jsonp'],
  ['two of them', 'content-type: application/json\r\ncontent-type: application/json'],
])('content type %s is refused', async (_, line) => {
  const { port } = await serveTest([echo])
  const answer = await sendRaw(
    port,
    `POST /echo HTTP/1.1\r\nHost: a.localhost\r\n${line}\r\ncontent-length: 2\r\n\r\n{}`,
  )
  expect(problemIn(answer)).toMatchObject({ status: 415, code: 'unsupported_media_type' })
})

test('ignores case and parameters of the content type', async () => {
  const { http } = openTestHttp([echo])
  for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json ;x=1']) {
    const headers = { 'content-type': type }
    expect((await http.app.request('/echo', { method: 'POST', headers, body: '{}' })).status).toBe(200)
  }
})

test('refuses a compressed body before decompressing it', async () => {
  const { http } = openTestHttp([echo])
  for (const coding of ['gzip', 'br', 'identity, gzip']) {
    const headers = { ...json, 'content-encoding': coding }
    const answer = await http.app.request('/echo', { method: 'POST', headers, body: gzipSync('{}') })
    expect(answer.status).toBe(415)
    expect(answer.headers.get('accept-encoding')).toBe('identity')
  }
  const headers = { ...json, 'content-encoding': 'Identity' }
  expect((await http.app.request('/echo', { method: 'POST', headers, body: '{}' })).status).toBe(200)
})

test('accepts a body of exactly the limit and refuses one byte more', async () => {
  const text = JSON.stringify('x'.repeat(limit - 2))
  expect(await gotFrom(text)).toHaveLength(limit - 2)
  expect(await refusalOf(`${text} `)).toMatchObject({ status: 413, code: 'too_large' })
})

test('refuses a body that is announced as too large before reading it', async () => {
  const { port } = await serveTest([echo])
  const head = 'POST /echo HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n'
  expect(problemIn(await sendRaw(port, `${head}content-length: 1001\r\n\r\n`)).status).toBe(413)
  expect(problemIn(await sendRaw(port, `${head}content-length: 99999999999999\r\n\r\n`)).status).toBe(413)
})

test('answers a slightly too large body and keeps the connection', async () => {
  const { port } = await serveTest([echo])
  const socket = await dial(port)
  const refused = response(socket)
  socket.write(post('/echo', Buffer.alloc(limit * 3, 32)))
  expect(problemIn(await refused).status).toBe(413)
  const taken = response(socket)
  socket.write(post('/echo', '{}'))
  expect(await taken).toMatch(/^HTTP\/1.1 200/)
  socket.destroy()
})

test.each(['announced', 'chunked'])(
  'refuses fifty megabytes (%s) and closes the connection near the limit',
  async (way) => {
    const connections: Socket[] = []
    const { port } = await serveTest([
      route('POST', '/echo', (event) => {
        if (event.runtime?.node) connections.push(event.runtime.node.req.socket)
        return readJson(event, limit)
      }),
    ])
    const socket = await dial(port)
    const closed = untilClosed(socket)
    const chunk = Buffer.alloc(50_000, 32)
    const piece =
      way === 'chunked' ? Buffer.concat([Buffer.from('c350\r\n'), chunk, Buffer.from('\r\n')]) : chunk
    const length = way === 'chunked' ? 'transfer-encoding: chunked' : 'content-length: 50000000'
    socket.write(
      `POST /echo HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n${length}\r\n\r\n`,
    )
    const refused = response(socket)
    socket.write(piece)
    expect(problemIn(await refused).status).toBe(413)
    for (let sent = 0; sent < 50_000_000 && !socket.closed; sent += piece.length) {
      if (!socket.write(piece)) await new Promise((resolve) => setImmediate(resolve))
    }
    await closed
    expect(connections).toHaveLength(1)
    expect(connections[0]?.bytesRead).toBeLessThan(limit + 4 * 65_536)
  },
)

test.each([
  ['', 'The body is empty'],
  ['{"a":', 'it ends too early, at line 1, column 6'],
  ['{"a":1}}', 'line 1, column 8'],
  ['{a:1}', 'line 1, column 2'],
  ['NaN', 'line 1, column 1'],
  ['{"a":1,}', 'line 1, column 8'],
])('%j is refused, saying where', async (body, words) => {
  const { status, code, detail } = await refusalOf(body)
  expect({ status, code }).toEqual({ status: 400, code: 'invalid_json' })
  expect(detail).toContain(words)
})

test('does not quote the body in a refusal', async () => {
  const { detail } = await refusalOf('{"token": "sk_live_abcdefgh", oops}')
  expect(detail).not.toMatch(/sk_live|oops/)
})

test.each([
  ['a lone continuation byte', [0x22, 0x80, 0x22]],
  ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
  ['half a surrogate pair', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['a character cut short', [0x22, 0xe2, 0x82, 0x22]],
  ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
])('%s is no UTF-8 and is refused, never replaced', async (_, bytes) => {
  expect(await refusalOf(Buffer.from(bytes))).toEqual({
    status: 400,
    code: 'invalid_json',
    detail: 'The body is not UTF-8.',
  })
})

test('accepts values nested to the limit and refuses deeper ones', async () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  expect(await gotFrom(nested(MAX_NESTING))).toBeInstanceOf(Array)
  const { http } = openTestHttp([route('POST', '/echo', async (event) => readJson(event, 1_000_000))])
  for (const levels of [MAX_NESTING + 1, 450_000]) {
    const answer = await http.app.request('/echo', { method: 'POST', headers: json, body: nested(levels) })
    expect(await answer.json()).toMatchObject({
      status: 400,
      code: 'invalid_json',
      detail: expect.stringContaining('nested deeper'),
    })
  }
  const objects = `${'{"a":'.repeat(MAX_NESTING + 1)}1${'}'.repeat(MAX_NESTING + 1)}`
  expect(await refusalOf(objects)).toMatchObject({ status: 400, code: 'invalid_json' })
})

test('the last of equal keys wins', async () => {
  expect(await gotFrom('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 })
})

test('treats __proto__ as a plain key', async () => {
  const { http } = openTestHttp([
    route('POST', '/echo', async (event) => {
      const got = await readJson(event, limit)
      const call = parse(v.object({ attributes: v.record(v.string(), v.unknown()) }), got)
      return { call, polluted: 'admin' in {}, inherited: 'admin' in call.attributes }
    }),
  ])
  const body =
    '{"__proto__":{"admin":1},"attributes":{"__proto__":{"admin":1},"constructor":{"prototype":{"admin":1}}}}'
  const answer = await http.app.request('/echo', { method: 'POST', headers: json, body })
  expect(await answer.json()).toMatchObject({ polluted: false, inherited: false })
  expect('admin' in {}).toBe(false)
})

test('converts numbers to the nearest double or infinity', async () => {
  expect(await gotFrom('[9007199254740993, 1e-400, 0.1]')).toEqual([9007199254740992, 0, 0.1])
  const { http } = openTestHttp([
    route('POST', '/echo', async (event) =>
      parse(v.pipe(v.number(), v.finite()), await readJson(event, limit)),
    ),
  ])
  const answer = await http.app.request('/echo', { method: 'POST', headers: json, body: '1e999' })
  expect(answer.status).toBe(400)
})

test('ends the request when the client disconnects during the body', async () => {
  let settle: (outcome: string) => void = () => undefined
  const outcome = new Promise<string>((resolve) => {
    settle = resolve
  })
  const { port } = await serveTest([
    route('POST', '/echo', (event) =>
      readJson(event, limit).then(
        () => settle('read'),
        (error) => settle(error.code),
      ),
    ),
  ])
  const socket = await dial(port)
  socket.write(post('/echo', '{"a":1}').subarray(0, -3))
  socket.end()
  expect(await outcome).toBe('invalid_json')
})

test('ends the request when the client disconnected before the body is read', async () => {
  let settle: (outcome: string) => void = () => undefined
  const outcome = new Promise<string>((resolve) => {
    settle = resolve
  })
  const { port } = await serveTest([
    route('POST', '/echo', async (event) => {
      await new Promise((resolve) => event.runtime?.node?.req.once('close', resolve))
      await readJson(event, limit).then(
        () => settle('read'),
        (error) => settle(error.code),
      )
    }),
  ])
  const socket = await dial(port)
  socket.write(post('/echo', '{"a":1}').subarray(0, -3))
  setImmediate(() => socket.destroy())
  expect(await outcome).toBe('invalid_json')
})
