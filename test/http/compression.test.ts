import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { addHeader } from '../../src/http/response.ts'
import { openTestHttp, route, serveTest } from './wire.ts'

const LONG = { words: 'a figure and another; '.repeat(200) }
const routes = [
  route('GET', '/long', (event) => {
    addHeader(event, 'set-cookie', 'a=1')
    return LONG
  }),
  route('GET', '/short', () => ({ words: 'short' })),
]

async function fetchRoute(path: string, headers: Record<string, string>, method = 'GET') {
  const { http } = openTestHttp(routes)
  const answer = await http.app.request(path, { method, headers })
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
}

test('compresses a long response if the client accepts it', async () => {
  const { answer, bytes } = await fetchRoute('/long', { 'accept-encoding': 'gzip, deflate, br' })
  expect(answer.headers.get('content-encoding')).toBe('br')
  expect(answer.headers.get('vary')).toBe('accept-encoding')
  expect(answer.headers.get('content-length')).toBe(String(bytes.length))
  expect(answer.headers.getSetCookie()).toEqual(['a=1'])
  expect(JSON.parse(brotliDecompressSync(bytes).toString())).toEqual(LONG)
  const zipped = await fetchRoute('/long', { 'accept-encoding': 'GZIP;q=0.5, br;q=0' })
  expect(zipped.answer.headers.get('content-encoding')).toBe('gzip')
  expect(JSON.parse(gunzipSync(zipped.bytes).toString())).toEqual(LONG)
})

test.for([
  ['nothing said', '/long', {}],
  ['nothing taken that we have', '/long', { 'accept-encoding': 'zstd, gzip;q=0, br;q=0.000' }],
  ['another site that asks', '/long', { 'accept-encoding': 'br', 'sec-fetch-site': 'cross-site' }],
  ['a neighbouring site that asks', '/long', { 'accept-encoding': 'br', 'sec-fetch-site': 'same-site' }],
  ['a short answer', '/short', { 'accept-encoding': 'br' }],
] as const)('an answer is sent as it is: %s', async ([, path, headers]) => {
  const { answer, bytes } = await fetchRoute(path, headers)
  expect(answer.headers.get('content-encoding')).toBeNull()
  expect(JSON.parse(bytes.toString())).toHaveProperty('words')
})

test('sends a compressed response over a socket and keeps the connection; HEAD has the same headers', async () => {
  const { url } = await serveTest(routes)
  for (const site of ['same-origin', 'none']) {
    const answer = await fetch(`${url}/long`, {
      headers: { 'accept-encoding': 'br', 'sec-fetch-site': site },
    })
    expect(answer.headers.get('content-encoding')).toBe('br')
    expect(await answer.json()).toEqual(LONG)
  }
  const head = await fetch(`${url}/long`, { method: 'HEAD', headers: { 'accept-encoding': 'br' } })
  expect(head.headers.get('content-encoding')).toBe('br')
})
