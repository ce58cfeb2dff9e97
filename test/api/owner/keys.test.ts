import { expect, test } from 'vitest'
import { BUNDLE } from '../../apple/samples.ts'
import { openSignedIn } from './settings_pages.ts'

const HOUR = 3_600_000

type Key = { id: string; kind: string; token: string | null; state: string; label: string }
const keysIn = (body: Record<string, unknown>): Key[] => body.keys as Key[]

test('a secret key is shown once, a publishable key always, and both work', async () => {
  const { app, call, auditEntries } = await openSignedIn()
  const secret = await call('POST', 'keys', { kind: 'secret', label: ' backend ' })
  expect(secret).toMatchObject({
    status: 201,
    body: {
      kind: 'secret',
      label: 'backend',
      state: 'alive',
      source: 'dashboard',
      token: expect.stringMatching(/^sk_live_/),
    },
  })
  const open = await call('POST', 'keys', { kind: 'publishable', label: 'app' })
  const { keys } = (await call('GET', 'keys')).body as { keys: Key[] }
  const token = (id: unknown) => keys.find((key) => key.id === id)?.token
  expect(token(secret.body.id)).toBeNull()
  expect(token(open.body.id)).toBe(open.body.token)
  const identify = { appUserId: 'ann', bundleId: BUNDLE }
  const authorization = `Bearer ${secret.body.token}`
  expect((await app.post('/api/sdk/v1/identify', identify, { authorization })).body).toMatchObject({
    verification: 'verified',
  })
  expect(auditEntries()).toEqual([
    { action: 'key.made', subject: open.body.id },
    { action: 'key.made', subject: secret.body.id },
  ])
})

test('a rotated key stays valid for a while, a revoked one ends immediately', async () => {
  const { app, call, auditEntries } = await openSignedIn()
  const { body: old } = await call('POST', 'keys', { kind: 'publishable', label: 'app' })
  const rotated = await call('POST', `keys/${old.id}/rotate`, { overlap_hours: 2 })
  expect(rotated).toMatchObject({
    status: 201,
    body: { replaces: old.id, old_expires_at: app.clock() + 2 * HOUR, state: 'alive', label: 'app' },
  })
  const state = async (id: unknown) =>
    keysIn((await call('GET', 'keys')).body).find((key) => key.id === id)?.state
  expect(await state(old.id)).toBe('ending')
  app.clock.turn(2 * HOUR)
  expect(await state(old.id)).toBe('ended')
  expect(await call('DELETE', `keys/${rotated.body.id}`)).toMatchObject({
    status: 200,
    body: { state: 'ended' },
  })
  const authorization = `Bearer ${rotated.body.token}`
  const identify = { appUserId: 'ann', bundleId: BUNDLE }
  expect((await app.post('/api/sdk/v1/identify', identify, { authorization })).status).toBe(401)
  expect(auditEntries().map(({ action }) => action)).toEqual(['key.revoked', 'key.rotated', 'key.made'])
  expect(await call('DELETE', `keys/${old.id}`)).toMatchObject({ status: 409, body: { code: 'key_ended' } })
})

test('after rotating a secret key, the new one works immediately, the old one until it expires', async () => {
  const { app, call } = await openSignedIn()
  const { body: old } = await call('POST', 'keys', { kind: 'secret', label: 'backend' })
  const { body: next } = await call('POST', `keys/${old.id}/rotate`, { overlap_hours: 2 })
  const identified = async ({ token }: Record<string, unknown>) => {
    const headers = { authorization: `Bearer ${token}` }
    const { body } = await app.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId: BUNDLE }, headers)
    return body.verification ?? body.code
  }
  expect(next.token).not.toBe(old.token)
  expect(next).toMatchObject({ source: 'dashboard' })
  expect([await identified(old), await identified(next)]).toEqual(['verified', 'verified'])
  app.clock.turn(2 * HOUR - 1)
  expect(await identified(old)).toBe('verified')
  app.clock.turn(1)
  expect([await identified(old), await identified(next)]).toEqual(['invalid_key', 'verified'])
})

test('creating secret keys requires a recent password entry, publishable keys do not', async () => {
  const { app, call } = await openSignedIn()
  const { body: secret } = await call('POST', 'keys', { kind: 'secret', label: 'backend' })
  app.clock.turn(HOUR)
  const stale = { status: 403, body: { code: 'reauthentication_required' } }
  expect(await call('POST', 'keys', { kind: 'secret', label: 'other' })).toMatchObject(stale)
  expect(await call('POST', `keys/${secret.id}/rotate`, {})).toMatchObject(stale)
  expect((await call('POST', 'keys', { kind: 'publishable', label: 'app' })).status).toBe(201)
  expect((await call('DELETE', `keys/${secret.id}`)).status).toBe(200)
})

test.each([
  [{ kind: 'master', label: 'x' }, 400, 'invalid_request'],
  [{ kind: 'secret', label: '  ' }, 400, 'invalid_request'],
  [{ kind: 'secret', label: 'x'.repeat(101) }, 400, 'invalid_request'],
  [{ kind: 'secret', label: 'x', lable: 'y' }, 400, 'invalid_request'],
  [{ kind: 'secret', label: 'x', organization_id: 'org_none' }, 404, 'unknown_organization'],
])('%j makes no key', async (body, status, code) => {
  const { call } = await openSignedIn()
  expect(await call('POST', 'keys', body)).toMatchObject({ status, body: { code } })
  const kinds = keysIn((await call('GET', 'keys')).body).map(({ kind }) => kind)
  expect(kinds).not.toContain('secret')
})

test('refuses unknown keys, declared keys and values out of bounds', async () => {
  const env = {
    WINDFALL_ORGANIZATIONS:
      '[{ slug = "acme", publishable_key = "pk_live_0123456789abcdef0123456789abcdef" }]',
  }
  const { call } = await openSignedIn({ env })
  const [declared] = keysIn((await call('GET', 'keys')).body)
  expect(await call('DELETE', `keys/${declared?.id}`)).toMatchObject({
    status: 409,
    body: { code: 'declared_in_config' },
  })
  expect(await call('DELETE', 'keys/key_none')).toMatchObject({ status: 404, body: { code: 'unknown_key' } })
  for (const overlap_hours of [-1, 721, 1.5, 'week'])
    expect(await call('POST', `keys/${declared?.id}/rotate`, { overlap_hours })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    })
  expect(await call('POST', 'keys/key_none/rotate', {})).toMatchObject({ status: 404 })
})

test('only the owner, on the same origin, manages keys', async () => {
  const { app, call, bearer } = await openSignedIn()
  const { cookie } = await app.signIn()
  for (const [method, path, body] of [
    ['GET', 'keys', undefined],
    ['POST', 'keys', { kind: 'publishable', label: 'x' }],
    ['POST', 'keys/key_1/rotate', {}],
    ['DELETE', 'keys/key_1', undefined],
    ['GET', 'pending', undefined],
    ['GET', 'settings', undefined],
    ['POST', `pending/${BUNDLE}/connect`, {}],
    ['POST', 'link-moves/mov_1/undo', undefined],
    ['POST', 'test-notification', { app: BUNDLE, environment: 'sandbox' }],
    ['GET', `test-notification/t?app=${BUNDLE}&environment=sandbox`, undefined],
  ] as const) {
    expect((await call(method, path, body, bearer)).status).toBe(401)
    expect((await call(method, path, body, {})).status).toBe(401)
    if (method === 'GET') continue
    const crossSite = { cookie, 'sec-fetch-site': 'cross-site' }
    const refused = { status: 403, body: { code: 'cross_site' } }
    expect(await call(method, path, body, crossSite)).toMatchObject(refused)
  }
  expect(keysIn((await call('GET', 'keys')).body).every(({ label }) => label !== 'x')).toBe(true)
})
