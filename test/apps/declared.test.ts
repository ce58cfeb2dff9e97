import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { dataBody, outerPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

let app: TestApp
beforeEach(async () => {
  app = await openTestApp({ apps: [] })
})
afterEach(() => app.close())

const PUBLISHABLE = `pk_live_${'a'.repeat(32)}`
const SECRET = `sk_live_${'b'.repeat(32)}`

/** Writes config.toml and takes it over, as SIGHUP does. */
async function declare(toml: string): Promise<void> {
  writeFileSync(`${app.folder}/config.toml`, toml, { mode: 0o600 })
  await app.windfall.declare(loadConfig({ env: {}, cwd: app.folder }).config)
}
const connected = () => app.windfall.apps.list().map((one) => one.bundle_id)

test('without a declaration there is one organization with one publishable key', () => {
  const { organizations, keys } = app.windfall
  expect(organizations.list()).toMatchObject([
    { slug: 'default', sdk_auth: 'any', time_zone: 'UTC', currency: 'USD' },
  ])
  expect(keys.list(null)).toMatchObject([
    { kind: 'publishable', token: expect.stringMatching(/^pk_live_[0-9a-f]{48}$/) },
  ])
})

test('what config.toml declares is read-only elsewhere, and gone when it is dropped', async () => {
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

test('an app that is declared gets what had waited for it', async () => {
  await app.notify(outerPayload(dataBody({ bundleId: 'com.example.late' }), { notificationType: 'TEST' }))
  expect(app.feed()).toEqual([])
  await declare('[[apps]]\nbundle_id = "com.example.late"\n')
  expect(app.feed()).toMatchObject([{ type: 'notification.test', origin: 'recovered' }])
})

test('keys in config.toml are made so, and end when they are taken out', async () => {
  const { keys } = app.windfall
  const organization = (more: string) => `[[organizations]]\nslug = "default"\n${more}`
  await declare(organization(`publishable_key = "${PUBLISHABLE}"\nsecret_key = "${SECRET}"\n`))
  expect(keys.recognise(PUBLISHABLE)).toMatchObject({ kind: 'publishable', source: 'config' })
  expect(keys.recognise(SECRET)).toMatchObject({ kind: 'secret', token: null })
  const id = keys.recognise(SECRET)?.id ?? ''
  await expect(app.windfall.store.commit(() => keys.revoke(id))).rejects.toMatchObject({
    code: 'declared_in_config',
  })
  await declare(organization(`publishable_key = "${PUBLISHABLE}"\n`))
  expect(keys.recognise(SECRET)).toBeNull()
  expect(keys.recognise(PUBLISHABLE)).not.toBeNull()
  await declare(organization(`secret_key = "${SECRET}"\n`))
  expect(keys.recognise(SECRET)).not.toBeNull()
})

test('a secret is stored as a hash, a publishable key also to be shown again', async () => {
  const token = await app.key('secret')
  const file = app.windfall.store.prepare<[], object>('select * from sdk_keys').all()
  expect(JSON.stringify(file)).not.toContain(token)
  const read = await app.token()
  expect(JSON.stringify(app.windfall.store.prepare('select * from api_tokens').all())).not.toContain(read)
})

test('several organizations: each its settings, its apps and its keys', async () => {
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
  expect(organizations.meant('acme')).toMatchObject({
    name: 'Acme',
    sdk_auth: 'key',
    time_zone: 'Europe/Berlin',
    currency: 'EUR',
  })
  expect(apps.byBundle('com.example.app')).toHaveLength(2)
  expect(keys.list(organizations.meant('blue').id)).toHaveLength(1)
  expect(() => organizations.meant(null)).toThrow(/say which organization/)
  expect(() => organizations.meant('green')).toThrow(/no organization green/)
  await declare('[[organizations]]\nslug = "acme"\n')
  expect(organizations.list().map((one) => one.slug)).not.toContain('blue')
  expect(apps.byBundle('com.example.app')).toEqual([])
})

test('a reload takes over limits at once', async () => {
  await declare('[limits]\nsdk_requests_per_minute = 2\n[[apps]]\nbundle_id = "com.example.one"\n')
  const identify = () => app.post('/api/sdk/v1/identify', { appUserId: 'u', bundleId: 'com.example.one' })
  expect([(await identify()).status, (await identify()).status, (await identify()).status]).toEqual([
    200, 200, 429,
  ])
})
