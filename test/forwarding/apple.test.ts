import { expect, test } from 'vitest'
import { BUNDLE, dataBody, NOW, outerPayload, renewedPayload } from '../apple/samples.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from './receiving.ts'

const OTHER = 'com.example.other'
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

async function openApple(settings: object = {}, status = 200) {
  const receiver = await openHttpReceiver(() => status)
  const app = await openForwardingApp({ apps: [{ bundle_id: BUNDLE }, { bundle_id: OTHER }] })
  const { endpoint } = await app.addEndpoint(receiver.url, { kind: 'apple', ...settings })
  return { app, receiver, id: endpoint.id }
}

let sent = 0
/** Posts a notification as Apple, and returns its uuid and its signed text. */
async function notify(app: ForwardingApp, outer: object = {}, data: Record<string, unknown> = {}) {
  sent += 1
  const uuid = `00000000-0000-4000-8000-${String(sent).padStart(12, '0')}`
  const payload = outerPayload(dataBody(data), { notificationUUID: uuid, ...outer })
  const signedPayload = app.authority.sign(payload)
  const { status } = await app.post('/apple/notifications', { signedPayload })
  expect(status).toBe(200)
  return { uuid, signedPayload }
}

test('the body is Apple’s text byte for byte, with headers of our own', async () => {
  const { app, receiver } = await openApple()
  const signedPayload = app.authority.sign(renewedPayload(app.authority))
  await app.post('/apple/notifications', { signedPayload })
  await app.settled()
  expect(receiver.requests.map(({ body }) => body)).toEqual([`{"signedPayload":"${signedPayload}"}`])
  const { headers = {} } = receiver.requests[0] ?? {}
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'windfall-id': '002e14d5-51f5-4503-b5a8-c3a1af68eb20',
    'windfall-timestamp': String(NOW / 1_000),
    'windfall-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    'windfall-attempt': '1',
  })
  expect(Object.keys(headers).filter((name) => name.startsWith('webhook-'))).toEqual([])
})

test('Apple’s rule decides: 200 to 206 is success, 207 is not', async () => {
  const { app, receiver, id } = await openApple({}, 206)
  await notify(app)
  await app.settled()
  receiver.behave(() => 207)
  await notify(app)
  await app.settled()
  expect(app.rows(id).map(({ state }) => state)).toEqual(['delivered', 'waiting'])
  receiver.behave(() => 200)
  await app.run(MINUTE_MS)
  expect(app.rows(id).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
})

test('a notification goes out once, also when Apple repeats it or signs it again', async () => {
  const { app, receiver } = await openApple()
  const { uuid, signedPayload } = await notify(app)
  await app.settled()
  await app.post('/apple/notifications', { signedPayload })
  await notify(app, { notificationUUID: uuid, signedDate: NOW + 1_000 })
  await app.settled()
  expect(receiver.ids()).toEqual([uuid])
})

test('pending notifications arrive as recovered ones, and refused ones do not', async () => {
  const { app, receiver } = await openApple()
  const bundleId = 'com.example.later'
  const { uuid } = await notify(app, {}, { bundleId, appAppleId: 77 })
  await notify(app, {}, { bundleId: 'com.example.never', appAppleId: 78 })
  const { status } = await app.post('/apple/notifications', { signedPayload: 'eyJhbGciOiJub25lIn0.e30.' })
  expect(status).toBe(401)
  await app.settled()
  expect(receiver.ids()).toEqual([])
  const { store, apps, arrivals } = app.windfall
  await store.commit(() => apps.add(app.organization.id, { bundle_id: bundleId, apple_id: 77 }, 'test'))
  await arrivals.applyPending()
  await app.settled()
  expect(receiver.ids()).toEqual([uuid])
})

test('what the first import brought is not sent', async () => {
  const { app, receiver } = await openApple()
  const { ledger, store, apps, verifier } = app.windfall
  const { verifyNotification } = await import('../../src/apple/notification.ts')
  const lantern = apps.byBundle(BUNDLE)[0]
  if (lantern === undefined) throw new Error('the app is missing')
  for (const [index, origin] of (['backfill', 'recovered'] as const).entries()) {
    const payload = outerPayload(dataBody(), { notificationUUID: `history-${index}` })
    const verified = await verifyNotification(verifier, app.authority.sign(payload))
    await store.commit(() => ledger.apply(lantern, verified, { origin, source: 'history' }))
  }
  await app.settled()
  expect(receiver.ids()).toEqual(['history-1'])
})

test('only the app and the environment filter; types and order do not apply', async () => {
  const { app, receiver, id } = await openApple({
    types: ['gap.found'],
    is_ordered: true,
    environment: 'sandbox',
  })
  const other = app.windfall.apps.byBundle(OTHER)[0]?.id ?? ''
  const { uuid } = await notify(app, {}, { environment: 'Sandbox' })
  await notify(app)
  await app.settled()
  expect(receiver.ids()).toEqual([uuid])
  const { store, forwarding } = app.windfall
  await store.commit(() => forwarding.endpoints.change(id, { environment: null, apps: [other] }))
  await notify(app)
  const { uuid: second } = await notify(app, {}, { bundleId: OTHER, appAppleId: 99 })
  await app.settled()
  expect(receiver.ids()).toEqual([uuid, second])
  expect(app.rows(id).every(({ key }) => key === null)).toBe(true)
})

test('through an outage each notification arrives by itself, and a replay sends it again', async () => {
  const { app, receiver, id } = await openApple({}, 503)
  const uuids = []
  for (let index = 0; index < 8; index += 1) uuids.push((await notify(app)).uuid)
  await app.run(20 * HOUR_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'failing' })
  receiver.behave(() => 200)
  const tried = receiver.requests.length
  await app.run(2 * HOUR_MS)
  expect(receiver.ids().slice(tried).toSorted()).toEqual(uuids.toSorted())
  const replay = await app.replay(id)
  await app.settled()
  expect(
    receiver
      .ids()
      .slice(tried + 8)
      .toSorted(),
  ).toEqual(uuids.toSorted())
  expect(receiver.requests.at(-1)?.headers).toMatchObject({ 'windfall-replay': replay.id })
  const bodies = new Set(receiver.requests.map(({ id, body }) => `${id} ${body}`))
  expect(bodies.size).toBe(8)
})
