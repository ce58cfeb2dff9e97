import { beforeEach, expect, test } from 'vitest'
import { APPLE_ID, BUNDLE, dataBody, NOW, outerPayload, renewedPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

let app: TestApp
beforeEach(async () => {
  app = await openTestApp()
})

test('stores and applies a renewal, and appends its event', async () => {
  const answer = await app.notify(renewedPayload(app.authority))
  expect(answer).toMatchObject({ status: 200, body: { applied: 1, duplicates: 0, pending: false } })
  const [event] = app.feed()
  expect(event).toMatchObject({
    type: 'subscription.renewed',
    origin: 'live',
    environment: 'production',
    subject: '2000000000000001',
    occurred_at: NOW - 60_000,
    signed_at: NOW,
    recorded_at: NOW,
    data: {
      bundle_id: BUNDLE,
      product_id: 'lantern.pro.monthly',
      country: 'USA',
      money: { price_milli: 4990, currency: 'USD' },
      subscription: { state: 'active', auto_renew: true },
      user: null,
    },
  })
  expect(event?.customer_id).toMatch(/^cus_[0-9a-f]{24}$/)
})

test('a repeated notification is a duplicate and changes nothing', async () => {
  const payload = renewedPayload(app.authority)
  const body = { signedPayload: app.authority.sign(payload) }
  await app.post('/apple/notifications', body)
  expect(await app.post('/apple/notifications', body)).toMatchObject({
    status: 200,
    body: { applied: 0, duplicates: 1 },
  })
  expect(app.feed()).toHaveLength(1)
})

test('restores the raw text byte for byte', async () => {
  const signedPayload = app.authority.sign(renewedPayload(app.authority))
  await app.post('/apple/notifications', { signedPayload })
  const { id } = app.windfall.store.prepare<[], { id: number }>('select id from signed_payloads').get() ?? {
    id: 0,
  }
  expect(app.windfall.ledger.raw.read(id)).toBe(signedPayload)
  const chains = app.windfall.store.prepare('select count(*) as n from certificate_chains').get()
  expect(chains).toEqual({ n: 1 })
})

test('refuses a foreign signature with 401, counts it and stores it for diagnosis', async () => {
  const { openAuthority } = await import('../../src/demo/signing/authority.ts')
  const stranger = await openAuthority({ now: NOW })
  const signedPayload = stranger.sign(renewedPayload(stranger))
  const answer = await app.post('/apple/notifications', { signedPayload })
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_signature' } })
  expect(app.feed()).toEqual([])
  expect(app.windfall.arrivals.refused.list()).toMatchObject([{ reason: 'root' }])
})

test('stores only the last hundred refused notifications', async () => {
  for (let n = 0; n < 130; n += 1) {
    await app.post('/apple/notifications', { signedPayload: `junk.${n}.x` })
    app.clock.turn(200)
  }
  expect(app.windfall.arrivals.refused.list()).toHaveLength(100)
  expect(app.windfall.arrivals.refused.count()).toBe(130)
})

test.each([
  ['no signedPayload', {}],
  ['a number', { signedPayload: 7 }],
  ['an empty one', { signedPayload: '' }],
  ['not an object', 'signedPayload'],
])('%s is a 400 that names the field', async (_, body) => {
  expect(await app.post('/apple/notifications', body)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  })
})

test('refuses a signed transaction posted as a notification', async () => {
  const { transactionPayload } = await import('../apple/samples.ts')
  const answer = await app.notify(transactionPayload())
  expect(answer).toMatchObject({ status: 400, body: { code: 'not_a_notification' } })
})

test('an unknown type is stored and shown as notification.other', async () => {
  const payload = outerPayload(dataBody(), { notificationType: 'SOMETHING_NEW', subtype: 'constructor' })
  expect(await app.notify(payload)).toMatchObject({ status: 200, body: { applied: 1 } })
  expect(app.feed()).toMatchObject([
    { type: 'notification.other', data: { notification: { type: 'SOMETHING_NEW', subtype: 'constructor' } } },
  ])
})

test('a notification of an app that is not connected is pending, and is applied once it is', async () => {
  const otherApp = { bundleId: 'com.example.other', appAppleId: 77 }
  const payload = outerPayload(dataBody(otherApp), { notificationType: 'TEST', notificationUUID: 'uuid-1' })
  expect(await app.notify(payload)).toMatchObject({ status: 200, body: { applied: 0, pending: true } })
  expect(app.windfall.arrivals.pending.list()).toMatchObject([
    { bundle_id: 'com.example.other', notifications: 1 },
  ])
  expect(app.feed()).toEqual([])

  const { store, apps, arrivals } = app.windfall
  await store.commit(() => apps.add(app.organization.id, { bundle_id: 'com.example.other' }, 'test'))
  expect(await arrivals.applyPending()).toBe(1)
  expect(app.feed()).toMatchObject([{ type: 'notification.test', origin: 'live' }])
  expect(arrivals.pending.list()).toEqual([])
  expect(apps.byBundle('com.example.other')).toMatchObject([{ apple_id: 77 }])
})

test('at most 100 are pending per bundle id and 1,000 in all; after seven days none', async () => {
  const waiting = (bundleId: string, n: number) =>
    app.notify(
      outerPayload(dataBody({ bundleId }), {
        notificationType: 'TEST',
        notificationUUID: `${bundleId}-${n}`,
      }),
    )
  for (let n = 0; n < 5; n += 1) await waiting('com.example.calm', n)
  for (let n = 0; n < 103; n += 1) await waiting('com.example.busy', n)
  const { pending } = app.windfall.arrivals
  expect(pending.list()).toMatchObject([{ notifications: 100 }, { notifications: 5 }])
  for (let other = 0; other < 10; other += 1) {
    for (let n = 0; n < 100; n += 1) await waiting(`com.example.n${other}`, n)
  }
  const counts = new Map(pending.list().map((one) => [one.bundle_id, one.notifications]))
  expect([...counts.values()].reduce((total, count) => total + count, 0)).toBe(1000)
  // The first is still there, although it is the oldest.
  expect(counts.get('com.example.calm')).toBe(5)
  expect(Math.min(...counts.values())).toBe(5)
  expect([...counts.values()].filter((count) => count < 90)).toEqual([5])
  app.clock.turn(7 * 86_400_000 + 1)
  await app.windfall.jobs.runNow('housekeeping')
  expect(pending.list()).toEqual([])
  expect(app.windfall.jobs.runs()).toMatchObject([{ job: 'housekeeping', error: null }])
})

test('in production the same bundle id with another Apple id is another app', async () => {
  const payload = outerPayload(dataBody({ appAppleId: APPLE_ID + 1 }), { notificationType: 'TEST' })
  expect(await app.notify(payload)).toMatchObject({ body: { pending: true } })
  const sandbox = outerPayload(dataBody({ appAppleId: APPLE_ID + 1, environment: 'Sandbox' }), {
    notificationType: 'TEST',
  })
  expect(await app.notify(sandbox)).toMatchObject({ body: { applied: 1 } })
})

test('applies a bundle id in two organizations to each, or to the one that the URL names', async () => {
  const { store, organizations, apps } = app.windfall
  await store.commit(() =>
    organizations.declare([
      { slug: 'second', name: 'Second', sdk_auth: 'any', time_zone: 'UTC', currency: 'USD' },
    ]),
  )
  const second = organizations.resolve('second')
  await store.commit(() => apps.add(second.id, { bundle_id: BUNDLE, apple_id: APPLE_ID }, 'test'))
  expect(await app.notify(renewedPayload(app.authority))).toMatchObject({ body: { applied: 2 } })
  expect(new Set(app.feed().map((event) => event.id)).size).toBe(2)

  const other = renewedPayload(app.authority, { outer: { notificationUUID: 'another' } })
  const body = { signedPayload: app.authority.sign(other) }
  expect(await app.post('/apple/notifications/second', body)).toMatchObject({ body: { applied: 1 } })
  expect(await app.post('/apple/notifications/third', body)).toMatchObject({ status: 404 })
})

test('a full database answers 503 with retry-after, stores nothing partially, and recovers', async () => {
  const { store } = app.windfall
  store.limitPages(Number(store.pragma('page_count')))
  let refused = null
  for (let n = 0; n < 200 && refused === null; n += 1) {
    const answer = await app.notify(
      renewedPayload(app.authority, { outer: { notificationUUID: `full-${n}` } }),
    )
    if (answer.status !== 200) refused = { answer, n }
  }
  expect(refused?.answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
  expect(refused?.answer.headers.get('retry-after')).toBe('30')
  expect(app.feed()).toHaveLength(refused?.n ?? -1)
  expect(await app.request('/readyz')).toMatchObject({ status: 503 })
  store.limitPages(null)
  expect(await app.request('/readyz')).toMatchObject({ status: 200 })
  const again = await app.notify(
    renewedPayload(app.authority, { outer: { notificationUUID: `full-${refused?.n}` } }),
  )
  expect(again.status).toBe(200)
})

test('a notification sent to one organization’s address is pending for that organization', async () => {
  const { store, organizations, apps, arrivals } = app.windfall
  const base = { name: 'Second', sdk_auth: 'any', time_zone: 'UTC', currency: 'USD' } as const
  await store.commit(() => organizations.declare([{ slug: 'second', ...base }]))
  const body = { signedPayload: app.authority.sign(renewedPayload(app.authority)) }
  expect(await app.post('/apple/notifications/second', body)).toMatchObject({
    body: { applied: 0, pending: true },
  })
  expect(await arrivals.applyPending()).toBe(0)
  await store.commit(() => apps.add(organizations.resolve('second').id, { bundle_id: BUNDLE }, 'test'))
  expect(await arrivals.applyPending()).toBe(1)
  expect(app.feed()).toMatchObject([{ organization_id: organizations.resolve('second').id, origin: 'live' }])
})

test('a pending notification that no longer verifies is refused, and stops nothing', async () => {
  const waiting = { bundleId: 'com.example.other', appAppleId: 77 }
  await app.notify(outerPayload(dataBody(waiting), { notificationType: 'TEST' }))
  const { close, folder, clock } = { ...app, close: app.windfall.close }
  await close()
  const { openAuthority } = await import('../../src/demo/signing/authority.ts')
  const { root_pem } = await openAuthority({ now: NOW })
  const other = await openTestApp({
    folder,
    clock,
    roots: [root_pem],
    apps: [{ bundle_id: 'com.example.other' }],
  })
  expect(await other.windfall.arrivals.applyPending()).toBe(0)
  expect(other.windfall.arrivals.pending.list()).toEqual([])
  expect(other.windfall.arrivals.refused.list()).toMatchObject([{ reason: 'root' }])
  app = other
})

test.each([
  ['offerType', 1.5],
  ['quantity', 1e20],
  ['expiresDate', 1e19],
  ['revocationPercentage', 0.5],
])(
  'a number that the database cannot hold (%s) is omitted and logged, and the rest is stored',
  async (field, value) => {
    const { transactionPayload } = await import('../apple/samples.ts')
    const signedTransactionInfo = app.authority.sign(transactionPayload({ [field]: value }))
    expect(
      await app.notify(renewedPayload(app.authority, { data: { signedTransactionInfo } })),
    ).toMatchObject({ status: 200, body: { applied: 1 } })
    const [event] = app.feed()
    expect(event?.data.notification).toMatchObject({ problem: expect.stringContaining(field) })
    expect(app.windfall.store.prepare('select count(*) as n from transactions').get()).toEqual({ n: 1 })
  },
)

test('a renewal info that alone has the app transaction id joins its customer without a merge', async () => {
  const { transactionPayload } = await import('../apple/samples.ts')
  await app.notify(renewedPayload(app.authority))
  const { renewalPayload } = await import('../apple/samples.ts')
  const later = { originalPurchaseDate: NOW - 1000 }
  const ids = { transactionId: '3', originalTransactionId: '3', appTransactionId: undefined, ...later }
  const data = {
    signedTransactionInfo: app.authority.sign(transactionPayload(ids)),
    signedRenewalInfo: app.authority.sign(
      renewalPayload({ originalTransactionId: '3', appTransactionId: '704000000000000001' }),
    ),
  }
  await app.notify(renewedPayload(app.authority, { data, outer: { notificationUUID: 'second' } }))
  expect(app.feed(['customer.merged'])).toEqual([])
  expect(new Set(app.feed(['subscription.renewed']).map((event) => event.customer_id)).size).toBe(1)
})

test('a transaction that a newer version moves to another lineage leaves the old one', async () => {
  const { transactionPayload } = await import('../apple/samples.ts')
  await app.notify(renewedPayload(app.authority))
  const moved = transactionPayload({ originalTransactionId: '9', signedDate: NOW + 1000 })
  const data = { signedTransactionInfo: app.authority.sign(moved), signedRenewalInfo: undefined }
  await app.notify(renewedPayload(app.authority, { data, outer: { notificationUUID: 'second' } }))
  const rows = app.windfall.store.prepare('select original_transaction_id from subscriptions').all()
  expect(rows).toEqual([{ original_transaction_id: '9' }])
})
