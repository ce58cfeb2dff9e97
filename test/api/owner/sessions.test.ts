import { readFileSync } from 'node:fs'
import { beforeEach, expect, test, vi } from 'vitest'
import { verbsOf } from '../../../src/control/verbs.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

let app: TestApp
beforeEach(async () => {
  app = await openTestApp()
})

type Headers = Record<string, string>
type Answered = Record<string, unknown> & { code?: string }
type Listed = { sessions: { id: string; current: boolean; address: string; user_agent: string }[] }
const request = async (path: string, headers: Headers, method = 'GET') => {
  const response = await app.request(path, { method, headers })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Answered }
}
const list = async (headers: Headers) =>
  ((await request('/api/v1/sessions', headers)).body as unknown as Listed).sessions

test('the owner sees where they are signed in, and ends one session or all others', async () => {
  const first = await app.signIn()
  const second = await app.signIn()
  const third = await app.signIn()
  const listed = await list(first)
  expect(listed).toHaveLength(3)
  expect(listed.filter(({ current }) => current)).toMatchObject([
    { address: '127.0.0.1', user_agent: 'test' },
  ])
  const another = (await list(second)).find(({ current }) => current)
  expect((await request(`/api/v1/sessions/${another?.id}`, first, 'DELETE')).status).toBe(204)
  expect((await request('/api/v1/apps', second)).body.code).toBe('sign_in_required')
  expect(await request(`/api/v1/sessions/${another?.id}`, first, 'DELETE')).toMatchObject({
    status: 404,
    body: { code: 'unknown_session' },
  })
  expect((await request('/api/v1/sessions', first, 'DELETE')).body).toEqual({ ended: 1 })
  expect((await request('/api/v1/apps', third)).status).toBe(401)
  expect((await request('/api/v1/apps', first)).status).toBe(200)
})

test('a token is not the owner, and overrides the cookie', async () => {
  const headers = await app.signIn()
  const authorization = `Bearer ${await app.token()}`
  for (const path of ['/api/v1/sessions', '/api/v1/audit']) {
    const refused = { status: 401, body: { code: 'sign_in_required' } }
    expect(await request(path, {})).toMatchObject(refused)
    expect(await request(path, { authorization })).toMatchObject(refused)
    expect(await request(path, { ...headers, authorization })).toMatchObject(refused)
  }
  expect(await request('/api/v1/apps', { ...headers, authorization: 'Bearer wf_wrong' })).toMatchObject({
    status: 401,
    body: { code: 'invalid_token' },
  })
})

/** What a read needs beside its path. */
const QUERIES: Record<string, string> = {
  '/api/v1/batch': '?get=overview',
  '/api/v1/cohorts': '?metric=retention',
}

test('the owner reads everything that a token reads', async () => {
  const headers = await app.signIn()
  const reads = app.windfall.http
    .routes()
    .filter(({ method, security }) => method === 'GET' && security?.includes('read_token'))
    .map(({ path }) => path)
  expect(reads.length).toBeGreaterThan(15)
  const wrong: string[] = []
  for (const path of reads) {
    const url = path.replace(/:name/, 'mrr').replace(/:\w+/, 'nobody')
    const query = QUERIES[path.replace('.csv', '')] ?? ''
    const response = await app.request(`${url}${query}`, { headers })
    if (![200, 404].includes(response.status)) wrong.push(`${path} ${response.status}`)
    await response.body?.cancel()
  }
  expect(wrong).toEqual([])
})

test.each([
  ['ended', (headers: Headers) => request('/api/v1/logout', headers, 'POST')],
  ['ended by a reset', () => app.windfall.store.commit(() => app.windfall.sessions.endAll())],
] as const)('a session that is %s ends its stream at once', async (_, end) => {
  const headers = await app.signIn()
  const stream = await app.request('/api/v1/events/stream', { headers })
  const reader = stream.body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('retry: 2000\n\n')
  await end(headers)
  await vi.waitFor(async () => expect((await reader?.read())?.done).toBe(true))
})

test('the audit log lists actions newest first in pages, and is immutable', async () => {
  const headers = await app.signIn()
  const { audit, store } = app.windfall
  for (let n = 1; n <= 5; n += 1)
    await store.commit(() =>
      audit.note({ actor: 'owner', address: null, action: 'key.made', subject: `k${n}` }),
    )
  const page = async (query: string) => (await request(`/api/v1/audit${query}`, headers)).body
  expect(await page('?limit=2')).toMatchObject({ entries: [{ subject: 'k5' }, { subject: 'k4' }], next: 4 })
  expect(await page('?limit=2&before=4')).toMatchObject({ entries: [{ subject: 'k3' }, { subject: 'k2' }] })
  expect(await page('?before=2')).toMatchObject({ entries: [{ subject: 'k1' }], next: null })
  for (const sql of ["update audit_log set actor = 'nobody'", 'delete from audit_log'])
    expect(() => store.prepare(sql).run()).toThrow('the audit log is only added to')
})

test.each(['limit=0', 'limit=501', 'limit=x', 'before=0', 'before=-1'])(
  'the audit log refuses ?%s',
  async (query) => {
    const headers = await app.signIn()
    expect(await request(`/api/v1/audit?${query}`, headers)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    })
  },
)

test('audits a CSV export with a token, once an hour', async () => {
  const authorization = `Bearer ${await app.token()}`
  for (let n = 0; n < 3; n += 1) await request('/api/v1/metrics.csv', { authorization }).catch(() => {})
  app.clock.turn(3_600_000)
  await request('/api/v1/metrics.csv', { authorization }).catch(() => {})
  await request('/api/v1/metrics.csv', await app.signIn()).catch(() => {})
  await app.windfall.store.commit(() => {})
  const noted = app.windfall.audit.list(null, 10)
  expect(noted).toMatchObject([
    { action: 'export', subject: '/api/v1/metrics.csv', actor: expect.stringMatching(/^tok_/) },
    { action: 'export' },
  ])
  expect(noted).toHaveLength(2)
})

test('audits only exports that succeeded, under their own names', async () => {
  const authorization = `Bearer ${await app.token()}`
  const paths = [
    'metrics/made-up.csv',
    'metrics/%6Drr.csv',
    'metrics/mrr.csv',
    'users/alice.csv',
    'customers/x.csv',
  ]
  for (const path of [...paths, 'metrics/mrr.csv?split=nothing', 'cohorts.csv'])
    await app.request(`/api/v1/${path}`, { headers: { authorization } })
  await app.windfall.store.commit(() => {})
  expect(app.windfall.audit.list(null, 10)).toMatchObject([
    { action: 'export', subject: '/api/v1/metrics/mrr.csv' },
  ])
})

test('the recipe for fail2ban in docs/security.md finds the address in either form of the log', () => {
  const page = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8')
  const [, recipe = ''] = /failregex = ([\s\S]*?)journalmatch/.exec(page) ?? []
  const patterns = recipe
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => new RegExp(line.replaceAll('<HOST>', '(?<host>[\\d.]+|[\\da-f:]+)')))
  expect(patterns).toHaveLength(2)
  const lines = [
    '{"time":"2026-01-01T00:00:00.000Z","level":"warn","message":"auth.failure","ip":"203.0.113.9","account":"owner"}',
    '12:00:00 warn  auth.failure ip=2001:db8::1 account=owner why="wrong password"',
  ]
  const found = lines.map((line) => patterns.map((pattern) => pattern.exec(line)?.groups?.host).find(Boolean))
  expect(found).toEqual(['203.0.113.9', '2001:db8::1'])
})

test('audits actions from the command line', async () => {
  const { windfall } = app
  const verbs = verbsOf(windfall)
  const made = (await verbs['keys.create']?.({ kind: 'secret', label: 'mine' })) as { id: string }
  const next = (await verbs['keys.rotate']?.({ id: made.id, overlap_ms: 0 })) as { id: string }
  await verbs['keys.revoke']?.({ id: next.id })
  const token = (await verbs['tokens.create']?.({ label: 'laptop' })) as { id: string }
  await verbs['tokens.revoke']?.({ id: token.id })
  await verbs['owner.reset']?.({})
  const entries = windfall.audit.list(null, 10).toReversed()
  expect(entries.map(({ action, subject }) => [action, subject])).toEqual([
    ['key.made', made.id],
    ['key.rotated', next.id],
    ['key.revoked', next.id],
    ['token.made', token.id],
    ['token.revoked', token.id],
    ['owner.reset', null],
  ])
  expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set(['command line']))
})
