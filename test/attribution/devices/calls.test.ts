/** Calls with a device token: labels, windows, assertions, and what a stranger with a token of their own can change. */
import { expect, test } from 'vitest'
import { BUNDLE, NOW } from '../../apple/samples.ts'
import { APP, authority, openAttested } from './enrolled.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const OTHER = { ...APP, bundle_id: 'com.example.other', apple_id: 2 }

type Opened = Awaited<ReturnType<typeof openAttested>>
const linkOf = ({ rows }: Opened) => {
  const [link] = rows('select app_user_id, proved_app_user_id, proofs from links')
  return link && { ...link, proofs: JSON.parse(String(link.proofs)) }
}
const provedOf = ({ rows }: Opened, user: string) =>
  JSON.parse(
    String(rows(`select proved_attributes from users where app_user_id = '${user}'`)[0]?.proved_attributes),
  )

async function secretKey({ app }: Opened): Promise<string> {
  const { keys, store } = app.windfall
  return (await store.commit(() => keys.create(app.organization.id, 'secret', 'test'))).token
}

test('an unknown or revoked token is no credential, and refused where one is required', async () => {
  const opened = await openAttested()
  const { app, identify, enrol, devices, attest, challenge, enrolmentOf } = opened
  const device = authority.device(APP)
  const request = enrolmentOf(device, await challenge())
  const token = String((await attest(request)).body.deviceToken)
  await app.windfall.store.commit(() => app.windfall.attest.devices.revoke(String(devices()[0]?.id)))
  for (const text of [token, 'dt_unknown'])
    expect(await identify(text, 'ada')).toMatchObject({ status: 200, body: { verification: 'unverified' } })
  expect(await attest(request)).toMatchObject({ status: 403, step: 'key_id' })
  const { organizations, store } = app.windfall
  const { organization } = app
  const require = (sdk_auth: 'key' | 'attestation') =>
    store.commit(() => organizations.declare([{ ...organization, sdk_auth }]))
  const fresh = await enrol()
  for (const policy of ['key', 'attestation'] as const) {
    await require(policy)
    expect(await identify(token, 'ada')).toMatchObject({ status: 401, code: 'invalid_key' })
    expect(await identify(null, 'ada')).toMatchObject({ status: 401, code: 'credential_required' })
    expect(await identify(fresh, 'ada')).toMatchObject({ status: 200, body: { verification: 'verified' } })
    expect((await identify(await secretKey(opened), 'ada')).status).toBe(200)
  }
  const { token: publishable } = await store.commit(() =>
    app.windfall.keys.create(organization.id, 'publishable', 'test'),
  )
  expect(await identify(publishable, 'ada')).toMatchObject({ status: 401, code: 'credential_required' })
})

test('a token is one of its app', async () => {
  const { enrol, identify } = await openAttested({ apps: [APP, OTHER] })
  const token = await enrol()
  expect(await identify(token, 'ada', { bundleId: OTHER.bundle_id })).toMatchObject({
    status: 403,
    code: 'token_of_another_app',
  })
  expect((await identify(token, 'ada')).status).toBe(200)
})

test('a device makes 30 calls a minute, and others keep the rest of the window', async () => {
  const { clock, enrol, identify } = await openAttested()
  const [script, other] = [await enrol(), await enrol()]
  const accepted = async (token: string, calls: number): Promise<number> => {
    let count = 0
    for (let n = 0; n < calls; n += 1)
      count += Number((await identify(token, `user-${n % 3}`)).status === 200)
    return count
  }
  expect(await accepted(script, 50)).toBe(30)
  expect(await accepted(other, 30)).toBe(30)
  clock.turn(MINUTE)
  expect(await accepted(script, 50)).toBe(30)
})

test('a device that names more than 20 users a day is a finding, and a bounded number of rows', async () => {
  const { app, clock, enrol, identify, rows } = await openAttested()
  const token = await enrol()
  const found = async () =>
    (await app.windfall.health.findings()).filter(({ subject }) => subject === 'devices')
  for (let n = 0; n < 40; n += 1) {
    if (n === 20) expect(await found()).toEqual([])
    clock.turn(3_000)
    expect((await identify(token, `user-${n}`)).status).toBe(200)
  }
  expect(await found()).toMatchObject([
    { state: 'warning', details: { title: 'One device names many users' } },
  ])
  expect(rows('select * from device_users')).toHaveLength(21)
  clock.turn(DAY)
  expect(await found()).toEqual([])
})

test('the last use of a device and of its users is written at most once a day', async () => {
  const { clock, enrol, identify, rows } = await openAttested()
  const token = await enrol()
  await identify(token, 'ada')
  const used = () => rows('select first_on, last_on from device_users')
  expect(used()).toEqual([{ first_on: '2026-06-01', last_on: '2026-06-01' }])
  clock.turn(DAY)
  await identify(token, 'ada')
  expect(used()).toEqual([{ first_on: '2026-06-01', last_on: '2026-06-02' }])
  expect(rows('select used_on from devices')).toEqual([{ used_on: '2026-06-02' }])
})

test('an erased user is not named by devices any more', async () => {
  const { app, enrol, identify, rows } = await openAttested()
  const token = await enrol()
  for (const user of ['ada', 'grace']) await identify(token, user)
  const [row] = rows('select app_id from devices')
  const { erasures, store } = app.windfall
  await store.commit(() =>
    erasures.erase({ app_id: String(row?.app_id), app_user_id: 'ada', asked_by: 'test' }),
  )
  expect(rows('select app_user_id from device_users')).toEqual([{ app_user_id: 'grace' }])
  expect(await identify(token, 'ada')).toMatchObject({ status: 410 })
  expect(rows('select app_user_id from device_users')).toEqual([{ app_user_id: 'grace' }])
})

test('a stranger’s device cannot take what the purchase or the server proved', async () => {
  const opened = await openAttested()
  const { attribute, enrol, identify, signed } = opened
  const [owner, stranger] = [await enrol(), await enrol()]
  const secret = await secretKey(opened)
  await attribute(owner, 'ada', '1001', { jws: await signed('1001') })
  await identify(secret, 'ada', { attributes: { plan: 'pro', seats: 3 } })
  expect(await attribute(stranger, 'mallory', '1001')).toMatchObject({
    status: 200,
    body: { moved: true, verification: 'unverified' },
  })
  expect(linkOf(opened)).toEqual({
    app_user_id: 'mallory',
    proved_app_user_id: 'ada',
    proofs: ['device', 'purchase'],
  })
  await identify(stranger, 'ada', { attributes: { plan: 'free', color: 'red' } })
  expect(provedOf(opened, 'ada')).toEqual({ plan: 'pro', seats: 3, color: 'red' })
  await identify(secret, 'ada', { attributes: { color: 'blue' } })
  await identify(stranger, 'ada', { attributes: { color: 'green' } })
  expect(provedOf(opened, 'ada')).toEqual({ plan: 'pro', seats: 3, color: 'blue' })
  await attribute(secret, 'ada', '1001')
  await attribute(stranger, 'mallory', '1001')
  expect(linkOf(opened)).toMatchObject({
    proved_app_user_id: 'ada',
    proofs: ['device', 'purchase', 'server'],
  })
})

test('a stranger’s device cannot use up the room for the attributes of the server', async () => {
  const opened = await openAttested()
  const { clock, enrol, identify, rows } = opened
  const [stranger, secret] = [await enrol(), await secretKey(opened)]
  const attributes = (name: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}${n}`, n]))
  const stored = () => Object.keys(JSON.parse(String(rows('select attributes from users')[0]?.attributes)))
  await identify(null, 'ada', { attributes: attributes('claimed', 100) })
  await identify(stranger, 'ada', { attributes: attributes('junk', 100) })
  expect((await identify(secret, 'ada', { attributes: { plan: 'pro' } })).status).toBe(200)
  expect(provedOf(opened, 'ada')).toMatchObject({ plan: 'pro', junk99: 99 })
  expect(await identify(stranger, 'ada', { attributes: { one: 1 } })).toMatchObject({ status: 400 })
  expect((await identify(secret, 'ada', { attributes: attributes('own', 99) })).status).toBe(200)
  expect(provedOf(opened, 'ada')).toEqual({ plan: 'pro', ...attributes('own', 99) })
  expect(stored()).toHaveLength(200)
  expect(stored().filter((name) => name.startsWith('junk'))).toEqual([])
  clock.turn(MINUTE)
  expect(await identify(secret, 'ada', { attributes: { one: 1 } })).toMatchObject({ status: 400 })
  expect((await identify(secret, 'ada', { attributes: { plan: 'free' } })).status).toBe(200)
  expect(provedOf(opened, 'ada')).toMatchObject({ plan: 'free', own98: 98 })
})

test('a device alone proves a purchase that nobody else proved, and joins the proofs of the same user', async () => {
  const opened = await openAttested()
  const { attribute, enrol, signed } = opened
  const token = await enrol()
  expect((await attribute(token, 'ada', '1001')).body).toMatchObject({ verification: 'unverified' })
  expect(linkOf(opened)).toMatchObject({ proved_app_user_id: 'ada', proofs: ['device'] })
  await attribute(await enrol(), 'grace', '1001')
  expect(linkOf(opened)).toMatchObject({ proved_app_user_id: 'grace', proofs: ['device'] })
  const jws = await signed('1001')
  expect((await attribute(null, 'ada', '1001', { jws })).body).toMatchObject({ verification: 'verified' })
  await attribute(token, 'ada', '1001')
  expect(linkOf(opened)).toMatchObject({ proved_app_user_id: 'ada', proofs: ['device', 'purchase'] })
})

test('a development build proves purchases of the sandbox only', async () => {
  const opened = await openAttested({ env: { WINDFALL_ATTEST_ACCEPT: '["production", "development"]' } })
  const { attribute, enrol, identify, signed, rows } = opened
  const token = await enrol(authority.device(APP), { environment: 'development' })
  expect((await identify(token, 'ada')).body.verification).toBe('verified')
  const proofs = () =>
    Object.fromEntries(
      rows('select transaction_id, proofs from links').map((row) => [row.transaction_id, row.proofs]),
    )
  await attribute(token, 'ada', '1001', { jws: await signed('1001') })
  await attribute(token, 'ada', '2002', { jws: await signed('2002', { environment: 'Sandbox' }) })
  await attribute(token, 'ada', '3003')
  await attribute(null, 'ada', '4004', { jws: await signed('4004', { environment: 'Sandbox' }) })
  await attribute(token, 'ada', '4004')
  expect(proofs()).toEqual({
    1001: '["purchase"]',
    2002: '["device","purchase"]',
    3003: '[]',
    4004: '["device","purchase"]',
  })
})

test('an assertion proves one request, once', async () => {
  const { asserted, devices, enrol } = await openAttested()
  const device = authority.device(APP)
  const token = await enrol(device)
  expect((await asserted(device, token, 'ada')).status).toBe(200)
  const second = await asserted(device, token, 'ada')
  expect(second.status).toBe(200)
  expect(devices()[0]?.counter).toBe(2)
  const replayed = await asserted(device, token, 'ada', { assertion: second.assertion })
  expect(replayed).toMatchObject({ status: 409, code: 'stale_assertion' })
  const refusals = [
    await asserted(device, token, 'ada', { assertion: second.assertion, more: { locale: 'de' } }),
    await asserted(device, token, 'ada', { signed: `POST\n/api/sdk/v1/attribute\n{}` }),
    await asserted(authority.device(APP), token, 'ada'),
    await asserted(device, token, 'ada', { assertion: 'not base64!' }),
    await asserted(device, token, 'ada', { assertion: 'AAAA' }),
    await asserted(device, token, 'ada', { counter: 0 }),
  ]
  for (const refusal of refusals) expect(refusal).toMatchObject({ status: 401, code: 'invalid_assertion' })
  expect(devices()[0]?.counter).toBe(2)
})

test('the counter moves only if the call is accepted, and each counter is accepted once', async () => {
  const { app, asserted, devices, enrol } = await openAttested()
  const device = authority.device(APP)
  const token = await enrol(device)
  const { erasures, store } = app.windfall
  await store.commit(() =>
    erasures.erase({
      app_id: String(devices()[0]?.app_id),
      app_user_id: 'gone',
      asked_by: 'test',
      even_unknown: true,
    }),
  )
  expect((await asserted(device, token, 'gone', { counter: 5 })).status).toBe(410)
  expect(devices()[0]?.counter).toBe(0)
  const [first, again] = await Promise.all([
    asserted(device, token, 'ada', { counter: 5 }),
    asserted(device, token, 'grace', { counter: 5 }),
  ])
  expect([first?.status, again?.status].sort()).toEqual([200, 409])
  expect((await asserted(device, token, 'ada', { counter: 4 })).status).toBe(409)
  expect(devices()[0]?.counter).toBe(5)
})

test('a call whose device is revoked while it is checked is refused', async () => {
  const { app, asserted, devices, enrol, rows } = await openAttested()
  const device = authority.device(APP)
  const token = await enrol(device)
  const { attest, store } = app.windfall
  // The revocation joins the same group commit, before the call.
  const call = asserted(device, token, 'ada')
  const revoked = store.commit(() => attest.devices.revoke(String(devices()[0]?.id)))
  const [{ status, code }] = await Promise.all([call, revoked])
  expect([status, code]).toEqual([401, 'invalid_key'])
  expect(rows('select * from users')).toEqual([])
})

test('policies: off ignores assertions, required demands one of each device', async () => {
  const off = await openAttested({ env: { WINDFALL_ATTEST_ASSERTIONS: 'off' } })
  const device = authority.device(APP)
  const token = await off.enrol(device)
  expect((await off.asserted(device, token, 'ada', { assertion: 'nonsense' })).status).toBe(200)
  const required = await openAttested({ env: { WINDFALL_ATTEST_ASSERTIONS: 'required' } })
  const other = authority.device(APP)
  const otherToken = await required.enrol(other)
  expect(await required.identify(otherToken, 'ada')).toMatchObject({
    status: 401,
    code: 'assertion_required',
  })
  expect((await required.asserted(other, otherToken, 'ada')).status).toBe(200)
  expect((await required.identify(null, 'ada')).status).toBe(200)
})

test('accepted calls are counted by label, and a policy is forecast from them', async () => {
  const opened = await openAttested({ env: { WINDFALL_ATTEST_ASSERTIONS: 'off' } })
  const { app, asserted, attribute, clock, enrol, identify, rows, signed } = opened
  const { attest, apps } = app.windfall
  const device = authority.device(APP)
  const token = await enrol(device)
  const ids = apps.byBundle(BUNDLE).map(({ id }) => id)
  await identify(null, 'old', {}, { 'x-windfall-unattested': 'simulator' })
  clock.turn(7 * DAY)
  await identify(null, 'ada', {}, { 'x-windfall-unattested': 'simulator' })
  await identify(null, 'ada')
  await identify(token, 'ada', {}, { 'x-windfall-unattested': 'pending' })
  await asserted(device, token, 'ada')
  await identify(await secretKey(opened), 'ada')
  await attribute(null, 'ada', '1001', { jws: await signed('1001') })
  await identify(null, 'null')
  const on = { counted_on: '2026-06-08' }
  expect(attest.counts.labels(ids, '2026-06-02', '2026-06-09')).toEqual([
    { ...on, endpoint: 'attribute', verification: 'verified', unattested: '', calls: 1 },
    { ...on, endpoint: 'identify', verification: 'unverified', unattested: '', calls: 1 },
    { ...on, endpoint: 'identify', verification: 'unverified', unattested: 'simulator', calls: 1 },
    { ...on, endpoint: 'identify', verification: 'verified', unattested: '', calls: 3 },
  ])
  expect(attest.counts.forecast(ids)).toEqual({
    calls: 6,
    refused_by: { key: 3, attestation: 3, required_assertions: 1 },
  })
  clock.turn(DAY)
  const ofLast = async (days: string) =>
    (await app.request(`/api/v1/devices/forecast?days=${days}`, { headers: await app.signIn() })).json()
  expect(await ofLast('2')).toMatchObject({ calls: 6, refused_by: { attestation: 3 } })
  expect(await ofLast('1')).toMatchObject({ calls: 0 })
  clock.turn(-DAY)
  expect(attest.counts.forecast([])).toMatchObject({ calls: 0 })
  expect(rows('select distinct assertion from call_counts order by 1')).toEqual([
    { assertion: 'none' },
    { assertion: 'sent' },
  ])
  expect(clock()).toBe(NOW + 7 * DAY)
})
