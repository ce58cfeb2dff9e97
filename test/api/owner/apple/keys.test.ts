/** Both Apple keys through the dashboard: tried with Apple, stored sealed, and used at once. */
import { readFileSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FRESH_MS } from '../../../../src/access/auth.ts'
import { runVerb } from '../../../../src/control/socket.ts'
import { verbsOf } from '../../../../src/control/verbs.ts'
import { KEY, NO_KEYS, newKey } from '../../../config/keys.ts'
import { openTestApp } from '../../../helpers.ts'
import { openConnecting } from './connecting.ts'

const TIDES = 'com.lanternlabs.tides'
const ISSUER = '69a6de70-03db-47e3-e053-5b8c7c11a4d1'
type Listed = { keys: Record<string, unknown>[]; vendors: Record<string, unknown>[] }

test('tries both keys, stores them sealed, connects the apps and fetches at once', async () => {
  const { app, call, enter, rows, shop, connect, purchases, auditEntries } = await openConnecting()
  const { windfall, organization } = app
  const first = await enter('connect', connect)
  const key = { organization_id: organization.id, kind: 'connect', source: 'dashboard', state: 'ok' }
  expect(first).toMatchObject({ status: 201, body: { key: { ...key, key_id: connect.key_id } } })
  const bundles = shop.apps.map(({ bundle_id }) => bundle_id).sort()
  expect((first.body.apps as { bundle_id: string }[]).map(({ bundle_id }) => bundle_id).sort()).toEqual(
    bundles,
  )
  expect((await enter('purchases', purchases)).status).toBe(201)
  const vendor_numbers = [shop.store.vendor_number]
  expect(await call('POST', 'vendor-numbers', { vendor_numbers })).toMatchObject({
    status: 200,
    body: { vendor_numbers },
  })
  expect(rows().map(({ kind, sealed }) => [kind, sealed.slice(0, 3)])).toEqual([
    ['connect', 'v1.'],
    ['purchases', 'v1.'],
  ])
  expect(windfall.accounts.list()).toEqual([
    { organization_id: organization.id, connect, purchases, vendor_numbers },
  ])
  const { body } = await call('GET', 'apple-keys')
  expect(JSON.stringify(body)).not.toContain('PRIVATE')
  expect((body as unknown as Listed).keys).toMatchObject([
    key,
    { kind: 'purchases', source: 'dashboard', state: 'ok' },
  ])
  expect((body as unknown as Listed).vendors).toEqual([
    { organization_id: organization.id, vendor_numbers, source: 'dashboard' },
  ])
  expect(
    windfall.jobs
      .list()
      .filter(({ started_at }) => started_at !== null)
      .map(({ job }) => job),
  ).toEqual(['import', 'backfill'])
  expect(auditEntries().filter(({ action }) => action.startsWith('apple_'))).toEqual(
    ['apple_vendors.stored', 'apple_key.stored', 'apple_key.stored'].map((action) => ({
      action,
      subject: organization.id,
    })),
  )
})

test('the checks test stored keys like those of config.toml', async () => {
  const { app, call, enter, shop, connect, purchases } = await openConnecting()
  await enter('connect', connect)
  await enter('purchases', purchases)
  await call('POST', 'vendor-numbers', { vendor_numbers: [shop.store.vendor_number] })
  const { results } = await app.windfall.doctor.run(false)
  const about = (id: string) =>
    results.filter((result) => result.id.startsWith(id)).map(({ status }) => status)
  expect(['keys:connect', 'keys:vendor', 'keys:purchase'].flatMap(about)).toEqual(['ok', 'ok', 'ok'])
})

test('the database and the log never contain a private key', async () => {
  const logged: string[] = []
  const { app, enter, connect } = await openConnecting({ logged })
  await enter('connect', connect)
  const [, line = ''] = connect.private_key.split('\n')
  await app.windfall.store.commit(() => {})
  app.windfall.store.pragma('wal_checkpoint(truncate)')
  expect(readFileSync(app.windfall.store.file, 'latin1')).not.toContain(line)
  expect(logged.join('')).not.toContain(line)
})

test('keys stay after a restart', async () => {
  const { app, enter, shop, connect, purchases } = await openConnecting()
  await enter('connect', connect)
  await enter('purchases', purchases)
  await app.windfall.close()
  const again = await openTestApp({ folder: app.folder, apps: [], clock: shop.clock, hosts: shop.hosts })
  expect(again.windfall.accounts.list()).toMatchObject([{ connect, purchases, vendor_numbers: [] }])
})

test.each(NO_KEYS)(
  'refuses what is not a key of Apple’s (%s), and repeats none of it',
  async (_, private_key) => {
    const { enter, rows, shop } = await openConnecting()
    const refused = await enter('connect', { private_key, key_id: 'ABCDE12345', issuer_id: ISSUER })
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: 'private_key' }] },
    })
    expect(JSON.stringify(refused.body)).not.toContain('hunter2')
    expect(rows()).toEqual([])
    expect(shop.store.requests).toEqual([])
  },
)

test('names every field that is wrong at once, without asking Apple', async () => {
  const { enter, rows, shop } = await openConnecting()
  const refused = await enter('purchases', { private_key: 'x', key_id: 'key one' })
  expect(refused.body.errors).toEqual([
    { path: 'private_key', message: expect.stringContaining('this is not a private key') },
    { path: 'key_id', message: 'key one is not a key id such as 2X9R4HXF34.' },
    { path: 'issuer_id', message: expect.stringContaining('requires its issuer id') },
  ])
  const wrong = await enter('connect', { private_key: KEY, key_id: ' ', issuer_id: 'acme' })
  expect(wrong.body.errors).toEqual([
    { path: 'key_id', message: expect.stringContaining('a key id is required') },
    { path: 'issuer_id', message: expect.stringContaining('acme is not an issuer id') },
  ])
  expect([rows(), shop.store.requests]).toEqual([[], []])
})

test('refuses a file that is too large', async () => {
  const { enter, rows } = await openConnecting()
  const large = { private_key: 'x'.repeat(10_001), key_id: 'ABCDE12345' }
  expect(await enter('connect', large)).toMatchObject({
    status: 400,
    body: { errors: [{ path: 'private_key', message: expect.stringContaining('too long for a key') }] },
  })
  const huge = { ...large, private_key: 'x'.repeat(20_000) }
  expect(await enter('connect', huge)).toMatchObject({ status: 413, body: { code: 'too_large' } })
  expect(rows()).toEqual([])
})

test('says what Apple refuses, recognizes swapped keys, and stores nothing', async () => {
  const { app, enter, rows, connect, purchases } = await openConnecting()
  const refused = (words: string) => ({
    status: 409,
    body: { code: 'refused_by_apple', detail: expect.stringContaining(words) },
  })
  expect(await enter('connect', { ...connect, issuer_id: ISSUER })).toMatchObject(
    refused('Apple refused the key (401)'),
  )
  expect(await enter('connect', { ...connect, private_key: newKey() })).toMatchObject(refused('(401)'))
  expect(await enter('purchases', purchases)).toMatchObject({ status: 409, body: { code: 'no_app' } })
  expect(rows()).toEqual([])
  await enter('connect', connect)
  expect(await enter('purchases', { ...purchases, private_key: connect.private_key })).toMatchObject({
    status: 400,
    body: {
      errors: [{ path: 'private_key', message: expect.stringContaining('App Store Connect API key again') }],
    },
  })
  expect(await enter('connect', purchases)).toMatchObject(refused('the two keys are swapped'))
  expect(app.windfall.accounts.list()[0]).toMatchObject({ connect, purchases: null })
  expect(rows()).toHaveLength(1)
})

test('says that Apple cannot be reached, and stores nothing', async () => {
  const nowhere = 'http://127.0.0.1:1'
  const hosts = { connect: nowhere, server: { production: nowhere, sandbox: nowhere } }
  const { enter, rows, connect } = await openConnecting({ hosts })
  expect(await enter('connect', connect)).toMatchObject({
    status: 502,
    body: { code: 'apple', detail: expect.stringContaining('could not be reached') },
  })
  expect(rows()).toEqual([])
})

test('tries vendor numbers with the stored key', async () => {
  const { app, call, enter, shop, connect } = await openConnecting()
  const number = shop.store.vendor_number
  const put = (...vendor_numbers: string[]) => call('POST', 'vendor-numbers', { vendor_numbers })
  expect(await put(number)).toMatchObject({ status: 409, body: { code: 'no_connect_key' } })
  await enter('connect', connect)
  expect(await put('Acme')).toMatchObject({
    status: 400,
    body: {
      errors: [{ path: 'vendor_numbers', message: expect.stringContaining('Acme is not a vendor number') }],
    },
  })
  expect(await put(number, '80000001')).toMatchObject({
    status: 409,
    body: { code: 'refused_by_apple', detail: expect.stringContaining('80000001: ') },
  })
  expect(app.windfall.accounts.list()[0]?.vendor_numbers).toEqual([])
  expect((await put(number, ` ${number} `)).body.vendor_numbers).toEqual([number])
  expect((await put()).body.vendor_numbers).toEqual([])
})

test('a key in config.toml wins and cannot be replaced here', async () => {
  const env = {
    WINDFALL_ACCOUNTS: `[{ organization = "default", connect_key_id = "ABCDE12345", connect_key = ${JSON.stringify(KEY)} }]`,
    WINDFALL_ORGANIZATIONS: '[{ slug = "default" }]',
  }
  const { app, call, enter, rows, connect } = await openConnecting({ env })
  const declared = { status: 409, body: { code: 'declared_in_config' } }
  expect(await enter('connect', connect)).toMatchObject(declared)
  expect(await call('DELETE', 'apple-keys/connect')).toMatchObject(declared)
  expect(await call('POST', 'vendor-numbers', { vendor_numbers: [] })).toMatchObject(declared)
  expect(rows()).toEqual([])
  expect((await call('GET', 'apple-keys')).body.keys).toMatchObject([
    { kind: 'connect', source: 'config', key_id: 'ABCDE12345' },
    { kind: 'purchases', source: 'none', state: 'none' },
  ])
  expect(app.windfall.accounts.list()).toMatchObject([{ connect: { key_id: 'ABCDE12345' } }])
})

test('a key that config.toml declares while Apple answers is not stored', async () => {
  const { app, enter, rows, whileAppleAnswers, purchases } = await openConnecting()
  const { windfall, organization } = app
  await app.windfall.store.commit(() => windfall.apps.add(organization.id, { bundle_id: TIDES }, 'test'))
  whileAppleAnswers(() =>
    windfall.accounts.declare([
      { organization_id: organization.id, connect: null, purchases, vendor_numbers: [] },
    ]),
  )
  expect(await enter('purchases', purchases)).toMatchObject({
    status: 409,
    body: { code: 'declared_in_config' },
  })
  expect(rows()).toEqual([])
})

test('a key is not stored if the session ends, or the password is old, while Apple answers', async () => {
  const { app, enter, rows, shop, whileAppleAnswers, purchases } = await openConnecting()
  const { store, sessions, apps } = app.windfall
  await store.commit(() => apps.add(app.organization.id, { bundle_id: TIDES }, 'test'))
  whileAppleAnswers(() => shop.clock.turn(FRESH_MS))
  expect(await enter('purchases', purchases)).toMatchObject({
    status: 403,
    body: { code: 'reauthentication_required' },
  })
  const headers = await app.signIn()
  whileAppleAnswers(() => store.commit(() => sessions.endAll()))
  const ended = await app.post('/api/v1/apple-keys/purchases', purchases, headers)
  expect(ended).toMatchObject({ status: 401, body: { code: 'sign_in_required' } })
  expect(rows()).toEqual([])
})

test('deletes a key and stops using it', async () => {
  const { app, call, enter, rows, connect } = await openConnecting()
  expect(await call('DELETE', 'apple-keys/connect')).toMatchObject({
    status: 404,
    body: { code: 'unknown_apple_key' },
  })
  await enter('connect', connect)
  const removed = await app.request('/api/v1/apple-keys/connect', {
    method: 'DELETE',
    headers: await app.signIn(),
  })
  expect(removed.status).toBe(204)
  expect(rows()).toEqual([])
  expect(app.windfall.accounts.list()).toEqual([])
  expect(await call('GET', 'apple-apps')).toMatchObject({ status: 409, body: { code: 'no_connect_key' } })
})

test('a key that another windfall.key sealed is a finding until it is entered again', async () => {
  const { app, enter, shop, connect } = await openConnecting()
  await enter('connect', connect)
  const { secrets } = app.windfall.outgoing
  rmSync(secrets.state().file)
  await app.windfall.close()
  const again = await openTestApp({ folder: app.folder, apps: [], clock: shop.clock, hosts: shop.hosts })
  const { windfall } = again
  await runVerb(verbsOf(windfall), 'outgoing.new_key', {})
  expect(windfall.accounts.list()).toEqual([])
  const found = (await windfall.health.findings()).map(({ details }) => details?.id)
  expect(found).toContain(`sealed:connect:${again.organization.id}`)
  const owned = await again.signIn()
  const listed = await again.request('/api/v1/apple-keys', { headers: owned })
  expect(await listed.json()).toMatchObject({ keys: [{ source: 'dashboard', state: 'unreadable' }, {}] })
  const entered = await again.post('/api/v1/apple-keys/connect', connect, owned)
  expect(entered.status).toBe(201)
  expect((await windfall.health.findings()).map(({ details }) => details?.id)).not.toContain(
    found.find((id) => id?.startsWith('sealed')),
  )
})

test('guests and read tokens neither see nor change keys', async () => {
  const { app, call, bearer, rows, connect } = await openConnecting()
  const link = {
    label: 'bank',
    organization_id: app.organization.id,
    apps: null,
    basis: 'gross',
    metrics: null,
    expires_at: null,
    passcode: null,
  } as const
  const { id } = await app.windfall.store.commit(() => app.windfall.links.create(link))
  const guest = await app.signIn(id)
  for (const [headers, codes] of [
    [bearer, [401]],
    [guest, [403]],
  ] as const) {
    for (const path of ['apple-keys', 'apple-apps'])
      expect(codes).toContain((await call('GET', path, undefined, headers)).status)
    expect(codes).toContain((await call('POST', 'apple-keys/connect', connect, headers)).status)
    expect(codes).toContain((await call('DELETE', 'apple-keys/connect', undefined, headers)).status)
    expect(codes).toContain((await call('POST', 'vendor-numbers', { vendor_numbers: [] }, headers)).status)
    expect(codes).toContain((await call('POST', 'apps', { bundle_id: 'com.example.x' }, headers)).status)
  }
  expect(rows()).toEqual([])
})
