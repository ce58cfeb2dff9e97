import { createEventStream, getQuery, HTTPError } from 'h3'
import { expect, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { addHeader } from '../../src/http/response.ts'
import { openTestHttp, problemIn, route, sendRaw, serveTest } from './wire.ts'

const security = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': expect.stringContaining('camera=()'),
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
}

const routes = [
  route('GET', '/value', () => ({ some: 'value' })),
  route('GET', '/later', async () => ['later']),
  route('GET', '/nothing', () => undefined),
  route('GET', '/null', () => null),
  route('GET', '/query', (event) => getQuery(event)),
  route('GET', '/things/:id', (event) => event.context.params?.id),
  route('POST', '/things', (event) => {
    event.res.status = 201
    addHeader(event, 'location', '/things/7')
    addHeader(event, 'cache-control', 'max-age=1')
    addHeader(event, 'set-cookie', 'a=1')
    addHeader(event, 'set-cookie', 'b=2')
    return { id: 7 }
  }),
  route(
    'GET',
    '/file',
    () => new Response('a,b', { status: 206, headers: { 'cache-control': 'max-age=5' } }),
  ),
  route('GET', '/refused', () => {
    throw new Refusal(429, 'too_many', 'Slower.', {
      headers: { 'retry-after': '7' },
      errors: [{ path: 'a', message: 'b' }],
    })
  }),
  route('GET', '/refused-later', async () => {
    throw new Refusal(503, 'unavailable', 'Later.', { headers: { 'retry-after': '1' } })
  }),
  route('GET', '/broken', () => {
    throw new TypeError('the password is hunter2')
  }),
  route('GET', '/broken-later', async () => {
    await Promise.reject(new Error('the password is hunter2'))
  }),
  route('GET', '/broken-value', async () => ({ big: 1n })),
  route('GET', '/thrown-word', () => {
    throw 'word'
  }),
  route('GET', '/h3', () => {
    throw new HTTPError({ status: 403, message: 'No.' })
  }),
  route('POST', '/open', () => 'open', { cors: true }),
  route('GET', '/open', () => 'open', { cors: true }),
]

/** What is asked in a process and over a socket must be answered alike. */
async function request(path: string, init: RequestInit = {}) {
  const { http, lines } = openTestHttp(routes)
  const inside = await http.app.request(path, init)
  const { url } = await serveTest(routes)
  const answer = await fetch(`${url}${path}`, init)
  const text = await answer.text()
  expect(answer.status).toBe(inside.status)
  expect(withoutId(text)).toBe(withoutId(await inside.text()))
  for (const [name, value] of inside.headers) {
    if (name !== 'x-request-id' && name !== 'set-cookie')
      expect([name, answer.headers.get(name)]).toEqual([name, value])
  }
  return { status: answer.status, headers: answer.headers, text, lines }
}

const withoutId = (text: string) => text.replace(/req_\w+/, '')

test('sends a value as JSON with the common headers', async () => {
  for (const path of ['/value', '/later', '/null']) {
    const { status, headers } = await request(path)
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({ ...security, 'content-type': 'application/json' })
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{12}_[0-9a-z]+$/)
  }
  expect((await request('/value')).text).toBe('{"some":"value"}')
  expect((await request('/null')).text).toBe('null')
})

test('sends undefined as 204', async () => {
  const { status, text, headers } = await request('/nothing')
  expect([status, text, headers.get('content-type')]).toEqual([204, '', null])
})

test('passes path parameters and the query to the handler', async () => {
  expect((await request('/things/a%20b')).text).toBe('"a%20b"')
  expect((await request('/query?a=1&a=2&b')).text).toBe('{"a":["1","2"],"b":""}')
})

test('keeps the status and the headers that a handler sets', async () => {
  const { status, headers } = await request('/things', { method: 'POST' })
  expect([status, headers.get('location')]).toEqual([201, '/things/7'])
  expect(headers.get('cache-control')).toBe('max-age=1')
  expect(headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(headers.get('x-content-type-options')).toBe('nosniff')
})

test('adds the common headers to the response of a handler', async () => {
  const { status, text, headers } = await request('/file')
  expect([status, text, headers.get('cache-control')]).toEqual([206, 'a,b', 'max-age=5'])
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('x-request-id')).toMatch(/^req_/)
})

test('sends a page with a policy that allows only this server and no framing', async () => {
  const page = (type: string) => () => new Response('<p>', { headers: { 'content-type': type } })
  const { http } = openTestHttp([
    route('GET', '/page', page('text/html; charset=utf-8')),
    route('GET', '/text', page('text/plain')),
    route('GET', '/script', page('text/javascript; charset=utf-8')),
    route('GET', '/picture', page('image/svg+xml')),
  ])
  const { headers } = await http.app.request('/page')
  expect(headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "font-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ])
  const policyOf = async (path: string) =>
    (await http.app.request(path)).headers.get('content-security-policy')
  const { 'content-security-policy': ofData, ...others } = security
  expect(Object.fromEntries(headers)).toMatchObject(others)
  expect(await policyOf('/text')).toBe(ofData)
  expect(await policyOf('/script')).toBe(headers.get('content-security-policy'))
  expect(await policyOf('/picture')).toBe(`${ofData}; style-src 'unsafe-inline'`)
})

test('sends Strict-Transport-Security if base_url is https', async () => {
  const redirectOf = async (base_url: string) => {
    const { http } = openTestHttp(routes, { base_url })
    const headers = { host: new URL(base_url).host }
    return (await http.app.request('/value', { headers })).headers.get('strict-transport-security')
  }
  expect(await redirectOf('https://windfall.example')).toBe('max-age=31536000; includeSubDomains')
  expect(await redirectOf('http://127.0.0.1:8787')).toBe(null)
})

test('answers HEAD like GET, without the body', async () => {
  const { status, text, headers } = await request('/value', { method: 'HEAD' })
  expect([status, text, headers.get('content-length')]).toEqual([200, '', '16'])
})

test('gives every request a unique id', async () => {
  const { http } = openTestHttp(routes)
  const ids = await Promise.all(
    Array.from({ length: 100 }, async () => (await http.app.request('/value')).headers.get('x-request-id')),
  )
  expect(new Set(ids).size).toBe(100)
})

test('sends a refusal as a problem document with its headers and errors', async () => {
  const { status, text, headers } = await request('/refused')
  expect(status).toBe(429)
  expect(JSON.parse(text)).toEqual({
    type: 'about:blank',
    title: 'Too Many Requests',
    status: 429,
    code: 'too_many',
    detail: 'Slower.',
    errors: [{ path: 'a', message: 'b' }],
  })
  expect(Object.fromEntries(headers)).toMatchObject({
    ...security,
    'content-type': 'application/problem+json',
    'retry-after': '7',
  })
  expect((await request('/refused-later')).headers.get('retry-after')).toBe('1')
})

test.each(['/broken', '/broken-later', '/broken-value', '/thrown-word'])(
  'answers an unexpected error (%s) with the request id only, and logs it once with its stack',
  async (path) => {
    const { http, lines } = openTestHttp(routes)
    const answer = await http.app.request(path)
    const id = answer.headers.get('x-request-id')
    expect(await answer.json()).toMatchObject({
      status: 500,
      code: 'internal',
      detail: expect.stringContaining(`${id}`),
    })
    const logged = lines().filter(({ level }) => level === 'error')
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({ request_id: id })
    expect((await request(path)).text).not.toMatch(/hunter2|BigInt|word/)
  },
)

test('logs the stack of an error', async () => {
  const { http, lines } = openTestHttp(routes)
  await http.app.request('/broken')
  expect(JSON.stringify(lines())).toMatch(/TypeError: the password is hunter2\\n.*http\.test\.ts/)
})

test('keeps the status of an error of h3', async () => {
  const { status, text } = await request('/h3')
  expect([status, JSON.parse(text).code]).toEqual([403, 'forbidden'])
})

test('answers an unknown path with 404 for every method', async () => {
  for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PATCH']) {
    const { status, text, headers } = await request('/nowhere', { method })
    expect([status, JSON.parse(text).code]).toEqual([404, 'not_found'])
    expect(headers.get('x-request-id')).toMatch(/^req_/)
  }
})

test('answers an unsupported method with 405 and the allowed methods', async () => {
  const wrong = await request('/value', { method: 'POST', body: '{}' })
  expect([wrong.status, JSON.parse(wrong.text).code]).toEqual([405, 'method_not_allowed'])
  expect(wrong.headers.get('allow')).toBe('GET, HEAD')
  expect((await request('/things', { method: 'GET' })).headers.get('allow')).toBe('POST')
  expect((await request('/things/7', { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD')
  expect((await request('/open', { method: 'PUT' })).headers.get('allow')).toBe('OPTIONS, POST, GET, HEAD')
})

test.each(['/value%', '/%ZZ', '/%ff'])('%s, which is no percent-encoding, is refused', async (path) => {
  const { port } = await serveTest(routes)
  const answer = await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  expect(problemIn(answer)).toMatchObject({ status: 400, code: 'invalid_path' })
  expect(answer).toMatch(/x-request-id: req_/)
})

test('answers a CORS preflight request of an open route', async () => {
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
  const { status, text, headers: answered } = await request('/open', { method: 'OPTIONS', headers })
  expect([status, text]).toEqual([204, ''])
  expect(Object.fromEntries(answered)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'OPTIONS, POST, GET, HEAD',
    'access-control-allow-headers':
      'authorization, content-type, x-windfall-assertion, x-windfall-unattested, x-revenuehog-unattested',
    'access-control-max-age': '86400',
  })
  expect(answered.get('access-control-allow-credentials')).toBeNull()
  expect(answered.get('x-request-id')).toMatch(/^req_/)
})

test('lets web pages read responses and refusals of an open route, without credentials', async () => {
  const { http } = openTestHttp(routes)
  const headers = { origin: 'https://app.example' }
  const foreign = { ...headers, host: 'evil.example' }
  const all = [
    await http.app.request('/open', { method: 'POST', headers }),
    await http.app.request('/open', { method: 'PUT', headers }),
    await http.app.request('/open', { headers: foreign }),
  ]
  expect(all.map(({ status }) => status)).toEqual([200, 405, 421])
  for (const answer of all) {
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-expose-headers')).toBe(
      'retry-after, ratelimit, ratelimit-policy, x-request-id',
    )
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  }
})

test('sends no CORS headers to requests without an Origin', async () => {
  expect((await request('/open')).headers.get('access-control-allow-origin')).toBeNull()
})

test('sends no CORS headers on other routes', async () => {
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  expect((await request('/value', { method: 'OPTIONS', headers })).status).toBe(405)
  expect((await request('/value', { headers })).headers.get('access-control-allow-origin')).toBeNull()
})

test('streams events with the common headers, without buffering', async () => {
  const { url } = await serveTest([
    route('GET', '/stream', (event) => {
      const stream = createEventStream(event)
      void stream
        .push('one')
        .then(() => stream.push('two'))
        .then(() => stream.close())
      return stream
    }),
  ])
  const answer = await fetch(`${url}/stream`)
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
  expect(await answer.text()).toBe('data: one\n\ndata: two\n\n')
})

test('logs one line per request, without its query', async () => {
  const { http, lines } = openTestHttp(routes)
  const answer = await http.app.request('/value?key=secret')
  await http.app.request('/refused')
  const [first, second] = lines()
  expect(first).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    level: 'info',
    message: 'request',
    method: 'GET',
    path: '/value',
    status: 200,
    ms: expect.any(Number),
    bytes: 16,
    request_id: answer.headers.get('x-request-id'),
  })
  expect(second).toMatchObject({ path: '/refused', status: 429, code: 'too_many' })
  expect(lines()).toHaveLength(2)
})

test('redacts a secret in the path of a log line', async () => {
  const { http, lines } = openTestHttp(routes)
  await http.app.request('/things/sk_live_abcdefghijklmnop')
  await http.app.request('/things/%73k_live_abcdefghijklmnop')
  expect(lines().map(({ path }) => path)).toEqual(['/things/sk_live_abcd…', '/things/sk_live_abcd…'])
})

test('refuses a second route for a method and path', () => {
  const { http } = openTestHttp(routes)
  expect(() => http.add([route('GET', '/value', () => 1)])).toThrow('GET /value already has a route')
})

/** Counts the requests that began, and those of them that are not answered yet. */
function countRequests() {
  const counted = { begun: 0, under_way: 0 }
  function beginRequest(): () => void {
    counted.begun += 1
    counted.under_way += 1
    return () => {
      counted.under_way -= 1
    }
  }
  return { counted, beginRequest }
}

test('counts a request as running until it is answered or refused', async () => {
  const { counted, beginRequest } = countRequests()
  const slow = Promise.withResolvers<string>()
  const { http } = openTestHttp([...routes, route('GET', '/slow', () => slow.promise)], { beginRequest })
  const paths = [
    'value',
    'later',
    'file',
    'refused',
    'refused-later',
    'broken',
    'broken-later',
    'nowhere',
    '%',
  ]
  for (const path of paths) await http.app.request(`/${path}`)
  expect(counted).toEqual({ begun: paths.length, under_way: 0 })
  const answer = http.app.request('/slow')
  expect(counted.under_way).toBe(1)
  slow.resolve('done')
  await answer
  expect(counted.under_way).toBe(0)
})

test('counts a streaming request as answered when the stream begins', async () => {
  const { counted, beginRequest } = countRequests()
  const endless = route('GET', '/endless', () => new Response(new ReadableStream({ pull() {} })))
  const { http } = openTestHttp([endless], { beginRequest })
  const response = await http.app.request('/endless')
  expect(counted).toEqual({ begun: 1, under_way: 0 })
  await response.body?.cancel()
})
