/** Every list of the API has a `.csv` form with the same rows. */
import { beforeAll, expect, test } from 'vitest'
import { openCsvParser } from '../../src/cli/links/csv_reader.ts'
import type { Route } from '../../src/http/route.ts'
import { APPLE_ID, BUNDLE, renewedPayload, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { nonEmpty } from '../non_empty.ts'

/** Routes that answer with several lists, or with the lists of one thing, and where the lists are. */
const NO_LISTS: Readonly<Record<string, string>> = {
  '/api/v1/exports': 'the columns are also in docs/export.md; the rows are the exports themselves',
  '/api/v1/today': 'a summary; metrics/{name}.csv has the figures',
  '/api/v1/overview': 'overview.csv',
  '/api/v1/metrics': 'metrics.csv',
  '/api/v1/metrics/:name': 'metrics/{name}.csv',
  '/api/v1/cohorts': 'cohorts.csv',
  '/api/v1/coverage': 'coverage.csv',
  '/api/v1/customers': 'customers.csv',
  '/api/v1/customers/:id': 'one customer',
  '/api/v1/customers/:id/evidence': 'texts that Apple signed, which are documents',
  '/api/v1/events/:id/evidence': 'texts that Apple signed, which are documents',
  '/api/v1/events/:id': 'one event',
  '/api/v1/endpoints/:id': 'one endpoint',
  '/api/v1/test-notification/:token': 'one notification',
  '/api/v1/users/:app_user_id': 'one user',
  '/api/v1/users/:app_user_id/access': 'one user',
  '/api/v1/deliveries/:id': 'one delivery',
  '/api/v1/settings': 'the settings of one instance',
  '/api/v1/session': 'one session',
}

let app: TestApp
let owner: Record<string, string>
beforeAll(async () => {
  app = await openTestApp({
    apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }, { bundle_id: 'com.example.torch' }],
  })
  owner = await app.signIn()
  await app.notify(renewedPayload(app.authority))
  for (let n = 1; n <= 7; n += 1) {
    const appUserId = `user-${n}`
    await app.post('/api/sdk/v1/identify', {
      appUserId,
      bundleId: BUNDLE,
      attributes: { note: '=1+1, "x"\n' },
    })
    const { originalTransactionId } = transactionPayload({})
    await app.post('/api/sdk/v1/attribute', { appUserId, bundleId: BUNDLE, originalTransactionId })
    await app.token()
  }
  for (const n of [1, 2, 3])
    await app.request(`/api/v1/users/user-${n}?app=${app.windfall.apps.byBundle(BUNDLE)[0]?.id}`, {
      method: 'DELETE',
      headers: owner,
    })
  await app.windfall.metrics.whenCurrent()
  return () => app.close()
})

const lists = (): Route[] => app.windfall.http.routes().filter(({ path }) => path.endsWith('.csv'))
const json = (): Route[] =>
  app.windfall.http.routes().filter(({ method, path }) => method === 'GET' && path.startsWith('/api/v1/'))

type Schema = { entries?: Record<string, Schema>; item?: Schema; wrapped?: Schema }
const hasList = (schema: Schema | undefined): boolean =>
  schema !== undefined &&
  (schema.item?.entries !== undefined ||
    hasList(schema.wrapped) ||
    Object.values(schema.entries ?? {}).some(hasList))

test('every route that answers with a list has a CSV form, or a reason why not', () => {
  const csv = new Set(lists().map(({ path }) => path.replace(/\.csv$/, '')))
  const without = json()
    .filter(({ path, answers }) => !csv.has(path) && hasList(answers[200]?.schema as Schema | undefined))
    .map(({ path }) => path)
  expect(without.filter((path) => !Object.hasOwn(NO_LISTS, path))).toEqual([])
})

type Page = { rows: Record<string, unknown>[]; next: unknown }
/** All rows of the JSON form, read with the smallest pages. */
async function rowsOf(
  { path, list = '', query }: Route,
  headers: Record<string, string>,
): Promise<Page['rows']> {
  const entries = (query as Schema | undefined)?.entries ?? {}
  const rows: Page['rows'] = []
  for (let next: unknown = null; ; ) {
    const search = new URLSearchParams('limit' in entries ? { limit: '2' } : {})
    if (next !== null) search.set('cursor' in entries ? 'cursor' : 'before', String(next))
    const answer = await app.request(`${urlOf(path)}?${search}`, { headers })
    expect([path, answer.status]).toEqual([path, 200])
    const body = (await answer.json()) as Record<string, unknown>
    const [field = '', inner] = list.split('.')
    const found = [body[field] ?? []].flat() as Page['rows']
    rows.push(...(inner ? found.flatMap((one) => one[inner] as Page['rows']) : found))
    if (body.next === null || body.next === undefined || body.next === next) return rows
    next = body.next
  }
}

const urlOf = (path: string): string =>
  path.replace(':id', String(app.windfall.store.prepare('select id from customers').pluck().get()))

async function csvOf(path: string, headers: Record<string, string>) {
  const answer = await app.request(`${urlOf(path)}.csv`, { headers })
  expect([path, answer.status]).toEqual([path, 200])
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const parser = openCsvParser()
  const records = [...parser.push(await answer.text()), ...parser.end()].map(({ cells }) => cells)
  const [header = [], ...rows] = records
  return { header, rows, name: answer.headers.get('content-disposition') }
}

/** The texts of a row in the order of the columns; null for what the CSV writes in another way. */
const textsOf = (header: readonly string[], row: Record<string, unknown>): (string | null)[] =>
  header.map((name) => {
    const value = row[name]
    const isText = (typeof value === 'string' && !/^[=+\-@]/.test(value)) || typeof value === 'boolean'
    return isText ? String(value) : null
  })

test('the CSV form of each list has the rows of all pages of its JSON form', async () => {
  let filled = 0
  for (const route of nonEmpty(json().filter(({ list }) => list !== undefined))) {
    if (route.path.includes('/endpoints/:id')) continue
    const expected = await rowsOf(route, owner)
    const { header, rows } = await csvOf(route.path, owner)
    expect([route.path, rows.length]).toEqual([route.path, expected.length])
    expect(header.length, route.path).toBeGreaterThan(1)
    if (expected.length > 0) filled += 1
    const texts = expected.map((row) => textsOf(header, row))
    const found = rows.map((row, at) => row.map((cell, index) => (texts[at]?.[index] == null ? null : cell)))
    expect(found, route.path).toEqual(texts)
  }
  expect(filled).toBeGreaterThan(7)
})

test('the CSV form has the access, the filters and the errors of its JSON form', async () => {
  const [torch] = app.windfall.apps.byBundle('com.example.torch')
  const reach = { organization_id: app.organization.id, apps: [torch?.id ?? ''] }
  const { token } = await app.windfall.store.commit(() => app.windfall.tokens.create('torch', reach))
  const headers = { authorization: `Bearer ${token}` }
  expect((await csvOf('/api/v1/apps', headers)).rows).toHaveLength(1)
  expect((await csvOf('/api/v1/events', headers)).rows).toEqual([])
  await app.windfall.store.commit(() => {})
  expect(app.windfall.audit.list(null, 1)).toMatchObject([
    { action: 'export', subject: '/api/v1/events.csv' },
  ])
  const get = async (path: string, given = owner, method = 'GET') =>
    app.request(`/api/v1/${path}`, { headers: given, method })
  const identified = await (await get('events.csv?type=customer.identified')).text()
  expect(identified.match(/customer\.identified/g)?.length).toBe(identified.trim().split('\r\n').length - 1)
  for (const [path, given, status] of [
    ['events.csv', {}, 401],
    ['tokens.csv', headers, 401],
    ['events.csv?limit=5', owner, 400],
    ['events.csv?app=com.example.none', owner, 404],
    ['customers/cus_none/events.csv', owner, 404],
  ] as const)
    expect([path, (await get(path, given)).status]).toEqual([path, status])
  const head = await get('gaps.csv', owner, 'HEAD')
  expect([head.status, await head.text()]).toEqual([200, ''])
  const after = await (await get('events.csv?after=3')).text()
  expect(after.split('\r\n')[1]?.startsWith('4,')).toBe(true)
})
