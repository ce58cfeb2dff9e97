/** The steps of the first set-up: each is done by what the owner does, and the list can be dismissed. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { outerPayload } from '../../apple/samples.ts'
import { temporaryFolder } from '../../folders.ts'
import { expectErrors } from '../../guards/error_lines.ts'
import type { TestApp } from '../../helpers.ts'
import { openConnecting } from './apple/connecting.ts'
import { openSignedIn } from './settings_pages.ts'

/** A backup is verified before it counts. */
const PATIENCE = { timeout: 20_000 }

type Steps = { steps: { name: string; done: boolean }[]; dismissed: boolean }

async function openSteps(env: Record<string, string> = {}) {
  const owned = await openConnecting({ env })
  const read = async () => (await owned.call('GET', 'first-steps')).body as unknown as Steps
  const done = async () => (await read()).steps.filter((step) => step.done).map(({ name }) => name)
  return { ...owned, read, done }
}

const notified = (app: TestApp, type: string, uuid: string) =>
  app.notify(
    outerPayload(
      { data: { bundleId: 'com.example.first', environment: 'Sandbox' } },
      { notificationType: type, notificationUUID: uuid },
    ),
  )

test('counts both keys, a test notification and then a real one', async () => {
  const { app, enter, call, read, done, connect, purchases } = await openSteps()
  expect(await read()).toEqual({
    steps: ['app', 'keys', 'url', 'notification', 'phone', 'backend', 'backup'].map((name) => ({
      name,
      done: false,
    })),
    dismissed: false,
    has_time_zone: false,
  })
  // The key connects the apps that Apple lists.
  await enter('connect', connect)
  expect(await done()).toEqual(['app'])
  await enter('purchases', purchases)
  expect(await done()).toEqual(['app', 'keys'])
  await notified(app, 'TEST', 'first')
  expect(await done()).toEqual(['app', 'keys', 'url'])
  // Connecting the app applies what was pending.
  await call('POST', 'apps', { bundle_id: 'com.example.first' })
  expect(await done()).toEqual(['app', 'keys', 'url'])
  await notified(app, 'TEST', 'second')
  expect(await done()).toEqual(['app', 'keys', 'url'])
  await notified(app, 'SUBSCRIBED', 'third')
  expect(await done()).toEqual(['app', 'keys', 'url', 'notification'])
})

test('counts a channel of alerts and a webhook', async () => {
  const { call, done } = await openSteps()
  const settings = { url: 'https://8.8.8.8/alerts' }
  expect((await call('POST', 'alerts/channels', { name: 'home', kind: 'json', settings })).status).toBe(201)
  expect(await done()).toEqual(['phone'])
  expect((await call('POST', 'endpoints', { url: 'https://8.8.8.8/hooks' })).status).toBe(201)
  expect(await done()).toEqual(['phone', 'backend'])
})

test('counts a call of a backend with a secret key', async () => {
  const { app, call, done } = await openSteps()
  await call('POST', 'apps', { bundle_id: 'com.example.first' })
  const identify = { appUserId: 'user-1', bundleId: 'com.example.first' }
  await app.post('/api/sdk/v1/identify', identify)
  expect(await done()).toEqual(['app'])
  await app.post('/api/sdk/v1/identify', identify, { authorization: `Bearer ${await app.key('secret')}` })
  await vi.waitFor(async () => expect(await done()).toEqual(['app', 'backend']))
})

test('starts a backup into the configured folder', async () => {
  const folder = temporaryFolder()
  const { app, call, done, auditEntries } = await openSteps({
    WINDFALL_BACKUP_FOLDER: join(folder.path, 'copies'),
  })
  expect(await call('POST', 'backups')).toMatchObject({ status: 202, body: { job: 'backup' } })
  expect(await call('POST', 'backups')).toMatchObject({ status: 409, body: { code: 'job_running' } })
  await vi.waitFor(async () => expect(await done()).toEqual(['backup']), PATIENCE)
  expect(readdirSync(join(folder.path, 'copies'))).toHaveLength(1)
  expect(auditEntries()).toEqual([{ action: 'backup.started', subject: null }])
  await app.windfall.close()
  folder.remove()
})

test('a backup that fails says why in the list of jobs', async () => {
  expectErrors('a job failed')
  const { call, done } = await openSteps({ WINDFALL_BACKUP_FOLDER: '/dev/null/copies' })
  await call('POST', 'backups')
  type Jobs = { job: string; error: string | null }[]
  const failed = async () =>
    ((await call('GET', 'jobs')).body.jobs as Jobs).find(({ job }) => job === 'backup')?.error
  await vi.waitFor(async () => expect(await failed()).toContain('/dev/null/copies'), PATIENCE)
  expect(await done()).toEqual([])
})

test('can be dismissed, for good', async () => {
  const { app, read, auditEntries } = await openSteps()
  const dismissed = await app.request('/api/v1/first-steps', {
    method: 'DELETE',
    headers: await app.signIn(),
  })
  expect([dismissed.status, (await read()).dismissed]).toEqual([204, true])
  expect(auditEntries()).toEqual([{ action: 'first_steps.dismissed', subject: null }])
})

test('read tokens neither see the steps nor start backups', async () => {
  const { call, bearer } = await openSignedIn()
  for (const [method, path] of [
    ['GET', 'first-steps'],
    ['DELETE', 'first-steps'],
    ['POST', 'backups'],
  ] as const)
    expect((await call(method, path, undefined, bearer)).status).toBe(401)
})
