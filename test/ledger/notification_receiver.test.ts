import { beforeEach, expect, test } from 'vitest'
import { verbsOf } from '../../src/control/verbs.ts'
import { openNotificationReceiver } from '../../src/ledger/notification_receiver.ts'
import { APPLE_ID, BUNDLE, dataBody, NOW, outerPayload } from '../apple/samples.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

let app: TestApp
let logged: string[]
beforeEach(async () => {
  logged = []
  app = await openTestApp({ logged })
})

test('stores five bad signatures a second per address, ten in all, and counts all', async () => {
  const { refused } = app.windfall.arrivals
  const flood = () =>
    Promise.all(
      Array.from({ length: 150 }, () => app.post('/apple/notifications', { signedPayload: 'junk' })),
    )
  await app.post('/apple/notifications', { signedPayload: 'one.to.keep' })
  expect((await flood()).every(({ status }) => status === 401)).toBe(true)
  expect(refused.list()).toHaveLength(5)
  app.clock.turn(1000)
  await flood()
  expect(refused.list()).toHaveLength(10)
  expect(refused.count()).toBe(301)
  app.clock.turn(1000)
  for (const address of ['a', 'b', 'c']) {
    for (let n = 0; n < 6; n += 1) await refused.save('root', 'forged', 'x', address)
  }
  expect(
    refused
      .list()
      .slice(0, 10)
      .map(({ address }) => address)
      .join(''),
  ).toBe('bbbbbaaaaa')
  expect(refused.list()).toHaveLength(20)
  expect(refused.raw(refused.list().at(-1)?.id ?? 0)).toBe('one.to.keep')
})

test('lists refused notifications, and returns their text unchanged', async () => {
  const verbs = verbsOf(app.windfall)
  await app.post('/apple/notifications', { signedPayload: 'junk' })
  expect(await verbs['refused.list']?.({})).toEqual({
    count: 1,
    kept: [
      {
        id: 1,
        reason: 'not_a_jws',
        detail: expect.any(String),
        address: expect.any(String),
        received_at: NOW,
      },
    ],
  })
  expect(await verbs['refused.raw']?.({ id: 1 })).toEqual({ id: 1, raw: 'junk' })
  await expect(verbs['refused.raw']?.({ id: 2 })).rejects.toMatchObject({ code: 'unknown_refused' })
})

test('a flood from one address displaces none from other addresses', async () => {
  const { refused } = app.windfall.arrivals
  for (let n = 0; n < 3; n += 1) await refused.save('not_valid_then', 'our clock', `apple ${n}`, '17.0.0.1')
  await refused.save('revoked', 'of the history', 'history', null)
  for (let n = 0; n < 300; n += 1) {
    app.clock.turn(1000)
    await refused.save('signature', 'forged', `forged ${n}`, '203.0.113.7')
  }
  const kept = refused.list()
  expect(kept).toHaveLength(100)
  expect(kept.slice(-4).map(({ address }) => address)).toEqual([null, '17.0.0.1', '17.0.0.1', '17.0.0.1'])
  expect(refused.raw(kept[0]?.id ?? 0)).toBe('forged 299')
  // If no address has more than another, the oldest is deleted.
  for (let n = 0; n < 400; n += 1) {
    app.clock.turn(1000)
    await refused.save('signature', 'forged', 'x', `198.51.100.${n}`)
  }
  expect(new Set(refused.list().map(({ address }) => address)).size).toBe(100)
})

test('an app that is connected while its notification is being stored gets it', async () => {
  const { store, apps, clock, ledger, verifier, log, arrivals } = app.windfall
  let reach = (): void => undefined
  let goOn = (): void => undefined
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const gap = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const slow = {
    ...store,
    async commit<T>(work: () => T): Promise<T> {
      reach()
      await gap
      return store.commit(work)
    },
  }
  const late = openNotificationReceiver({ store: slow, clock, verifier, apps, ledger, log })
  const payload = outerPayload(dataBody({ bundleId: 'com.late' }), { notificationType: 'TEST' })
  const receiving = late.receive(app.authority.sign(payload), null, null)
  await reached
  await store.commit(() => apps.add(app.organization.id, { bundle_id: 'com.late' }, 'test'))
  expect(await arrivals.applyPending()).toBe(0)
  goOn()
  expect(await receiving).toEqual({ applied: 1, duplicates: 0, pending: false })
  expect(arrivals.pending.list()).toEqual([])
  expect(app.feed()).toMatchObject([{ type: 'notification.test', origin: 'live' }])
})

/** The log lines of this level. */
function loggedAt(level: string): Record<string, unknown>[] {
  app.windfall.log.flush()
  const lines = logged.join('').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line)).filter((line) => line.level === level)
}

test('warns once of an Apple id that differs from the app’s, and lists it until it is accepted', async () => {
  const { store, apps, arrivals } = app.windfall
  const other = (uuid: string) =>
    outerPayload(dataBody({ appAppleId: APPLE_ID + 1 }), { notificationType: 'TEST', notificationUUID: uuid })
  await app.notify(other('one'))
  await app.notify(other('two'))
  const remedy = `windfall apps add ${BUNDLE} --apple-id ${APPLE_ID + 1}`
  expect(loggedAt('warn')).toMatchObject([
    { bundle_id: BUNDLE, connected_with: APPLE_ID, apple_says: APPLE_ID + 1, to_accept: remedy },
  ])
  expect(arrivals.pending.list()).toMatchObject([
    {
      bundle_id: BUNDLE,
      apple_id: APPLE_ID + 1,
      notifications: 2,
      connected: { apple_id: APPLE_ID, source: 'test' },
    },
  ])
  await app.notify(outerPayload(dataBody({ bundleId: 'com.nobody' }), { notificationType: 'TEST' }))
  expect(arrivals.pending.list().find((one) => one.bundle_id === 'com.nobody')?.connected).toBeNull()
  const accepted = { bundle_id: BUNDLE, apple_id: APPLE_ID + 1 }
  await store.commit(() => apps.add(app.organization.id, accepted, 'test'))
  expect(await arrivals.applyPending()).toBe(2)
})

test('a pending notification that cannot be applied stops neither the others nor the start', async () => {
  expectErrors('a pending notification cannot be applied')
  const waiting = (bundleId: string, uuid: string) =>
    app.notify(
      outerPayload(dataBody({ bundleId }), {
        notificationType: 'TEST',
        notificationUUID: `${bundleId} ${uuid}`,
      }),
    )
  for (const bundle of ['com.a', 'com.b']) for (const uuid of ['1', '2']) await waiting(bundle, uuid)
  const { store, apps, arrivals } = app.windfall
  await store.commit(() => {
    store.prepare("update pending_notifications set body = x'00', codec = 99 where id = 1").run()
    for (const bundle_id of ['com.a', 'com.b']) apps.add(app.organization.id, { bundle_id }, 'test')
  })
  await app.windfall.declare(app.config)
  expect(app.feed()).toHaveLength(3)
  expect(arrivals.pending.list()).toMatchObject([{ bundle_id: 'com.a', notifications: 1 }])
  expect(loggedAt('error')).toMatchObject([{ bundle_id: 'com.a', pending_id: 1 }])
})
