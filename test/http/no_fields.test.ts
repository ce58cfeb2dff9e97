/** Routes that need no body, over a socket. */
import { expect, test } from 'vitest'
import { defineRoute, PUBLIC } from '../../src/http/route.ts'
import { post, sendRaw, serveTest } from './wire.ts'

test('a route without fields accepts no body and an empty object, and refuses fields', async () => {
  const described = { method: 'POST', path: '/api/v1/act', summary: '', tag: '', access: PUBLIC } as const
  const route = defineRoute({ ...described, no_fields: true, answers: {}, handler: () => ({ done: true }) })
  const { port } = await serveTest([route])
  const statusOf = async (bytes: string | Buffer) => (await sendRaw(port, bytes)).slice(9, 12)
  const head = 'POST /api/v1/act HTTP/1.1\r\nHost: localhost\r\n'
  const json = `${head}content-type: application/json\r\n`
  for (const bytes of [`${head}\r\n`, `${head}content-length: 0\r\n\r\n`, `${json}\r\n`])
    expect(await statusOf(bytes)).toBe('200')
  expect(await statusOf(post('/api/v1/act', '{}'))).toBe('200')
  expect(await statusOf(post('/api/v1/act', '{"until_at":1}'))).toBe('400')
  expect(await statusOf(`${json}transfer-encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n`)).toBe('400')
  expect(await statusOf(`${head}content-length: 3\r\n\r\na=1`)).toBe('415')
})
