import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { APPLE_ID, BUNDLE } from '../apple/samples.ts'
import { HOUR, openApple, VENDOR } from '../ledger/reports/apple.ts'
import { DAY, download, level, sale } from '../ledger/reports/samples.ts'

const OTHER = 'com.example.other'

type Body = {
  running: { done: number; of: number; reading: object | null } | null
  organizations: { unknown_apps: object[] }[]
  days: Record<string, unknown>[]
  next: string | null
}

/** A Windfall that has read three days of one account, and what its API says. */
async function openRead() {
  const apple = await openApple()
  const app = await apple.openWindfall()
  await app.store.commit(() => app.windfall.apps.add(app.organization.id, { bundle_id: OTHER }, 'test'))
  apple.setReply('sales', DAY, [sale(), download({ 'Apple Identifier': String(APPLE_ID) })])
  apple.setReply('subscription', DAY, [level(), level({ 'App Apple ID': '99', 'App Name': 'Gone' })])
  apple.setReply('sales', '2026-04-30', 'not_yet')
  apple.setReply('subscription', '2026-04-30', [{ ...level(), 'Billing Retry': 'x' }])
  await app.imports.run({ days: 3 })
  const bearer = { authorization: `Bearer ${await app.token()}` }
  const get = async (path: string, headers: Record<string, string> = bearer) => {
    const response = await app.request(path, { headers })
    return { status: response.status, body: (await response.json()) as Body }
  }
  /** A token that reads these apps alone. */
  const narrow = (organization_id: string, apps: string[] | null) =>
    app.store.commit(() => app.windfall.tokens.create('narrow', { organization_id, apps }).token)
  return { apple, app, get, narrow }
}

test('returns counts, missing days with reasons, versions and unknown apps', async () => {
  const { app, apple, get } = await openRead()
  const { status, body } = await get('/api/v1/imports')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    running: null,
    organizations: [
      {
        organization_id: app.organization.id,
        states: expect.arrayContaining([
          { report: 'sales', state: 'done', days: 1, first_day: DAY, last_day: DAY },
          { report: 'sales', state: 'empty', days: 1, first_day: '2026-04-29', last_day: '2026-04-29' },
          { report: 'subscriber', state: 'empty', days: 3, first_day: '2026-04-29', last_day: DAY },
        ]),
        holes: [
          {
            vendor_number: VENDOR,
            report: 'sales',
            day_on: '2026-04-30',
            state: 'not_yet',
            tries: 1,
            reason: 'Apple has not published the report yet',
            asked_at: apple.clock(),
            due_at: apple.clock() + HOUR / 2,
          },
          {
            report: 'subscription',
            state: 'failed',
            reason: 'line 2, column "Billing Retry": "x" is not a whole number',
          },
        ],
        versions: expect.arrayContaining([{ report: 'sales', version: '1_0', learned_at: apple.clock() }]),
        unknown_apps: [{ sku: null, apple_id: 99, name: 'Gone' }],
      },
    ],
  })
})

test('lists each app, report and day in pages', async () => {
  const { app, get } = await openRead()
  const [lantern, other] = app.windfall.apps.list()
  const { body } = await get('/api/v1/imports/days?report=sales,subscription&limit=2')
  const rows = body.days.map((one) => [one.app_id, one.report, one.day_on, one.state, one.rows])
  expect(rows).toEqual([
    [lantern?.id, 'sales', DAY, 'done', 2],
    [other?.id, 'sales', DAY, 'empty', 0],
    [lantern?.id, 'subscription', DAY, 'done', 1],
    [other?.id, 'subscription', DAY, 'empty', 0],
    [lantern?.id, 'sales', '2026-04-30', 'not_yet', 0],
    [other?.id, 'sales', '2026-04-30', 'not_yet', 0],
    [lantern?.id, 'subscription', '2026-04-30', 'failed', 0],
    [other?.id, 'subscription', '2026-04-30', 'failed', 0],
  ])
  expect(body.next).toBe('2026-04-30')
  const { body: second } = await get(`/api/v1/imports/days?app=${BUNDLE}&limit=2&before=${body.next}`)
  expect(second.days).toHaveLength(8)
  expect(second.days[0]).toMatchObject({ day_on: '2026-04-29', state: 'empty' })
  expect(second.days.at(-1)).toMatchObject({ day_on: '2026-04-28', state: 'not_asked', asked_at: null })

  const pages: (string | null)[] = [body.next]
  for (let page = 0; page < 4; page += 1)
    pages.push((await get(`/api/v1/imports/days?limit=100&before=${pages.at(-1)}`)).body.next)
  expect(pages).toEqual(['2026-04-30', '2026-01-20', '2025-10-12', '2025-07-04', null])
})

test('shows the progress of a running import', async () => {
  const { apple, app, get } = await openRead()
  apple.clock.turn(24 * HOUR)
  const running = app.imports.run({ days: 20 })
  let seen: Body | null = null
  while (app.imports.progress() !== null) {
    // The answer takes no turn of the event loop; the run needs some.
    await new Promise(setImmediate)
    const { body } = await get('/api/v1/imports')
    if (body.running?.reading && body.running.done > 3) seen = body
  }
  await running
  expect(seen?.running).toMatchObject({
    of: expect.any(Number),
    waiting_until: null,
    reading: { vendor_number: VENDOR, report: expect.any(String), day_on: expect.any(String) },
  })
})

test('a token reads its own organization and apps, and no request without one is answered', async () => {
  const { app, get, narrow } = await openRead()
  const [lantern] = app.windfall.apps.list()
  const one = { authorization: `Bearer ${await narrow(app.organization.id, [lantern?.id ?? ''])}` }
  const { body } = await get('/api/v1/imports/days?limit=1', one)
  expect(new Set(body.days.map(({ app_id }) => app_id))).toEqual(new Set([lantern?.id]))
  expect((await get('/api/v1/imports', one)).body.organizations[0]?.unknown_apps).toEqual([])
  expect(await get(`/api/v1/imports/days?app=${OTHER}`, one)).toMatchObject({
    status: 404,
    body: { code: 'unknown_app' },
  })
  const stranger = { authorization: `Bearer ${await narrow('org_elsewhere', null)}` }
  expect((await get('/api/v1/imports', stranger)).body).toEqual({ running: null, organizations: [] })
  expect((await get('/api/v1/imports/days', stranger)).body.days).toEqual([])
  for (const path of ['/api/v1/imports', '/api/v1/imports/days']) {
    expect(await get(path, {})).toMatchObject({ status: 401, body: { code: 'token_required' } })
  }
})

test.each([
  [
    'report=weather',
    'report',
    'unknown report weather; use one of: sales, subscription, subscription_event, subscriber',
  ],
  ['before=2026-02-30', 'before', 'must be a day, YYYY-MM-DD'],
  ['limit=0', 'limit', 'must be at least 1'],
  ['limit=101', 'limit', 'must be at most 100'],
])('%s is refused by name', async (query, path, message) => {
  const { get } = await openRead()
  expect(await get(`/api/v1/imports/days?${query}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', errors: [{ path, message: expect.stringContaining(message) }] },
  })
})

test('names the first import in the status while it runs, because figures change until it is done', async () => {
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const { openWindfall } = await openApple()
  const connect = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const app = await openWindfall({ connect })
  const headers = { authorization: `Bearer ${await app.token()}` }
  const imports = async () => {
    const { rows } = (await (await app.request('/api/v1/status', { headers })).json()) as { rows: Finding[] }
    return rows.filter(({ id }) => id.startsWith('import'))
  }
  expect(await imports()).toEqual([])
  app.imports.run({ days: 3 }).catch(() => undefined)
  const row = {
    id: 'import:first',
    level: 'notice',
    title: 'Windfall is importing a year of history',
    detail: 'Figures change until it is done.',
    progress: { done: 0, of: 12 },
  }
  await vi.waitFor(async () => expect(await imports()).toMatchObject([row]))
  const session = async (link_id: string | null) => {
    const response = await app.request('/api/v1/session', { headers: await app.signIn(link_id) })
    return (await response.json()) as { importing: number | null }
  }
  const everything = { organization_id: null, apps: null, basis: 'gross', metrics: null } as const
  const link = await app.windfall.store.commit(() =>
    app.windfall.links.create({ ...everything, label: 'guest', expires_at: null, passcode: null }),
  )
  expect((await session(link.id)).importing).toBe(0)
  expect((await session(null)).importing).toBe(null)
})
type Finding = { id: string }
