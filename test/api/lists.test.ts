/** Every list of the API has a CSV form with the same rows and the same access as its JSON. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { openPasskeyRows } from '../../src/access/passkeys/passkey_rows.ts'
import { openCsvParser } from '../../src/cli/links/csv_reader.ts'
import type { Route } from '../../src/http/route.ts'
import { outerPayload } from '../apple/samples.ts'
import { storeDevices } from '../attribution/devices/stored.ts'
import { atEndOfFile } from '../closing.ts'
import { openForwardingApp } from '../forwarding/receiving.ts'
import type { TestApp } from '../helpers.ts'
import { DAY, liveUntil, openShop } from '../ledger/history/connected_shop.ts'
import { nonEmpty } from '../non_empty.ts'

type Row = Record<string, unknown>
type Answer = Row & { code?: string; next?: string | number | null }
type Schema = { entries?: Record<string, Schema>; item?: Schema; wrapped?: Schema }
type Headers = Record<string, string>

/** More than a page of the CSV. */
const MANY = 120
/** A user id that a spreadsheet would run. */
const BUYER = '@SUM(1+1)'
const API = '/api/v1/'

/** Answers with an array that is a part of one thing. A path that ends in a parameter is one thing, too. */
const NO_LIST = [
  '/api/v1/batch',
  '/api/v1/first-steps',
  '/api/v1/security',
  '/api/v1/users/:app_user_id/access',
  // The index of the exports, which are themselves lines of CSV.
  '/api/v1/exports',
]
/** Figures, with a form of CSV that their own tests check. */
const FIGURES = ['/api/v1/overview', '/api/v1/metrics', '/api/v1/cohorts']
/** Lists whose rows are not the elements of the first array, and only those fields that the CSV has as they are. */
const ROWS: Record<string, (answer: Answer) => Row[]> = {
  '/api/v1/imports': ({ organizations }) =>
    (organizations as { organization_id: string; states: Row[] }[]).flatMap(({ organization_id, states }) =>
      states.map((state) => ({ organization_id, ...state })),
    ),
  '/api/v1/settings': ({ sections }) => (sections as { settings: Row[] }[]).flatMap((one) => one.settings),
  '/api/v1/refunds/totals': ({ totals, currency }) => (totals as Row[]).map((one) => ({ ...one, currency })),
  '/api/v1/system': ({ result }) => (result as { checks: Row[] }).checks,
  '/api/v1/customers': ({ customers }) =>
    (customers as Row[]).map(({ unconverted: _, converted: __, ...row }) => row),
  '/api/v1/unconnected-revenue': ({ apps }) =>
    (apps as Row[]).map(({ not_converted: _, converted: __, ...row }) => row),
  '/api/v1/coverage': ({ coverage }) =>
    (coverage as Row[]).map(({ app_id, month, metric, unit, currency, share, day_on }) => ({
      app_id,
      month,
      metric,
      unit,
      currency,
      share,
      day_on,
    })),
}

const schemaOf = ({ answers }: Route): Schema => (answers[200]?.schema ?? {}) as Schema
/** The name and the fields of the first array of objects in an answer. */
function arrayIn({ entries = {} }: Schema): { name: string; fields: string[] } | null {
  for (const [name, { item, wrapped }] of Object.entries(entries)) {
    const fields = item?.entries ?? wrapped?.item?.entries
    if (fields) return { name, fields: Object.keys(fields) }
  }
  return null
}
const isList = (route: Route): boolean =>
  route.method === 'GET' &&
  route.path.startsWith(API) &&
  !/:\w+$/.test(route.path) &&
  !NO_LIST.includes(route.path) &&
  (route.path in ROWS || arrayIn(schemaOf(route)) !== null)

/** Opens a receiver of webhooks that answers 200. */
async function receiverUrl(): Promise<string> {
  const server = createServer((_, response) => response.end())
  atEndOfFile(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
}

const addPasskey = ({ store, clock, passkeys }: TestApp['windfall']) =>
  store.commit(() =>
    openPasskeyRows(store, clock).add(
      { credential_id: 'YQ', public_key: Buffer.alloc(1), transports: [], is_synced: true, counter: 0 },
      { host: passkeys.party().host, name: 'Mac' },
    ),
  )

async function openSeeded() {
  const shop = await openShop({ subscribers: MANY, days: 60 })
  const { clock, hosts, store } = shop
  const apps = shop.apps.map(({ bundle_id, apple_id }) => ({ bundle_id, apple_id }))
  const app = await openForwardingApp({ clock, hosts, apps })
  const { windfall, organization } = app
  const account = { connect: store.connect_key, purchases: store.purchase_key }
  windfall.accounts.declare([
    { ...account, organization_id: organization.id, vendor_numbers: [store.vendor_number] },
  ])
  await windfall.history.backfill()
  shop.simulation.lose({ from: clock() })
  await liveUntil(shop, app, clock() + DAY, 0.05)
  await windfall.history.reconcile()
  // Long enough for sales of the app that is not connected.
  await windfall.imports.run({ days: 30 })
  await app.notify(outerPayload({ data: { bundleId: 'com.example.other', environment: 'Production' } }))
  await windfall.store.commit(() =>
    windfall.rates.importRates(windfall.rates.readCsv('date,currency,rate\n2026-05-20,EUR,0.80\n', 'USD')),
  )
  const { endpoint } = await app.addEndpoint(await receiverUrl())
  await app.append(MANY)
  await app.settled()
  await app.replay(endpoint.id, { from_seq: 1, types: ['gap.found'] })
  await app.settled()
  await windfall.doctor.run(false)
  await addAlerts(app)
  await addAnnotations(app)
  await addPasskey(app.windfall)
  await app.post('/api/sdk/v1/identify', { appUserId: 'user-1', bundleId: apps[0]?.bundle_id })
  await storeDevices(
    windfall,
    Array.from({ length: MANY }, (_, n) => String(n)),
  )
  return { app, endpoint_id: endpoint.id }
}

/** Annotations of all apps, more than a page of the CSV file. */
async function addAnnotations({ windfall: { annotations, store }, organization }: TestApp): Promise<void> {
  await store.commit(() => {
    for (let n = 0; n < MANY; n += 1)
      annotations.add(organization.id, { app_id: null, annotated_on: '2026-03-01', text: `=${n}` }, 'owner')
  })
}

/** A channel with the default rules, and messages. */
async function addAlerts({ windfall: { alerts, store }, organization, clock }: TestApp): Promise<void> {
  const settings = { url: 'https://home.example/alerts' }
  const channel = { name: '=home', kind: 'json', settings, secrets: {}, hides_amounts: false }
  const { id: organization_id } = organization
  await store.commit(() => {
    alerts.widgets.tokens.create({
      organization_id: organization.id,
      kind: 'widget',
      label: 'Phone',
      metrics: ['mrr'],
      apps: null,
    })
    alerts.channelAdministration.add({ ...channel, organization_id, source: 'dashboard', digests: ['daily'] })
    for (let n = 0; n < MANY; n += 1)
      alerts.messages.add({
        organization_id,
        rule_id: null,
        kind: 'summary',
        key: `summary/${n}`,
        content: { subject: { about: 'summary', reason: 'quiet' } },
        happened_at: clock(),
      })
  })
  // The channel begins to get digests, and then gets two.
  for (let days = 0; days <= 2; days += 1) {
    await alerts.digests.make()
    clock.turn(DAY)
  }
}

/** Sessions, tokens, keys, links, erasures and entries of the audit log; and the headers of each kind of caller. */
async function openCallers({ app }: Awaited<ReturnType<typeof openSeeded>>) {
  const { windfall, organization } = app
  const { store, tokens, links, keys, erasures, audit } = windfall
  const [first] = windfall.apps.list()
  const scope = { organization_id: organization.id, apps: [first?.id ?? ''] }
  const guestLink = {
    ...scope,
    label: '=2+3',
    basis: 'gross',
    metrics: null,
    expires_at: null,
    passcode: null,
  } as const
  const { narrow, stranger, link_id, asked } = await store.commit(() => {
    keys.create(organization.id, 'secret', '-1+2')
    for (let n = 0; n < MANY; n += 1) audit.note({ actor: 'owner', address: null, action: 'sessions.ended' })
    return {
      narrow: tokens.create('a "narrow", one\nof two lines', scope).token,
      stranger: tokens.create('other', { organization_id: 'org_elsewhere', apps: null }).token,
      link_id: links.create(guestLink).id,
      asked: Array.from({ length: MANY }, (_, n) => {
        const user = { app_id: first?.id ?? '', app_user_id: `user-${n}` }
        return erasures.erase({ ...user, asked_by: 'owner', even_unknown: true }).id
      }),
    }
  })
  await Promise.all(asked.map(erasures.finished))
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const [owner, guest, reader] = [await app.signIn(), await app.signIn(link_id), bearer(await app.token())]
  return { owner, reader, narrow: bearer(narrow), stranger: bearer(stranger), guest, nobody: {} }
}

let seeded: Awaited<ReturnType<typeof openSeeded>>
let callers: Awaited<ReturnType<typeof openCallers>>
let lists: Route[]
let ids: { events: string; customers: string; endpoints: string }

beforeAll(async () => {
  seeded = await openSeeded()
  callers = await openCallers(seeded)
  const { windfall } = seeded.app
  lists = nonEmpty(windfall.http.routes().filter(isList))
  const sold = seeded.app.feed().find(({ customer_id }) => customer_id !== null)
  const link = { bundleId: sold?.data.bundle_id, originalTransactionId: sold?.subject }
  const linked = await seeded.app.post('/api/sdk/v1/attribute', { appUserId: BUYER, ...link })
  expect(linked.body).toMatchObject({ appUserId: BUYER })
  ids = { events: sold?.id ?? '', customers: sold?.customer_id ?? '', endpoints: seeded.endpoint_id }
}, 60_000)

const addressOf = (path: string): string =>
  path.replace(/(\w+)\/:id/, (_, of: keyof typeof ids) => `${of}/${ids[of]}`)
const ask = (path: string, headers: Headers, method = 'GET') =>
  seeded.app.request(addressOf(path), { headers, method })

/** The rows of all pages as JSON, or the code of a refusal. */
async function jsonOf(list: Route, headers: Headers, query = ''): Promise<string | Row[]> {
  const entries = (list.query as { entries?: object } | undefined)?.entries ?? {}
  const cursor = query.startsWith('after') ? null : 'cursor' in entries ? 'cursor' : 'before'
  const rowsOf = ROWS[list.path] ?? ((one: Answer) => one[arrayIn(schemaOf(list))?.name ?? ''] as Row[])
  const rows: Row[] = []
  for (let at: string | number | null = null; ; ) {
    const search = [query, 'limit' in entries && 'limit=40', at !== null && `${cursor}=${at}`]
    const response = await ask(`${list.path}?${search.filter(Boolean).join('&')}`, headers)
    const answer = (await response.json()) as Answer
    if (!response.ok) return String(answer.code)
    rows.push(...rowsOf(answer))
    at = answer.next ?? null
    if (at === null || cursor === null) return rows
  }
}

/** The lines of a CSV file, or the code of a refusal. */
async function csvOf(path: string, headers: Headers): Promise<string | string[][]> {
  const response = await ask(path, headers)
  if (!response.ok) return String(((await response.json()) as Answer).code)
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const parser = openCsvParser()
  return [...parser.push(await response.text()), ...parser.end()].map(({ cells }) => cells)
}

/** What the cell of a field has. */
function cellOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' && name.endsWith('_milli')) return (value / 1_000).toFixed(3)
  if (typeof value === 'number' && /^(at|since|.*_at|.*_since)$/.test(name))
    return new Date(value).toISOString()
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return cellOf(name, value.join(' '))
  if (typeof value === 'object') return JSON.stringify(value)
  const text = String(value)
  return typeof value === 'string' && /^[=+@-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text
}

const named = (header: readonly string[], cells: readonly string[]): Record<string, string> =>
  Object.fromEntries(header.map((name, index) => [name, cells[index] ?? '']))

/** Compares the CSV of a list with its JSON; returns the number of rows, or the code of a refusal. */
async function compare(list: Route, headers: Headers): Promise<number | string> {
  const [rows, csv] = [await jsonOf(list, headers), await csvOf(`${list.path}.csv`, headers)]
  if (typeof rows === 'string' || typeof csv === 'string') {
    expect([list.path, csv]).toEqual([list.path, rows])
    return String(rows)
  }
  const [header = [], ...lines] = csv
  const fields = list.path in ROWS ? null : arrayIn(schemaOf(list))?.fields
  if (fields) expect(header).toEqual(fields.map((name) => name.replace(/_milli$/, '')))
  expect(header.length).toBeGreaterThan(3)
  expect([list.path, lines.length]).toEqual([list.path, rows.length])
  rows.forEach((row, index) => {
    const columns = fields ?? Object.keys(row)
    const cells = columns.map((name) => [name.replace(/_milli$/, ''), cellOf(name, row[name])])
    expect(named(header, lines[index] ?? [])).toMatchObject(Object.fromEntries(cells))
  })
  return rows.length
}

test('every list has a CSV form', () => {
  const routes = seeded.app.windfall.http.routes()
  const missing = lists.filter(({ path }) => !routes.some((one) => one.path === `${path}.csv`))
  expect(missing.map(({ path }) => path)).toEqual([])
  expect(lists.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['events', 'imports', 'gaps', 'apps', 'audit'].map((name) => API + name)),
  )
  const extra = ({ query }: Route) => Object.keys((query as Schema | undefined)?.entries ?? {})
  for (const list of lists) {
    const csv = routes.find((one) => one.path === `${list.path}.csv`)
    expect([list.path, csv?.security]).toEqual([list.path, list.security])
    if (FIGURES.includes(list.path)) continue
    expect([list.path, csv && extra(csv)]).toEqual([list.path, extra(list).filter((one) => one !== 'limit')])
    // The pages of a CSV file continue with one of these parameters.
    if (schemaOf(list).entries?.next)
      expect(extra(list).join()).toMatch(/\b(before|cursor)\b.*\blimit\b|limit.*before/)
  }
})

test('the CSV of a list has the rows of all pages, for every caller who can read the list', async () => {
  const compared = nonEmpty(lists.filter(({ path }) => !FIGURES.includes(path)))
  for (const list of compared) {
    const seen: Record<string, number | string> = {}
    for (const [name, headers] of Object.entries(callers)) seen[name] = await compare(list, headers)
    // A list without rows would prove nothing.
    expect([list.path, seen.owner]).not.toEqual([list.path, 0])
    if (list.security?.includes('read_token'))
      expect([list.path, seen.reader]).toEqual([list.path, seen.owner])
    else expect([list.path, seen.reader]).toEqual([list.path, 'sign_in_required'])
    if (!list.security?.includes('guest'))
      expect([list.path, seen.guest]).toEqual([list.path, 'not_for_guests'])
  }
}, 60_000)

test('HEAD answers with the headers of the CSV and without rows', async () => {
  for (const { path } of lists) {
    const query = path.endsWith('/cohorts') ? '?metric=retention' : ''
    const head = await ask(`${path}.csv${query}`, callers.owner, 'HEAD')
    expect([path, head.status, head.headers.get('content-type')]).toEqual([
      path,
      200,
      'text/csv; charset=utf-8',
    ])
    expect(await head.text()).toBe('')
  }
})

test('a CSV file has the filters of its list, and begins at a cursor', async () => {
  const columnOf = async (path: string, name: string) => {
    const [header = [], ...lines] = (await csvOf(API + path, callers.reader)) as string[][]
    return lines.map((cells) => cells[header.indexOf(name)] ?? '')
  }
  const all = await columnOf('events.csv?type=gap.found', 'seq')
  expect(all.length).toBeGreaterThanOrEqual(MANY)
  expect(await columnOf('events.csv?type=gap.found&after=0', 'seq')).toEqual(all.toReversed())
  expect(await columnOf(`events.csv?type=gap.found&before=${all[3]}`, 'seq')).toEqual(all.slice(4))
  expect(new Set(await columnOf('deliveries.csv?state=delivered', 'state'))).toEqual(new Set(['delivered']))
  expect(await csvOf('/api/v1/events.csv?limit=1', callers.reader)).toBe('invalid_request')
  expect(await csvOf('/api/v1/events.csv?after=99999999', callers.reader)).toBe('feed_restarted')
  expect(await csvOf('/api/v1/gaps.csv?app=com.example.none', callers.reader)).toBe('unknown_app')
})

test('a CSV file ends early if its token is revoked meanwhile', async () => {
  const { windfall } = seeded.app
  const { id, token } = await windfall.store.commit(() =>
    windfall.tokens.create('short', { organization_id: null, apps: null }),
  )
  const response = await ask('/api/v1/events.csv', { authorization: `Bearer ${token}` })
  const reader = response.body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  await windfall.store.commit(() => windfall.tokens.revoke(id))
  await expect(
    (async () => {
      while (!(await reader?.read())?.done);
    })(),
  ).rejects.toMatchObject({ code: 'invalid_token' })
})

test('a spreadsheet does not run the user ids of strangers', async () => {
  for (const path of ['customers', 'customers/:id/links', 'events']) {
    const lines = (await csvOf(`${API}${path}.csv`, callers.owner)) as string[][]
    expect([path, lines.flat().some((cell) => cell.includes(BUYER))]).toEqual([path, true])
    expect([path, lines.flat().filter((cell) => cell.startsWith(BUYER))]).toEqual([path, []])
  }
})

test('the dashboard downloads lists, not the exact exports for programs', () => {
  const folder = new URL('../../src/web/ui/', import.meta.url)
  const names = nonEmpty(readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  const sources = nonEmpty(names.filter((name) => /\.tsx?$/.test(name)))
  const exporting = sources.filter((name) =>
    readFileSync(new URL(name, folder), 'utf8').includes('/api/v1/exports'),
  )
  expect(exporting).toEqual([])
})
