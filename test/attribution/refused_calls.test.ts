import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { APPLE_ID, BUNDLE, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

const DAY = 86_400_000
const IDENTIFY = '/api/sdk/v1/identify'
const ATTRIBUTE = '/api/sdk/v1/attribute'
const OTHER = 'com.example.other'
const ANDROID = 'com.example.droid'

let app: TestApp
beforeEach(async () => {
  app = await openTestApp()
})

type Row = { refused_on: string; bundle_id: string; platform: string; code: string; calls: number }
const rows = (of: TestApp = app) =>
  of.windfall.store.prepare<[], Row & { example: string | null }>('select * from refused_calls').all()
const sum = (): number => rows().reduce((all, { calls }) => all + calls, 0)
const flush = () => app.windfall.refusedCalls.flush()
const identify = (body: object, headers: Record<string, string> = {}) =>
  app.post(IDENTIFY, { appUserId: 'ann', bundleId: BUNDLE, ...body }, headers)

type Status = { rows: { id: string; level: string; title: string; detail: string; action: unknown }[] }
async function findingRows(bearer?: string): Promise<Status['rows']> {
  const headers = { authorization: `Bearer ${bearer ?? (await app.token())}` }
  const { rows: all } = (await (await app.request('/api/v1/status', { headers })).json()) as Status
  return all.filter(({ id }) => id.startsWith('sdk:'))
}

test('the status lists refused calls, their number and the remedy', async () => {
  for (let call = 0; call < 3; call += 1) await identify({ bundleId: ANDROID, platform: 'Android' })
  await identify({}, { authorization: 'Bearer pk_live_0000000000000000000000000000' })
  await identify({ attributes: { plan: 'x'.repeat(1_025) } })
  await identify({ appUserId: 'bob' })
  await flush()
  expect(await findingRows()).toMatchObject([
    {
      title: `1 call with an unknown key was refused today (${BUNDLE})`,
      detail: expect.stringContaining('invalid_key. The key is unknown, revoked or expired'),
    },
    {
      detail: expect.stringContaining(
        'invalid_request. The latest error: attributes.*: must have at most 1024 characters.',
      ),
    },
    {
      level: 'warning',
      title: `3 calls for an app that is not connected were refused today (${ANDROID} on Android)`,
      detail: `3 calls for ${ANDROID} on Android, the latest at 2026-06-01 12:00Z: unknown_app. Connect the app, or set android_package on the app it belongs to.`,
      action: { command: `windfall apps add ${ANDROID}` },
    },
  ])
  app.clock.turn(DAY)
  expect((await findingRows())[2]).toMatchObject({
    title: `3 calls for an app that is not connected were refused yesterday (${ANDROID} on Android)`,
  })
  app.clock.turn(DAY)
  expect(await findingRows()).toEqual([])
})

test('a token for one app reads refused calls of that app only', async () => {
  const { store, apps, tokens } = app.windfall
  const other = await store.commit(() => apps.add(app.organization.id, { bundle_id: OTHER }, 'test'))
  for (const bundleId of [BUNDLE, OTHER, 'com.example.unknown']) await identify({ bundleId, appUserId: '' })
  await flush()
  const reach = { organization_id: app.organization.id, apps: [other.id] }
  const { token } = await store.commit(() => tokens.create('one', reach))
  expect(await findingRows(token)).toMatchObject([
    { title: `1 call with invalid fields was refused today (${OTHER})` },
  ])
})

test('counts calls for erased users, without a finding', async () => {
  await identify({})
  const headers = { authorization: `Bearer ${await app.key('secret')}` }
  await app.request(`/api/v1/users/ann?app=${BUNDLE}`, { method: 'DELETE', headers })
  expect((await identify({})).status).toBe(410)
  await flush()
  expect(rows()).toMatchObject([{ code: 'forgotten', calls: 1 }])
  expect(await findingRows()).toEqual([])
})

test('counts calls over the limit separately, as rate-limited', async () => {
  for (let call = 0; call < 250; call += 1) await identify({})
  await flush()
  expect(rows()).toMatchObject([{ bundle_id: BUNDLE, code: 'rate_limited', calls: 10 }])
  expect(await findingRows()).toMatchObject([
    { level: 'notice', title: `10 calls for ${BUNDLE} were rate-limited today` },
  ])
})

test('stores no user id, attribute value, transaction id or token', async () => {
  const secret = 'ann@private.example'
  const jws = app.authority.sign(transactionPayload({ originalTransactionId: '770000123456789' }))
  const attribute = { appUserId: secret, bundleId: BUNDLE, originalTransactionId: '2000000111222333' }
  expect((await app.post(ATTRIBUTE, { ...attribute, jws })).body.code).toBe('invalid_signed_transaction')
  await flush()
  expect(rows()).toMatchObject([{ example: 'jws: it does not belong to this app or this purchase' }])
  expect((await app.post(ATTRIBUTE, { ...attribute, jws: `${secret}.a.b` })).status).toBe(400)
  await identify({ appUserId: ` ${secret}`, attributes: { plan: [secret], '\u202eevil': [secret] } })
  await identify({ bundleId: `${secret} ${secret}` }, { authorization: `Bearer ${secret}` })
  await identify({ bundleId: 'x'.repeat(300), platform: secret })
  await identify({ platform: secret, bundleId: OTHER })
  await flush()
  const kept = JSON.stringify(rows())
  expect(rows().length).toBeGreaterThan(4)
  for (const text of [secret, '770000123456789', '2000000111222333', '\u202e'])
    expect(kept).not.toContain(text)
})

test('bounds invented bundle ids, adds them up, and leaves room for connected apps', async () => {
  for (let call = 0; call < 300; call += 1)
    for (const kind of ['a', 'b']) await identify({ bundleId: `com.stranger.${kind}${call}` })
  await flush()
  for (let call = 0; call < 20; call += 1) await identify({ bundleId: `com.stranger.c${call}` })
  await identify({ appUserId: '' })
  await flush()
  expect(sum()).toBe(621)
  expect(rows().filter(({ bundle_id }) => bundle_id !== '*').length).toBeLessThanOrEqual(501)
  expect(rows().filter(({ bundle_id }) => bundle_id === '*')).toMatchObject([{ code: 'rate_limited' }])
  expect(rows()).toContainEqual(
    expect.objectContaining({ bundle_id: BUNDLE, code: 'invalid_request', calls: 1 }),
  )
  const findings = await findingRows()
  expect(findings).toHaveLength(11)
  expect(findings[0]?.title).toBe(`1 call with invalid fields was refused today (${BUNDLE})`)
})

test('loses no count while the disk cannot be written', async () => {
  app.windfall.store.limitPages(1)
  for (let call = 0; call < 300; call += 1) {
    const { status } = await identify({ bundleId: `com.example.${'x'.repeat(200)}${call}`, appUserId: '' })
    expect(status).toBe(400)
  }
  await flush()
  expect(rows()).toEqual([])
  await identify({ appUserId: '' })
  app.windfall.store.limitPages(null)
  await flush()
  expect(sum()).toBe(301)
  expect(rows()).toHaveLength(301)
})

test('writes counts within a minute, and immediately at a graceful stop', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await identify({ appUserId: '' })
  expect(rows()).toEqual([])
  vi.advanceTimersByTime(60_000)
  await app.windfall.store.commit(() => undefined)
  expect(sum()).toBe(1)
  vi.useRealTimers()
  await identify({ appUserId: '' })
  await app.windfall.close()
  const again = await openTestApp({ folder: app.folder, apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }] })
  expect(rows(again)).toMatchObject([{ calls: 2 }])
})

test('housekeeping deletes counts of more than 30 days ago', async () => {
  await identify({ appUserId: '' })
  await flush()
  app.clock.turn(30 * DAY)
  await app.windfall.jobs.runNow('housekeeping')
  expect(sum()).toBe(1)
  app.clock.turn(DAY)
  await app.windfall.jobs.runNow('housekeeping')
  expect(sum()).toBe(0)
})

test('a failing webhook comes before refused calls', async () => {
  const owned = await openTestApp({ env: { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1' } })
  const { store } = owned.windfall
  await owned.post('/api/v1/endpoints', { name: 'shop', url: 'http://127.0.0.1:9/' }, await owned.signIn())
  await store.commit(() =>
    store
      .prepare<[number]>("update endpoints set state = 'failing', reason = 'no_success', state_since = ?")
      .run(owned.clock()),
  )
  await owned.post(IDENTIFY, { appUserId: 'ann', bundleId: OTHER }, {})
  await owned.windfall.refusedCalls.flush()
  const ids = (await owned.windfall.health.findings()).map(({ details }) => details?.id.split(':')[0])
  expect(ids.indexOf('webhooks')).toBeGreaterThanOrEqual(0)
  expect(ids.indexOf('sdk')).toBeGreaterThan(ids.indexOf('webhooks'))
})
