import { writeFileSync } from 'node:fs'
import { beforeEach, expect, test } from 'vitest'
import type { AppDeclaration } from '../../src/apps/apps.ts'
import { loadConfig } from '../../src/config/load.ts'
import { verbsOf } from '../../src/control/verbs.ts'
import { BUNDLE, dataBody, outerPayload, renewedPayload } from '../apple/samples.ts'
import { openTestApp, rowsOf, type TestApp } from '../helpers.ts'

let app: TestApp
let logged: string[]
beforeEach(async () => {
  logged = []
  app = await openTestApp({ apps: [], logged })
})

const PUBLISHABLE = `pk_live_${'a'.repeat(32)}`
const SECRET = `sk_live_${'b'.repeat(32)}`

/** Writes config.toml and reloads it, as SIGHUP does. */
async function declare(toml: string): Promise<void> {
  writeFileSync(`${app.folder}/config.toml`, toml, { mode: 0o600 })
  await app.windfall.declare(loadConfig({ env: {}, cwd: app.folder }).config)
}
const connected = () => app.windfall.apps.list().map((one) => one.bundle_id)

test('creates one organization with one publishable key without a declaration', () => {
  const { organizations, keys } = app.windfall
  expect(organizations.list()).toMatchObject([
    { slug: 'default', sdk_auth: 'any', time_zone: 'UTC', currency: 'USD' },
  ])
  expect(keys.list(null)).toMatchObject([
    { kind: 'publishable', token: expect.stringMatching(/^pk_live_[0-9a-f]{48}$/) },
  ])
})

test('makes apps from config.toml read-only elsewhere, and marks them gone when they are removed', async () => {
  const { store, apps } = app.windfall
  await declare('[[apps]]\nbundle_id = "com.example.one"\n[[apps]]\nbundle_id = "com.example.two"\n')
  await store.commit(() => apps.add(app.organization.id, { bundle_id: 'com.example.hand' }, 'command line'))
  expect(connected().sort()).toEqual(['com.example.hand', 'com.example.one', 'com.example.two'])
  const add = store.commit(() =>
    apps.add(app.organization.id, { bundle_id: 'com.example.one', sku: 'x' }, 'command line'),
  )
  await expect(add).rejects.toMatchObject({ code: 'declared_in_config' })
  const remove = store.commit(() => apps.remove(app.organization.id, 'com.example.one'))
  await expect(remove).rejects.toMatchObject({ code: 'declared_in_config' })

  await declare('[[apps]]\nbundle_id = "com.example.one"\n')
  expect(connected().sort()).toEqual(['com.example.hand', 'com.example.one'])
  const two = store
    .prepare<[], { gone_at: number | null }>("select gone_at from apps where bundle_id = 'com.example.two'")
    .get()
  expect(two?.gone_at).toBe(app.clock())
  await declare('[[apps]]\nbundle_id = "com.example.two"\n')
  expect(connected()).toContain('com.example.two')
})

test('applies pending notifications to an app that is declared', async () => {
  await app.notify(outerPayload(dataBody({ bundleId: 'com.example.late' }), { notificationType: 'TEST' }))
  expect(app.feed()).toEqual([])
  await declare('[[apps]]\nbundle_id = "com.example.late"\n')
  expect(app.feed()).toMatchObject([{ type: 'notification.test', origin: 'live' }])
})

test('creates keys from config.toml, and revokes them when they are removed', async () => {
  const { keys } = app.windfall
  await declare(organization('default', `publishable_key = "${PUBLISHABLE}"\nsecret_key = "${SECRET}"\n`))
  expect(keys.findByToken(PUBLISHABLE)).toMatchObject({ kind: 'publishable', source: 'config' })
  expect(keys.findByToken(SECRET)).toMatchObject({ kind: 'secret', token: null })
  const id = keys.findByToken(SECRET)?.id ?? ''
  await expect(app.windfall.store.commit(() => keys.revoke(id))).rejects.toMatchObject({
    code: 'declared_in_config',
  })
  await declare(organization('default', `publishable_key = "${PUBLISHABLE}"\n`))
  expect(keys.findByToken(SECRET)).toBeNull()
  expect(keys.findByToken(PUBLISHABLE)).not.toBeNull()
  await declare(organization('default', `secret_key = "${SECRET}"\n`))
  expect(keys.findByToken(SECRET)).not.toBeNull()
})

test('stores a secret key as a hash, and a publishable key also as text', async () => {
  const token = await app.key('secret')
  const file = app.windfall.store.prepare<[], object>('select * from sdk_keys').all()
  expect(JSON.stringify(file)).not.toContain(token)
  const read = await app.token()
  expect(JSON.stringify(app.windfall.store.prepare('select * from api_tokens').all())).not.toContain(read)
})

test('gives each of several organizations its own settings, apps and keys', async () => {
  await declare(`
[[organizations]]
slug = "acme"
name = "Acme"
sdk_auth = "key"
time_zone = "Europe/Berlin"
currency = "EUR"
[[organizations]]
slug = "blue"
[[apps]]
organization = "acme"
bundle_id = "com.example.app"
[[apps]]
organization = "blue"
bundle_id = "com.example.app"
`)
  const { organizations, apps, keys } = app.windfall
  expect(organizations.resolve('acme')).toMatchObject({
    name: 'Acme',
    sdk_auth: 'key',
    time_zone: 'Europe/Berlin',
    currency: 'EUR',
  })
  expect(apps.byBundle('com.example.app')).toHaveLength(2)
  expect(keys.list(organizations.resolve('blue').id)).toHaveLength(1)
  expect(() => organizations.resolve(null)).toThrow(/specify an organization/)
  expect(() => organizations.resolve('green')).toThrow(/no organization green/)
  await declare('[[organizations]]\nslug = "acme"\n')
  expect(organizations.list().map((one) => one.slug)).not.toContain('blue')
  expect(apps.byBundle('com.example.app')).toEqual([])
})

test('applies new limits immediately on reload', async () => {
  await declare('[limits]\nsdk_requests_per_minute = 2\n[[apps]]\nbundle_id = "com.example.one"\n')
  const identify = () => app.post('/api/sdk/v1/identify', { appUserId: 'u', bundleId: 'com.example.one' })
  expect([(await identify()).status, (await identify()).status, (await identify()).status]).toEqual([
    200, 200, 429,
  ])
})

const organization = (slug: string, more = '') => `[[organizations]]\nslug = "${slug}"\n${more}`
const declared = (owner: string, bundle: string, more = '') =>
  `[[apps]]\norganization = "${owner}"\nbundle_id = "${bundle}"\n${more}`
const byHand = (declaration: AppDeclaration) =>
  app.windfall.store.commit(() => app.windfall.apps.add(app.organization.id, declaration, 'command line'))
const slugs = () => app.windfall.organizations.list().map(({ slug }) => slug)
const everything = () =>
  ['organizations', 'apps', 'sdk_keys'].map((table) => rowsOf(app.windfall.store, table))
/** The warnings and errors in the log. */
function warnings(): Record<string, unknown>[] {
  app.windfall.log.flush()
  const lines = logged.join('').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn')
}

test('changes nothing when a declaration fails halfway', async () => {
  const two = organization('acme') + organization('blue')
  await declare(organization('acme') + organization('blue', `publishable_key = "${PUBLISHABLE}"\n`))
  const before = everything()
  const next = `[limits]\nsdk_requests_per_minute = 1\n${organization('acme')}name = "Other"
${organization('blue')}${organization('red')}publishable_key = "${PUBLISHABLE}"\n${declared('acme', BUNDLE)}`
  await expect(declare(next)).rejects.toMatchObject({
    code: 'key_in_use',
    message: expect.stringContaining('…aaaa'),
  })
  expect(everything()).toEqual(before)
  await declare(`${two}${declared('acme', BUNDLE)}`)
  await expect(
    declare(
      `[limits]\nsdk_requests_per_minute = 1\n${organization('red', `publishable_key = "${PUBLISHABLE}"\n`)}`,
    ),
  ).rejects.toMatchObject({ code: 'key_in_use' })
  const identify = () => app.post('/api/sdk/v1/identify', { appUserId: 'u', bundleId: BUNDLE })
  expect([(await identify()).status, (await identify()).status]).toEqual([200, 200])
})

test('renames an undeclared organization whose key a new slug has', async () => {
  const two = (slug: string) =>
    `${organization('one')}${organization(slug, `publishable_key = "${PUBLISHABLE}"\nsecret_key = "${SECRET}"\n`)}${declared(slug, BUNDLE)}`
  await declare(two('two'))
  const { id } = app.windfall.organizations.resolve('two')
  const issued = await app.windfall.store.commit(() => app.windfall.keys.create(id, 'publishable', 'app'))
  await app.notify(renewedPayload(app.authority))
  await declare(two('zwei'))
  expect(slugs().sort()).toEqual(['one', 'zwei'])
  expect(app.windfall.organizations.resolve('zwei').id).toBe(id)
  for (const token of [PUBLISHABLE, SECRET, issued.token])
    expect(app.windfall.keys.findByToken(token)).toMatchObject({ organization_id: id })
  expect(app.windfall.apps.byBundle(BUNDLE)).toMatchObject([{ organization_id: id }])
  expect(new Set(app.feed().map(({ organization_id }) => organization_id))).toEqual(new Set([id]))
  expect(warnings()).toMatchObject([
    { organization: 'default' },
    { before: 'two', now: 'zwei', address: '/apple/notifications/zwei' },
  ])
})

test('renames nothing for a key of a declared organization, or for keys of two undeclared ones', async () => {
  const keyed = (slug: string, ...keys: string[]) =>
    organization(
      slug,
      keys.map((key) => `${key.startsWith('pk') ? 'publishable' : 'secret'}_key = "${key}"\n`).join(''),
    )
  await declare(keyed('one', PUBLISHABLE) + keyed('two', SECRET))
  const before = everything()
  const inUse = { code: 'key_in_use', message: expect.stringContaining('belongs to the organization ') }
  await expect(declare(keyed('one') + keyed('two') + keyed('new', PUBLISHABLE))).rejects.toMatchObject(inUse)
  await expect(declare(keyed('new', PUBLISHABLE, SECRET))).rejects.toMatchObject(inUse)
  await expect(declare(keyed('one', PUBLISHABLE) + keyed('two', PUBLISHABLE))).rejects.toThrow()
  expect(everything()).toEqual(before)
})

test('restores a removed organization under another slug with its key', async () => {
  await declare(organization('one') + organization('two', `secret_key = "${SECRET}"\n`))
  const { id } = app.windfall.organizations.resolve('two')
  await declare(organization('one'))
  await declare(organization('one') + organization('zwei', `secret_key = "${SECRET}"\n`))
  expect(app.windfall.organizations.resolve('zwei').id).toBe(id)
})

test('refuses an Android package that another app of the organization has', async () => {
  await byHand({ bundle_id: 'com.example.one', android_package: 'com.droid' })
  await expect(byHand({ bundle_id: 'com.example.two', android_package: 'com.droid' })).rejects.toMatchObject({
    status: 409,
    code: 'android_package_taken',
    message: 'com.example.one already has the Android package com.droid',
  })
  await byHand({ bundle_id: 'com.example.one', android_package: 'com.droid' })
  const toml = '[[apps]]\nbundle_id = "com.example.two"\nandroid_package = "com.droid"\n'
  await expect(declare(toml)).rejects.toMatchObject({ code: 'android_package_taken' })
  expect(connected()).toEqual(['com.example.one'])
  const { store, apps } = app.windfall
  await store.commit(() => apps.remove(app.organization.id, 'com.example.one'))
  await declare(toml)
  await byHand({ bundle_id: 'com.example.one' })
  expect(apps.byAndroidPackage('com.droid').map((one) => one.bundle_id)).toEqual(['com.example.two'])
})

test('moves an Android package to another app in config.toml, and swaps two', async () => {
  const toml = (one: string, two: string) =>
    `[[apps]]\nbundle_id = "com.one"\n${one}\n[[apps]]\nbundle_id = "com.two"\n${two}\n`
  const owners = () =>
    ['com.a', 'com.b'].map((name) => app.windfall.apps.byAndroidPackage(name).map((one) => one.bundle_id))
  await declare(toml('android_package = "com.a"', 'android_package = "com.b"'))
  await declare(toml('android_package = "com.b"', 'android_package = "com.a"'))
  expect(owners()).toEqual([['com.two'], ['com.one']])
  await declare(toml('', 'android_package = "com.b"'))
  expect(owners()).toEqual([[], ['com.two']])
  await declare('[[apps]]\nbundle_id = "com.three"\nandroid_package = "com.b"\n')
  expect(owners()).toEqual([[], ['com.three']])
})

test('turns the organization of the first start into the declared one, with its data', async () => {
  const { keys, organizations, apps } = app.windfall
  await byHand({ bundle_id: BUNDLE })
  await app.notify(renewedPayload(app.authority))
  const [key] = keys.list(null)
  await declare(organization('acme', 'name = "Acme"\n') + declared('acme', BUNDLE))
  expect(organizations.list()).toMatchObject([{ id: app.organization.id, slug: 'acme', name: 'Acme' }])
  expect(apps.byBundle(BUNDLE)).toMatchObject([{ organization_id: app.organization.id, source: 'config' }])
  expect(keys.findByToken(key?.token ?? '')).toMatchObject({ organization_id: app.organization.id })
  const again = renewedPayload(app.authority, { outer: { notificationUUID: 'another' } })
  expect(await app.notify(again)).toMatchObject({ body: { applied: 1 } })
  const call = { appUserId: 'u', bundleId: BUNDLE }
  expect(await app.post('/api/sdk/v1/identify', call)).toMatchObject({ status: 200 })
  expect(warnings()).toMatchObject([{ before: 'default', now: 'acme' }])
})

test('turns it into the one of several declared organizations that has all its apps', async () => {
  await byHand({ bundle_id: BUNDLE })
  await declare(organization('acme') + organization('blue') + declared('blue', BUNDLE))
  expect(slugs().sort()).toEqual(['acme', 'blue'])
  expect(app.windfall.organizations.resolve('blue').id).toBe(app.organization.id)
  expect(app.windfall.apps.byBundle(BUNDLE)).toHaveLength(1)
})

test('without a successor, removes it if it has no apps, and keeps it otherwise', async () => {
  const two = organization('acme') + organization('blue')
  await byHand({ bundle_id: 'com.one' })
  await byHand({ bundle_id: 'com.two' })
  await declare(two + declared('acme', 'com.one') + declared('blue', 'com.two'))
  expect(slugs().sort()).toEqual(['acme', 'blue', 'default'])
  expect(warnings()).toMatchObject([
    { organization: 'default', apps: ['com.one', 'com.two'], to_end: expect.stringContaining('apps remove') },
  ])
  const { store, apps } = app.windfall
  for (const one of ['com.one', 'com.two']) await store.commit(() => apps.remove(app.organization.id, one))
  await declare(two)
  expect(slugs().sort()).toEqual(['acme', 'blue'])
  expect(warnings()).toMatchObject([{}, { organization: 'default' }])
})

test('shows the newest publishable key without an expiry', async () => {
  const { store, keys } = app.windfall
  const shown = () => keys.publishable(app.organization.id)?.token
  const [first] = keys.list(null)
  expect(shown()).toBe(first?.token)
  const second = await store.commit(() => keys.rotate(first?.id ?? '', 1000))
  expect(shown()).toBe(second.token)
  app.clock.turn(1001)
  expect(shown()).toBe(second.token)
  await store.commit(() => keys.create(app.organization.id, 'secret', 'backend'))
  await store.commit(() => keys.revoke(second.id))
  expect(shown()).toBeUndefined()
})

test('describes the access scope of a token', async () => {
  const verbs = verbsOf(app.windfall)
  const create = async (request: object) => {
    app.clock.turn(1)
    const made = (await verbs['tokens.create']?.({ label: 'x', ...request })) as { reads: string }
    return made.reads
  }
  await byHand({ bundle_id: BUNDLE })
  expect(await create({})).toBe('everything')
  expect(await create({ organization: 'default' })).toBe('all of default')
  expect(await create({ apps: [BUNDLE] })).toBe(`${BUNDLE} of default`)
  expect(await verbs['tokens.list']?.({})).toMatchObject([
    { reads: 'everything' },
    { reads: 'all of default' },
    { reads: `${BUNDLE} of default` },
  ])
})
