/** Apps in the dashboard: those that Apple lists, and one that is added by its bundle id. */
import { expect, test } from 'vitest'
import { outerPayload } from '../../../apple/samples.ts'
import { openConnecting } from './connecting.ts'

const TIDES = 'com.lanternlabs.tides'
type Listed = { bundle_id: string; app_id: string | null }[]

test('lists the apps of the account, and which are connected', async () => {
  const { app, call, enter, shop, connect } = await openConnecting()
  await enter('connect', connect)
  const { store, apps } = app.windfall
  await store.commit(() => apps.remove(app.organization.id, TIDES))
  const { status, body } = await call('GET', 'apple-apps')
  const listed = body.apps as Listed
  expect([status, listed.length]).toEqual([200, shop.apps.length])
  const open = listed.filter(({ app_id }) => app_id === null).map(({ bundle_id }) => bundle_id)
  expect(open).toEqual([TIDES])
  shop.store.faults.connect_key = 'revoked'
  expect(await call('GET', 'apple-apps')).toMatchObject({ status: 502, body: { code: 'apple' } })
})

test('connects an app by its bundle id and applies what waits for it', async () => {
  const { app, call, auditEntries } = await openConnecting()
  const data = { bundleId: 'com.example.first', environment: 'Production', appAppleId: 77 }
  await app.notify(outerPayload({ data }, { notificationType: 'TEST', notificationUUID: 'waits' }))
  const added = await call('POST', 'apps', { bundle_id: 'com.example.first' })
  expect(added).toMatchObject({
    status: 201,
    body: { app: { bundle_id: 'com.example.first', source: 'dashboard' }, applied: 1 },
  })
  expect((await call('GET', 'apps')).body.apps).toHaveLength(1)
  expect(auditEntries()).toEqual([
    { action: 'app.connected', subject: (added.body.app as { id: string }).id },
  ])
})

test.each(['foo', 'com.example.app;', '.app', '', 'com..app', `com.${'x'.repeat(260)}`])(
  '“%s” is refused as a bundle id, and nothing is connected',
  async (bundle_id) => {
    const { app, call } = await openConnecting()
    expect(await call('POST', 'apps', { bundle_id })).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        errors: expect.arrayContaining([{ path: 'bundle_id', message: expect.any(String) }]),
      },
    })
    expect(app.windfall.apps.list()).toEqual([])
  },
)

test('an app that config.toml declares is not changed', async () => {
  const env = { WINDFALL_APPS: '[{ bundle_id = "com.example.app" }]' }
  const { call } = await openConnecting({ env })
  expect(await call('POST', 'apps', { bundle_id: 'com.example.app' })).toMatchObject({
    status: 409,
    body: { code: 'declared_in_config' },
  })
})
