import { expect, test } from 'vitest'
import { openTestApp } from '../helpers.ts'

type Refused = { code: string; errors: { path: string; message: string }[] }

/** Values that fit the parameters of paths and queries well enough to reach the check of names. */
const pathOf = (path: string): string =>
  path.replace(':app_user_id', 'u1').replace(':kind', 'connect').replace(/:\w+/g, '1')

test('a parameter that does not exist, or is given twice, is refused by name on every route of /api/v1', async () => {
  const app = await openTestApp()
  const owner = await app.signIn()
  const routes = app.windfall.http.routes().filter(({ path }) => path.startsWith('/api/v1/'))
  expect(routes.length).toBeGreaterThan(40)
  for (const { method, path, query } of routes) {
    const entries = (query as { entries?: object } | undefined)?.entries ?? {}
    const ask = async (search: string) => {
      const response = await app.request(`${pathOf(path)}?${search}`, {
        method,
        headers: { ...owner, 'content-type': 'application/json' },
        ...(method === 'GET' ? {} : { body: '{}' }),
      })
      return { route: `${method} ${path}`, status: response.status, body: (await response.json()) as Refused }
    }
    const unknown = await ask('limt=5')
    expect(unknown).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(unknown.body.errors[0]?.path).toBe('limt')
    for (const name of Object.keys(entries)) {
      const twice = await ask(`${name}=1&${name}=2`)
      expect(twice).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(twice.body.errors).toContainEqual({ path: name, message: 'must be given only once' })
    }
  }
})

test('client apps, Apple, probes and pages may send unknown parameters', async () => {
  const app = await openTestApp()
  const call = { appUserId: 'u1', bundleId: 'com.example.lantern' }
  expect((await app.post('/api/sdk/v1/identify?sdk=ios', call)).status).toBe(200)
  expect((await app.post('/apple/notifications?x=1', {})).body.errors?.[0]?.path).toBe('signedPayload')
  for (const path of ['/healthz?x=1', '/readyz?x=1', '/revenue?utm_source=x', '/api/openapi.json?x=1'])
    expect((await app.request(path)).status).toBe(200)
})
