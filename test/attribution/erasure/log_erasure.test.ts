import { beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../../folders.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'
import { openOtherReader } from '../../store/other_reader.ts'
import { tracesOf } from '../traces.ts'

const BUNDLE = 'com.example.lantern'
const MINUTE_MS = 60_000
let app: TestApp
let logged: string[]
beforeEach(async () => {
  logged = []
  app = await openTestApp({ logged, folder: temporaryFolder().path })
})

const identify = (appUserId: string) =>
  app.post('/api/sdk/v1/identify', {
    appUserId,
    bundleId: BUNDLE,
    attributes: { email: 'marie-77@example.org' },
  })

async function erase(user: string) {
  const path = `/api/v1/users/${user}?app=${BUNDLE}`
  const authorization = `Bearer ${await app.key('secret')}`
  const answer = await app.request(path, { method: 'DELETE', headers: { authorization } })
  return { status: answer.status, body: (await answer.json()) as { id: string; state: string } }
}

async function findings() {
  const found = await app.windfall.health.findings()
  return found.filter(({ details }) => details?.id === 'erasure:log')
}

test('data that another reader keeps in the log is pending, reported after ten minutes, and removed after a restart', async () => {
  await identify('marie-77')
  const { store, erasures } = app.windfall
  const other = openOtherReader(store.file)
  const { body } = await erase('marie-77')
  expect(await erasures.finished(body.id)).toMatchObject({ state: 'pending_in_log', finished_at: null })
  expect(await erase('marie-77')).toMatchObject({ status: 202, body: { state: 'pending_in_log' } })
  expect(new Set(tracesOf(store, ['marie-77']))).toEqual(new Set([`${store.file}-wal: marie-77`]))
  app.windfall.log.flush()
  expect(logged.join('').match(/another program reads the database/g)).toHaveLength(1)
  expect(await findings()).toEqual([])
  app.clock.turn(11 * MINUTE_MS)
  expect(await findings()).toMatchObject([
    { state: 'warning', details: { action: { command: `fuser -v ${store.file}-wal` } } },
  ])

  // Another user can be erased meanwhile, and a tombstone can be lifted.
  await identify('paul-1')
  const second = await erase('paul-1')
  expect(await erasures.finished(second.body.id)).toMatchObject({ state: 'pending_in_log' })
  const appId = app.windfall.apps.byBundle(BUNDLE)[0]?.id ?? ''
  await store.commit(() => erasures.lift(appId, 'paul-1'))

  other.restartLog()
  expect(tracesOf(store, ['marie-77'])).toEqual([`${store.file}-wal: marie-77`])
  expect(await erasures.finished(body.id)).toMatchObject({ state: 'done', finished_at: app.clock() })
  expect(await erasures.finished(second.body.id)).toMatchObject({ state: 'done' })
  expect(tracesOf(store, ['marie-77', 'paul-1'])).toEqual([])
  expect(await findings()).toEqual([])
  expect((await erase('marie-77')).status).toBe(200)
  expect(store.prepare('pragma integrity_check').pluck().get()).toBe('ok')
})

test('data in the log stays pending over a restart of Windfall, and is removed when the reader ends', async () => {
  await identify('marie-77')
  const { store, erasures } = app.windfall
  const other = openOtherReader(store.file)
  const { body } = await erase('marie-77')
  await erasures.finished(body.id)
  await app.close()
  const again = await openTestApp({ folder: app.folder, apps: [], clock: app.clock })
  expect(await again.windfall.erasures.finished(body.id)).toMatchObject({ state: 'pending_in_log' })
  other.end()
  expect(await again.windfall.erasures.finished(body.id)).toMatchObject({ state: 'done' })
  expect(tracesOf(again.windfall.store, ['marie-77'])).toEqual([])
})

test('compacting waits for the write lock of another program, and tells when the log keeps old pages', async () => {
  await identify('marie-77')
  const { store, erasures } = app.windfall
  const other = openOtherReader(store.file)
  expect(await erasures.compact()).toMatchObject({ in_log: true })
  other.end()
  expect(await erasures.compact()).toMatchObject({ in_log: false })
  expect(store.log.salts()).toBe('')
})
