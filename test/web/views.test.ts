import { expect, onTestFinished, test } from 'vitest'
import { NAVIGATION_VIEWS, viewAt } from '../../src/web/ui/addresses.ts'
import { VIEWS } from '../../src/web/views.ts'
import { openTestApp } from '../helpers.ts'

test('serves the page at the path of every view and at no other', async () => {
  const app = await openTestApp()
  onTestFinished(app.close)
  // The pages differ in the code of their views, which they load at once.
  const withoutCode = (html: string): string => html.replace(/<link rel="modulepreload"[^>]*>/g, '')
  const page = withoutCode(await (await app.request('/')).text())
  for (const { path } of VIEWS) {
    const headers = { accept: 'text/html' }
    const answer = await app.request(path.replace(/:\w+/g, 'one'), { headers })
    expect([answer.status, withoutCode(await answer.text())], path).toEqual([200, page])
  }
  const pages = app.windfall.http.routes().filter(({ summary }) => summary === 'The dashboard')
  expect(pages.map(({ path }) => path)).toEqual(VIEWS.map(({ path }) => path))
})

test('no search engine lists a page, or reads anything', async () => {
  const app = await openTestApp()
  onTestFinished(app.close)
  for (const path of ['/login', '/', '/nothing']) {
    const { headers } = await app.request(path, { headers: { accept: 'text/html' } })
    expect([path, headers.get('x-robots-tag')]).toEqual([path, 'noindex'])
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  }
  const robots = await app.request('/robots.txt')
  expect([robots.status, robots.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(await robots.text()).toBe('User-agent: *\nDisallow: /\n')
})

test('leads the links of former messages to *Today* with their scope', async () => {
  const app = await openTestApp()
  onTestFinished(app.close)
  for (const [path, location] of [
    ['/today', '/'],
    ['/today?app=app_1', '/?app=app_1'],
  ] as const) {
    const answer = await app.request(path, { headers: { accept: 'text/html' } })
    expect([answer.status, answer.headers.get('location')], path).toEqual([302, location])
  }
})

test.each(VIEWS)('renders $view at $path', (view) => {
  const path = view.path.replace(/:\w+/g, 'one')
  expect(viewAt(path)).toBe(view)
  expect(viewAt(`${path}/`)).toBe(view)
})

test('finds no view at an unknown path', () => {
  for (const path of ['/nothing', '/revenue/more', '/metrics/mrr/more', '/users', '/customers/a/b'])
    expect(viewAt(path), path).toBeUndefined()
})

test('assigns every view except sign-in to a section', () => {
  const sections = new Set<string | null>(NAVIGATION_VIEWS.map(({ section }) => section))
  const others = VIEWS.filter(({ section }) => !sections.has(section))
  expect(others.map(({ path }) => path)).toEqual(['/setup', '/login', '/share'])
})
