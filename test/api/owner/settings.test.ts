import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { SECTIONS } from '../../../src/config/settings.ts'
import { temporaryFolder } from '../../folders.ts'
import { openSignedIn } from './settings_pages.ts'

const SECRET = 'sk_live_0123456789abcdef0123456789abcdef'

type Setting = Record<string, unknown> & { path: string; key: string }
type Body = Record<string, unknown> & { sections: { name: string; settings: Setting[] }[]; code?: string }
const settingIn = ({ sections }: Body, path: string): Setting | undefined =>
  sections.flatMap(({ settings }) => settings).find((one) => one.path === path)

/** A Windfall with a config.toml, and what its API says of that. */
async function openConfigured(toml: string, env: Record<string, string> = {}) {
  const folder = temporaryFolder()
  onTestFinished(folder.remove)
  const file = join(folder.path, 'config.toml')
  writeFileSync(file, toml, { mode: 0o600 })
  const owned = await openSignedIn({ folder: folder.path, env })
  const getSettings = async () => (await owned.call('GET', 'settings')).body as Body
  return { ...owned, folder: folder.path, file, getSettings }
}

test('each value has its source: the file, the environment or the default', async () => {
  const { file, getSettings } = await openConfigured(
    'base_url = "http://localhost:9999"\n[limits]\nattributes_per_user = 5\n',
    { WINDFALL_LOG_LEVEL: 'warn' },
  )
  const body = await getSettings()
  expect(body).toMatchObject({ base_url: 'http://localhost:9999', config_file: file })
  expect(settingIn(body, 'base_url')).toMatchObject({ source: 'file', place: 'config.toml:1' })
  expect(settingIn(body, 'limits.attributes_per_user')).toMatchObject({
    value: 5,
    default: '100',
    source: 'file',
    place: 'config.toml:3',
    is_set: true,
    variable: 'WINDFALL_LIMITS_ATTRIBUTES_PER_USER',
  })
  expect(settingIn(body, 'log.level')).toMatchObject({
    value: 'warn',
    source: 'environment',
    place: 'WINDFALL_LOG_LEVEL',
  })
  expect(settingIn(body, 'server.port')).toMatchObject({
    value: 8787,
    source: 'default',
    place: null,
    default: '8787',
    needs_restart: true,
  })
  // Every setting is told, with its sentence.
  for (const { name, settings, list } of SECTIONS.filter((one) => !one.list)) {
    expect(list).toBe(false)
    const reported = body.sections.find((section) => section.name === name)?.settings ?? []
    expect(reported.map(({ key, reason }) => [key, reason])).toEqual(
      Object.entries(settings).map(([key, { reason }]) => [key, reason]),
    )
  }
})

test('shows only whether a secret is set', async () => {
  const { call } = await openConfigured(`[[organizations]]\nslug = "acme"\nsecret_key = "${SECRET}"\n`)
  const { body } = await call('GET', 'settings')
  expect(JSON.stringify(body)).not.toContain(SECRET.slice(8))
  expect(settingIn(body as Body, 'organizations[0].secret_key')).toMatchObject({
    value: null,
    is_secret: true,
    is_set: true,
    source: 'file',
    place: 'config.toml:3',
  })
  expect(settingIn(body as Body, 'organizations[0].publishable_key')).toMatchObject({
    value: null,
    is_set: false,
  })
})

test('returns version, database, time, and a notification URL for each organization', async () => {
  const { app, call } = await openSignedIn()
  app.clock.turn(60_000)
  const { body } = await call('GET', 'settings')
  const url = `${app.config.base_url}/apple/notifications`
  expect(body).toMatchObject({
    uptime_ms: 60_000,
    started_at: app.clock() - 60_000,
    notification_url: url,
    config_file: null,
    version: expect.stringMatching(/./),
    database: { name: 'windfall.db', bytes: readFileSync(app.windfall.store.file).length },
    organizations: [
      {
        id: app.organization.id,
        slug: 'default',
        time_zone: 'UTC',
        currency: 'USD',
        sdk_auth: 'any',
        notification_url: `${url}/default`,
      },
    ],
  })
  expect(await call('GET', 'settings?section=log')).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  })
})

test('the uptime counts from when the server began to serve', async () => {
  const { app, call } = await openSignedIn()
  // The demo plays its history before that.
  app.clock.turn(3_600_000)
  app.windfall.http.beginServing(app.clock())
  app.clock.turn(60_000)
  expect((await call('GET', 'settings')).body).toMatchObject({
    uptime_ms: 60_000,
    started_at: app.clock() - 60_000,
  })
})

test('returns the configuration after a reload', async () => {
  const { app, file, folder, getSettings } = await openConfigured('[limits]\nattributes_per_user = 5\n')
  writeFileSync(file, '\n[limits]\nattributes_per_user = 6\n')
  const again = loadConfig({ env: {}, cwd: folder })
  await app.windfall.declare(again.config, again)
  expect(settingIn(await getSettings(), 'limits.attributes_per_user')).toMatchObject({
    value: 6,
    place: 'config.toml:3',
  })
})
