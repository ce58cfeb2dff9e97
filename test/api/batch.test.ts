/** `/api/v1/batch`: each read in it answers as it does alone. */
import { expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../helpers.ts'

type Headers = Record<string, string>
type Entry = { status: number; retry_after: number | null; body: Record<string, unknown> }

async function batch(app: TestApp, paths: readonly string[], headers: Headers) {
  const response = await app.request(`/api/v1/batch?${new URLSearchParams({ get: paths.join(' ') })}`, {
    headers,
  })
  const body = (await response.json()) as { answers: Entry[]; code?: string; detail?: string }
  return { status: response.status, ...body }
}

const alone = async (app: TestApp, path: string, headers: Headers) => {
  const response = await app.request(`/api/v1/${path}`, { headers })
  return { status: response.status, body: await response.json() }
}

const READS = [
  'overview',
  'apps',
  'metrics',
  'metrics/mrr?from=2026-01-01&to=2026-02-01&interval=week',
  'metrics/revenue?split=country&limit=2',
  'cohorts?metric=retention',
  'customers?sort=ltv',
  'users/a%20user%2Fwith%20signs',
  'metrics/nothing',
  'metrics/mrr?form=2026-01-01',
  'nowhere',
]

test('a batch has the answer and the status of each read, in the order of the reads', async () => {
  const app = await openTestApp()
  const owner = await app.signIn()
  const { status, answers } = await batch(app, READS, owner)
  expect(status).toBe(200)
  expect(answers.map((one) => one.status)).toEqual([200, 200, 200, 200, 200, 200, 200, 404, 400, 400, 404])
  for (const [at, path] of READS.entries()) {
    const { status, body } = answers[at] ?? {}
    expect([path, { status, body }]).toEqual([path, await alone(app, path, owner)])
  }
})

test('a batch reads with the credentials of its request', async () => {
  const app = await openTestApp()
  const { store, links, tokens } = app.windfall
  const link = await store.commit(() =>
    links.create({
      label: 'One metric',
      organization_id: null,
      apps: null,
      basis: 'gross',
      metrics: ['mrr'],
      expires_at: null,
      passcode: null,
    }),
  )
  const guest = await app.signIn(link.id)
  const { answers } = await batch(app, ['metrics/mrr', 'metrics/revenue', 'customers', 'overview'], guest)
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
    [200, undefined],
    [403, 'metric_not_shared'],
    [403, 'not_for_guests'],
    [200, undefined],
  ])
  expect(await batch(app, ['overview'], {})).toMatchObject({ status: 401, code: 'token_required' })
  const ofNoApp = await store.commit(() => tokens.create('none', { organization_id: null, apps: ['x'] }))
  const read = await batch(app, ['apps'], { authorization: `Bearer ${ofNoApp.token}` })
  expect(read.answers[0]?.body).toEqual({ apps: [] })
})

test('the reads of a batch stay within the two at a time that a token has', async () => {
  const app = await openTestApp()
  const headers = { authorization: `Bearer ${await app.token()}` }
  const reads = Array.from({ length: 25 }, () => 'metrics/mrr')
  const { answers } = await batch(app, reads, headers)
  expect(answers.map(({ status }) => status)).toEqual(reads.map(() => 200))
})

test('a batch has no files, no streams, no batches and nothing outside of /api/v1', async () => {
  const app = await openTestApp()
  const owner = await app.signIn()
  const paths = [
    'metrics/mrr.csv',
    'events/stream',
    'batch?get=apps',
    '%62atch?get=apps',
    'batch/?get=apps',
    '../../healthz',
    '%2e%2e/%2e%2e/healthz',
    '../sdk/v1/identify',
  ]
  const { answers } = await batch(app, paths, owner)
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
    ...Array.from({ length: 5 }, () => [400, 'invalid_request']),
    ...Array.from({ length: 3 }, () => [404, 'not_found']),
  ])
})

test.each([
  ['', 'get: must have at least one path'],
  [Array(26).fill('apps').join(' '), 'get: must have at most 25 paths'],
])('a batch of %j is refused', async (get, detail) => {
  const app = await openTestApp()
  const refused = await batch(app, [get], await app.signIn())
  expect(refused).toMatchObject({ status: 400, code: 'invalid_request', detail })
})

test('the OpenAPI document says which lists of paths are refused', async () => {
  const app = await openTestApp()
  const { paths } = (await (await app.request('/api/openapi.json')).json()) as {
    paths: Record<string, { get: { parameters: { name: string; schema: { pattern?: string } }[] } }>
  }
  const schema = paths['/api/v1/batch']?.get.parameters.find(({ name }) => name === 'get')?.schema
  const isValid = (get: string) => new RegExp(schema?.pattern ?? '', 'u').test(get)
  const many = (count: number) => Array(count).fill('apps').join(' ')
  expect(['apps', ' apps  metrics/mrr ', many(25)].map(isValid)).toEqual([true, true, true])
  expect(['', '  ', many(26)].map(isValid)).toEqual([false, false, false])
})
