import { beforeEach, describe, expect, test } from 'vitest'
import { openAuthority } from '../../src/demo/signing/authority.ts'
import { BUNDLE, NOW, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

let app: TestApp
beforeEach(async () => {
  app = await openTestApp({ apps: [{ bundle_id: BUNDLE, android_package: 'com.example.lantern.android' }] })
})

const IDENTIFY = '/api/sdk/v1/identify'
const ATTRIBUTE = '/api/sdk/v1/attribute'
const LINEAGE = '2000000000000001'
const user = (appUserId: string, more: object = {}) => ({ appUserId, bundleId: BUNDLE, ...more })
const purchase = (appUserId: string, more: object = {}) =>
  user(appUserId, { originalTransactionId: LINEAGE, ...more })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const stored = (id: string) =>
  app.windfall.attribution.users.get(app.windfall.apps.byBundle(BUNDLE)[0]?.id ?? '', id)
const link = (store: 'apple' | 'google' = 'apple', id = LINEAGE) =>
  app.windfall.attribution.links.get(app.windfall.apps.byBundle(BUNDLE)[0]?.id ?? '', store, id)
const signed = (changes: object = {}) => app.authority.sign(transactionPayload({ ...changes }))

describe('identify', () => {
  test('creates or updates a user and returns the call’s label', async () => {
    const device = { platform: 'iOS', osVersion: '19.1', deviceModel: 'iPhone18,1', locale: 'de_DE' }
    const answer = await app.post(IDENTIFY, user('u1', { ...device, attributes: { plan: 'pro', seats: 3 } }))
    expect(answer).toMatchObject({
      status: 200,
      body: { appUserId: 'u1', bundleId: BUNDLE, verification: 'unverified' },
    })
    expect(stored('u1')).toMatchObject({
      platform: 'ios',
      os_version: '19.1',
      device_model: 'iPhone18,1',
      locale: 'de_DE',
      attributes: '{"plan":"pro","seats":3}',
      seen_at: NOW,
    })
  })

  test('merges attributes shallowly, null included; device fields present replace, absent ones stay', async () => {
    await app.post(
      IDENTIFY,
      user('u1', { osVersion: '18', locale: 'en', attributes: { a: 1, b: 'x', c: true } }),
    )
    await app.post(IDENTIFY, user('u1', { osVersion: '19', attributes: { b: null, d: 'new' } }))
    const row = stored('u1')
    expect(JSON.parse(row?.attributes ?? '')).toEqual({ a: 1, b: null, c: true, d: 'new' })
    expect(row).toMatchObject({ os_version: '19', locale: 'en' })
  })

  test('ignores unknown fields, and accepts keys such as `constructor`', async () => {
    const body = `{"appUserId":"u1","bundleId":"${BUNDLE}","more":1,"attributes":{"constructor":"a","toString":1,"__proto__":"p"}}`
    const response = await app.request(IDENTIFY, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(200)
    expect(stored('u1')?.attributes).toBe('{"constructor":"a","toString":1,"__proto__":"p"}')
  })

  test('appends an event for the first call of a user, not for later ones', async () => {
    await app.post(IDENTIFY, user('u1'))
    await app.post(IDENTIFY, user('u1', { attributes: { a: 1 } }))
    expect(app.feed()).toMatchObject([{ type: 'customer.identified', data: { user: { app_user_id: 'u1' } } }])
  })

  test('a secret key makes the call verified; the reason for a missing attestation is stored', async () => {
    await app.post(IDENTIFY, user('u1'), { 'x-windfall-unattested': 'simulator' })
    expect(stored('u1')).toMatchObject({ verification: 'unverified', unattested: 'simulator' })
    await app.post(IDENTIFY, user('u1'), { 'x-revenuehog-unattested': 'pending' })
    expect(stored('u1')).toMatchObject({ unattested: 'pending' })
    await app.post(IDENTIFY, user('u1'), { 'x-windfall-unattested': 'made up' })
    expect(stored('u1')).toMatchObject({ unattested: null })
    const answer = await app.post(IDENTIFY, user('u1'), bearer(await app.key('secret')))
    expect(answer.body).toMatchObject({ verification: 'verified' })
    expect(stored('u1')).toMatchObject({ verification: 'verified', unattested: null })
  })

  test('finds an Android app by its package or its bundle id', async () => {
    const call = { appUserId: 'u1', bundleId: 'com.example.lantern.android', platform: 'Android' }
    expect((await app.post(IDENTIFY, call)).status).toBe(200)
    expect(stored('u1')).toMatchObject({ platform: 'android' })
    expect((await app.post(IDENTIFY, { ...call, bundleId: BUNDLE })).status).toBe(200)
    expect(await app.post(IDENTIFY, { ...call, bundleId: 'com.example.unknown' })).toMatchObject({
      status: 404,
      body: { code: 'unknown_app' },
    })
    expect(await app.post(IDENTIFY, { ...call, platform: 'ios' })).toMatchObject({ status: 404 })
  })

  const attributes = (n: number) =>
    Object.fromEntries(Array.from({ length: n }, (_, index) => [`key${index}`, index]))

  test('a user has at most 100 attributes after merging', async () => {
    expect((await app.post(IDENTIFY, user('u1', { attributes: attributes(100) }))).status).toBe(200)
    const answer = await app.post(IDENTIFY, user('u1', { attributes: { onemore: 1 } }))
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: 'attributes' }] },
    })
    expect((await app.post(IDENTIFY, user('u1', { attributes: { key5: 'again' } }))).status).toBe(200)
    expect(JSON.parse(stored('u1')?.attributes ?? '')).not.toHaveProperty('onemore')
  })

  const faults: [string, object, string][] = [
    ['no user', { bundleId: BUNDLE }, 'appUserId'],
    ['an empty user', user(''), 'appUserId'],
    ['a user of 257 characters', user('u'.repeat(257)), 'appUserId'],
    ['white space before', user(' u1'), 'appUserId'],
    ['white space after', user('u1\n'), 'appUserId'],
    ['a number as user', { appUserId: 7, bundleId: BUNDLE }, 'appUserId'],
    ['half a surrogate pair', user('\ud800'), 'appUserId'],
    ['a null character', user('a\u0000b'), 'appUserId'],
    ...[
      ['a line break', 'a\nb'],
      ['a colour of a terminal', 'a\u001b[31mb'],
      ['only a character without width', '\u200b'],
      ['a change of the direction', 'a\u202eb'],
      ['a soft hyphen', 'a\u00adb'],
      ['a line separator', 'a\u2028b'],
      ['a joiner between letters that are never joined', 'a\u200db'],
    ].map(([name = '', id = '']): [string, object, string] => [`${name} in a user`, user(id), 'appUserId']),
    ...['null', 'undefined', 'NaN', 'anonymous', '0', '-1', '[object Object]', 'NULL', 'Guest'].map(
      (id): [string, object, string] => [`the placeholder ${id}`, user(id), 'appUserId'],
    ),
    ['no bundle', { appUserId: 'u1' }, 'bundleId'],
    ['attributes as a list', user('u1', { attributes: ['a'] }), 'attributes'],
    ['a nested attribute', user('u1', { attributes: { plan: { name: 'pro' } } }), 'attributes.plan'],
    ['an empty attribute name', user('u1', { attributes: { '': 1 } }), 'attributes.'],
    [
      'an attribute name of 65 characters',
      user('u1', { attributes: { ['k'.repeat(65)]: 1 } }),
      `attributes.${'k'.repeat(65)}`,
    ],
    [
      'an attribute of 1,025 characters',
      user('u1', { attributes: { long: 'x'.repeat(1025) } }),
      'attributes.long',
    ],
    ['a platform that is no word', user('u1', { platform: 4 }), 'platform'],
  ]
  test.each(faults)('refuses %s with its path', async (_, body, path) => {
    const answer = await app.post(IDENTIFY, body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(answer.body.errors?.map((fault) => fault.path)).toContain(path)
    expect(app.feed()).toEqual([])
  })

  test('a user whose id was accepted before can still be deleted', async () => {
    const path = `/api/v1/users/${encodeURIComponent('a\u202eb')}?app=${BUNDLE}`
    const headers = bearer(await app.key('secret'))
    const answer = await app.request(path, { method: 'DELETE', headers })
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'unknown_user' }])
  })

  test('answers thousands of faults in one call with the first hundred', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, []]))
    const answer = await app.post(IDENTIFY, user('u1', { attributes: many }))
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(answer.body.errors).toHaveLength(100)
  })

  test('treats an empty string as absent', async () => {
    await app.post(IDENTIFY, user('u1', { locale: 'de_DE', platform: 'ios' }))
    const answer = await app.post(
      IDENTIFY,
      user('u1', { locale: '', platform: '', osVersion: '', deviceModel: null }),
    )
    expect(answer.status).toBe(200)
    expect(stored('u1')).toMatchObject({ locale: 'de_DE', platform: 'ios', os_version: null })
  })

  test('refuses a number beyond every double, and rounds one beyond 2^53', async () => {
    const send = (value: string) =>
      app.request(IDENTIFY, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"appUserId":"u1","bundleId":"${BUNDLE}","attributes":{"n":${value}}}`,
      })
    expect((await send('1e999')).status).toBe(400)
    expect((await send('9007199254740993')).status).toBe(200)
    expect(stored('u1')?.attributes).toBe('{"n":9007199254740992}')
  })

  test('accepts ids of 256 characters, with slashes, in any script', async () => {
    for (const id of ['u'.repeat(256), 'a/b', 'Ünïcode 用户', '👩‍👩‍👧', 'می‌خواهم', '$anon_1']) {
      expect((await app.post(IDENTIFY, user(id))).body).toMatchObject({ appUserId: id })
      expect(stored(id)).not.toBeNull()
    }
  })
})

describe('attribute', () => {
  test('links a purchase that Apple has not reported yet; the link takes effect when Apple does', async () => {
    const answer = await app.post(ATTRIBUTE, purchase('u1', { productId: 'lantern.pro.monthly' }))
    expect(answer).toMatchObject({
      status: 200,
      body: { originalTransactionId: LINEAGE, appUserId: 'u1', moved: false, verification: 'unverified' },
    })
    const { renewedPayload } = await import('../apple/samples.ts')
    await app.notify(renewedPayload(app.authority))
    expect(app.feed(['subscription.renewed'])).toMatchObject([
      {
        data: {
          user: { app_user_id: 'u1', proved_app_user_id: null, verification: 'unverified', proofs: [] },
        },
      },
    ])
  })

  test('a signed transaction proves the purchase, and enters the ledger', async () => {
    const answer = await app.post(ATTRIBUTE, purchase('u1', { jws: signed() }))
    expect(answer.body).toMatchObject({ verification: 'verified', moved: false })
    expect(link()).toMatchObject({
      proved_app_user_id: 'u1',
      proofs: ['purchase'],
      product_id: 'lantern.pro.monthly',
    })
    expect(app.feed(['transaction.recorded', 'customer.linked'])).toMatchObject([
      { type: 'transaction.recorded', origin: 'live' },
      { type: 'customer.linked', data: { user: { app_user_id: 'u1', verification: 'verified' } } },
    ])
    const [, linked] = app.feed(['transaction.recorded', 'customer.linked'])
    expect(linked?.customer_id).toMatch(/^cus_/)
  })

  test('an unproved call moves the link, and the proved user stays on record', async () => {
    await app.post(ATTRIBUTE, purchase('u1', { jws: signed() }))
    const moved = await app.post(ATTRIBUTE, purchase('u2'))
    expect(moved.body).toMatchObject({ appUserId: 'u2', moved: true, verification: 'unverified' })
    expect(link()).toMatchObject({ app_user_id: 'u2', proved_app_user_id: 'u1', proofs: ['purchase'] })
    const back = await app.post(ATTRIBUTE, purchase('u1'))
    expect(back.body).toMatchObject({ moved: true, verification: 'verified' })
    const history = app.windfall.store.prepare('select * from link_history order by id').all()
    expect(history).toMatchObject([
      { from_app_user_id: 'u1', from_proofs: '["purchase"]', from_credential: 'none', to_app_user_id: 'u2' },
      { from_app_user_id: 'u2', to_app_user_id: 'u1', to_proved_app_user_id: 'u1' },
    ])
    expect(app.feed(['customer.moved'])).toMatchObject([
      { data: { from_app_user_id: 'u1', user: { app_user_id: 'u2', proved_app_user_id: 'u1' } } },
      { data: { from_app_user_id: 'u2', user: { app_user_id: 'u1' } } },
    ])
  })

  test('proofs accumulate while the proved user stays the same, and start over on a change', async () => {
    const secret = bearer(await app.key('secret'))
    await app.post(ATTRIBUTE, purchase('u1', { jws: signed() }))
    await app.post(ATTRIBUTE, purchase('u1'), secret)
    expect(link()).toMatchObject({
      proved_app_user_id: 'u1',
      proofs: ['purchase', 'server'],
      verification: 'verified',
    })
    const answer = await app.post(ATTRIBUTE, purchase('u2'), secret)
    expect(answer.body).toMatchObject({ moved: true, verification: 'unverified' })
    expect(link()).toMatchObject({ app_user_id: 'u2', proved_app_user_id: 'u2', proofs: ['server'] })
  })

  test('a repeated call changes nothing and appends no event', async () => {
    await app.post(ATTRIBUTE, purchase('u1', { jws: signed() }))
    expect((await app.post(ATTRIBUTE, purchase('u1', { jws: signed() }))).body).toMatchObject({
      moved: false,
    })
    expect(app.feed(['customer.linked'])).toHaveLength(1)
    expect(app.windfall.store.prepare('select * from link_history').all()).toEqual([])
  })

  const invalid: [string, (app: TestApp) => Promise<string> | string][] = [
    ['of another bundle', (a) => a.authority.sign(transactionPayload({ bundleId: 'com.example.other' }))],
    ['of another lineage', (a) => a.authority.sign(transactionPayload({ originalTransactionId: '999' }))],
    [
      'signed by another authority',
      async () => (await openAuthority({ now: NOW })).sign(transactionPayload()),
    ],
    [
      'that is a renewal info',
      async (a) => a.authority.sign((await import('../apple/samples.ts')).renewalPayload()),
    ],
    ['of two parts', () => 'eyJhbGciOiJFUzI1NiJ9.e30'],
    ['that is junk', () => 'junk'],
  ]
  test.each(invalid)('refuses a call with a signed transaction %s', async (_, make) => {
    const answer = await app.post(ATTRIBUTE, purchase('u1', { jws: await make(app) }))
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_signed_transaction', errors: [{ path: 'jws' }] },
    })
    expect(link()).toBeNull()
    expect(app.feed(['transaction.recorded', 'customer.linked'])).toEqual([])
  })

  test('accepts a purchase in Xcode’s local store, and stores nothing', async () => {
    const { signUnder, headerOf } = await import('../../src/demo/signing/authority.ts')
    const header = headerOf(app.authority)
    const jws = signUnder(
      { alg: 'ES256', x5c: header.x5c.slice(0, 1) },
      transactionPayload({ environment: 'Xcode', transactionId: '0', originalTransactionId: '0' }),
      app.authority.leaf_key,
    )
    const call = { ...purchase('u1', { jws }), originalTransactionId: '0' }
    expect(await app.post(ATTRIBUTE, call)).toMatchObject({
      status: 200,
      body: { originalTransactionId: '0', appUserId: 'u1', moved: false, verification: 'unverified' },
    })
    // Another developer has the same id: the link does not move between them.
    const other = await app.post(ATTRIBUTE, { ...call, appUserId: 'u2' })
    expect(other.body).toMatchObject({ appUserId: 'u2', moved: false })
    const lookups = () => app.windfall.store.prepare('select * from lookups').all()
    expect([link('apple', '0'), app.feed(null), lookups()]).toEqual([null, [], []])
    // Without the signed transaction the store is unknown, but Apple is not queried for such an id.
    await app.post(ATTRIBUTE, { ...call, jws: undefined })
    expect(link('apple', '0')).toMatchObject({ app_user_id: 'u1', verification: 'unverified' })
    expect(lookups()).toEqual([])
  })

  test('an id that is not all digits is a Play purchase token, until a call names the platform', async () => {
    const call = (appUserId: string, more: object = {}) =>
      app.post(ATTRIBUTE, { ...purchase(appUserId, more), originalTransactionId: 'play.AO-J1' })
    expect((await call('u1')).body).toMatchObject({ moved: false, verification: 'unverified' })
    expect(link('google', 'play.AO-J1')).toMatchObject({ app_user_id: 'u1' })
    expect(link('apple', 'play.AO-J1')).toBeNull()
    const package_id = { bundleId: 'com.example.lantern.android' }
    expect((await call('u2', package_id)).body).toMatchObject({ moved: true })
    // It is the App Store's, then: the link moves there, and calls without a platform follow it.
    expect((await call('u2', { platform: 'ios' })).body).toMatchObject({ appUserId: 'u2', moved: false })
    expect(link('google', 'play.AO-J1')).toBeNull()
    expect(link('apple', 'play.AO-J1')).toMatchObject({ app_user_id: 'u2' })
    expect((await call('u3')).body).toMatchObject({ moved: true })
    expect(link('google', 'play.AO-J1')).toBeNull()
    expect(app.windfall.store.prepare('select * from lookups').all()).toEqual([])
    expect(app.feed(['customer.linked', 'customer.moved'])).toMatchObject([
      { type: 'customer.linked', data: { store: 'google' } },
      { type: 'customer.moved', data: { store: 'google', from_app_user_id: 'u1' } },
      { type: 'customer.moved', data: { store: 'apple', from_app_user_id: 'u2' } },
    ])
  })

  test('a link from a call with platform android stays with the Play store', async () => {
    const call = (platform: string) =>
      app.post(ATTRIBUTE, { ...purchase('u1', { platform }), originalTransactionId: 'play.AO-J1' })
    await app.post(ATTRIBUTE, { ...purchase('u1'), originalTransactionId: 'play.AO-J1' })
    await call('android')
    await call('ios')
    expect(link('google', 'play.AO-J1')).not.toBeNull()
    expect(link('apple', 'play.AO-J1')).not.toBeNull()
  })

  test('stores a Play purchase token separately, under either field name', async () => {
    const call = { appUserId: 'u1', bundleId: 'com.example.lantern.android', platform: 'android' }
    expect((await app.post(ATTRIBUTE, { ...call, purchaseToken: 'play-1' })).body).toMatchObject({
      originalTransactionId: 'play-1',
    })
    expect((await app.post(ATTRIBUTE, { ...call, originalTransactionId: 'play-2' })).status).toBe(200)
    expect(link('google', 'play-1')).toMatchObject({ app_user_id: 'u1' })
    expect(link('google', 'play-2')).toMatchObject({ app_user_id: 'u1' })
    expect(link('apple', 'play-1')).toBeNull()
    const withJws = await app.post(ATTRIBUTE, { ...call, purchaseToken: 'play-3', jws: signed() })
    expect(withJws.body).toMatchObject({ code: 'invalid_signed_transaction' })
  })

  test.each([
    ['no transaction', user('u1')],
    ['a number as transaction', purchase('u1', { originalTransactionId: 2000000000000001 })],
    ['an empty one', purchase('u1', { originalTransactionId: '' })],
    ['a purchase token without Android', user('u1', { purchaseToken: 'play-1' })],
  ])('refuses %s with its path', async (_, body) => {
    const answer = await app.post(ATTRIBUTE, body)
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: 'originalTransactionId' }] },
    })
  })
})
