import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openTestApp } from '../helpers.ts'

const bytes = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer())

test('every view is the same page, in whatever form its reader takes', async () => {
  const app = await openTestApp()
  const plain = await app.request('/', { headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(plain.headers.get('content-encoding')).toBeNull()
  const html = (await bytes(plain)).toString()
  expect(html).toContain('<title>Windfall</title>')
  const packed = await app.request('/customers/cus_1', {
    headers: { 'accept-encoding': 'gzip, deflate, br' },
  })
  expect(packed.headers.get('content-encoding')).toBe('br')
  expect(brotliDecompressSync(await bytes(packed)).toString()).toBe(html)
  const zipped = await app.request('/settings/keys', { headers: { 'accept-encoding': 'gzip' } })
  expect(gunzipSync(await bytes(zipped)).toString()).toBe(html)
  expect(zipped.headers.get('cache-control')).toBe('no-cache')
})

test('what the page is made of is named after its content and kept for ever; no other host is asked', async () => {
  const app = await openTestApp()
  const html = (await bytes(await app.request('/'))).toString()
  const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
  expect(named.filter((path) => !path.startsWith('/'))).toEqual([])
  const assets = named.filter((path) => path.startsWith('/assets/'))
  expect(assets.length).toBeGreaterThanOrEqual(3)
  for (const path of assets) {
    const response = await app.request(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  }
  for (const path of named.filter((one) => !one.startsWith('/assets/'))) {
    expect((await app.request(path)).status, path).toBe(200)
  }
  expect((await app.request('/service_worker.js')).headers.get('content-type')).toContain('javascript')
})

test('a file that is not part of the page is not there', async () => {
  const app = await openTestApp()
  for (const path of ['/assets/none.js', '/assets/..%2f..%2fpackage.json', '/nothing']) {
    expect((await app.request(path)).status, path).toBe(404)
  }
})

test('a browser that asks for what is not there gets the page, which says so; programs get a problem', async () => {
  const app = await openTestApp()
  const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const page = await bytes(await app.request('/'))
  for (const path of ['/nothing', '/metrics/mrr/more', '/apples']) {
    const answer = await app.request(path, { headers: html })
    expect([answer.status, answer.headers.get('content-type')], path).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
    expect(await bytes(answer), path).toEqual(page)
  }
  const problem = async (path: string, init: RequestInit) => {
    const answer = await app.request(path, init)
    const summary = `${answer.status} ${answer.headers.get('content-type')}`
    expect([path, summary, ((await answer.json()) as { code: string }).code]).toEqual([
      path,
      '404 application/problem+json',
      'not_found',
    ])
  }
  for (const path of ['/api', '/api/v1/nothing', '/apple/nothing', '/assets/none.js'])
    await problem(path, { headers: html })
  for (const accept of ['*/*', 'application/json', '']) await problem('/nothing', { headers: { accept } })
  await problem('/nothing', { method: 'POST', headers: html })
})

test('the first load stays below 90 kB as it travels', async () => {
  const app = await openTestApp()
  const sizeOf = async (path: string): Promise<number> =>
    (await bytes(await app.request(path, { headers: { 'accept-encoding': 'br' } }))).length
  const html = (await bytes(await app.request('/'))).toString()
  const paths = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
  // The browser takes the one icon that suits it.
  const first = paths.filter((path) => !path.endsWith('.png'))
  const sizes = await Promise.all(['/', ...first].map(sizeOf))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(90_000)
})

test('every view that the page knows is answered at its address, so that it can be bookmarked', async () => {
  const app = await openTestApp()
  const source = readFileSync(new URL('../../src/web/ui/page.tsx', import.meta.url), 'utf8')
  const known = [...source.matchAll(/path="([^"]+)"/g)].map(([, path]) => path ?? '')
  expect(known.length).toBeGreaterThan(8)
  for (const path of known) {
    expect((await app.request(path.replace(/:\w+/, 'some'))).status, path).toBe(200)
  }
})
