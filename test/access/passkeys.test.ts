import { expect, test } from 'vitest'
import { openTestApp, rowsOf, type TestApp, type TestOptions } from '../helpers.ts'
import { codeAt } from './authenticator.ts'
import { type Fault, newKey, openSoftAuthenticator } from './soft_authenticator.ts'

const LOCAL = 'http://localhost:8787'
const MINUTE = 60_000
const SAME_SITE = { 'sec-fetch-site': 'same-origin' }

type Headers = Record<string, string>
type Device = ReturnType<typeof openSoftAuthenticator>
type Options = { challenge: string }

/** A Windfall at localhost, whose owner has a password and is signed in. */
async function openOwned(options: TestOptions = {}) {
  const app = await openTestApp({ ...options, env: { WINDFALL_BASE_URL: LOCAL, ...options.env } })
  await app.windfall.store.commit(() => app.windfall.owner.setPassword('none'))
  return { app, headers: await app.signIn() }
}

const challengeOf = async (app: TestApp, headers: Headers = {}): Promise<Options> =>
  (await app.post('/api/v1/passkeys/challenge', {}, { ...SAME_SITE, ...headers })).body as unknown as Options
const setupOf = async (app: TestApp, headers: Headers): Promise<Options> =>
  (await app.post('/api/v1/passkeys/setup', {}, headers)).body as unknown as Options

const add = async (app: TestApp, headers: Headers, device: Device, fault: Fault = {}, name = 'Mac') =>
  app.post('/api/v1/passkeys', { name, passkey: device.create(await setupOf(app, headers), fault) }, headers)

const login = (app: TestApp, passkey: unknown, headers: Headers = {}) =>
  app.post('/api/v1/login', { passkey }, { ...SAME_SITE, ...headers })

/** The same with a passkey. */
async function openWithPasskey({ counter = 0, ...options }: TestOptions & { counter?: number } = {}) {
  const owned = await openOwned(options)
  const device = openSoftAuthenticator({ counter })
  const { status, body } = await add(owned.app, owned.headers, device)
  expect(status).toBe(201)
  return { ...owned, device, passkey: body }
}

const session = async (app: TestApp, cookie = '') =>
  (await app.request('/api/v1/session', { headers: { cookie } })).json()
const listed = async (app: TestApp, headers: Headers) =>
  (await (await app.request('/api/v1/passkeys', { headers })).json()) as Record<string, unknown>

test('a passkey is added and signs in without password or code; secrets still ask for the password', async () => {
  const { app, headers } = await openOwned()
  const other = await app.signIn()
  expect(await session(app)).toMatchObject({ passkeys: null })
  const device = openSoftAuthenticator()
  const { body } = await add(app, headers, device, {}, ' Work Mac ')
  expect(body).toEqual({
    id: expect.stringMatching(/^psk_[0-9a-f]{16}$/),
    name: 'Work Mac',
    host: 'localhost',
    is_synced: false,
    created_at: app.clock(),
    used_at: null,
  })
  expect((await app.request('/api/v1/apps', { headers: other })).status).toBe(401)
  expect(await session(app)).toMatchObject({ state: 'signed_out', passkeys: 'localhost' })
  app.clock.turn(MINUTE)
  const answer = await login(app, device.use(await challengeOf(app)))
  expect(answer).toMatchObject({ status: 200, body: { state: 'owner', fresh: false, fresh_until: null } })
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  expect(await session(app, cookie)).toMatchObject({ state: 'owner', fresh: false })
  const token = await app.post('/api/v1/tokens', { label: 'laptop' }, { ...SAME_SITE, cookie })
  expect(token).toMatchObject({ status: 403, body: { code: 'reauthentication_required' } })
  expect(await listed(app, headers)).toMatchObject({ passkeys: [{ used_at: app.clock() }], problem: null })
  const audit = app.windfall.audit
    .list(null, 9)
    .map(({ action, subject, detail }) => [action, subject, detail])
  expect(audit).toEqual([
    ['owner.signed_in', body.id, 'with a passkey'],
    ['passkey.added', body.id, 'Work Mac'],
  ])
})

test('a browser is asked for a discoverable passkey that verifies its user, and not for one that exists', async () => {
  const { app, headers, device } = await openWithPasskey()
  const options = await setupOf(app, headers)
  expect(options).toMatchObject({
    rp: { id: 'localhost', name: 'Windfall' },
    user: { name: 'owner', displayName: 'Owner of localhost' },
    attestation: 'none',
    excludeCredentials: [{ type: 'public-key', id: device.id, transports: ['internal'] }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  expect(await setupOf(app, headers)).toMatchObject({ user: (options as unknown as { user: object }).user })
  expect(await challengeOf(app)).toEqual({
    challenge: expect.stringMatching(/^[\w-]{43}$/),
    rpId: 'localhost',
    timeout: 300_000,
    userVerification: 'required',
  })
})

test.each([
  ['http://localhost:8787', null],
  ['http://windfall.localhost:8787', null],
  ['https://windfall.example', null],
  ['http://127.0.0.1:8787', 'Browsers bind passkeys to a host name, and 127.0.0.1 is an address.'],
  ['http://[::1]:8787', 'Browsers bind passkeys to a host name, and [::1] is an address.'],
  ['https://192.0.2.7', 'Browsers bind passkeys to a host name, and 192.0.2.7 is an address.'],
  ['http://windfall.example', 'Browsers permit passkeys over https only.'],
])('passkeys at %s: %s', async (base_url, why) => {
  const { app, headers } = await openOwned()
  app.windfall.http.configure({ base_url })
  const { passkeys } = app.windfall
  const { problem } = passkeys.party()
  if (why === null) return expect(problem).toBeNull()
  expect(problem).toContain(why)
  expect(problem).toMatch(/Set base_url to a host name with https, or, .* to http:\/\/localhost/)
  if (base_url !== 'http://127.0.0.1:8787') return
  const refused = { status: 409, body: { code: 'passkeys_unavailable' } }
  expect(await app.post('/api/v1/passkeys/setup', {}, headers)).toMatchObject(refused)
  expect(await app.post('/api/v1/passkeys/challenge', {}, SAME_SITE)).toMatchObject(refused)
  const use = openSoftAuthenticator().use({ challenge: 'x' })
  expect(await login(app, use)).toMatchObject(refused)
  expect(await listed(app, headers)).toEqual({ passkeys: [], host: '127.0.0.1', problem })
})

const SIGN_IN_FAULTS: [string, Fault][] = [
  ['another origin', { origin: 'https://evil.example' }],
  ['another port', { origin: 'http://localhost:1' }],
  ['another host', { host: 'evil.example' }],
  ['no verified user', { flags: 0x01 }],
  ['no present user', { flags: 0x04 }],
  ['another key', { key: newKey().privateKey }],
  ['a challenge of its own', { challenge: Buffer.alloc(32).toString('base64url') }],
  ['a short challenge', { challenge: 'AAAA' }],
  ['no challenge', { challenge: '' }],
  ['the type of a creation', { type: 'webauthn.create' }],
  ['an unknown id', { id: Buffer.alloc(16).toString('base64url') }],
]
test.each(SIGN_IN_FAULTS)('a sign-in with %s is refused', async (_, fault) => {
  const { app, device } = await openWithPasskey()
  const before = rowsOf(app.windfall.store, 'passkeys')
  const answer = await login(app, device.use(await challengeOf(app), fault))
  expect(answer).toMatchObject({ status: 401, body: { code: 'wrong_passkey' } })
  expect(answer.headers.getSetCookie()).toEqual([])
  expect(rowsOf(app.windfall.store, 'passkeys')).toEqual(before)
  // The failure is noted behind the answer.
  await app.windfall.store.commit(() => {})
  expect(app.windfall.audit.list(null, 1)).toMatchObject([
    { action: 'owner.sign_in_failed', detail: 'wrong passkey' },
  ])
})

test.each([
  ['nothing', undefined],
  ['a text', 'x'],
  ['no answer', { id: 'AA', rawId: 'AA', type: 'public-key' }],
  ['another type', { type: 'password' }],
  ['an id that is no base64url', { id: 'a b' }],
  ['a long id', { id: 'A'.repeat(1_365) }],
])('a sign-in with %s as passkey is refused before anything is checked', async (_, fault) => {
  const { app, device } = await openWithPasskey()
  const right = device.use(await challengeOf(app))
  const passkey = typeof fault === 'object' && !('rawId' in fault) ? { ...right, ...fault } : fault
  expect(await login(app, passkey)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(await login(app, right)).toMatchObject({ status: 200 })
})

test.each([
  ['authenticatorData', 'AAAA'],
  ['signature', 'AAAA'],
  ['clientDataJSON', 'AAAA'],
  ['clientDataJSON', Buffer.from('null').toString('base64url')],
])('a sign-in whose %s is %j is refused', async (field, value) => {
  const { app, device } = await openWithPasskey()
  const right = device.use(await challengeOf(app))
  const wrong = { ...right, response: { ...right.response, [field]: value } }
  expect(await login(app, wrong)).toMatchObject({ status: 401, body: { code: 'wrong_passkey' } })
})

test('a challenge counts once, for five minutes, and in this process', async () => {
  const { app, device } = await openWithPasskey()
  const options = await challengeOf(app)
  expect((await login(app, device.use(options))).status).toBe(200)
  expect((await login(app, device.use(options))).status).toBe(401)
  const late = await challengeOf(app)
  app.clock.turn(5 * MINUTE)
  expect((await login(app, device.use(late))).status).toBe(401)
  const onTime = await challengeOf(app)
  app.clock.turn(5 * MINUTE - 1_000)
  expect((await login(app, device.use(onTime))).status).toBe(200)
  const foreign = await challengeOf((await openOwned()).app)
  expect((await login(app, device.use(foreign))).status).toBe(401)
})

test('a challenge counts for its purpose, and for the session that asked', async () => {
  const { app, headers, device } = await openWithPasskey()
  expect((await login(app, device.use(await setupOf(app, headers)))).status).toBe(401)
  const refused = { status: 400, body: { code: 'invalid_passkey' } }
  const post = (options: Options) =>
    app.post('/api/v1/passkeys', { name: 'b', passkey: openSoftAuthenticator().create(options) }, headers)
  expect(await post(await challengeOf(app))).toMatchObject(refused)
  expect(await post(await setupOf(app, await app.signIn()))).toMatchObject(refused)
})

test('of parallel sign-ins with one answer, one succeeds', async () => {
  const { app, device } = await openWithPasskey()
  for (let delay = 0; delay < 4; delay += 1) {
    const answer = device.use(await challengeOf(app))
    const both = [login(app, answer)]
    // Each step of the first one is a gap in which the second one may begin.
    for (let turn = 0; turn < delay; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    both.push(login(app, answer))
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 401])
  }
})

test('a counter that does not grow is refused, also of two answers at once', async () => {
  const { app, device } = await openWithPasskey({ counter: 7 })
  expect((await login(app, device.use(await challengeOf(app)))).status).toBe(200)
  for (const counter of [8, 7, 0])
    expect((await login(app, device.use(await challengeOf(app), { counter }))).status).toBe(401)
  const answers = [await challengeOf(app), await challengeOf(app)].map((one) =>
    device.use(one, { counter: 20 }),
  )
  const both = await Promise.all(answers.map((answer) => login(app, answer)))
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
})

test('a passkey that is removed while it is checked does not sign in', async () => {
  const { app, headers, device, passkey } = await openWithPasskey()
  const { passkeys, store } = app.windfall
  const checked = await passkeys.check(device.use(await challengeOf(app)) as never)
  const path = `/api/v1/passkeys/${passkey.id}`
  const other = await app.signIn()
  expect((await app.request(path, { method: 'DELETE', headers })).status).toBe(204)
  expect(await store.commit(() => checked?.use())).toBe(false)
  expect((await app.request('/api/v1/apps', { headers: other })).status).toBe(401)
  expect((await login(app, device.use(await challengeOf(app)))).status).toBe(401)
  expect(await session(app)).toMatchObject({ passkeys: null })
  const again = await app.request(path, { method: 'DELETE', headers })
  expect(await again.json()).toMatchObject({ status: 404, code: 'unknown_passkey' })
})

test('failures count as attempts of their address, and the owner elsewhere is not held back', async () => {
  const { app, device } = await openWithPasskey()
  const from = async (address: string, fault: Fault = {}) =>
    login(app, device.use(await challengeOf(app), fault), { 'x-forwarded-for': address })
  for (let n = 0; n < 10; n += 1) expect((await from('203.0.113.9', { flags: 0 })).status).toBe(401)
  expect(await from('203.0.113.9')).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect((await from('203.0.113.10')).status).toBe(200)
})

const X5C: [string, unknown][] = [['x5c', [new Uint8Array(9)]]]
const ADDING_FAULTS: [string, Fault, string][] = [
  ['another origin', { origin: 'https://evil.example' }, 'origin'],
  ['another host', { host: 'evil.example' }, 'RP ID'],
  ['no verified user', { flags: 0x41 }, 'User verification'],
  ['no present user', { flags: 0x44 }, 'not present'],
  ['no key', { flags: 0x05 }, ''],
  ['a challenge of its own', { challenge: Buffer.alloc(32).toString('base64url') }, 'challenge'],
  ['the type of a use', { type: 'webauthn.get' }, 'type'],
  ['certificates', { attestation: ['packed', X5C] }, 'certificates of the authenticator'],
  ['certificates of a TPM', { attestation: ['tpm', X5C] }, 'certificates of the authenticator'],
  ['an unknown format', { attestation: ['new', []] }, 'certificates of the authenticator'],
  ['a self-signature that is none', { attestation: ['packed', [['alg', -7]]] }, ''],
]
test.each(ADDING_FAULTS)('a new passkey with %s is refused', async (_, fault, why) => {
  const { app, headers } = await openOwned()
  const answer = await add(app, headers, openSoftAuthenticator(), fault)
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_passkey' } })
  expect(answer.body.detail).toContain(why)
  expect(rowsOf(app.windfall.store, 'passkeys')).toEqual([])
})

test.each([
  ['no name', { name: '' }],
  ['a name of spaces', { name: '  ' }],
  ['a long name', { name: 'x'.repeat(61) }],
  ['no passkey', { passkey: undefined }],
  ['a further field', { label: 'x' }],
])('adding with %s is refused', async (_, fault) => {
  const { app, headers } = await openOwned()
  const passkey = openSoftAuthenticator().create(await setupOf(app, headers))
  const answer = await app.post('/api/v1/passkeys', { name: 'Mac', passkey, ...fault }, headers)
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
})

test.each(['AAAA', 'a'.repeat(2_000), Buffer.from([0x9f, 0x9f]).toString('base64url')])(
  'a new passkey whose attestation is %j is refused',
  async (attestationObject) => {
    const { app, headers } = await openOwned()
    const right = openSoftAuthenticator().create(await setupOf(app, headers))
    const passkey = { ...right, response: { ...right.response, attestationObject } }
    const answer = await app.post('/api/v1/passkeys', { name: 'Mac', passkey }, headers)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_passkey' } })
  },
)

test('the same passkey is added once, and at most twenty', async () => {
  const { app, headers, device } = await openWithPasskey()
  const again = await add(app, headers, device)
  expect(again).toMatchObject({ status: 400, body: { code: 'invalid_passkey' } })
  expect(again.body.detail).toBe('this passkey was added before')
  const last = openSoftAuthenticator().create(await setupOf(app, headers))
  for (let n = 1; n < 20; n += 1) expect((await add(app, headers, openSoftAuthenticator())).status).toBe(201)
  const full = { status: 409, body: { code: 'too_many_passkeys' } }
  expect(await app.post('/api/v1/passkeys/setup', {}, headers)).toMatchObject(full)
  expect(await app.post('/api/v1/passkeys', { name: 'last', passkey: last }, headers)).toMatchObject(full)
})

test('a reset of the owner removes passkeys, the authenticator app and its recovery codes', async () => {
  const { app, headers, device } = await openWithPasskey()
  const { owner, secondFactor, store } = app.windfall
  const { body } = await app.post('/api/v1/second-factor/setup', {}, headers)
  const code = codeAt(String(body.secret), app.clock())
  expect((await app.post('/api/v1/second-factor', { code }, headers)).status).toBe(200)
  const answer = device.use(await challengeOf(app))
  await store.commit(() => owner.reset())
  expect(secondFactor.status()).toEqual({ since: null, recovery_codes_left: 0 })
  for (const table of ['authenticator', 'recovery_codes', 'passkeys'])
    expect(rowsOf(store, table)).toEqual([])
  expect(await login(app, answer)).toMatchObject({ status: 401, body: { code: 'wrong_passkey' } })
  expect(await session(app)).toMatchObject({ state: 'setup', passkeys: null })
})

test('adding and removing require a recent password', async () => {
  const { app, headers, passkey } = await openWithPasskey()
  const created = openSoftAuthenticator().create(await setupOf(app, headers))
  app.clock.turn(15 * MINUTE)
  const refused = { status: 403, body: { code: 'reauthentication_required' } }
  expect(await app.post('/api/v1/passkeys/setup', {}, headers)).toMatchObject(refused)
  expect(await app.post('/api/v1/passkeys', { name: 'b', passkey: created }, headers)).toMatchObject(refused)
  const removal = await app.request(`/api/v1/passkeys/${passkey.id}`, { method: 'DELETE', headers })
  expect(removal.status).toBe(403)
  expect(app.windfall.passkeys.list()).toHaveLength(1)
})

test('at another host, a passkey neither signs in nor is offered; it does again at its own', async () => {
  const { app, device } = await openWithPasskey()
  const options = await challengeOf(app)
  app.windfall.http.configure({ base_url: 'http://new.localhost:8787' })
  expect(await session(app)).toMatchObject({ passkeys: null })
  expect((await login(app, device.use(options))).status).toBe(401)
  expect((await login(app, device.use(options, { origin: 'http://new.localhost:8787' }))).status).toBe(401)
  app.windfall.http.configure({ base_url: LOCAL })
  expect(await session(app)).toMatchObject({ passkeys: 'localhost' })
  expect((await login(app, device.use(await challengeOf(app)))).status).toBe(200)
})

test('a passkey survives a restart', async () => {
  const { app, device } = await openWithPasskey()
  const { folder, clock } = app
  await app.windfall.close()
  const again = await openTestApp({ folder, clock, apps: [], env: { WINDFALL_BASE_URL: LOCAL } })
  expect((await login(again, device.use(await challengeOf(again)))).status).toBe(200)
})

test('guests, readers and other sites cannot see or change passkeys', async () => {
  const { app, headers } = await openWithPasskey()
  const { body } = await app.post('/api/v1/share-links', { label: 'bank', basis: 'gross' }, headers)
  const guest = await app.signIn(String(body.id))
  const reader = { authorization: `Bearer ${await app.token()}` }
  for (const [given, expected] of [
    [guest, 403],
    [reader, 401],
  ] as const) {
    expect((await app.request('/api/v1/passkeys', { headers: given })).status).toBe(expected)
    const setup = await app.post('/api/v1/passkeys/setup', {}, { ...SAME_SITE, ...given })
    expect(setup.status).toBe(expected)
  }
  const foreign = { 'sec-fetch-site': 'cross-site' }
  expect((await app.post('/api/v1/passkeys/challenge', {}, foreign)).body.code).toBe('cross_site')
  const far = { host: '192.0.2.7:8787' }
  app.windfall.http.configure({ base_url: 'http://192.0.2.7:8787' })
  expect((await app.post('/api/v1/passkeys/challenge', {}, far)).body.code).toBe('insecure_transport')
})
