import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { H3Event } from 'h3'
import { describe, expect, test, vi } from 'vitest'
import { hashPassword } from '../../src/access/passwords.ts'
import { openCodeStep } from '../../src/access/second_factor/code_step.ts'
import { stepOf } from '../../src/access/second_factor/totp.ts'
import { openTestApp, rowsOf, type TestApp, type TestOptions } from '../helpers.ts'
import { codeAt } from './authenticator.ts'
import { duringHash } from './held_hash.ts'

const PASSWORD = 'correct horse battery'
const PHC = await hashPassword(PASSWORD)
const STEP = 30_000
const MINUTE = 60_000
const SAME_SITE = { 'sec-fetch-site': 'same-origin' }

type Headers = Record<string, string>

/** A Windfall whose owner has a password. */
async function openOwned(options: TestOptions = {}) {
  const app = await openTestApp(options)
  await app.windfall.store.commit(() => app.windfall.owner.setPassword(PHC))
  const login = (fields: object = {}, headers: Headers = {}) =>
    app.post('/api/v1/login', { password: PASSWORD, ...fields }, { ...SAME_SITE, ...headers })
  const actions = () => app.windfall.audit.list(null, 100).map(({ action, detail }) => [action, detail])
  const turnOff = (headers: Headers) => app.request('/api/v1/second-factor', { method: 'DELETE', headers })
  return { app, login, actions, turnOff }
}

/** The same with an authenticator app. `code` returns what the app shows after some steps. */
async function openSecured(options: TestOptions = {}) {
  const owned = await openOwned(options)
  const { app } = owned
  const headers = await app.signIn()
  const { secret, recovery_codes } = await setUp(app, headers)
  // The step of the setup is used.
  app.clock.turn(2 * STEP)
  const code = (steps = 0) => codeAt(secret, app.clock() + steps * STEP)
  return { ...owned, headers, secret, recovery_codes, code }
}

async function setUp(app: TestApp, headers: Headers) {
  const { body } = await app.post('/api/v1/second-factor/setup', {}, headers)
  const secret = String(body.secret)
  const code = codeAt(secret, app.clock())
  const on = await app.post('/api/v1/second-factor', { code }, headers)
  expect(on.status).toBe(200)
  return { secret, uri: body.uri, code, recovery_codes: on.body.recovery_codes as string[] }
}

const status = async (app: TestApp, headers: Headers) =>
  (await app.request('/api/v1/second-factor', { headers })).json()

test('codes follow the test vectors of RFC 6238', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  const vectors: [number, string][] = [
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ]
  for (const [seconds, code] of vectors) {
    expect(stepOf(secret, code, seconds * 1_000)).toBe(Math.floor(seconds / 30))
    expect(codeAt(secret, seconds * 1_000)).toBe(code)
  }
})

test('an app is set up with its first code, and the password alone no longer signs in', async () => {
  const { app, login, actions } = await openOwned()
  const other = await app.signIn()
  const headers = await app.signIn()
  expect(await status(app, headers)).toEqual({ since: null, recovery_codes_left: 0 })
  const { secret, uri, recovery_codes } = await setUp(app, headers)
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(uri).toBe(
    `otpauth://totp/Windfall:127.0.0.1%3A8787?issuer=Windfall&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
  )
  expect(recovery_codes).toHaveLength(10)
  expect(new Set(recovery_codes).size).toBe(10)
  for (const one of recovery_codes) expect(one).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/)
  expect(await status(app, headers)).toEqual({ since: app.clock(), recovery_codes_left: 10 })
  expect((await app.request('/api/v1/apps', { headers: other })).status).toBe(401)
  const refused = await login()
  expect(refused).toMatchObject({ status: 401, body: { code: 'code_required' } })
  expect(refused.headers.getSetCookie()).toEqual([])
  expect(actions()).toEqual([['second_factor.turned_on', null]])
})

test('neither the secret nor a code is in the file', async () => {
  const { app, secret, recovery_codes } = await openSecured()
  const tables = ['authenticator', 'recovery_codes', 'audit_log', 'settings']
  const everything = tables.flatMap((table) => rowsOf(app.windfall.store, table)).join()
  expect(everything).toContain('"sealed":"v1.')
  for (const text of [secret, ...recovery_codes, ...recovery_codes.map((one) => one.replaceAll('-', ''))])
    expect(everything).not.toContain(text)
})

test.each([
  ['the current', 0, 200],
  ['the previous', -1, 200],
  ['the next', 1, 200],
  ['an older', -2, 401],
  ['a later', 2, 401],
])('%s code signs in or not (step %i: %i)', async (_, steps, expected) => {
  const { app, login, code, actions } = await openSecured()
  app.clock.turn(2 * STEP)
  expect((await login({ code: code(steps) })).status).toBe(expected)
  await app.windfall.store.commit(() => {})
  expect(actions()[0]).toEqual(
    expected === 200 ? ['owner.signed_in', 'with a code'] : ['owner.sign_in_failed', 'wrong code'],
  )
})

test('a time step is accepted once, and no older one after it', async () => {
  const { app, login, code } = await openSecured()
  expect((await login({ code: code() })).status).toBe(200)
  expect(await login({ code: code() })).toMatchObject({ status: 401, body: { code: 'wrong_code' } })
  expect((await login({ code: code(-1) })).status).toBe(401)
  expect((await login({ code: code(1) })).status).toBe(200)
  app.clock.turn(STEP)
  expect((await login({ code: code() })).status).toBe(401)
  app.clock.turn(STEP)
  expect((await login({ code: code() })).status).toBe(200)
})

test('the code of the setup does not sign in as well', async () => {
  const { app, login } = await openOwned()
  const { code } = await setUp(app, await app.signIn())
  expect((await login({ code })).status).toBe(401)
})

test('of parallel sign-ins with one code, one succeeds, however they interleave', async () => {
  const { app, login, code } = await openSecured()
  for (let delay = 0; delay < 4; delay += 1) {
    app.clock.turn(2 * STEP)
    const both = [login({ code: code() })]
    // Each step of the first one is a gap in which the second one may begin.
    for (let turn = 0; turn < delay; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    both.push(login({ code: code() }))
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 401])
  }
})

test('a code that was checked does not count once another request used its step', async () => {
  const { app, code } = await openSecured()
  const { secondFactor, store } = app.windfall
  const [first, second] = await Promise.all([secondFactor.check(code()), secondFactor.check(code())])
  expect([first?.kind, second?.kind]).toEqual(['code', 'code'])
  expect(await store.commit(() => first?.use())).toBe(true)
  expect(await store.commit(() => second?.use())).toBe(false)
})

test('a code that was checked does not count once the app was removed or replaced', async () => {
  const { app, code, headers, turnOff } = await openSecured()
  const { secondFactor, store } = app.windfall
  // The next step, which is later than that of the new setup.
  const checked = await secondFactor.check(code(1))
  expect((await turnOff(headers)).status).toBe(204)
  expect(await store.commit(() => checked?.use())).toBe(false)
  await setUp(app, headers)
  expect(await store.commit(() => checked?.use())).toBe(false)
})

test('a sign-in whose password is right when the app is set up needs a code', async () => {
  const { app } = await openOwned()
  const { attempts, secondFactor, store } = app.windfall
  const codeStep = openCodeStep({ attempts, secondFactor })
  const right = await codeStep.requireCode({} as H3Event, undefined)
  expect(right).toBeNull()
  await setUp(app, await app.signIn())
  await expect(store.commit(() => codeStep.useCode(right))).rejects.toMatchObject({ code: 'code_required' })
})

const sessionOf = async ({ windfall }: TestApp) => windfall.sessions.list()[0]

test.each([
  ['as shown', (code: string) => code],
  ['in capitals', (code: string) => code.toUpperCase()],
  ['without hyphens', (code: string) => code.replaceAll('-', '')],
  ['with spaces', (code: string) => ` ${code.replaceAll('-', ' ')} `],
  ['with letters for digits', (code: string) => code.replaceAll('0', 'O').replaceAll('1', 'l')],
])('a recovery code signs in once, %s', async (_, written) => {
  const { login, recovery_codes, actions, app, headers } = await openSecured()
  const [first = ''] = recovery_codes
  expect((await login({ code: written(first) })).status).toBe(200)
  expect(actions()[0]).toEqual(['owner.signed_in', 'with a recovery code'])
  expect(await status(app, headers)).toMatchObject({ recovery_codes_left: 9 })
  expect(await login({ code: first })).toMatchObject({ status: 401, body: { code: 'wrong_code' } })
})

test('of parallel sign-ins with one recovery code, one succeeds', async () => {
  const { login, recovery_codes } = await openSecured()
  const both = recovery_codes.slice(0, 1).flatMap((code) => [login({ code }), login({ code })])
  expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 401])
})

test('new recovery codes replace the old ones and end other sessions', async () => {
  const { app, login, recovery_codes, headers, actions } = await openSecured()
  const other = await app.signIn()
  const made = await app.post('/api/v1/second-factor/recovery-codes', {}, headers)
  const [fresh = ''] = made.body.recovery_codes as string[]
  expect((await app.request('/api/v1/apps', { headers: other })).status).toBe(401)
  expect((await login({ code: recovery_codes[0] })).status).toBe(401)
  expect((await login({ code: fresh })).status).toBe(200)
  expect(actions().map(([action]) => action)).toContain('recovery_codes.made')
})

test('without the app, the password alone signs in again, and the codes are gone', async () => {
  const { app, login, headers, turnOff, actions } = await openSecured()
  const other = await app.signIn()
  expect((await turnOff(headers)).status).toBe(204)
  expect((await app.request('/api/v1/apps', { headers: other })).status).toBe(401)
  expect(actions()[0]).toEqual(['second_factor.turned_off', null])
  expect((await login()).status).toBe(200)
  expect(rowsOf(app.windfall.store, 'recovery_codes')).toEqual([])
  expect(await (await turnOff(headers)).json()).toMatchObject({ status: 404, code: 'second_factor_off' })
  const codes = await app.post('/api/v1/second-factor/recovery-codes', {}, headers)
  expect(codes).toMatchObject({ status: 404, body: { code: 'second_factor_off' } })
})

test('a code is not asked for, and not looked at, while no app is set up', async () => {
  const { login } = await openOwned()
  expect((await login({ code: '123456' })).status).toBe(200)
})

test.each([
  ['an empty one', ''],
  ['a number', 123456],
  ['one over 100 characters', 'x'.repeat(101)],
])('a sign-in with %s as code is refused before anything is hashed', async (_, code) => {
  const { login, actions } = await openSecured()
  expect(await login({ code })).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(actions()).toEqual([['second_factor.turned_on', null]])
})

test.each(['000 00', '12345', '1234567', 'zzzz-zzzz-zzzz-zzzz', '𝟭𝟮𝟯𝟰𝟱𝟲', "' or 1=1"])(
  'a sign-in with the code %j is refused',
  async (code) => {
    const { login } = await openSecured()
    expect(await login({ code })).toMatchObject({ status: 401, body: { code: 'wrong_code' } })
  },
)

test('a code signs nobody in without the right password, and is not used up', async () => {
  const { login, code } = await openSecured()
  const wrong = await login({ password: 'wrong, but long', code: code() })
  expect(wrong).toMatchObject({ status: 401, body: { code: 'wrong_password' } })
  expect((await login({ code: code() })).status).toBe(200)
})

test('an address has ten wrong codes, as it has ten wrong passwords', async () => {
  const logged: string[] = []
  const { app, login, code } = await openSecured({ logged })
  const from = (address: string, fields: object) => login(fields, { 'x-forwarded-for': address })
  for (let n = 0; n < 10; n += 1) expect((await from('203.0.113.9', { code: '000000' })).status).toBe(401)
  expect((await from('203.0.113.9', { code: code() })).status).toBe(429)
  expect((await from('203.0.113.10', { code: code() })).status).toBe(200)
  app.windfall.log.flush()
  expect(logged.join('')).toContain(
    '"message":"auth.failure","ip":"203.0.113.9","account":"second factor","why":"wrong code"',
  )
})

test('twenty wrong codes from anywhere stop further ones for three minutes, but no recovery code', async () => {
  const { app, login, code, recovery_codes } = await openSecured()
  const guess = (n: number, fields: object) => login(fields, { 'x-forwarded-for': `203.0.113.${n}` })
  expect((await guess(1, { code: '000000' })).status).toBe(401)
  // A test need not compute a hash for each.
  for (let n = 1; n < 20; n += 1) expect(await app.windfall.secondFactor.check('000000')).toBeNull()
  const stopped = await guess(21, { code: code() })
  expect(stopped).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(stopped.body.detail).toContain('use a recovery code or a passkey')
  expect(stopped.headers.get('retry-after')).toBe('180')
  expect((await guess(22, { code: recovery_codes[0] })).status).toBe(200)
  app.clock.turn(3 * MINUTE)
  expect((await guess(23, { code: code() })).status).toBe(200)
})

test('right codes are not counted as guesses', async () => {
  const { app, code } = await openSecured()
  for (let n = 0; n < 25; n += 1)
    expect(await app.windfall.secondFactor.check(code())).toMatchObject({ kind: 'code' })
})

test('every change of the second factor requires a recent password', async () => {
  const { app, headers, turnOff, secret } = await openSecured()
  const before = rowsOf(app.windfall.store, 'authenticator')
  app.clock.turn(15 * MINUTE)
  const code = codeAt(secret, app.clock())
  const refused = { status: 403, body: { code: 'reauthentication_required' } }
  for (const path of ['setup', 'recovery-codes'])
    expect(await app.post(`/api/v1/second-factor/${path}`, {}, headers)).toMatchObject(refused)
  expect(await app.post('/api/v1/second-factor', { code }, headers)).toMatchObject(refused)
  expect((await turnOff(headers)).status).toBe(403)
  expect(rowsOf(app.windfall.store, 'authenticator')).toEqual(before)
})

describe('where an app is set up', () => {
  const NEW = 'another good phrase'
  const requests = {
    '/api/v1/reauth': { password: PASSWORD },
    '/api/v1/password': { current_password: PASSWORD, password: NEW },
  } as const
  const paths = ['/api/v1/reauth', '/api/v1/password'] as const

  test.each(paths)('%s needs a code, which counts once', async (path) => {
    const { app, headers, code, turnOff } = await openSecured()
    app.clock.turn(16 * MINUTE)
    const send = (more: object = {}) => app.post(path, { ...requests[path], ...more }, headers)
    expect(await send()).toMatchObject({ status: 401, body: { code: 'code_required' } })
    expect(await send({ code: '000000' })).toMatchObject({ status: 401, body: { code: 'wrong_code' } })
    expect((await turnOff(headers)).status).toBe(403)
    expect((await app.windfall.owner.password()) === PHC).toBe(true)
    const used = code()
    const done = await send({ code: used })
    expect(done.status).toBe(200)
    const cookie = done.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const again = await app.post(
      '/api/v1/reauth',
      { password: PASSWORD, code: used },
      { ...SAME_SITE, cookie },
    )
    expect(again.status).toBe(401)
    expect((await turnOff({ ...SAME_SITE, cookie })).status).toBe(204)
  })

  test.each(paths)('a recovery code does as well for %s', async (path) => {
    const { app, headers, recovery_codes } = await openSecured()
    const answer = await app.post(path, { ...requests[path], code: recovery_codes[0] }, headers)
    expect(answer.status).toBe(200)
    expect(await status(app, { ...SAME_SITE, cookie: answer.headers.getSetCookie()[0] ?? '' })).toMatchObject(
      { recovery_codes_left: 9 },
    )
  })

  test('a code of an app that is set up during the check is needed, too', async () => {
    const { app } = await openOwned()
    const headers = await app.signIn()
    const answer = await duringHash(
      () => app.post('/api/v1/password', requests['/api/v1/password'], headers),
      async () => {
        const { secret } = await setUp(app, headers)
        expect(secret).not.toBe('')
      },
    )
    expect(answer).toMatchObject({ status: 401, body: { code: 'code_required' } })
    expect(app.windfall.owner.password()).toBe(PHC)
  })
})

test.each(['12345', '1234567', 'abcdef', '', null, 123456])(
  'a setup is refused with the code %j',
  async (code) => {
    const { app } = await openOwned()
    const headers = await app.signIn()
    await app.post('/api/v1/second-factor/setup', {}, headers)
    const answer = await app.post('/api/v1/second-factor', { code }, headers)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  },
)

test('a wrong first code sets nothing up, and the right one then does', async () => {
  const { app, login } = await openOwned()
  const headers = await app.signIn()
  const { body } = await app.post('/api/v1/second-factor/setup', {}, headers)
  const right = codeAt(String(body.secret), app.clock())
  const wrong = right === '000000' ? '111111' : '000000'
  const refused = await app.post('/api/v1/second-factor', { code: wrong }, headers)
  expect(refused).toMatchObject({ status: 400, body: { code: 'wrong_code' } })
  expect(refused.body.detail).toContain('clocks')
  expect(await status(app, headers)).toEqual({ since: null, recovery_codes_left: 0 })
  expect((await login()).status).toBe(200)
  const spaced = `${right.slice(0, 3)} ${right.slice(3)}`
  expect((await app.post('/api/v1/second-factor', { code: spaced }, headers)).status).toBe(200)
})

test('a setup counts in the browser that began it, for fifteen minutes, and once', async () => {
  const { app } = await openOwned({ env: { WINDFALL_SIGN_IN_IDLE_DAYS: '1' } })
  const headers = await app.signIn()
  const other = await app.signIn()
  const expired = { status: 409, body: { code: 'setup_expired' } }
  const enter = (secret: unknown, from = headers) =>
    app.post('/api/v1/second-factor', { code: codeAt(String(secret), app.clock()) }, from)
  expect(await enter('GEZDGNBVGY3TQOJQ')).toMatchObject(expired)
  const first = await app.post('/api/v1/second-factor/setup', {}, headers)
  expect(await enter(first.body.secret, other)).toMatchObject(expired)
  app.clock.turn(15 * MINUTE)
  const later = await app.signIn()
  expect(await enter(first.body.secret, later)).toMatchObject(expired)
  const second = await app.post('/api/v1/second-factor/setup', {}, later)
  const both = await Promise.all([enter(second.body.secret, later), enter(second.body.secret, later)])
  expect(both.map((answer) => [answer.status, answer.body.code]).sort()).toEqual([
    [200, undefined],
    [409, 'second_factor_on'],
  ])
  expect(await enter(second.body.secret, later)).toMatchObject({ body: { code: 'second_factor_on' } })
  const again = await app.post('/api/v1/second-factor/setup', {}, later)
  expect(again).toMatchObject({ status: 409, body: { code: 'second_factor_on' } })
})

test('a setup that restarts while the first code is checked replaces it', async () => {
  const { app } = await openOwned()
  const headers = await app.signIn()
  const { secondFactor, store } = app.windfall
  const { body } = await app.post('/api/v1/second-factor/setup', {}, headers)
  const session = (await sessionOf(app)) ?? expect.fail()
  const turnOn = await secondFactor.checkSetup(session, codeAt(String(body.secret), app.clock()))
  await app.post('/api/v1/second-factor/setup', {}, headers)
  await expect(store.commit(turnOn)).rejects.toMatchObject({ code: 'setup_expired' })
  expect(rowsOf(store, 'recovery_codes')).toEqual([])
})

test('without the sealing key, codes are refused with what to do, and recovery codes sign in', async () => {
  const { app, code, recovery_codes } = await openSecured()
  await app.windfall.store.commit(() => {})
  const { folder, clock } = app
  const file = app.windfall.store.file
  await app.windfall.close()
  rmSync(join(dirname(file), 'windfall.key'))
  const again = await openTestApp({ folder, clock, apps: [] })
  const login = (given: string) => again.post('/api/v1/login', { password: PASSWORD, code: given }, SAME_SITE)
  const refused = await login(code())
  expect(refused).toMatchObject({ status: 409, body: { code: 'key_unreadable' } })
  expect(refused.body.detail).toContain('Use a recovery code')
  expect((await login(recovery_codes[0] ?? '')).status).toBe(200)
  await vi.waitFor(() =>
    expect(again.windfall.audit.list(null, 9).map(({ action }) => action)).not.toContain(
      'owner.sign_in_failed',
    ),
  )
})

test('guests and readers cannot see or change it', async () => {
  const { app } = await openSecured()
  const { body } = await app.post(
    '/api/v1/share-links',
    { label: 'bank', basis: 'gross' },
    await app.signIn(),
  )
  const guest = await app.signIn(String(body.id))
  const reader = { authorization: `Bearer ${await app.token()}` }
  for (const [headers, expected] of [
    [guest, 403],
    [reader, 401],
    [{}, 401],
  ] as const) {
    expect((await app.request('/api/v1/second-factor', { headers })).status).toBe(expected)
    expect((await app.post('/api/v1/second-factor/setup', {}, { ...SAME_SITE, ...headers })).status).toBe(
      expected,
    )
  }
})
