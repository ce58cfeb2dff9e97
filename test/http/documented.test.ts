/** What the OpenAPI document says of parameters, files and ids, held against what the server does. */
import { expect, test } from 'vitest'
import { BUNDLE } from '../apple/samples.ts'
import { openTestApp } from '../helpers.ts'

type Schema = { type?: string; format?: string; pattern?: string; [key: string]: unknown }
type Parameter = { name: string; in: string; schema: Schema }
type Operation = {
  parameters?: Parameter[]
  security?: object[]
  responses: Record<string, { content?: object }>
}

const app = await openTestApp()
const headers = await app.signIn()
const document = (await (await app.request('/api/openapi.json')).json()) as {
  paths: Record<string, Record<string, Operation>>
  components: { securitySchemes: Record<string, object> }
}
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
)
const inQuery = operations.flatMap(({ path, method, parameters = [] }) =>
  parameters.filter((one) => one.in === 'query').map((one) => ({ path, method, ...one })),
)

/** The fault that a request with this one parameter is refused with, by the name of the parameter. */
async function faultsAt(path: string, name: string, value: string): Promise<string[]> {
  const filled = path.replace('{name}', 'mrr').replace(/\{\w+\}/g, 'x')
  const answer = await app.request(`${filled}?${new URLSearchParams({ [name]: value })}`, { headers })
  if (answer.status !== 400) return [`${answer.status}`]
  const { errors = [] } = (await answer.json()) as { errors?: { path: string }[] }
  return errors.map((fault) => fault.path)
}

test('documents the type and bounds of whole numbers, and enforces them', async () => {
  const numbers = inQuery.filter(({ schema }) => schema.type === 'integer')
  expect(new Set(numbers.map(({ name }) => name))).toEqual(
    new Set(['limit', 'before', 'after', 'from_at', 'until_at', 'within_days', 'cursor', 'days']),
  )
  for (const { path, name, schema } of numbers) {
    const { minimum, maximum, default: usual = minimum } = schema as Record<string, number>
    expect([typeof minimum, typeof maximum, typeof usual]).toEqual(['number', 'number', 'number'])
    for (const beyond of [Number(minimum) - 1, Number(maximum) + 1])
      expect([path, name, await faultsAt(path, name, String(beyond))]).toEqual([
        path,
        name,
        expect.arrayContaining([name]),
      ])
  }
})

test('documents the form of days, cursors and lists, and enforces it', async () => {
  const days = inQuery.filter(({ schema }) => schema.format === 'date')
  expect(days.map(({ path, name }) => `${path} ${name}`)).toEqual(
    expect.arrayContaining([
      '/api/v1/metrics/{name} from',
      '/api/v1/cohorts to',
      '/api/v1/imports/days before',
    ]),
  )
  for (const { path, name } of days)
    expect(await faultsAt(path, name, '2026-02-30')).toEqual(expect.arrayContaining([name]))
  const known = (path: string, name: string) =>
    new RegExp(inQuery.find((one) => one.path === path && one.name === name)?.schema.pattern ?? 'x^', 'u')
  expect(known('/api/v1/customers', 'cursor').test('ltv.1997.3')).toBe(true)
  expect(known('/api/v1/customers', 'cursor').test('nonsense')).toBe(false)
  expect(await faultsAt('/api/v1/customers', 'cursor', 'nonsense')).toEqual(['cursor'])
  expect(known('/api/v1/gaps', 'before').test('17.gap_1')).toBe(true)
  expect(await faultsAt('/api/v1/gaps', 'before', 'nonsense')).toEqual(['before'])
  expect(known('/api/v1/overview', 'app').test(',')).toBe(false)
  expect(await faultsAt('/api/v1/overview', 'app', ',')).toEqual(['app'])
  expect(known('/api/v1/cohorts', 'days').test('0,30,90')).toBe(true)
  expect(known('/api/v1/cohorts', 'days').test('0,x')).toBe(false)
})

test('describes every query parameter, except plain choices', () => {
  const bare = inQuery.filter(({ schema }) => !schema.description && !schema.enum)
  expect(bare.map(({ path, name }) => `${path} ${name}`)).toEqual([])
})

test('refuses placeholder user ids in the schema', async () => {
  const body = operations.find(({ path }) => path === '/api/sdk/v1/identify') as unknown as {
    requestBody: { content: Record<string, { schema: { properties: Record<string, Schema> } }> }
  }
  const { appUserId, attributes } = body.requestBody.content['application/json']?.schema.properties ?? {}
  const not = new RegExp((appUserId?.not as Schema | undefined)?.pattern ?? '', 'u')
  const shape = new RegExp(appUserId?.pattern ?? '', 'u')
  const fits = (id: string) => shape.test(id) && !not.test(id) && id.length <= Number(appUserId?.maxLength)
  const ids = [
    'null',
    'NaN',
    '(null)',
    '[object Object]',
    '{}',
    '-1',
    'Guest',
    ' ann',
    'ann ',
    'x'.repeat(257),
  ]
  for (const id of [...ids, 'ann', 'guest1', '$anon_7', 'auth0|a/b', 'a b', '01']) {
    const { status } = await app.post('/api/sdk/v1/identify', { appUserId: id, bundleId: BUNDLE })
    expect([id, fits(id)]).toEqual([id, status === 200])
  }
  expect(attributes).toMatchObject({ anyOf: [{ type: 'object' }, { type: 'null' }] })
})

test('documents the content type of static files', async () => {
  for (const name of [
    'icon.svg',
    'icon-180.png',
    'icon-512.png',
    'manifest.webmanifest',
    'service_worker.js',
  ]) {
    const answer = await app.request(`/${name}`)
    const [type] = (answer.headers.get('content-type') ?? '').split(';')
    const good = document.paths[`/${name}`]?.get?.responses['200']
    expect([name, ...Object.keys(good?.content ?? {})]).toEqual([name, type])
  }
})

test('documents both names of the session cookie', () => {
  const { security } = document.paths['/api/v1/sessions']?.get ?? {}
  expect(security).toEqual([{ session: [] }, { session_http: [] }])
  expect(document.components.securitySchemes).toMatchObject({
    session: { in: 'cookie', name: '__Host-windfall' },
    session_http: { in: 'cookie', name: 'windfall' },
    guest: { name: '__Host-windfall' },
    guest_http: { name: 'windfall' },
  })
})
