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

/** The parameters of a route in the OpenAPI document. */
async function documented(app: Awaited<ReturnType<typeof openTestApp>>, path: string) {
  const { paths } = (await (await app.request('/api/openapi.json')).json()) as {
    paths: Record<string, { get: { parameters: { name: string; schema: { pattern?: string } }[] } }>
  }
  return paths[path]?.get.parameters ?? []
}

const words = (count: number, word: string): string => Array<string>(count).fill(word).join(',')

test.each([
  ['/api/v1/metrics/{name}', 'country', ['USA', 'USA,DEU', ',USA,,DEU,', words(100, 'USA')]],
  ['/api/v1/metrics/{name}', 'period', ['P1M', 'P1M,P1Y']],
  ['/api/v1/metrics/{name}', 'offer', ['trial', 'intro,paid']],
  ['/api/v1/metrics/{name}', 'product', ['a', 'a b,c']],
  ['/api/v1/cohorts', 'days', ['7', '7,30', words(400, '7'), '']],
  ['/api/v1/annotations', 'from', ['2008-01-01', '2026-02-28', '2099-12-31']],
])('the document of %s describes which values of %s are accepted', async (path, name, accepted) => {
  const refused = {
    country: ['', ',', 'usa', 'USA;DEU', words(101, 'USA')],
    period: ['P1', 'month', 'P1M,x'],
    offer: ['trials', 'x'],
    product: ['', ',,', words(101, 'a')],
    days: ['x', '12345', words(401, '7')],
    from: ['2007-12-31', '2100-01-01', '1999-06-01'],
  }[name as 'country']
  const app = await openTestApp()
  const headers = await app.signIn()
  const { pattern = '' } = (await documented(app, path)).find((one) => one.name === name)?.schema ?? {}
  const query = path.endsWith('cohorts') ? 'metric=ltv&' : ''
  const route = `${path.replace('{name}', 'mrr')}?${query}${name}=`
  const statusOf = async (value: string) =>
    (await app.request(`${route}${encodeURIComponent(value)}`, { headers })).status
  for (const value of accepted)
    expect([value, new RegExp(pattern, 'u').test(value), await statusOf(value)]).toEqual([value, true, 200])
  for (const value of refused)
    expect([value, new RegExp(pattern, 'u').test(value), await statusOf(value)]).toEqual([value, false, 400])
})
