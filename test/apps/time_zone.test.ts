/** The time zone of an organization: config.toml goes before the dashboard, and quiet hours wait for it. */
import { mkdirSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type AlertingApp, openAlertingApp, purchase } from '../alerts/alerting.ts'
import { temporaryFolder } from '../folders.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { handClock, openTestApp, type TestApp } from '../helpers.ts'
import { restore } from '../store/schema/dump.ts'
import { MADE_AT } from '../store/schema/every_table.ts'
import { placeSealingKey } from '../store/schema/outgoing_rows.ts'

const HOUR = 3_600_000
const DECLARED = { WINDFALL_ORGANIZATIONS: '[{ slug = "default", time_zone = "Asia/Tokyo" }]' }

/** Chooses a time zone in the dashboard. */
async function choose(app: TestApp, time_zone: string, id = app.organization.id) {
  const headers = { ...(await app.signIn()), 'content-type': 'application/json' }
  const body = JSON.stringify({ time_zone })
  const answer = await app.request(`/api/v1/organizations/${id}`, { method: 'PATCH', headers, body })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

async function read<Answer>(app: TestApp, path: string): Promise<Answer> {
  return (await app.request(path, { headers: await app.signIn() })).json() as Promise<Answer>
}

type Series = { series: { points: { milli: number }[] }[]; time_zone: string }

test('a zone that is chosen in the dashboard moves the days of charts, also after a restart', async () => {
  // 23:30 UTC is the next day in Berlin.
  const app = await openTestApp({
    clock: handClock(Date.UTC(2026, 5, 1, 23, 30)),
    heard_at: Date.UTC(2026, 4, 1),
  })
  await purchase({ app })
  await app.windfall.metrics.whenCurrent()
  const days = async (one: TestApp) => {
    const { series, time_zone } = await read<Series>(
      one,
      '/api/v1/metrics/revenue?from=2026-05-31&to=2026-06-01',
    )
    return [time_zone, ...(series[0]?.points.map(({ milli }) => milli) ?? [])]
  }
  expect(await days(app)).toEqual(['UTC', 0, 4_990])
  expect(await choose(app, 'Europe/Berlin')).toEqual({
    status: 200,
    body: { id: app.organization.id, time_zone: 'Europe/Berlin', time_zone_source: 'dashboard' },
  })
  await app.windfall.metrics.whenCurrent()
  await expect.poll(() => days(app)).toEqual(['Europe/Berlin', 0, 0])
  const { entries } = await read<{ entries: object[] }>(app, '/api/v1/audit')
  expect(entries[0]).toMatchObject({ action: 'organization.changed', detail: 'Europe/Berlin' })
  await app.windfall.close()
  const again = await openTestApp({ folder: app.folder, clock: app.clock, apps: [] })
  expect(again.organization).toMatchObject({ time_zone: 'Europe/Berlin', time_zone_source: 'dashboard' })
})

test('config.toml goes before the dashboard, and what it set stays until another zone is chosen', async () => {
  const app = await openTestApp()
  await choose(app, 'Europe/Berlin')
  await app.windfall.close()
  const open = (env: Record<string, string>) =>
    openTestApp({ folder: app.folder, clock: app.clock, apps: [], env })
  const declared = await open(DECLARED)
  expect(declared.organization).toMatchObject({ time_zone: 'Asia/Tokyo', time_zone_source: 'config' })
  expect(await choose(declared, 'Europe/Berlin')).toMatchObject({
    status: 409,
    body: { code: 'declared_in_config' },
  })
  await declared.windfall.close()
  const freed = await open({ WINDFALL_ORGANIZATIONS: '[{ slug = "default" }]' })
  expect(freed.organization).toMatchObject({ time_zone: 'Asia/Tokyo', time_zone_source: 'dashboard' })
  expect(await choose(freed, 'UTC')).toMatchObject({ status: 200, body: { time_zone: 'UTC' } })
})

test.each(['Mars/Olympus', '+02:00', '', 7])('%j is no time zone', async (zone) => {
  const app = await openTestApp()
  expect(await choose(app, zone as string)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(await choose(app, 'UTC', 'org_unknown')).toMatchObject({ status: 404 })
})

/** The quiet hours of the only organization, as the API says them. */
async function quietIn(app: TestApp) {
  const { organizations } = await read<{ organizations: { quiet: unknown }[] }>(
    app,
    '/api/v1/alerts/settings',
  )
  return organizations[0]?.quiet
}

const NIGHT = { from: '22:00', until: '08:00' }

test('quiet hours are off until a zone was chosen, and then those of the night there', async () => {
  // 23:00 UTC is 16:00 in Los Angeles.
  const app: AlertingApp = await openAlertingApp({ clock: handClock(Date.UTC(2026, 5, 1, 23)) })
  const { store } = app.windfall
  await store.commit(() => store.prepare("delete from settings where key like 'alerts/%'").run())
  await app.rule('sale')
  expect(await quietIn(app)).toBe(null)
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(1)
  // What else is set does not decide about quiet hours.
  await store.commit(() => app.alerts.changeSettings(app.organization.id, { digests_at: '09:00' }))
  expect(await quietIn(app)).toBe(null)
  await choose(app, 'America/Los_Angeles')
  expect(await quietIn(app)).toEqual(NIGHT)
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(2)
  app.clock.turn(7 * HOUR)
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(2)
})

test('a message that waits for the end of quiet hours is looked at again when the zone changes', async () => {
  const app = await openAlertingApp({ clock: handClock(Date.UTC(2026, 5, 1, 23)) })
  await app.windfall.store.commit(() => app.alerts.changeSettings(app.organization.id, { quiet: NIGHT }))
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toEqual([])
  await choose(app, 'America/Los_Angeles')
  await app.settle(1_000)
  expect(app.got()).toHaveLength(1)
})

test('an organization whose zone config.toml sets has quiet hours of the night from the start', async () => {
  const app = await openTestApp({ env: DECLARED })
  expect(await quietIn(app)).toEqual(NIGHT)
})

test('an instance of 0.3.0 keeps its quiet hours and is asked once; one without a channel has none until it chooses', async () => {
  const text = readFileSync(new URL('../store/schema/fixtures/0.3.0.sql', import.meta.url), 'utf8')
  for (const [change, quiet] of [
    ['', NIGHT],
    ['delete from alert_digests; delete from alert_sends; delete from alert_channels;', null],
  ] as const) {
    const folder = temporaryFolder().path
    const file = `${folder}/data/windfall.db`
    mkdirSync(`${folder}/data`)
    restore(text, file)
    const db = new Database(file)
    db.exec(`delete from settings where key like 'alerts/%'; ${change}`)
    db.close()
    placeSealingKey(file)
    const env = { WINDFALL_ORGANIZATIONS: '[{ slug = "default" }]' }
    const app = await openTestApp({ folder, apps: [], env, clock: handClock(MADE_AT) })
    expect(await quietIn(app)).toEqual(quiet)
    const isAsked = async () =>
      !(await read<{ has_time_zone: boolean }>(app, '/api/v1/first-steps')).has_time_zone
    expect(await isAsked()).toBe(true)
    await choose(app, 'UTC')
    expect([await isAsked(), await quietIn(app)]).toEqual([false, NIGHT])
  }
})

test('the set-up takes the zone of the browser, and only for organizations without one', async () => {
  for (const [env, expected] of [
    [{}, { time_zone: 'Europe/Berlin', time_zone_source: 'dashboard' }],
    [DECLARED, { time_zone: 'Asia/Tokyo', time_zone_source: 'config' }],
  ] as const) {
    const app = await openTestApp({ env })
    const { owner, store } = app.windfall
    const { token } = await store.commit(() => owner.createLink('setup'))
    const password = 'correct horse battery staple'
    const body = { token, password, time_zone: 'Europe/Berlin' }
    const answer = await app.post('/api/v1/setup', body, { 'sec-fetch-site': 'same-origin' })
    expect(answer.status).toBe(200)
    expect(app.windfall.organizations.get(app.organization.id)).toMatchObject(expected)
  }
})

test('the set-up stores the password and the time zone together, or neither', async () => {
  expectErrors('a request failed unexpectedly')
  const app = await openTestApp()
  const { owner, store, organizations } = app.windfall
  const { token } = await store.commit(() => owner.createLink('setup'))
  const setUp = async () => {
    const body = { token, password: 'correct horse battery staple', time_zone: 'Europe/Berlin' }
    return (await app.post('/api/v1/setup', body, { 'sec-fetch-site': 'same-origin' })).status
  }
  const run = (sql: string) => store.commit(() => void store.prepare(sql).run())
  await run(`create trigger refuse_zones before update of time_zone on organizations
    begin select raise(abort, 'the zone is not stored'); end`)
  expect(await setUp()).toBe(500)
  expect(owner.password()).toBeNull()
  await run('drop trigger refuse_zones')
  expect(await setUp()).toBe(200)
  expect(organizations.get(app.organization.id)?.time_zone).toBe('Europe/Berlin')
})
