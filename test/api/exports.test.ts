import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openServedExports } from '../../src/exports/served.ts'
import { restore } from '../../src/store/backup/restore.ts'
import { APPLE_ID, BUNDLE, renewedPayload } from '../apple/samples.ts'
import { freshRows } from '../exports/mirror.ts'
import { temporaryFolder } from '../folders.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { folderOf } from '../processes.ts'

const OTHER = 'com.example.torch'
const DAY = 86_400_000

let app: TestApp
let headers: Record<string, string>
beforeEach(async () => {
  app = await openTestApp({ apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }, { bundle_id: OTHER }] })
  headers = { authorization: `Bearer ${await app.token()}` }
  await app.notify(renewedPayload(app.authority))
  for (const [appUserId, bundleId] of [
    ['ann', BUNDLE],
    ['tom', OTHER],
  ] as const)
    await app.post('/api/sdk/v1/identify', { appUserId, bundleId })
})
afterEach(() => app.close())

const get = (path: string, given = headers, method = 'GET') =>
  app.request(`/api/v1/exports${path}`, { headers: given, method })
const cursor = async () => ((await (await get('')).json()) as { cursor: string }).cursor

/** What exports that run, or that a crash interrupted, have beside the database. */
const exportFiles = ({ config }: TestApp): string[] =>
  readdirSync(dirname(config.store.path)).filter((name) => name.includes('.export.partial-'))

/** The headers of a token that reads the other app only. */
async function narrowed(): Promise<Record<string, string>> {
  const [other] = app.windfall.apps.byBundle(OTHER)
  const reach = { organization_id: app.organization.id, apps: [other?.id ?? ''] }
  const { token } = await app.windfall.store.commit(() => app.windfall.tokens.create('other', reach))
  return { authorization: `Bearer ${token}` }
}

test('a token that is limited to an app exports the rows of that app only, also changes and the SQLite file', async () => {
  const other = await narrowed()
  const whole = await freshRows(app, headers)
  const rows = await freshRows(app, other)
  expect(whole.transactions).toHaveLength(1)
  expect(rows.users?.map((row) => JSON.parse(row).app_user_id)).toEqual(['tom'])
  expect(rows.apps?.map((row) => JSON.parse(row).bundle_id)).toEqual([OTHER])
  for (const name of [
    'customers',
    'transactions',
    'subscriptions',
    'notifications',
    'events',
    'customer_figures',
  ])
    expect(
      rows[name]?.filter((row) => !row.includes('tom')),
      name,
    ).toEqual([])

  const since = await cursor()
  await app.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId: BUNDLE, attributes: { plan: 1 } })
  await app.post('/api/sdk/v1/identify', { appUserId: 'tim', bundleId: OTHER })
  const changed = await get(`/users?after=${since}`, other)
  expect(changed.headers.get('x-windfall-export')).toBe('changes')
  expect((await changed.text()).match(/"app_user_id":"\w+"/g)).toEqual(['"app_user_id":"tim"'])

  const file = join(folderOf(), 'export.sqlite')
  writeFileSync(file, Buffer.from(await (await get('.sqlite', other)).arrayBuffer()))
  const db = new Database(file, { readonly: true })
  expect(db.prepare('select app_user_id from users').pluck().all()).toEqual(['tom', 'tim'])
  expect(db.prepare('select count(*) from transactions').pluck().get()).toBe(0)
  const named = db.prepare("select value from export_manifest where name = 'organization'").pluck().get()
  expect(named).toBe(app.organization.slug)
  db.close()
})

test('annotations are exported until they are deleted; a token of one app gets those of the app', async () => {
  const owner = await app.signIn()
  const note = async (text: string, target: string | null) =>
    (await app.post('/api/v1/annotations', { annotated_on: '2026-03-01', text, app: target }, owner)).body.id
  await note('Launch', OTHER)
  await note('Everywhere', null)
  const path = `/api/v1/annotations/${await note('Mistake', BUNDLE)}`
  expect((await app.request(path, { method: 'DELETE', headers: owner })).status).toBe(204)
  const texts = async (given: Record<string, string>) =>
    (await (await get('/annotations', given)).text()).match(/"text":"\w+"/g)?.sort()
  expect(await texts(headers)).toEqual(['"text":"Everywhere"', '"text":"Launch"'])
  expect(await texts(await narrowed())).toEqual(['"text":"Launch"'])
})

test('lists the tables with their columns, and says where an export stands', async () => {
  type Listed = { cursor: string; tables: { name: string; columns: { name: string }[] }[] }
  const listed = (await (await get('')).json()) as Listed
  expect(listed).toMatchObject({ cursor: expect.stringMatching(/^c1-/), feed_seq: app.windfall.feed.head() })
  const csv = await get('/users?format=csv')
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="users.csv"')
  expect(csv.headers.get('x-windfall-cursor')).toBe(listed.cursor)
  const [header] = (await csv.text()).split('\r\n')
  const users = listed.tables.find(({ name }) => name === 'users')
  expect(header?.split(',')).toEqual(users?.columns.map(({ name }) => name))
  const head = await get('/users', headers, 'HEAD')
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('a spreadsheet runs nothing of an export that was made for it, and other exports are exact', async () => {
  const id = '=cmd|calc!A1'
  await app.post('/api/sdk/v1/identify', {
    appUserId: id,
    bundleId: BUNDLE,
    attributes: { a: -1, plan: '@x' },
  })
  const made = await get('/users?format=spreadsheet')
  expect(made.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(made.headers.get('content-disposition')).toBe('attachment; filename="users.spreadsheet.csv"')
  const safe = (await made.text()).split('\r\n')
  const exact = (await (await get('/users?format=csv')).text()).split('\r\n')
  expect(safe[0]).toBe(exact[0])
  expect(safe.filter((row) => row.includes(`,'${id},`))).toHaveLength(1)
  expect(safe.map((row) => row.replace(`,'${id},`, `,${id},`))).toEqual(exact)
})

test('refuses an unknown table, a wrong cursor, and one that is too old or from another database', async () => {
  expect(await (await get('/sessions')).json()).toMatchObject({ status: 404, code: 'unknown_table' })
  for (const path of ['/users?after=9', '/users/deleted?after=x', '.sqlite?after=c1-1']) {
    const refused = await get(path)
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'invalid_cursor' }])
  }
  const since = await cursor()
  const forged = since.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  expect(await (await get(`/users?after=${forged}`)).json()).toMatchObject({ code: 'cursor_expired' })
  await app.windfall.exports.prune()
  app.clock.turn(31 * DAY)
  await app.post('/api/sdk/v1/identify', { appUserId: 'new', bundleId: BUNDLE })
  await app.windfall.exports.prune()
  const expired = await get(`/users?after=${since}`)
  expect([expired.status, await expired.json()]).toMatchObject([410, { code: 'cursor_expired' }])
  const recent = await get(`/users?after=${await cursor()}`)
  expect([recent.status, await recent.text()]).toEqual([200, ''])
})

test('a restored database refuses the cursors of the time that is lost', async () => {
  const change = (plan: string, on = app) =>
    on.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId: BUNDLE, attributes: { plan } })
  const { path: folder } = temporaryFolder()
  await app.windfall.backups.backup(`${folder}/backup.tar`, null)
  await change('lost')
  const since = await cursor()
  await restore({
    backup: `${folder}/backup.tar`,
    key: null,
    database: null,
    folder,
    allowsAbsolutePath: true,
    clock: app.clock,
  })
  const again = await openTestApp({ folder, apps: [] })
  await change('kept', again)
  const answer = await again.request(`/api/v1/exports/users?after=${since}`, { headers })
  expect(await answer.json()).toMatchObject({ status: 410, code: 'cursor_expired' })
  await again.close()
})

test('an export that ends with its client or with the server is not logged as an error', async () => {
  const logged: string[] = []
  const other = await openTestApp({ logged })
  const given = { authorization: `Bearer ${await other.token()}` }
  for (const isStop of [false, true]) {
    const leaving = new AbortController()
    const answer = other.request('/api/v1/exports.sqlite', { headers: given, signal: leaving.signal })
    await vi.waitFor(() => expect(exportFiles(other)).toHaveLength(1))
    if (isStop) other.windfall.http.beginClosing()
    else leaving.abort()
    expect(await (await answer).json()).toMatchObject({ status: 503, code: 'store_closing' })
    expect(exportFiles(other)).toEqual([])
  }
  expect(logged.join('')).not.toContain('unexpectedly')
  await other.close()
})

test('the audit log has the exports of tokens, and guests cannot export', async () => {
  await (await get('/users')).text()
  await (await get('.sqlite')).arrayBuffer()
  const subjects = app.windfall.audit.list(null, 5).map(({ subject }) => subject)
  expect(subjects).toEqual(expect.arrayContaining(['/api/v1/exports/users', '/api/v1/exports.sqlite']))
  expect((await get('/users', {})).status).toBe(401)
})

test('the file of an export is deleted when it is sent, when the client leaves, and after a crash', async () => {
  const { path } = app.config.store
  const leftovers = () => exportFiles(app)
  await (await get('.sqlite')).arrayBuffer()
  expect(leftovers()).toEqual([])
  const leaving = new AbortController()
  const request = app.windfall.exports.sqliteFile({
    after: null,
    scope: { organization_id: null, apps: null },
    signal: leaving.signal,
  })
  expect(leftovers()).toHaveLength(1)
  leaving.abort()
  await expect(request).rejects.toThrow('aborted')
  expect(leftovers()).toEqual([])
  mkdirSync(`${path}.export.partial-crash`)
  // An export that the owner wrote beside the database.
  mkdirSync(`${path}.export-monday`)
  openServedExports(app.windfall)
  expect(leftovers()).toEqual([])
  expect(existsSync(`${path}.export-monday`)).toBe(true)
})
