import { expect, test } from 'vitest'
import { newKeys } from '../../src/demo/store/tokens.ts'
import { fault, notice } from '../../src/health/findings.ts'
import { APPLE_ID, BUNDLE, NOW, outerPayload, renewedPayload } from '../apple/samples.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { handClock, openTestApp, type TestApp } from '../helpers.ts'
import { connectTo, DAY, HOUR, liveUntil, openShop } from '../ledger/history/connected_shop.ts'

type Row = Record<string, unknown> & { id: string; level: string; title: string; detail: string }
type Health = Record<string, unknown> & { app_id: string; notifications: Record<string, unknown>[] }
type Body = { level: string; rows: Row[]; apps: Health[]; code?: string }

const OTHER = 'com.example.other'

function statusReader(app: TestApp) {
  return async (path: string, bearer?: string) => {
    const headers = { authorization: `Bearer ${bearer ?? (await app.token())}` }
    const response = await app.request(`/api/v1/${path}`, { headers })
    return { status: response.status, body: (await response.json()) as Body }
  }
}
const rowsIn = ({ rows }: Body, prefix: string): Row[] => rows.filter(({ id }) => id.startsWith(prefix))

test('jobs that wait for the same key are one row, and an app without a key does not repeat it', async () => {
  const app = await openTestApp()
  for (const job of ['annotations', 'backfill', 'import', 'lookups', 'reconcile'])
    await app.windfall.jobs.runNow(job)
  app.clock.turn(DAY)
  const { body } = await statusReader(app)('status')
  expect(rowsIn(body, 'job').map(({ title, detail }) => [title, detail])).toEqual([
    ['No App Store Connect key', 'these jobs wait: annotations, import.'],
    ['No In-App Purchase key', 'these jobs wait: backfill, lookups, reconcile.'],
  ])
})

/** One notification of the app, signed and received now. */
async function received(app: TestApp, number: number): Promise<void> {
  const outer = { notificationUUID: `uuid-${number}`, signedDate: app.clock() }
  expect((await app.notify(renewedPayload(app.authority, { outer }))).status).toBe(200)
}

test('lists pending and refused notifications, silent apps and jobs that never ran, most severe first', async () => {
  expectErrors('a job failed')
  const app = await openTestApp()
  const get = statusReader(app)
  await app.post('/apple/notifications', { signedPayload: 'eyJhbGciOiJFUzI1NiJ9.e30.AAAA' })
  const body = { data: { bundleId: OTHER, environment: 'Production', appAppleId: 7 } }
  await app.notify(outerPayload(body, { notificationType: 'TEST', notificationUUID: 'waits' }))
  const { body: findings } = await get('status')
  expect(findings).toMatchObject({ level: 'warning' })
  expect(rowsIn(findings, 'pending:')).toMatchObject([
    {
      id: `pending:${OTHER}`,
      level: 'warning',
      title: `1 pending notification for ${OTHER}`,
      since: NOW,
      action: { label: 'Connect', command: `windfall apps add ${OTHER}` },
      detail: expect.stringContaining('on 2026-06-08'),
    },
  ])
  expect(rowsIn(findings, 'refused')).toMatchObject([
    { title: 'At least 1 notification was refused in the last day' },
  ])
  // An app that was connected today may not have had a purchase.
  expect(rowsIn(findings, 'unheard:')).toEqual([])
  expect(rowsIn(findings, 'jobs')).toHaveLength(1)
  expect(rowsIn(findings, 'rates')).toMatchObject([{ action: { command: 'windfall jobs run rates' } }])
  // Each matter once.
  expect(new Set(findings.rows.map(({ id }) => id)).size).toBe(findings.rows.length)

  await app.windfall.jobs.runNow('rates')
  const { body: failing } = await get('status')
  expect(failing.level).toBe('error')
  expect(failing.rows[0]).toMatchObject({
    id: 'rates',
    level: 'error',
    detail:
      '40 of 43 currencies have no rate. The last attempt to fetch them failed. To fetch them, run windfall jobs run rates; to import them, run windfall rates import',
    cause: expect.stringContaining('could not be reached'),
    action: { command: 'windfall jobs run rates' },
  })
  expect(rowsIn(failing, 'job:rates')).toEqual([])
  app.clock.turn(2 * DAY)
  const later = (await get('status')).body
  expect(rowsIn(later, 'refused')).toEqual([])
  expect(rowsIn(later, 'unheard:')).toMatchObject([{ title: `No notifications received from ${BUNDLE}` }])
})

test('a job that has nothing to do without keys is no finding; one without a vendor number is', async () => {
  const app = await openTestApp()
  const get = statusReader(app)
  const jobs = async () => rowsIn((await get('status')).body, 'job:')
  for (const job of ['import', 'backfill', 'reconcile', 'annotations']) await app.windfall.jobs.runNow(job)
  expect(await jobs()).toEqual([])
  const { connect_key: connect } = newKeys()
  const account = { organization_id: app.organization.id, purchases: null, vendor_numbers: [] }
  app.windfall.accounts.declare([{ ...account, connect }])
  await app.windfall.jobs.runNow('import')
  expect(await jobs()).toMatchObject([{ level: 'warning', title: 'There is no vendor number' }])
})

test('a job without a key needs nobody before an app is connected', async () => {
  const app = await openTestApp()
  const get = statusReader(app)
  const { apps, jobs, store } = app.windfall
  for (const job of ['import', 'reconcile', 'annotations'] as const)
    expect((await jobs.runNow(job)).outcome).toMatch(/^not asked/)
  app.clock.turn(DAY)
  // One for each reason: no key for the import, none for the others.
  expect(rowsIn((await get('status')).body, 'job:')).toHaveLength(2)
  await store.commit(() => apps.remove(app.organization.id, BUNDLE))
  expect(rowsIn((await get('status')).body, 'job:')).toEqual([])
})

test('counts every refused notification, and marks a count that may be too low', async () => {
  const app = await openTestApp()
  const get = statusReader(app)
  const refused = async (of: TestApp = app) => rowsIn((await statusReader(of)('status')).body, 'refused')
  const forge = (times: number) =>
    Promise.all(Array.from({ length: times }, () => app.post('/apple/notifications', { signedPayload: 'x' })))
  await forge(60)
  expect(await refused()).toMatchObject([{ title: 'At least 60 notifications were refused in the last day' }])
  app.clock.turn(DAY)
  await forge(150)
  expect(await refused()).toMatchObject([
    {
      title: '150 notifications were refused in the last day',
      detail: expect.stringContaining('150 notifications were refused in the last day: not verifiably'),
    },
  ])
  expect((await get('status')).status).toBe(200)
  // After a restart the kept ones alone are known.
  await app.windfall.close()
  app.clock.turn(1)
  const again = await openTestApp({ folder: app.folder, clock: app.clock })
  expect(await refused(again)).toMatchObject([
    { title: 'At least 5 notifications were refused in the last day' },
  ])
})

test('reports a silence twice as long as any before, but never a short one', async () => {
  const app = await openTestApp()
  const get = statusReader(app)
  const silent = async () => rowsIn((await get('status')).body, 'silent:')
  for (let number = 0; number < 12; number += 1) {
    await received(app, number)
    app.clock.turn(number === 5 ? 10 * HOUR : HOUR)
  }
  app.clock.turn(18 * HOUR)
  // 19 hours since the last, and ten at most before.
  expect(await silent()).toEqual([])
  app.clock.turn(2 * HOUR)
  expect(await silent()).toMatchObject([
    {
      level: 'warning',
      title: `No notifications from ${BUNDLE} for 21 hours`,
      since: app.clock() - 21 * HOUR,
      detail: expect.stringContaining('The longest silence before was 10 hours'),
    },
  ])
  await received(app, 20)
  expect(await silent()).toEqual([])
})

test('warns before the root certificate expires', async () => {
  const app = await openTestApp({ clock: handClock(Date.UTC(2026, 5, 1)) })
  const get = statusReader(app)
  const { body } = await get('status')
  expect(rowsIn(body, 'root')).toEqual([])
  const { root_certificate_expires_at: ends } = (await (await app.request('/readyz')).json()) as {
    root_certificate_expires_at: number
  }
  app.clock.set(ends - 10 * DAY)
  expect(rowsIn((await get('status')).body, 'root')).toMatchObject([{ level: 'warning' }])
  app.clock.set(ends + DAY)
  expect(rowsIn((await get('status')).body, 'root')).toMatchObject([{ level: 'error' }])
})

test('lists a read-only database first', async () => {
  const app = await openTestApp()
  const get = statusReader(app)
  const token = await app.token()
  app.windfall.store.limitPages(1)
  const big = { appUserId: 'ann', bundleId: BUNDLE, attributes: { much: 'x'.repeat(1_000) } }
  for (let index = 0; index < 60; index += 1)
    await app.post('/api/sdk/v1/identify', { ...big, appUserId: `ann${index}` })
  expect((await get('status', token)).body.rows[0]).toMatchObject({ id: 'database', level: 'error' })
  app.windfall.store.limitPages(null)
  expect(rowsIn((await get('status', token)).body, 'database')).toEqual([])
})

test('reports gaps, history problems and refused keys, and each app’s health', async () => {
  const shop = await openShop({ subscribers: 12, days: 40 })
  const app = await connectTo(shop)
  const get = statusReader(app)
  const [first] = app.windfall.apps.list()
  const bundle = first?.bundle_id ?? ''
  const health = async () => (await get(`apps/health?app=${bundle}`)).body.apps[0]
  expect(await health()).toMatchObject({
    app_id: first?.id,
    source: 'test',
    products: { count: 0, without_period: 0 },
    keys: { connect: { state: 'none' }, purchases: { state: 'unknown' } },
    history: [
      { environment: 'production', has_key: true, stage: null, progress: null },
      { environment: 'sandbox' },
    ],
  })
  await app.windfall.history.backfill()
  shop.simulation.lose({ from: shop.clock() })
  await liveUntil(shop, app, shop.clock() + DAY, 0.05)
  shop.clock.turn(DAY)
  await app.windfall.history.reconcile()
  // What got lost is here by now: nobody needs to know on the page of today.
  expect(app.feed().filter(({ type }) => type === 'gap.filled').length).toBeGreaterThan(0)
  expect(rowsIn((await get('status')).body, 'gap:')).toEqual([])
  const { store } = app.windfall
  const fill = (at: number | null) =>
    store.commit(() =>
      store
        .prepare<[number | null]>('update gaps set filled_at = ? where id = (select min(id) from gaps)')
        .run(at),
    )
  await fill(null)
  expect(rowsIn((await get('status')).body, 'gap:')).toMatchObject([
    {
      level: 'warning',
      since: shop.clock(),
      app_id: expect.any(String),
      progress: { of: expect.any(Number) },
    },
  ])
  await fill(shop.clock())
  expect(await health()).toMatchObject({
    keys: { purchases: { state: 'ok', why: null } },
    history: [{ stage: 'done', problem: null, compared_until_at: shop.clock() - 60_000 }, {}],
    notifications: [{ environment: 'production', gaps_open: 0 }, { environment: 'sandbox' }],
  })

  const since = shop.clock()
  shop.store.faults.purchase_key = 'revoked'
  await app.windfall.history.reconcile()
  shop.clock.turn(HOUR)
  await app.windfall.history.reconcile()
  const { body } = await get('status')
  expect(rowsIn(body, 'key:purchases')).toMatchObject([
    { level: 'error', since, action: { href: '/settings#apple' }, title: expect.stringContaining('refuses') },
  ])
  expect(rowsIn(body, 'history:').length).toBeGreaterThan(0)
  expect(await health()).toMatchObject({ keys: { purchases: { state: 'refused', since } } })
})

test('counts an app’s notifications by environment', async () => {
  const app = await openTestApp()
  const get = statusReader(app)
  await received(app, 1)
  app.clock.turn(2 * DAY)
  await received(app, 2)
  app.clock.turn(HOUR)
  const { apps } = (await get('apps/health')).body
  expect(apps).toMatchObject([
    {
      bundle_id: BUNDLE,
      connected_at: NOW,
      reports: { newest_on: null, done: 0, of: 0, failed: 0 },
      notifications: [
        { environment: 'production', last_at: NOW + 2 * DAY, last_24_hours: 1, last_7_days: 2, gaps_open: 0 },
        { environment: 'sandbox', last_at: null, last_24_hours: 0, last_7_days: 0, gaps_open: 0 },
      ],
    },
  ])
})

test('a reader of some apps sees findings of these only', async () => {
  const app = await openTestApp({ apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }, { bundle_id: OTHER }] })
  const get = statusReader(app)
  const [lantern] = app.windfall.apps.byBundle(BUNDLE)
  const reach = { organization_id: app.organization.id, apps: [lantern?.id ?? ''] }
  const narrow = await app.windfall.store.commit(() => app.windfall.tokens.create('narrow', reach).token)
  app.clock.turn(DAY)
  const { rows } = (await get('status', narrow)).body
  expect(rows.map(({ id }) => id)).toEqual([`unheard:${lantern?.id}`])
  expect((await get('apps/health', narrow)).body.apps.map(({ app_id }) => app_id)).toEqual([lantern?.id])
  expect(await get(`apps/health?app=${OTHER}`, narrow)).toMatchObject({
    status: 404,
    body: { code: 'unknown_app' },
  })
  for (const path of ['status', 'apps/health']) {
    expect((await get(path, 'wf_nothing')).status).toBe(401)
    expect(await get(`${path}?level=error`)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  }
})

test('shows an organization’s pending notifications only to readers of all its apps', async () => {
  const app = await openTestApp()
  const get = statusReader(app)
  const { id, slug } = app.organization
  const data = { bundleId: OTHER, environment: 'Production', appAppleId: 7 }
  const pendingPayload = outerPayload({ data }, { notificationType: 'TEST', notificationUUID: 'waits' })
  const sent = { signedPayload: app.authority.sign(pendingPayload) }
  expect((await app.post(`/apple/notifications/${slug}`, sent)).status).toBe(200)
  const [lantern] = app.windfall.apps.byBundle(BUNDLE)
  const findings = async (organization_id: string | null, apps: string[] | null) => {
    const { store, tokens } = app.windfall
    const { token } = await store.commit(() => tokens.create('test', { organization_id, apps }))
    return rowsIn((await get('status', token)).body, 'pending:').map((row) => row.id)
  }
  const waits = [`pending:${OTHER}:${id}`]
  expect(await findings(id, null)).toEqual(waits)
  expect(await findings(null, null)).toEqual(waits)
  for (const within of [id, null]) expect(await findings(within, [lantern?.id ?? ''])).toEqual([])
  expect(await findings('org_other', null)).toEqual([])
})

test('shows the findings of added sources, most severe first', async () => {
  const app = await openTestApp()
  const get = statusReader(app)
  app.windfall.health.add(() => [fault('webhooks', 'none arrived', { id: 'added', title: 'Webhooks fail' })])
  app.windfall.health.add(async () => [notice('digest', 'sent later', { id: 'also', title: 'Digest late' })])
  const { body } = await get('status')
  expect(body.rows[0]).toMatchObject({ id: 'added', level: 'error', title: 'Webhooks fail' })
  expect(rowsIn(body, 'also')).toMatchObject([{ level: 'notice', title: 'Digest late' }])
})
