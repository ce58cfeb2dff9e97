import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { LinkKind } from '../../../src/access/owner.ts'
import { hashPassword } from '../../../src/access/passwords.ts'
import { duringHash } from '../../access/held_hash.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

const PASSWORD = 'correct horse battery'
const MINUTE = 60_000
const DAY = 86_400_000
/** A test would pay for argon2id each time; the hash is the same anyway. */
const PHC = await hashPassword(PASSWORD)

let app: TestApp
beforeEach(async () => {
  app = await openTestApp()
})

const link = (kind: LinkKind = 'setup', of = app) =>
  of.windfall.store.commit(() => of.windfall.owner.createLink(kind).token)
const withPassword = (of = app, phc = PHC) =>
  of.windfall.store.commit(() => of.windfall.owner.setPassword(phc))

type Given = { status: number; headers: Headers; body: Record<string, unknown> }
const SAME_SITE = { 'sec-fetch-site': 'same-origin' }
const cookieOf = ({ headers }: Given) => headers.getSetCookie()[0]?.split(';')[0] ?? ''
const session = async (cookie = '', of = app) =>
  (await of.request('/api/v1/session', { headers: { cookie } })).json() as Promise<Record<string, unknown>>
const login = (body: unknown = { password: PASSWORD }, headers: Record<string, string> = {}) =>
  app.post('/api/v1/login', body, { ...SAME_SITE, ...headers })
const actions = () => app.windfall.audit.list(null, 100).map(({ action }) => action)

test('before there is an owner, no sign-in succeeds', async () => {
  const answer = await app.request('/api/v1/session')
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({
    state: 'setup',
    reach: null,
    basis: null,
    metrics: null,
    fresh: false,
    fresh_until: null,
    storage: 'ok',
    insecure: false,
    expires_at: null,
    passkeys: null,
    importing: null,
  })
  expect(await login()).toMatchObject({ status: 401, body: { code: 'wrong_password' } })
})

test('the printed link sets a password, signs in, and works once', async () => {
  const token = await link()
  const given = await app.post('/api/v1/setup', { token, password: PASSWORD }, SAME_SITE)
  expect(given).toMatchObject({
    status: 200,
    body: { state: 'owner', reach: { organization_id: null, apps: null }, basis: null, fresh: true },
  })
  expect(given.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^windfall=[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/),
    expect.stringMatching(
      /^windfall-browser=b_[\w-]{22}\.\d+\.[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/,
    ),
  ])
  expect(given.headers.get('cache-control')).toBe('no-store')
  expect(await session(cookieOf(given))).toMatchObject({ state: 'owner', fresh: true })
  expect(await session()).toMatchObject({ state: 'signed_out' })
  const again = await app.post('/api/v1/setup', { token, password: PASSWORD }, SAME_SITE)
  expect(again).toMatchObject({ status: 401, body: { code: 'invalid_link' } })
  expect((await login()).status).toBe(200)
  expect(actions()).toEqual(['owner.signed_in', 'owner.sign_in_failed', 'owner.set_up'])
})

test('neither token nor password is in the file', async () => {
  const token = await link()
  const given = await app.post('/api/v1/setup', { token, password: PASSWORD }, SAME_SITE)
  const everything = ['owner', 'sessions', 'audit_log'].map((table) =>
    JSON.stringify(app.windfall.store.prepare(`select * from ${table}`).all()),
  )
  expect(everything.join()).toContain('$argon2id$v=19$m=65536,t=3,p=1$')
  for (const secret of [token, PASSWORD, cookieOf(given).slice('windfall='.length)])
    expect(everything.join()).not.toContain(secret)
})

test.each([
  ['short', 'elevenchars', 'must have at least 12 characters'],
  ['common', 'unbelievable', 'must not be a common password'],
  ['common in other letters', 'Q1W2E3R4T5Y6', 'must not be a common password'],
  ['repeated', 'abcabcabcabcab', 'must not be a repetition or a sequence'],
  ['all the same', 'zzzzzzzzzzzzz', 'must not be a repetition or a sequence'],
  ['a sequence', '1234567890123', 'must not be a repetition or a sequence'],
  ['backwards', 'nmlkjihgfedcba', 'must not be a repetition or a sequence'],
  ['ours', 'Windfall-2026!!', 'must not consist only of words like windfall, admin or password'],
  ['two words', 'correcthorse', 'must not be two common words or passwords with digits around them'],
  [
    'two words with signs',
    'Correct-Horse_1999!',
    'must not be two common words or passwords with digits around them',
  ],
  [
    'a word with digits',
    'basketball2024',
    'must not be two common words or passwords with digits around them',
  ],
  ['two passwords', 'iloveyoumonkey', 'must not be two common words or passwords with digits around them'],
  ['ours twice', 'windfall-admin-1', 'must not consist only of words like windfall, admin or password'],
])('a weak password (%s) is refused, and the link stays', async (_, password, message) => {
  const token = await link()
  const given = await app.post('/api/v1/setup', { token, password }, SAME_SITE)
  expect(given).toMatchObject({
    status: 400,
    body: { code: 'weak_password', errors: [{ path: 'password', message }] },
  })
  expect(app.windfall.owner.isValidLink('setup', token)).toBe(true)
  expect(app.windfall.owner.password()).toBe(null)
})

test.each([
  ['spaces', 'a b c d e f g'],
  ['other alphabets', 'длинныйпарольда'],
  ['few, but pictures', '🦊🐢🦉🐝🦋🐌🐞🦗🕷️🦂🐍🦎🐙'],
  ['quotes and control characters', '"\\\u0007<script>&\n\t'],
  ['with one of our words', 'windfall of the old orchard'],
  ['as long as may be', Array.from({ length: 100 }, (_, n) => `${n}ä`.padStart(3, 'x')).join('')],
])('any characters are good (%s)', async (_, password) => {
  const token = await link()
  const given = await app.post('/api/v1/setup', { token, password }, SAME_SITE)
  expect(given.body).toMatchObject({ state: 'owner' })
  expect((await login({ password })).status).toBe(200)
  expect((await login({ password: `${password}.` })).status).toBe(401)
})

test('the same characters are the same password however they were composed', async () => {
  await app.post(
    '/api/v1/setup',
    { token: await link(), password: 'Gr\u00fc\u00dfe vom Obstgarten' },
    SAME_SITE,
  )
  expect((await login({ password: 'Gru\u0308\u00dfe vom Obstgarten' })).status).toBe(200)
})

test.each([
  ['nothing', {}],
  ['no object', 'x'],
  ['an empty password', { password: '' }],
  ['a number', { password: 123456789012 }],
  ['over 512 bytes', { password: 'ä'.repeat(257) }],
  ['both', { password: PASSWORD, token: 'x' }],
  ['a token too long', { token: 'x'.repeat(201) }],
])('a sign-in with %s is refused before anything is hashed', async (_, body) => {
  await withPassword()
  expect(await login(body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(actions()).toEqual([])
})

test('a sign-in has to be JSON, and of a size', async () => {
  const headers = { ...SAME_SITE, 'content-type': 'text/plain' }
  const plain = await app.request('/api/v1/login', { method: 'POST', headers, body: '{}' })
  expect(plain.status).toBe(415)
  expect((await login({ password: 'x'.repeat(9_000) })).status).toBe(413)
})

test.each([
  ['a wrong one', 'x'.repeat(43)],
  ['one of another kind', null],
])('a setup link that is %s is refused', async (_, wrong) => {
  const token = wrong ?? (await link('sign_in'))
  if (wrong !== null) await link()
  const given = await app.post('/api/v1/setup', { token, password: PASSWORD }, SAME_SITE)
  expect(given).toMatchObject({ status: 401, body: { code: 'invalid_link' } })
})

test('a link expires after thirty minutes, and when a new one is created', async () => {
  const first = await link()
  const second = await link()
  const use = (token: string) => app.post('/api/v1/setup', { token, password: PASSWORD }, SAME_SITE)
  expect((await use(first)).status).toBe(401)
  app.clock.turn(30 * MINUTE)
  expect((await use(second)).status).toBe(401)
  const third = await link()
  app.clock.turn(30 * MINUTE - 1)
  expect((await use(third)).status).toBe(200)
})

test('only one of two concurrent uses of the link succeeds', async () => {
  const token = await link()
  const use = () => app.post('/api/v1/setup', { token, password: PASSWORD }, SAME_SITE)
  const both = await Promise.all([use(), use()])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
})

test('a link that signs in does so once, without a password', async () => {
  await withPassword()
  const token = await link('sign_in')
  const given = await login({ token })
  expect(given.body).toMatchObject({ state: 'owner' })
  expect(await session(cookieOf(given))).toMatchObject({ state: 'owner' })
  expect(await login({ token })).toMatchObject({ status: 401, body: { code: 'invalid_link' } })
  expect((await login()).status).toBe(200)
})

test('a wrong password is refused, audited, and logged in one stable line', async () => {
  const logged: string[] = []
  app = await openTestApp({ logged })
  await withPassword()
  const given = await login({ password: 'wrong, but long' }, { 'x-forwarded-for': '203.0.113.9' })
  expect(given).toMatchObject({ status: 401, body: { code: 'wrong_password' } })
  expect(given.headers.getSetCookie()).toEqual([])
  app.windfall.log.flush()
  expect(logged.join('')).toContain('"message":"auth.failure","ip":"203.0.113.9","account":"owner"')
  await vi.waitFor(() =>
    expect(app.windfall.audit.list(null, 9)).toMatchObject([
      {
        actor: 'anonymous',
        address: '203.0.113.9',
        action: 'owner.sign_in_failed',
        detail: 'wrong password',
      },
    ]),
  )
})

test('an address has ten attempts and one more each minute; others are not held back, nor the owner locked out', async () => {
  await withPassword()
  const from = (address: string, password = 'wrong, but long') =>
    login({ password }, { 'x-forwarded-for': address })
  for (let n = 0; n < 10; n += 1) expect((await from('203.0.113.9')).status).toBe(401)
  const refused = await from('203.0.113.9', PASSWORD)
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(refused.headers.get('retry-after')).toBe('60')
  expect((await from('203.0.113.10', PASSWORD)).status).toBe(200)
  app.clock.turn(MINUTE)
  expect((await from('203.0.113.9', PASSWORD)).status).toBe(200)
})

describe('a browser in which the owner signed in before', () => {
  const browserOf = ({ headers }: Given) => headers.getSetCookie()[1]?.split(';')[0] ?? ''
  const STRANGER = '203.0.113.9'
  /** The status of the right password from an address that has no attempts left. */
  async function statusWith(cookie: string): Promise<number> {
    const wrong = () => login({ password: 'wrong, but long' }, { 'x-forwarded-for': STRANGER })
    while ((await wrong()).status !== 429);
    return (await login(undefined, { cookie, 'x-forwarded-for': STRANGER })).status
  }

  test('has attempts of its own', async () => {
    await withPassword()
    expect(await statusWith('')).toBe(429)
    const cookie = browserOf(await login())
    expect(await statusWith(cookie)).toBe(200)
    const [id] = cookie.split('.')
    expect(await statusWith(`${id}.${app.clock() + DAY}.${'x'.repeat(43)}`)).toBe(429)
    expect(browserOf(await login(undefined, { cookie })).split('.')[0]).toBe(id)
  })

  test('is forgotten after 400 days, a change of the password or a reset', async () => {
    await withPassword()
    const first = browserOf(await login())
    app.clock.turn(400 * DAY)
    expect(await statusWith(first)).toBe(429)
    const second = browserOf(await login())
    const owner = await app.signIn()
    const change = { current_password: PASSWORD, password: 'another good phrase' }
    const changed = await app.post('/api/v1/password', change, owner)
    expect(await statusWith(second)).toBe(429)
    await withPassword()
    expect(await statusWith(browserOf(changed))).toBe(200)
    await app.windfall.store.commit(() => app.windfall.owner.reset())
    await withPassword()
    expect(await statusWith(browserOf(changed))).toBe(429)
  })

  test('is not a browser of a guest', async () => {
    await withPassword()
    const { cookie } = await app.signIn()
    const made = await app.post(
      '/api/v1/share-links',
      { label: 'For the bank', basis: 'gross' },
      { ...SAME_SITE, cookie },
    )
    const token = String(made.body.url).split('#')[1]
    const opened = await app.post('/api/v1/share/open', { token }, SAME_SITE)
    expect(opened.status).toBe(200)
    expect(opened.headers.getSetCookie()).toHaveLength(1)
  })
})

test('counts an IPv6 /64 as one address', async () => {
  await withPassword()
  const from = (address: string) => login({ password: 'wrong, but long' }, { 'x-forwarded-for': address })
  for (let n = 0; n < 10; n += 1) await from(`2001:db8:0:1::${n + 1}`)
  expect((await from('2001:db8:0:1:ffff::1')).status).toBe(429)
  expect((await from('2001:db8:0:2::1')).status).toBe(401)
})

test('sign-ins that succeed are not counted', async () => {
  await withPassword()
  for (let n = 0; n < 12; n += 1) expect((await login()).status).toBe(200)
})

test('a session expires after fourteen days without use, and after ninety in any case', async () => {
  let cookie = (await app.signIn()).cookie
  app.clock.turn(14 * DAY - 1)
  expect(await session(cookie)).toMatchObject({ state: 'owner' })
  app.clock.turn(1)
  expect(await session(cookie)).toMatchObject({ state: 'setup' })
  cookie = (await app.signIn()).cookie
  const read = () => app.request('/api/v1/apps', { headers: { cookie } })
  for (let day = 0; day < 90; day += 10) {
    expect((await read()).status).toBe(200)
    // That it was used is written down behind the answer's back.
    await app.windfall.store.commit(() => {})
    app.clock.turn(10 * DAY)
  }
  expect(((await (await read()).json()) as { code: string }).code).toBe('sign_in_required')
})

test('how long a session lasts is configured', async () => {
  app = await openTestApp({ env: { WINDFALL_SIGN_IN_IDLE_DAYS: '1', WINDFALL_SIGN_IN_LONGEST_DAYS: '2' } })
  const { cookie } = await app.signIn()
  app.clock.turn(DAY)
  expect(await session(cookie)).toMatchObject({ state: 'setup' })
})

test('confirming the password makes the session fresh for fifteen minutes, with a new token', async () => {
  await withPassword()
  const headers = await app.signIn()
  expect(await session(headers.cookie)).toMatchObject({ fresh: true, fresh_until: app.clock() + 15 * MINUTE })
  app.clock.turn(15 * MINUTE)
  expect(await session(headers.cookie)).toMatchObject({ state: 'owner', fresh: false, fresh_until: null })
  const wrong = await app.post('/api/v1/reauth', { password: 'wrong, but long' }, headers)
  expect(wrong).toMatchObject({ status: 401, body: { code: 'wrong_password' } })
  expect(await session(headers.cookie)).toMatchObject({ state: 'owner', fresh: false })
  const right = await app.post('/api/v1/reauth', { password: PASSWORD }, headers)
  expect(right.body).toMatchObject({ state: 'owner', fresh: true })
  expect(await session(cookieOf(right))).toMatchObject({ state: 'owner', fresh: true })
  expect(await session(headers.cookie)).toMatchObject({ state: 'signed_out' })
})

test('changing the password requires the current one, also right after signing in, and ends all other sessions', async () => {
  await withPassword()
  const other = await app.signIn()
  const headers = { ...SAME_SITE, cookie: cookieOf(await login()) }
  const next = { password: 'another good phrase' }
  const change = (body: object) => app.post('/api/v1/password', body, headers)
  const missing = await change(next)
  expect(missing).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(missing.body.detail).toBe('current_password: is required')
  const wrong = await change({ ...next, current_password: 'a wrong phrase' })
  expect(wrong).toMatchObject({ status: 401, body: { code: 'wrong_password' } })
  const weak = await change({ password: 'short', current_password: PASSWORD })
  expect(weak).toMatchObject({ status: 400, body: { code: 'weak_password' } })
  expect(app.windfall.owner.password()).toBe(PHC)
  app.clock.turn(15 * MINUTE)
  const changed = await change({ ...next, current_password: PASSWORD })
  expect(changed.body).toMatchObject({ state: 'owner' })
  expect(actions()).toEqual(['owner.password_changed', 'owner.sign_in_failed', 'owner.signed_in'])
  expect(await session(cookieOf(changed))).toMatchObject({ state: 'owner' })
  for (const cookie of [headers.cookie, other.cookie])
    expect(await session(cookie)).toMatchObject({ state: 'signed_out' })
  expect((await login()).status).toBe(401)
  expect((await login(next)).status).toBe(200)
})

test('signing out ends the session, and succeeds without one', async () => {
  const headers = await app.signIn()
  const out = await app.request('/api/v1/logout', { method: 'POST', headers })
  expect(out.status).toBe(200)
  expect(out.headers.getSetCookie()[0]).toMatch(/^windfall=; Path=\/; Max-Age=0;/)
  expect(await session(headers.cookie)).toMatchObject({ state: 'setup' })
  expect((await app.request('/api/v1/logout', { method: 'POST', headers })).status).toBe(200)
})

test('a hash with outdated cost is replaced at the next sign-in', async () => {
  const { argon2Sync } = await import('node:crypto')
  const nonce = Buffer.alloc(16, 7)
  const cheap = { message: PASSWORD, nonce, memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  const old = `$argon2id$v=19$m=19456,t=2,p=1$${text(nonce)}$${text(argon2Sync('argon2id', cheap))}`
  await withPassword(app, old)
  expect((await login({ password: 'wrong, but long' })).status).toBe(401)
  expect(app.windfall.owner.password()).toBe(old)
  expect((await login()).status).toBe(200)
  expect(app.windfall.owner.password()).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$/)
  expect((await login()).status).toBe(200)
})

test.each([
  '',
  'plain',
  '$argon2id$v=19$m=9999999,t=3,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$2b$12$x',
])('a malformed password hash (%j) signs no one in', async (phc) => {
  await withPassword(app, phc)
  expect((await login()).status).toBe(401)
})

test.each([
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ 'sec-fetch-site': 'none' }, 200],
  [{ 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1:8787' }, 403],
  [{ origin: 'http://127.0.0.1:8787' }, 200],
  [{ origin: 'http://localhost' }, 200],
  [{ origin: 'http://127.0.0.1:9999' }, 403],
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{}, 403],
])('a page may do something in the owner’s name only if it is ours: %j', async (site, status) => {
  const { cookie } = await app.signIn()
  const init = { method: 'DELETE', headers: { cookie, ...site } as Record<string, string> }
  const answer = await app.request('/api/v1/sessions', init)
  expect(answer.status).toBe(status)
  if (status === 403) expect(((await answer.json()) as { code: string }).code).toBe('cross_site')
})

test('refuses sign-in from another site, and allows it from a program', async () => {
  await withPassword()
  const body = { password: PASSWORD }
  const foreign = { origin: 'https://evil.example' }
  expect(await app.post('/api/v1/login', body, foreign)).toMatchObject({
    status: 403,
    body: { code: 'cross_site' },
  })
  expect((await app.post('/api/v1/login', body)).status).toBe(200)
})

test('over HTTPS, the cookie is Secure', async () => {
  app = await openTestApp({ env: { WINDFALL_BASE_URL: 'https://windfall.example' } })
  await withPassword()
  const given = await login()
  expect(given.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-windfall=[\w-]{43}; Path=\/; Max-Age=7776000; Secure; HttpOnly; SameSite=Lax$/,
    ),
    expect.stringMatching(/^__Host-windfall-browser=b_\S+; Path=\/; Max-Age=34560000; Secure; HttpOnly; /),
  ])
  expect(await session(cookieOf(given))).toMatchObject({ state: 'owner', insecure: false })
  const token = cookieOf(given).split('=')[1]
  expect(await session(`windfall=${token}`)).toMatchObject({ state: 'signed_out' })
})

const FAR = { WINDFALL_BASE_URL: 'http://192.0.2.7:8787' }
const NEAR_AND_FAR = { WINDFALL_SERVER_HOSTS: '["192.0.2.7"]' }
test.each([
  [FAR, '192.0.2.7:8787'],
  [FAR, '127.0.0.1:8787'],
  [NEAR_AND_FAR, '192.0.2.7:8787'],
])('refuses sign-in over plain HTTP from another machine (%j, %s)', async (env, host) => {
  app = await openTestApp({ env })
  await withPassword()
  const refused = await login(undefined, { host })
  expect(refused).toMatchObject({ status: 403, body: { code: 'insecure_transport' } })
  expect(refused.body.detail).toContain('insecure_http = true')
  const setup = await app.post('/api/v1/setup', { token: await link(), password: PASSWORD }, { host })
  expect(setup.status).toBe(403)
  const { cookie } = await app.signIn()
  const state = await app.request('/api/v1/session', { headers: { host, cookie } })
  expect(await state.json()).toMatchObject({ state: 'signed_out', insecure: false })
})

test('allows sign-in over plain HTTP if configured, with a warning', async () => {
  app = await openTestApp({ env: { ...FAR, WINDFALL_SERVER_INSECURE_HTTP: 'true' } })
  await withPassword()
  const host = '192.0.2.7:8787'
  const given = await login(undefined, { host })
  expect(given.body).toMatchObject({ state: 'owner', insecure: true })
  expect(given.headers.getSetCookie()[0]).toMatch(
    /^windfall=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
  )
  const state = await app.request('/api/v1/session', { headers: { host, cookie: cookieOf(given) } })
  expect(await state.json()).toMatchObject({ state: 'owner', insecure: true })
})

test.each(['/api/v1/password', '/api/v1/reauth'])(
  'a session that ends while %s is running changes nothing',
  async (path) => {
    await withPassword()
    const stolen = await app.signIn()
    const own = await app.signIn()
    const change = { current_password: PASSWORD, password: 'another good phrase' }
    const answer = await duringHash(
      () => app.post(path, path.endsWith('reauth') ? { password: PASSWORD } : change, stolen),
      async () => {
        const ended = await app.request('/api/v1/sessions', { method: 'DELETE', headers: own })
        expect(await ended.json()).toEqual({ ended: 1 })
      },
    )
    expect(answer).toMatchObject({ status: 401, body: { code: 'sign_in_required' } })
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(app.windfall.owner.password()).toBe(PHC)
    expect(actions()).toEqual(['sessions.ended'])
    expect(await session(own.cookie)).toMatchObject({ state: 'owner' })
  },
)

test('a reset during a password change wins: the new link works, the old session changes nothing', async () => {
  await withPassword()
  const stolen = await app.signIn()
  const change = { current_password: PASSWORD, password: 'another good phrase' }
  const { owner, sessions, store } = app.windfall
  const links: string[] = []
  const reset = () =>
    store.commit(() => {
      sessions.endAll()
      links.push(owner.reset().token)
    })
  const answer = await duringHash(() => app.post('/api/v1/password', change, stolen), reset)
  expect(answer.status).toBe(401)
  expect(owner.password()).toBe(null)
  expect(links.map((token) => owner.isValidLink('setup', token))).toEqual([true])
})

test('a password that is replaced during its check does not sign in', async () => {
  await withPassword()
  const other = await hashPassword('another good phrase')
  const answer = await duringHash(login, () => withPassword(app, other))
  expect(answer).toMatchObject({ status: 401, body: { code: 'wrong_password' } })
  expect(answer.headers.getSetCookie()).toEqual([])
  expect(app.windfall.sessions.list()).toEqual([])
})

test('signing in again replaces the session of that browser', async () => {
  await withPassword()
  const first = cookieOf(await login())
  const second = cookieOf(await login(undefined, { cookie: first }))
  expect(await session(first)).toMatchObject({ state: 'signed_out' })
  expect(await session(second)).toMatchObject({ state: 'owner' })
  expect(app.windfall.sessions.list()).toHaveLength(1)
})
