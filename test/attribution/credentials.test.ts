import { beforeEach, expect, test } from 'vitest'
import { BUNDLE } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

let app: TestApp
beforeEach(async () => {
  app = await openTestApp()
})

const IDENTIFY = '/api/sdk/v1/identify'
const call = { appUserId: 'u1', bundleId: BUNDLE }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const identify = (headers: Record<string, string> = {}, body: object = call) =>
  app.post(IDENTIFY, body, headers)

async function secondOrganization() {
  const { store, organizations, apps, keys } = app.windfall
  const base = { name: 'Second', sdk_auth: 'any', time_zone: 'UTC', currency: 'USD' } as const
  await store.commit(() => organizations.declare([{ slug: 'second', ...base }]))
  const second = organizations.resolve('second')
  await store.commit(() => apps.add(second.id, { bundle_id: BUNDLE }, 'test'))
  const key = await store.commit(() => keys.create(second.id, 'publishable', 'test').token)
  return { second, key }
}

async function demand(sdk_auth: 'key' | 'attestation') {
  const { store } = app.windfall
  await store.commit(() => store.prepare<[string]>('update organizations set sdk_auth = ?').run(sdk_auth))
}

test('a publishable key names its organization, a secret key proves the call', async () => {
  expect((await identify(bearer(await app.key('publishable')))).body).toMatchObject({
    verification: 'unverified',
  })
  expect((await identify(bearer(await app.key('secret')))).body).toMatchObject({ verification: 'verified' })
})

test.each([
  ['an unknown key', 'Bearer pk_live_0000000000000000000000000000'],
  ['a read token', 'Bearer wf_0000000000000000000000000000'],
  ['an empty bearer', 'Bearer '],
  ['basic credentials', 'Basic dTpw'],
])('%s is a 401', async (_, authorization) => {
  expect(await identify({ authorization })).toMatchObject({ status: 401, body: { code: 'invalid_key' } })
})

test('a token of the wrong kind is refused with the right kind', async () => {
  const read = await identify(bearer(await app.token()))
  expect(read).toMatchObject({ status: 401, body: { code: 'invalid_key' } })
  expect(read.body.detail).toContain('this is a read token; send an SDK key')
  const headers = bearer(await app.key('publishable'))
  const answer = await app.request('/api/v1/apps', { headers })
  expect(await answer.json()).toMatchObject({
    code: 'invalid_token',
    detail: expect.stringContaining('this is an SDK key; send a read token'),
  })
})

test('a revoked key is a 401 immediately; a rotated one stays valid for its overlap', async () => {
  const { store, keys } = app.windfall
  const token = await app.key('publishable')
  const id = keys.findByToken(token)?.id ?? ''
  const successor = await store.commit(() => keys.rotate(id, 3_600_000))
  expect((await identify(bearer(token))).status).toBe(200)
  expect((await identify(bearer(successor.token))).status).toBe(200)
  app.clock.turn(3_600_000)
  expect((await identify(bearer(token))).status).toBe(401)
  await store.commit(() => keys.revoke(successor.id))
  expect((await identify(bearer(successor.token))).status).toBe(401)
})

test('a key of an organization without the app is a 403', async () => {
  const key = await app.key('publishable')
  const answer = await identify(bearer(key), { appUserId: 'u1', bundleId: 'com.example.unknown' })
  expect(answer).toMatchObject({ status: 403, body: { code: 'app_not_in_organization' } })
})

test('without a credential the bundle id must name exactly one connected app', async () => {
  expect(await identify({}, { appUserId: 'u1', bundleId: 'com.example.unknown' })).toMatchObject({
    status: 404,
    body: { code: 'unknown_app' },
  })
  expect((await identify()).status).toBe(200)
  const { key } = await secondOrganization()
  expect(await identify()).toMatchObject({ status: 409, body: { code: 'ambiguous_app' } })
  expect((await identify(bearer(key))).status).toBe(200)
})

test('an Android call matches the package, else the bundle id, of the key’s organization or of any', async () => {
  const { second, key } = await secondOrganization()
  const { store, apps } = app.windfall
  const android = (appUserId: string, bundleId: string, headers: Record<string, string> = {}) =>
    identify(headers, { appUserId, bundleId, platform: 'android' })
  const organizationOf = (id: string) =>
    apps.list().find((one) => app.windfall.attribution.users.get(one.id, id))?.organization_id
  // Both organizations have the bundle id, neither has the package.
  expect(await android('u1', BUNDLE)).toMatchObject({ status: 409, body: { code: 'ambiguous_app' } })
  expect((await android('u1', BUNDLE, bearer(key))).status).toBe(200)
  expect(organizationOf('u1')).toBe(second.id)
  // One app's bundle id is another app's package: the package takes precedence, but within a key's organization.
  const other = { bundle_id: 'com.example.other', android_package: BUNDLE }
  await store.commit(() => apps.add(app.organization.id, other, 'test'))
  expect((await android('u2', BUNDLE)).status).toBe(200)
  expect(organizationOf('u2')).toBe(app.organization.id)
  expect((await android('u3', BUNDLE, bearer(key))).status).toBe(200)
  expect(organizationOf('u3')).toBe(second.id)
  expect(await android('u4', 'com.example.none')).toMatchObject({
    status: 404,
    body: { code: 'unknown_app' },
  })
  expect(await android('u4', 'com.example.none', bearer(key))).toMatchObject({
    status: 403,
    body: { code: 'app_not_in_organization' },
  })
})

test('an unknown device token counts as none, unless a device is required', async () => {
  expect((await identify(bearer('dt_unknown'))).body).toMatchObject({ verification: 'unverified' })
  await demand('attestation')
  expect(await identify(bearer('dt_unknown'))).toMatchObject({ status: 401, body: { code: 'invalid_key' } })
})

test('an organization can require a key or a device; the owner’s backend is always admitted', async () => {
  await demand('key')
  expect(await identify()).toMatchObject({ status: 401, body: { code: 'credential_required' } })
  expect((await identify(bearer(await app.key('publishable')))).status).toBe(200)
  await demand('attestation')
  expect(await identify(bearer(await app.key('publishable')))).toMatchObject({ status: 401 })
  expect((await identify(bearer(await app.key('secret')))).status).toBe(200)
})

test('a disconnected app is unknown, and its history stays', async () => {
  await identify()
  const { store, apps } = app.windfall
  await store.commit(() => apps.remove(app.organization.id, BUNDLE))
  expect((await identify()).status).toBe(404)
  expect(app.feed()).toHaveLength(1)
})

test('validates the body before the credential, and the credential before the rate window', async () => {
  expect((await identify({ authorization: 'Bearer wrong' }, { bundleId: BUNDLE })).status).toBe(400)
  for (let n = 0; n < 240; n += 1) await identify()
  expect((await identify({ authorization: 'Bearer wrong' })).status).toBe(401)
  expect((await identify()).status).toBe(429)
})

test('refuses call 241 within any 60 seconds, over both endpoints, and recovers', async () => {
  const attribute = () => app.post('/api/sdk/v1/attribute', { ...call, originalTransactionId: '1' })
  const admittedAt: number[] = []
  let refusals = 0
  // 400 calls at an uneven pace over 100 seconds: at most 240 are admitted in any 60 of them.
  for (let n = 0; n < 400; n += 1) {
    const answer = await (n % 2 ? attribute() : identify())
    if (answer.status === 200) admittedAt.push(app.clock())
    else refusals += 1
    app.clock.turn(n % 100 < 50 ? 100 : 400)
  }
  expect(refusals).toBeGreaterThan(0)
  for (const at of admittedAt) {
    expect(admittedAt.filter((other) => other > at - 60_000 && other <= at).length).toBeLessThanOrEqual(240)
  }
  expect(admittedAt.length).toBeGreaterThan(300)
})

test('a refused call gets retry-after, does not count, and is admitted then', async () => {
  for (let n = 0; n < 240; n += 1) {
    expect((await identify()).status).toBe(200)
    app.clock.turn(10)
  }
  for (let n = 0; n < 50; n += 1) {
    const answer = await identify()
    expect(answer).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(answer.headers.get('retry-after')).toBe('58')
    expect(answer.headers.get('ratelimit')).toBe('"organization";r=0;t=58')
    expect(answer.headers.get('ratelimit-policy')).toBe('"organization";q=240;w=60')
  }
  app.clock.turn(57_599)
  expect((await identify()).headers.get('retry-after')).toBe('1')
  app.clock.turn(1)
  expect((await identify()).status).toBe(200)
  expect((await identify()).status).toBe(429)
})

test('each organization has its own window', async () => {
  const key = await app.key('publishable')
  const other = await secondOrganization()
  for (let n = 0; n < 241; n += 1) await identify(bearer(key))
  expect((await identify(bearer(key))).status).toBe(429)
  expect((await identify(bearer(other.key))).status).toBe(200)
})

test('counts calls without an organization by client address, through trusted proxies only', async () => {
  const stray = (forwarded: string) =>
    identify({ 'x-forwarded-for': forwarded }, { appUserId: 'u', bundleId: 'com.x' })
  for (let n = 0; n < 60; n += 1) expect((await stray(`9.9.9.${n}, 203.0.113.7`)).status).toBe(404)
  const refused = await stray('1.2.3.4, 203.0.113.7')
  expect(refused).toMatchObject({ status: 429 })
  expect(refused.headers.get('ratelimit-policy')).toBe('"address";q=60;w=60')
  expect((await stray('203.0.113.8')).status).toBe(404)
  expect((await identify({ 'x-forwarded-for': '203.0.113.7' })).status).toBe(200)
  app.clock.turn(60_000)
  expect((await stray('203.0.113.7')).status).toBe(404)
})

test('counts all addresses of an IPv6 /64 as one', async () => {
  const stray = (forwarded: string) =>
    identify({ 'x-forwarded-for': forwarded }, { appUserId: 'u', bundleId: 'com.x' })
  for (let n = 0; n < 60; n += 1) await stray(`2001:db8:0:1::${n}`)
  expect((await stray('2001:db8:0:1:ffff::1')).status).toBe(429)
  expect((await stray('2001:db8:0:2::1')).status).toBe(404)
})
