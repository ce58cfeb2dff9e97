import { expect, onTestFinished, test } from 'vitest'
import { NAMED_VIEWS, viewAt } from '../../src/web/ui/addresses.ts'
import { VIEWS } from '../../src/web/views.ts'
import { openTestApp } from '../helpers.ts'

test('the server answers the address of every view with the page, and lists no other', async () => {
  const app = await openTestApp()
  onTestFinished(app.close)
  const page = await (await app.request('/')).text()
  for (const { path } of VIEWS) {
    const answer = await app.request(path.replace(/:\w+/g, 'one'))
    expect([answer.status, await answer.text()], path).toEqual([200, page])
  }
  const pages = app.windfall.http.routes().filter(({ summary }) => summary === 'The dashboard')
  expect(pages.map(({ path }) => path)).toEqual(VIEWS.map(({ path }) => path))
})

test.each(VIEWS)('the page shows $view at $path', (view) => {
  const path = view.path.replace(/:\w+/g, 'one')
  expect(viewAt(path)).toBe(view)
  expect(viewAt(`${path}/`)).toBe(view)
})

test('an address that is none is no view', () => {
  for (const path of ['/nothing', '/revenue/more', '/metrics/mrr/more', '/users', '/customers/a/b'])
    expect(viewAt(path), path).toBeUndefined()
})

test('every view belongs to a section of the navigation, but for signing in', () => {
  const sections = new Set<string | null>(NAMED_VIEWS.map(({ section }) => section))
  const others = VIEWS.filter(({ section }) => !sections.has(section))
  expect(others.map(({ path }) => path)).toEqual(['/setup', '/login', '/share'])
})
