import { expect, test } from 'vitest'
import { readJson } from '../../src/http/body/body.ts'
import { normalizeTarget } from '../../src/http/listening/target.ts'
import { post, sendRaw, serveTest } from './wire.ts'

test.each([
  ['/api/sdk/v1/identify', '/api/sdk/v1/identify'],
  ['//api/sdk/v1/identify', '/api/sdk/v1/identify'],
  ['///api//sdk/v1//attribute?a=//b', '/api/sdk/v1/attribute?a=//b'],
  ['//api/v1/events', '//api/v1/events'],
  ['//evil.example/api/sdk/v1/identify', '//evil.example/api/sdk/v1/identify'],
  ['/x?next=//api/sdk/v1/identify', '/x?next=//api/sdk/v1/identify'],
  ['http://evil.example//api/sdk/v1/identify', 'http://evil.example//api/sdk/v1/identify'],
  ['*', '*'],
])('%s is routed as %s', (target, routed) => {
  expect(normalizeTarget(target)).toBe(routed)
})

test('collapses double slashes in SDK paths only', async () => {
  const handler = async (event: Parameters<typeof readJson>[0]) => ({ got: await readJson(event, 100) })
  const echo = { method: 'POST', summary: '', tag: '', answers: {}, handler } as const
  const { port, lines } = await serveTest([
    { ...echo, path: '/api/sdk/v1/identify' },
    { ...echo, path: '/api/v1/tokens' },
  ])
  const statusOf = async (path: string) => (await sendRaw(port, post(path, '{"a":1}'))).slice(9, 12)
  for (const path of ['/api/sdk/v1/identify', '//api/sdk/v1/identify', '/api/sdk//v1/identify?x=1'])
    expect(await statusOf(path)).toBe('200')
  for (const path of ['//api/v1/tokens', '//localhost/api/sdk/v1/identify', '//api/sdk/v1/nothing'])
    expect(await statusOf(path)).toBe('404')
  // No other name becomes the host that is asked for.
  const foreign = post('//localhost/api/sdk/v1/identify', '{}')
    .toString()
    .replace('Host: localhost', 'Host: evil.example')
  expect((await sendRaw(port, foreign)).slice(9, 12)).toBe('421')
  expect(lines().filter(({ path }) => path === '/api/sdk/v1/identify')).toHaveLength(3)
})
