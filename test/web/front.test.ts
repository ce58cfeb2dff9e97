import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { asset } from '../../src/program/assets.ts'
import { STOREFRONT_CODES, twoLettersOf } from '../../src/web/ui/countries/names.ts'
import { VIEWS } from '../../src/web/views.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { nonEmpty } from '../non_empty.ts'

const bytes = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer())

test('serves the page in each content encoding', async () => {
  const app = await openTestApp()
  const plain = await app.request('/customers', { headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(plain.headers.get('content-encoding')).toBeNull()
  const html = (await bytes(plain)).toString()
  expect(html).toContain('<title>Windfall</title>')
  const packed = await app.request('/customers', { headers: { 'accept-encoding': 'gzip, deflate, br' } })
  expect(packed.headers.get('content-encoding')).toBe('br')
  expect(brotliDecompressSync(await bytes(packed)).toString()).toBe(html)
  const zipped = await app.request('/customers', { headers: { 'accept-encoding': 'gzip' } })
  expect(gunzipSync(await bytes(zipped)).toString()).toBe(html)
  expect(zipped.headers.get('cache-control')).toBe('no-cache')
})

test('names assets after their content, caches them permanently and uses no other host', async () => {
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
  for (const path of nonEmpty(named.filter((one) => !one.startsWith('/assets/')))) {
    expect((await app.request(path)).status, path).toBe(200)
  }
  expect((await app.request('/service_worker.js')).headers.get('content-type')).toContain('javascript')
})

test('answers 404 for an unknown asset', async () => {
  const app = await openTestApp()
  for (const path of ['/assets/none.js', '/assets/..%2f..%2fpackage.json', '/nothing']) {
    expect((await app.request(path)).status, path).toBe(404)
  }
})

test('answers an unknown path with the page for browsers and a problem for programs', async () => {
  const app = await openTestApp()
  const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const page = await bytes(await app.request('/other', { headers: html }))
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

/** The files that a page names, by their paths. */
async function namedIn(app: TestApp, path: string): Promise<string[]> {
  const html = (await bytes(await app.request(path, { headers: { accept: 'text/html' } }))).toString()
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, named]) => named ?? '')
}

test('the page of a view loads the code of the view at once', async () => {
  const app = await openTestApp()
  const shared = await namedIn(app, '/nothing')
  for (const [path, text] of [
    ['/', 'today-figures'],
    ['/revenue', 'Refund rate by product'],
    ['/metrics/mrr', 'All series'],
    ['/customers/cus_1', 'Months paid'],
    ['/settings', 'Not tested yet'],
    ['/settings/security', 'Sign out everywhere else'],
    ['/settings/webhooks/whk_1', 'Endpoint not found'],
    ['/login', 'Use a recovery code'],
  ] as const) {
    const own = (await namedIn(app, path)).filter((href) => !shared.includes(href))
    const code = await Promise.all(own.map(async (href) => (await bytes(await app.request(href))).toString()))
    expect([path, code.some((one) => one.includes(text))]).toEqual([path, true])
  }
})

test('divides the code of a view into few files, because each file costs a load some time', async () => {
  const app = await openTestApp()
  for (const path of [
    '/',
    '/revenue',
    '/subscriptions',
    '/retention',
    '/metrics',
    '/metrics/mrr',
    '/customers',
  ]) {
    const code = (await namedIn(app, path)).filter((href) => href.endsWith('.js'))
    expect(code.length, path).toBeLessThanOrEqual(5)
  }
})

test('keeps the compressed first load of every view, with font, styles and code, below 100 kB', async () => {
  const app = await openTestApp()
  const sizeOf = async (path: string): Promise<number> => {
    const headers = { accept: 'text/html', 'accept-encoding': 'br' }
    return (await bytes(await app.request(path, { headers }))).length
  }
  const sections = Object.keys(JSON.parse(asset('page.json'))).flatMap(
    (file) => /^\/page(\/settings\/.+)/.exec(file)?.[1] ?? [],
  )
  for (const path of [...VIEWS.map(({ path }) => path.replace(/:\w+/g, 'one')), ...nonEmpty(sections)]) {
    // The browser loads one of the icons.
    const named = (await namedIn(app, path)).filter((one) => !one.endsWith('.png'))
    const sizes = await Promise.all([path, ...named].map(sizeOf))
    expect(
      sizes.reduce((sum, size) => sum + size, 0),
      path,
    ).toBeLessThan(100_000)
  }
})

test('serves a flag for each storefront', async () => {
  const app = await openTestApp()
  const { devDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const version = devDependencies['country-flag-icons']
  const codes = nonEmpty(STOREFRONT_CODES.map((code) => twoLettersOf(code) ?? code))
  for (const code of codes) {
    const answer = await app.request(`/assets/flag-${code}-${version}.svg`)
    expect([code, answer.status, answer.headers.get('content-type')]).toEqual([code, 200, 'image/svg+xml'])
  }
})
