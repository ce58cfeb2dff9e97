import { expect, onTestFinished, test } from 'vitest'
import { openTestApp } from '../helpers.ts'

test('the front door says in two lines that it runs, and where to go on', async () => {
  const app = await openTestApp()
  onTestFinished(app.close)
  const answer = await app.request('/')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  expect((await answer.text()).split('\n')).toEqual([
    expect.stringMatching(/^Windfall \S+ runs; a dashboard is not part of it yet\.$/),
    'What it answers is described at /api/openapi.json',
    '',
  ])
  const document = (await (await app.request('/api/openapi.json')).json()) as { paths: object }
  expect(Object.keys(document.paths)).toContain('/')
  expect((await app.request('/', { method: 'POST' })).status).toBe(405)
})
