import { expect, test, vi } from 'vitest'
import { dayOfUtc } from '../../src/days.ts'
import type { CheckResult } from '../../src/doctor/result.ts'
import { openVerdict } from '../../src/doctor/verdict.ts'
import { fault } from '../../src/health/findings.ts'
import { APPLE_CURRENCIES } from '../../src/rates/currencies.ts'
import { openSetting } from '../../src/store/setting.ts'
import { BUNDLE, renewedPayload } from '../apple/samples.ts'
import { temporaryFolder } from '../folders.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from '../forwarding/receiving.ts'
import type { TestApp } from '../helpers.ts'
import { openChecked } from './checking.ts'

type Reason = { level: string; title: string; detail: string; remedy: string | null; check: string | null }
type Verdict = {
  level: string
  errors: number
  warnings: number
  reasons: Reason[]
  checked_at: number | null
} | null

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

async function verdictOf(app: TestApp, bearer?: string): Promise<Verdict> {
  const headers = { authorization: `Bearer ${bearer ?? (await app.token())}` }
  const response = await app.request('/api/v1/status', { headers })
  expect(response.status).toBe(200)
  return ((await response.json()) as { verdict: Verdict }).verdict
}

const arrived = async (app: TestApp): Promise<void> => {
  const outer = { notificationUUID: 'first', signedDate: app.clock() }
  expect((await app.notify(renewedPayload(app.authority, { outer }))).status).toBe(200)
}

const passed = (id: string): CheckResult => ({
  id,
  title: id,
  status: 'ok',
  detail: 'Fine.',
  remedy: null,
  quote: null,
})

/** Stores a rate of today for every currency. */
async function keepRates({ windfall: { store }, clock }: TestApp): Promise<void> {
  const insert = store.prepare<[string, string, number]>(
    "insert into rates values (?, ?, 1000000000, 'test', ?)",
  )
  await store.commit(() => {
    for (const currency of APPLE_CURRENCIES) insert.run(currency, dayOfUtc(clock()), clock())
  })
}

/** Opens a Windfall that forwards, with the results of the checks of an earlier start and a notification. */
async function openExamined(results: readonly CheckResult[], age_ms = 1_000): Promise<ForwardingApp> {
  const { path: folder } = temporaryFolder()
  const before = await openForwardingApp({ folder })
  const [started_at, finished_at] = [before.clock() - age_ms - 1_000, before.clock() - age_ms]
  const examination = { version: '1.0.0', started_at, finished_at, with_test: false, results }
  const setting = openSetting(before.windfall.store, 'examination')
  await before.windfall.store.commit(() => setting.set(JSON.stringify(examination)))
  await before.close()
  const app = await openForwardingApp({ folder, clock: before.clock, apps: [] })
  await app.windfall.jobs.runNow('housekeeping')
  await keepRates(app)
  await arrived(app)
  return app
}

test('a server without a notification or a report has no verdict, even after its checks', async () => {
  const { app, checks } = await openChecked()
  expect(await verdictOf(app)).toBeNull()
  expect((await checks()).some(({ status }) => status !== 'ok')).toBe(true)
  expect(await verdictOf(app)).toBeNull()
  await arrived(app)
  expect(await verdictOf(app)).toMatchObject({ checked_at: app.clock() })
})

test('without an error and a warning, all is well once the checks have run', async () => {
  const app = await openExamined([passed('disk'), passed('address:request')])
  const verdict = await verdictOf(app)
  expect(verdict).toEqual({
    level: 'ok',
    errors: 0,
    warnings: 0,
    reasons: [],
    checked_at: app.clock() - 1_000,
  })
})

test('a warning and an error of the checks count, except what a finding reports', async () => {
  const warning = { ...passed('sync'), status: 'warning', detail: 'Slow.', remedy: 'Get an SSD.' } as const
  const over = { ...passed('webhooks:ep_1'), status: 'error', remedy: 'Repair it.' } as const
  const amber = await openExamined([warning, over])
  const slow = { level: 'warning', title: 'sync', detail: 'Slow.', remedy: 'Get an SSD.', check: 'sync' }
  expect(await verdictOf(amber)).toMatchObject({ level: 'warning', errors: 0, warnings: 1, reasons: [slow] })
  const error = { ...passed('file_system'), status: 'error', remedy: 'Move it.', quote: 'Quoted.' } as const
  const red = await openExamined([warning, error])
  expect(await verdictOf(red)).toMatchObject({
    level: 'error',
    errors: 1,
    warnings: 1,
    reasons: [{ level: 'error', check: 'file_system', detail: 'Fine. Quoted.' }, slow],
  })
})

test('neither a restore drill elsewhere nor an address in the local network counts', async () => {
  const ids = ['drill', 'address:notifications']
  const app = await openExamined(
    ids.map((id) => ({ ...passed(id), status: 'warning', remedy: 'Change it.' })),
  )
  expect(await verdictOf(app)).toMatchObject({ level: 'ok', warnings: 0 })
})

test('results count for two days, then findings alone', async () => {
  const failed = { ...passed('file_system'), status: 'error', remedy: 'Move it.' } as const
  const recent = await openExamined([failed], 2 * DAY_MS - 60_000)
  expect(await verdictOf(recent)).toMatchObject({ level: 'error', errors: 1 })
  const old = await openExamined([failed], 2 * DAY_MS + 60_000)
  expect(await verdictOf(old)).toBeNull()
  const receiver = await openHttpReceiver(({ index }) => (index % 3 === 0 ? 200 : 400))
  await old.addEndpoint(receiver.url, { name: 'Billing' })
  await old.append(10)
  await old.settled()
  expect((await verdictOf(old))?.reasons).toMatchObject([{ check: null }])
})

test('what a finding and the checks both report counts once', async () => {
  const failed = (id: string): CheckResult => ({ ...passed(id), status: 'error', remedy: 'Repair it.' })
  const app = await openExamined([])
  const slug = app.windfall.organizations.get(app.organization.id)?.slug
  const covered = ['disk', 'backup', 'backup:copied', `keys:connect:${slug}`, `keys:purchase:${slug}`]
  const others = ['keys:connect:another', 'inodes']
  const [started_at, finished_at] = [app.clock(), app.clock()]
  const results = [...covered, ...others].map(failed)
  const last = { version: '1.0.0', started_at, finished_at, with_test: false, results }
  const verdict = openVerdict({ ...app.windfall, doctor: { last: () => last } })
  expect(verdict.of([])?.errors).toBe(covered.length + others.length)
  const { id: organization_id } = app.organization
  const ids = [
    'disk',
    'backup',
    'backup:copy',
    `key:connect:${organization_id}`,
    `key:purchases:${organization_id}`,
  ]
  const findings = ids.map((id) => fault('subject', 'It is broken.', { id, organization_id }))
  const { errors, reasons } = verdict.of(findings) ?? {}
  expect(errors).toBe(ids.length + others.length)
  expect(reasons?.flatMap(({ check }) => check ?? [])).toEqual(others)
})

test('the first notification of an app ends the warning that there was none', async () => {
  const { app, checks } = await openChecked()
  expect((await checks()).filter(({ id }) => id.startsWith('last_notification:'))).toMatchObject([
    { status: 'warning' },
  ])
  await arrived(app)
  const reasons = (await verdictOf(app))?.reasons ?? []
  expect(reasons.filter(({ check }) => check?.startsWith('last_notification'))).toEqual([])
})

test('an endpoint that refuses requests is named, while it fails and while many of its requests fail', async () => {
  const app = await openExamined([passed('disk')])
  const receiver = await openHttpReceiver(({ index }) => (index % 3 === 0 ? 200 : 400))
  const { endpoint } = await app.addEndpoint(receiver.url, { name: 'Billing' })
  await app.append(10)
  await app.settled()
  expect(await verdictOf(app)).toMatchObject({
    level: 'warning',
    reasons: [
      {
        level: 'warning',
        title: 'Many requests to a webhook fail',
        detail: expect.stringContaining('60 % of the requests to Billing in the last seven days failed'),
        check: null,
      },
    ],
  })
  receiver.behave(() => 500)
  await app.append(5)
  await app.settled()
  expect(app.endpoint(endpoint.id).state).toBe('failing')
  const detail = expect.stringContaining('Billing is failing since')
  expect((await verdictOf(app))?.reasons).toMatchObject([{ title: 'A webhook is failing', detail }])
  receiver.behave(() => 200)
  await app.run(HOUR_MS)
  expect(app.endpoint(endpoint.id).state).toBe('active')
  expect(await verdictOf(app)).toMatchObject({ level: 'ok' })
})

test('a caller that cannot read everything gets no verdict', async () => {
  const app = await openExamined([passed('disk')])
  const { store, tokens, apps } = app.windfall
  const scope = { organization_id: app.organization.id, apps: [apps.list()[0]?.id ?? BUNDLE] }
  const { token } = await store.commit(() => tokens.create('one app', scope))
  expect(await verdictOf(app, token)).toBeNull()
  expect(await verdictOf(app)).not.toBeNull()
})

test('the checks run soon after a backup and after the first app', async () => {
  const { app } = await openChecked({ apps: [], env: { WINDFALL_JOBS_CHECKS: '50 4 * * *' } })
  const { jobs, doctor, store, apps } = app.windfall
  jobs.start()
  await jobs.tick()
  const isCheckedAgain = async (change: () => Promise<unknown>) => {
    app.clock.turn(60_000)
    await change()
    await jobs.tick()
    await vi.waitFor(() => expect(doctor.last()?.started_at).toBe(app.clock()), 20_000)
  }
  await isCheckedAgain(() => jobs.runNow('backup'))
  expect(doctor.last()?.results.find(({ id }) => id === 'backup')).toMatchObject({ status: 'ok' })
  await isCheckedAgain(() => store.commit(() => apps.add(app.organization.id, { bundle_id: BUNDLE }, 'test')))
})

test('while the last checks found errors, they run again within the hour', async () => {
  const failed = { ...passed('file_system'), status: 'error', remedy: 'Move it.' } as const
  const red = await openExamined([failed])
  expect(red.windfall.doctor.againAt()).toBe(red.clock() - 1_000 + HOUR_MS / 2)
  const amber = await openExamined([{ ...failed, status: 'warning' }])
  expect(amber.windfall.doctor.againAt()).toBeNull()
})

test('the job stores results without a request to Apple, and the owner can run the checks right after it', async () => {
  const { app, call, system } = await openChecked()
  const state = await app.windfall.jobs.runNow('checks')
  expect(state).toMatchObject({
    error: null,
    outcome: expect.stringMatching(/^errors: \d+, warnings: \d+, passed: \d+, skipped: \d+$/),
  })
  const { result } = await system()
  const apple = result?.checks.filter(({ id }) => ['apple', 'clock'].includes(id))
  const detail = 'The daily checks ask Apple only if there are Apple keys. Run the checks to ask now.'
  expect(apple?.map(({ status, detail: words }) => [status, words])).toEqual([
    ['skipped', detail],
    ['skipped', detail],
  ])
  expect((await call('POST', 'system/checks', {})).status).toBe(202)
})
