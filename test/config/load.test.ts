import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withPort } from '../../src/config/base_url.ts'
import { configured, openFolder } from './folder.ts'

test('uses the defaults without a file and variables', () => {
  const folder = openFolder()
  const { config, file, sourceKindByPath, locationByPath } = folder.load()
  expect(config).toEqual({
    base_url: 'http://127.0.0.1:8787',
    server: {
      host: '127.0.0.1',
      port: 8787,
      trusted_proxies: ['127.0.0.0/8', '::1/128'],
      hosts: [],
      insecure_http: false,
      max_connections: 2048,
      headers_timeout_seconds: 5,
      request_timeout_seconds: 10,
      keep_alive_seconds: 5,
      shutdown_seconds: 10,
    },
    store: { path: join(folder.path, 'data/windfall.db'), native_dir: null },
    backup: {
      schedule: 'off',
      folder: join(folder.path, 'backups'),
      recipients: [],
      command: [],
      to: null,
      endpoint: null,
      region: 'us-east-1',
      access_key_id: null,
      secret_access_key: null,
      secret_access_key_file: null,
      daily: 7,
      weekly: 4,
      monthly: 12,
    },
    log: { level: 'info', format: 'auto' },
    sign_in: { idle_days: 14, longest_days: 90 },
    limits: {
      sdk_requests_per_minute: 240,
      anonymous_requests_per_minute: 60,
      sdk_body_bytes: 65_536,
      apple_body_bytes: 1_048_576,
      attributes_per_user: 100,
    },
    users: { prune_after_days: 0, name_attribute: 'name' },
    apple: { revocation_checks: false, icons: true },
    attest: { accept: ['production'], assertions: 'when_sent' },
    rates: { fetch: true },
    outbound: { allow: [], ca_file: null, ca: null },
    forwarding: { keep_mb: 512 },
    alerts: { contact: null, heartbeat_url: null, heartbeat_url_file: null },
    metrics: {
      factors: 'calendar',
      commission_percent: 30,
      commission_after_a_year_percent: 15,
      small_business: false,
      wait_ms: 50,
      token: null,
      token_file: null,
      listen: null,
    },
    jobs: {
      import: '13 * * * *',
      backfill: '*/5 * * * *',
      reconcile: '*/15 * * * *',
      lookups: '*/5 * * * *',
      annotations: '40 7 * * *',
      rates: '25 5,17 * * *',
      housekeeping: '17 * * * *',
      checks: '50 4 * * *',
      jitter_percent: 5,
    },
    organizations: [],
    accounts: [],
    apps: [],
    endpoints: [],
    alert_channels: [],
    alert_rules: [],
  })
  expect(file).toBeNull()
  expect(new Set(sourceKindByPath.values())).toEqual(new Set(['default']))
  expect(locationByPath.size).toBe(0)
})

test('an empty file has no effect', () => {
  const folder = openFolder()
  const without = folder.load().config
  folder.write('config.toml', '')
  expect(folder.load().config).toEqual(without)
})

test('applies the file and fills in dependent defaults', () => {
  const { config } = configured(`
    base_url = "https://windfall.example.com/"
    [server]
    port = 0
    hosts = ["windfall.internal", "10.0.0.7"]
    [[organizations]]
    slug = "acme"
    time_zone = "Europe/Berlin"
    currency = "EUR"
    publishable_key = "pk_live_abcdefghijklmnopqrstuvwx"
    [[apps]]
    bundle_id = "com.acme.notes"
    apple_id = "1234567890"
    [[apps]]
    bundle_id = "com.acme.paint"
    apple_id = 987
    name = "Paint"
    android_package = "com.acme.paint_pro"
    sku = "PAINT 1"
    team_id = "A1B2C3D4E5"
  `)
  expect(config.base_url).toBe('https://windfall.example.com')
  expect(config.server.port).toBe(0)
  expect(config.server.hosts).toEqual(['windfall.internal', '10.0.0.7'])
  expect(config.organizations).toEqual([
    {
      slug: 'acme',
      name: 'acme',
      sdk_auth: 'any',
      time_zone: 'Europe/Berlin',
      currency: 'EUR',
      publishable_key: 'pk_live_abcdefghijklmnopqrstuvwx',
      secret_key: null,
    },
  ])
  const none = { name: null, apple_id: null, team_id: null, android_package: null, sku: null }
  expect(config.apps).toEqual([
    { ...none, bundle_id: 'com.acme.notes', organization: 'acme', apple_id: 1_234_567_890 },
    {
      bundle_id: 'com.acme.paint',
      organization: 'acme',
      apple_id: 987,
      name: 'Paint',
      android_package: 'com.acme.paint_pro',
      sku: 'PAINT 1',
      team_id: 'A1B2C3D4E5',
    },
  ])
})

test('without declared organizations an app belongs to "default"', () => {
  const owners = (toml: string) => configured(toml).config.apps.map((app) => app.organization)
  expect(owners('[[apps]]\nbundle_id = "com.a"')).toEqual(['default'])
  expect(owners('[[apps]]\nbundle_id = "com.a"\norganization = "default"')).toEqual(['default'])
})

test('resolves relative paths against the folder of the config file', () => {
  const folder = openFolder()
  folder.write('etc/windfall.toml', '[store]\npath = "../var/w.db"')
  expect(folder.load({}, 'etc/windfall.toml').config.store.path).toBe(join(folder.path, 'var/w.db'))
  expect(folder.load({ WINDFALL_STORE_PATH: 'w.db' }, 'etc/windfall.toml').config.store.path).toBe(
    join(folder.path, 'etc/w.db'),
  )
  expect(folder.load({ WINDFALL_STORE_PATH: 'w.db' }).config.store.path).toBe(join(folder.path, 'w.db'))
  expect(folder.load({ WINDFALL_STORE_PATH: '/w.db' }).config.store.path).toBe('/w.db')
})

test('reads the file of --config, then of WINDFALL_CONFIG, then config.toml', () => {
  const folder = openFolder()
  const usual = folder.write('config.toml', '[server]\nport = 1')
  const named = folder.write('named.toml', '[server]\nport = 2')
  const chosen = folder.write('asked.toml', '[server]\nport = 3')
  const env = { WINDFALL_CONFIG: 'named.toml' }
  expect(folder.load()).toMatchObject({ file: usual, config: { server: { port: 1 } } })
  expect(folder.load(env)).toMatchObject({ file: named, config: { server: { port: 2 } } })
  expect(folder.load(env, 'asked.toml')).toMatchObject({ file: chosen, config: { server: { port: 3 } } })
})

test('records the source and the place of each value', () => {
  const folder = openFolder()
  const key = folder.write('key', `sk_live_${'k'.repeat(24)}\n`)
  folder.write(
    'config.toml',
    '[server]\nport = 1\nhost = "localhost"\n[[organizations]]\nslug = "acme"\nsecret_key_file = "key"\n',
  )
  const { sourceKindByPath, locationByPath } = folder.load({
    WINDFALL_SERVER_PORT: '2',
    WINDFALL_APPS: '[{bundle_id="com.a"}]',
  })
  const about = (path: string) => [sourceKindByPath.get(path), locationByPath.get(path)]
  expect(about('server.host')).toEqual(['file', 'config.toml:3'])
  expect(about('server.port')).toEqual(['environment', 'WINDFALL_SERVER_PORT'])
  expect(about('server.hosts')).toEqual(['default', undefined])
  expect(about('organizations[0].slug')).toEqual(['file', 'config.toml:5'])
  expect(about('organizations[0].name')).toEqual(['default', undefined])
  expect(about('organizations[0].secret_key')).toEqual(['secret file', key])
  expect(about('apps[0].bundle_id')).toEqual(['environment', 'WINDFALL_APPS'])
  expect(about('apps[0].sku')).toEqual(['default', undefined])
})

test('freezes the configuration', () => {
  const { config } = configured('[[apps]]\nbundle_id = "com.a"')
  for (const part of [config, config.server, config.server.hosts, config.apps, config.apps[0]]) {
    expect(Object.isFrozen(part)).toBe(true)
  }
})

test.each([
  ['', 'http://127.0.0.1:8787'],
  ['host = "0.0.0.0"', 'http://127.0.0.1:8787'],
  ['host = "::"', 'http://[::1]:8787'],
  ['host = "fd00::7"', 'http://[fd00::7]:8787'],
  ['host = "localhost"', 'http://localhost:8787'],
  ['host = "10.0.0.7"\nport = 80', 'http://10.0.0.7'],
])('with [server] %j Windfall is reached at %s', (server, base_url) => {
  expect(configured(`[server]\n${server}`).config.base_url).toBe(base_url)
})

test('derives the base URL from the actual port if the configured port is 0', () => {
  const { config } = configured('[server]\nport = 0')
  expect(config.base_url).toBe('http://127.0.0.1:0')
  expect(withPort(config, 54_321)).toEqual({ ...config, base_url: 'http://127.0.0.1:54321' })
  const written = configured('base_url = "https://w.example"\n[server]\nport = 0').config
  expect(withPort(written, 54_321)).toEqual(written)
})

test.each([
  ['utc', 'UTC'],
  ['europe/berlin', 'Europe/Berlin'],
  ['America/Port-au-prince', 'America/Port-au-Prince'],
  // Intl has an older name of this zone.
  ['Asia/Kolkata', 'Asia/Kolkata'],
])('the time zone %s is %s', (written, read) => {
  const folder = openFolder()
  folder.write('config.toml', `[[organizations]]\nslug = "acme"\ntime_zone = "${written}"`)
  expect(folder.load().config.organizations[0]?.time_zone).toBe(read)
})
