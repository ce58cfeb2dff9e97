import { expect, test } from 'vitest'
import { BUNDLE } from '../../apple/samples.ts'
import { connectTo, openShop } from '../../ledger/history/connected_shop.ts'
import { openSignedIn } from './settings_pages.ts'

async function openConnected() {
  const shop = await openShop({ subscribers: 2, days: 10 })
  const owned = await openSignedIn(await connectTo(shop))
  const bundle = owned.app.windfall.apps.list()[0]?.bundle_id ?? ''
  shop.store.faults.notification_url = 'http://127.0.0.1:1/'
  /** Asks for one that comes to `result`, and tells how it fares. */
  async function requestTest(result: string) {
    shop.store.faults.test_result = result
    const started = await owned.call('POST', 'test-notification', { app: bundle, environment: 'production' })
    await shop.store.settled()
    const look = () =>
      owned.call('GET', `test-notification/${started.body.token}?app=${bundle}&environment=production`)
    return { started, look }
  }
  return { ...owned, shop, bundle, requestTest }
}

test('requests a test notification and follows it until it arrives', async () => {
  const { app, shop, bundle, requestTest, auditEntries } = await openConnected()
  const { started, look } = await requestTest('SUCCESS')
  const [named] = app.windfall.apps.byBundle(bundle)
  expect(started).toMatchObject({
    status: 202,
    body: { token: expect.any(String), app_id: named?.id, environment: 'production' },
  })
  expect(await look()).toMatchObject({
    status: 200,
    body: {
      state: 'sent',
      words: expect.stringContaining('not to this server'),
      attempts: [{ at: shop.clock(), result: 'SUCCESS' }],
    },
  })
  const [sent] = shop.sent(bundle, 'production', shop.clock(), shop.clock() + 1)
  const signedPayload = sent ? shop.signed(sent) : ''
  expect((await app.post('/apple/notifications', { signedPayload })).status).toBe(200)
  expect((await look()).body).toMatchObject({ state: 'arrived' })
  expect(auditEntries()).toEqual([{ action: 'test.asked', subject: named?.id }])
})

test('ignores the same id of another app or environment', async () => {
  const { app, shop, bundle, requestTest } = await openConnected()
  const { look } = await requestTest('SUCCESS')
  const [sent] = shop.sent(bundle, 'production', shop.clock(), shop.clock() + 1)
  const other = shop.apps.find(({ bundle_id }) => bundle_id !== bundle)
  const wrongTargets = [
    { environment: 'Sandbox', appAppleId: undefined },
    { bundleId: other?.bundle_id, appAppleId: other?.apple_id },
    { bundleId: 'com.example.none', appAppleId: 7 },
  ]
  for (const one of wrongTargets) {
    const payload = { ...sent, data: { ...sent?.data, ...one } }
    const arrived = await app.post('/apple/notifications', { signedPayload: app.authority.sign(payload) })
    expect([one.bundleId, arrived.status]).toEqual([one.bundleId, 200])
    expect((await look()).body).toMatchObject({ state: 'sent' })
  }
})

test('describes Apple’s failures and refusals', async () => {
  const { call, shop, bundle, requestTest } = await openConnected()
  const { look } = await requestTest('TLS_ISSUE')
  expect((await look()).body).toMatchObject({
    state: 'failed',
    words: expect.stringContaining('enable TLS 1.2'),
  })
  shop.store.faults.notification_url = null
  const refused = { status: 502, body: { code: 'apple' } }
  expect((await requestTest('SUCCESS')).started).toMatchObject(refused)
  const path = `test-notification/nonsense?app=${bundle}&environment=production`
  const garbage = { status: 400, body: { code: 'invalid_request', errors: [{ path: 'token' }] } }
  expect(await call('GET', path)).toMatchObject(garbage)
  expect(await call('GET', path.replace('nonsense', '%20%00'))).toMatchObject(garbage)
  expect(await call('GET', path.replace('nonsense', 'x'.repeat(201)))).toMatchObject(garbage)
  expect(await call('GET', `test-notification/nonsense?app=${bundle}`)).toMatchObject({ status: 400 })
})

test('names the missing key', async () => {
  const { call } = await openSignedIn()
  const lacking = { status: 409, body: { code: 'no_purchase_key' } }
  const wanted = { app: BUNDLE, environment: 'sandbox' }
  expect(await call('POST', 'test-notification', wanted)).toMatchObject(lacking)
  expect(await call('GET', `test-notification/x?app=${BUNDLE}&environment=sandbox`)).toMatchObject(lacking)
})

test.each([
  [{ app: BUNDLE }, 400, 'invalid_request'],
  [{ app: BUNDLE, environment: 'moon' }, 400, 'invalid_request'],
  [{ app: '', environment: 'sandbox' }, 400, 'invalid_request'],
  [{ app: 'com.example.none', environment: 'sandbox' }, 404, 'unknown_app'],
])('%j is refused', async (body, status, code) => {
  const { call } = await openSignedIn()
  expect(await call('POST', 'test-notification', body)).toMatchObject({ status, body: { code } })
})
