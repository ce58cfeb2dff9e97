import { chmodSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect, onTestFinished, test, vi } from 'vitest'
import { forecastOf } from '../../src/doctor/checks/forecast.ts'
import { CHECKS } from '../../src/doctor/checks.ts'
import { openAlertingApp } from '../alerts/alerting.ts'
import { BUNDLE, dataBody, outerPayload } from '../apple/samples.ts'
import { openFolder } from '../config/folder.ts'
import { temporaryFolder } from '../folders.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { handClock, openTestApp } from '../helpers.ts'
import { about, openChecked } from './checking.ts'

const DAY = 86_400_000
const MB = 1_048_576

test('the checks never ran, then they run, and a restart keeps their result', async () => {
  const { path: folder } = temporaryFolder()
  const first = await openChecked({ folder })
  expect(await first.system()).toEqual({ result: null, running: null })
  const checks = await first.checks()
  const ids = new Set(checks.map(({ id }) => id.split(':')[0]))
  expect([...ids]).toEqual(CHECKS.map(({ id }) => id))
  const isUnsolved = ({ status, remedy }: (typeof checks)[number]) =>
    (status === 'warning' || status === 'error') && remedy === null
  expect(checks.filter(isUnsolved)).toEqual([])
  const before = await first.system()
  expect(before.result).toMatchObject({ started_at: first.app.clock(), test_notifications: false })
  await first.app.close()
  const again = await openChecked(
    await openTestApp({ folder, apps: [], clock: handClock(first.app.clock() + DAY) }),
  )
  expect(await again.system()).toEqual(before)
})

test('before the first fetch, missing rates are a warning', async () => {
  const { check } = await openChecked()
  expect(await check('rates')).toMatchObject([{ status: 'warning', detail: 'There are none yet.' }])
})

test('the owner runs the checks at most once a minute', async () => {
  const { call, app, checks, bearer } = await openChecked()
  await checks()
  app.clock.turn(59_001)
  const answer = await app.post('/api/v1/system/checks', {}, await app.signIn())
  expect(answer).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(answer.headers.get('retry-after')).toBe('1')
  app.clock.turn(999)
  expect((await call('POST', 'system/checks', {})).status).toBe(202)
  expect((await call('GET', 'system', undefined, bearer)).body.code).toBe('sign_in_required')
  expect((await call('POST', 'system/checks', { test: true })).body.code).toBe('invalid_request')
})

test('a second run is refused while the checks run, and a shutdown ends them', async () => {
  const answers: ServerResponse[] = []
  const apple = createServer((_, answer) => void answers.push(answer))
  await new Promise<void>((resolve) => apple.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    apple.closeAllConnections()
    apple.close()
  })
  const origin = `http://127.0.0.1:${(apple.address() as AddressInfo).port}`
  const hosts = { connect: origin, server: { production: origin, sandbox: origin } }
  const { call, app, system } = await openChecked({ hosts })
  expect((await call('POST', 'system/checks', { test_notifications: true })).status).toBe(202)
  await vi.waitFor(() => expect(answers).toHaveLength(1), 30_000)
  expect((await system()).running).toMatchObject({ title: 'Clock', done: 7, test_notifications: true })
  app.clock.turn(60_000)
  expect((await call('POST', 'system/checks', {})).body.code).toBe('checks_running')
  await app.close()
  expect(app.windfall.doctor.last()).toBeNull()
})

test('a readable database, a writable folder and a changed config file are reported', async () => {
  const folder = openFolder()
  const { path } = folder
  folder.write('config.toml', '[server]\nport = 4000\nkeep_alive_seconds = 6\n')
  const env = { WINDFALL_SERVER_PORT: '4001' }
  const { app, checks } = await openChecked({ folder: path, env })
  const sound = await checks()
  expect(about(sound, 'files')).toMatchObject([{ status: 'ok' }])
  const detail = expect.stringContaining(
    `The config file is ${path}/config.toml. 1 setting is from the file, 3 from environment variables`,
  )
  const overridden = expect.stringContaining('override the file: WINDFALL_SERVER_PORT (line 2).')
  expect(about(sound, 'configuration')).toMatchObject([{ status: 'ok', detail }])
  expect(about(sound, 'configuration')).toMatchObject([{ detail: overridden }])
  const file = app.windfall.store.file
  chmodSync(file, 0o644)
  chmodSync(join(path, 'data'), 0o777)
  writeFileSync(join(path, 'config.toml'), '[server]\nport = 4002\n')
  const changed = await checks()
  expect(about(changed, 'files')).toMatchObject([
    { status: 'error', remedy: `Run \`chmod o-w ${join(path, 'data')}\`.` },
    { status: 'error', remedy: `Run \`chmod 600 ${file}\`.`, detail: expect.stringContaining('mode 0644') },
  ])
  expect(about(changed, 'configuration')).toMatchObject([
    { status: 'warning', remedy: expect.stringContaining('`npm run -s windfall -- reload`') },
  ])
})

test('the last backup on another machine is reported, if a command copies backups', async () => {
  const env = {
    WINDFALL_BACKUP_COMMAND: '["/bin/true", "{file}"]',
    WINDFALL_BACKUP_RECIPIENTS: await identityToRecipient(await generateIdentity()),
  }
  const { app, check } = await openChecked({ env })
  const copied = async () => (await check('backup')).filter(({ id }) => id === 'backup:copied')
  expect(await copied()).toMatchObject([
    { status: 'warning', detail: 'No backup was copied to another machine.' },
  ])
  await app.windfall.jobs.runNow('backup')
  expect(await copied()).toMatchObject([
    { status: 'ok', detail: expect.stringMatching(/\.tar\.zst\.age was copied to another machine /) },
  ])
  app.clock.turn(8 * DAY)
  expect(await copied()).toMatchObject([
    { status: 'warning', remedy: expect.stringContaining('jobs run backup') },
  ])
})

test('a config file that is written after the start is reported', async () => {
  const folder = openFolder()
  const { check } = await openChecked({ folder: folder.path })
  expect(await check('configuration')).toMatchObject([{ status: 'ok', remedy: null }])
  folder.write('config.toml', '[server]\nport = 4000\n')
  const written = `The server started without a config file, and ${folder.path}/config.toml was written since.`
  const remedy = expect.stringContaining('`npm run -s windfall -- reload`')
  expect(await check('configuration')).toMatchObject([
    { status: 'warning', detail: expect.stringContaining(written), remedy },
  ])
})

test('a channel that its provider refuses is reported, and one that works is not', async () => {
  const app = await openAlertingApp({ env: { WINDFALL_BASE_URL: 'http://127.0.0.1:1' } })
  const { check } = await openChecked(app)
  expect(await check('alerts')).toMatchObject([{ status: 'ok', detail: 'Every channel accepts alerts.' }])
  const { channels } = app.windfall.alerts
  const [phone] = channels.list()
  if (!phone) throw new Error('there is no channel')
  await app.windfall.store.commit(() => channels.setState(phone, 'dead', 'It answered 410.'))
  expect(await check('alerts')).toMatchObject([
    {
      id: `alerts:channel:${phone.id}`,
      status: 'warning',
      detail: 'Alerts do not reach phone: It answered 410.',
      remedy: 'Open the channels in the dashboard under Settings, Alerts.',
    },
  ])
})

test('an error that stops alerts is reported', async () => {
  expectErrors('alerts pause for 30 seconds after an error')
  const app = await openAlertingApp({ env: { WINDFALL_BASE_URL: 'http://127.0.0.1:1' } })
  const { check } = await openChecked(app)
  const { store } = app.windfall
  expect(await check('stopped')).toMatchObject([{ status: 'ok' }])
  await store.commit(() => store.prepare('alter table alert_sends rename to elsewhere').run())
  await app.settle(1_000)
  expect(await check('stopped')).toMatchObject([
    {
      id: 'stopped:alerts:sending',
      status: 'error',
      detail: expect.stringMatching(/^Alerts are not sent: it failed (once|\d+ times) .* no such table/i),
      remedy: expect.stringContaining('restart it'),
    },
  ])
})

test('the age of the last notification of each app, or that there is none', async () => {
  const { app, check } = await openChecked()
  const never = `${BUNDLE}: production never, sandbox never.`
  expect(await check('last_notification')).toMatchObject([{ status: 'warning', detail: never }])
  await app.notify(outerPayload(dataBody(), { notificationType: 'TEST' }))
  app.clock.turn(3 * DAY)
  const old = `${BUNDLE}: production 3 days ago, sandbox never.`
  expect(await check('last_notification')).toMatchObject([{ status: 'ok', detail: old }])
})

test('the growth of the disk is unknown until there are samples of three days', async () => {
  const { app, check } = await openChecked()
  const unknown = expect.stringContaining('The growth is unknown: it takes samples of three days.')
  expect(await check('disk')).toMatchObject([{ detail: unknown }])
  await app.windfall.jobs.runNow('housekeeping')
  await app.windfall.jobs.runNow('housekeeping')
  const samples = () =>
    app.windfall.store.prepare<[], { count: number }>('select count(*) as count from disk_samples').get()
      ?.count
  expect(samples()).toBe(1)
  app.clock.turn(2 * DAY)
  expect(await check('disk')).toMatchObject([{ detail: unknown }])
  app.clock.turn(2 * DAY)
  const known = expect.stringMatching(/The free space (shrank by|did not shrink)/)
  expect(await check('disk')).toMatchObject([{ detail: known }])
})

test.each([
  [[], 1_000 * MB, 'The growth is unknown: it takes samples of three days.', null],
  [
    [1_040 * MB],
    1_000 * MB,
    'The free space shrank by 4 MB a day in the last 10 days: it lasts for 250 days.',
    250,
  ],
  [
    [1_010 * MB],
    1 * MB,
    'The free space shrank by 100.9 MB a day in the last 10 days: it lasts for 0 days.',
    0,
  ],
  [[900 * MB], 1_000 * MB, 'The free space did not shrink in the last 10 days.', null],
  [
    [1_000 * MB + 10_485],
    1_000 * MB,
    'The free space shrank by less than 0.1 MB a day in the last 10 days: it lasts for more than ten years.',
    1_000_000,
  ],
])('forecasts from %j bytes ten days ago and %i now', (before, now, words, days) => {
  const samples = before.map((free_bytes) => ({ sampled_at: 0, free_bytes }))
  const forecast = forecastOf(samples, { sampled_at: 10 * DAY, free_bytes: now })
  expect(forecast.words).toBe(words)
  if (days === null) expect(forecast.days).toBeNull()
  else expect(Math.floor((forecast.days ?? -1) / 1_000)).toBe(Math.floor(days / 1_000))
})
