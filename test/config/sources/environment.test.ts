import { expect, test } from 'vitest'
import { configured, openFolder } from '../folder.ts'

const configuredBy = (env: NodeJS.ProcessEnv) => openFolder().load(env).config
const complaintsOf = (env: NodeJS.ProcessEnv) => openFolder().issues(env)

test('a variable overrides the file', () => {
  const { config } = configured('[server]\nport = 1\nhost = "localhost"', { WINDFALL_SERVER_PORT: '2' })
  expect(config.server).toMatchObject({ port: 2, host: 'localhost' })
})

test('reads every kind of value from the environment', () => {
  const config = configuredBy({
    WINDFALL_BASE_URL: 'https://windfall.example.com',
    WINDFALL_SERVER_PORT: '0',
    WINDFALL_SERVER_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8',
    WINDFALL_SERVER_HOSTS: '["a.internal", "b.internal"]',
    WINDFALL_STORE_PATH: '/var/lib/windfall/windfall.db',
    WINDFALL_LOG_LEVEL: 'debug',
    WINDFALL_LIMITS_SDK_REQUESTS_PER_MINUTE: '1000',
    WINDFALL_APPLE_REVOCATION_CHECKS: 'true',
    WINDFALL_ORGANIZATIONS: '[{ slug = "acme", sdk_auth = "key" }, { slug = "zeta" }]',
    WINDFALL_APPS: '[{ bundle_id = "com.acme.notes", organization = "acme", apple_id = 123 }]',
    HOME: '/nowhere',
  })
  expect(config).toMatchObject({
    base_url: 'https://windfall.example.com',
    server: { port: 0, trusted_proxies: ['10.0.0.0/8', 'fd00::/8'], hosts: ['a.internal', 'b.internal'] },
    store: { path: '/var/lib/windfall/windfall.db' },
    log: { level: 'debug' },
    limits: { sdk_requests_per_minute: 1000 },
    apple: { revocation_checks: true },
    organizations: [{ slug: 'acme', sdk_auth: 'key' }, { slug: 'zeta' }],
    apps: [{ bundle_id: 'com.acme.notes', organization: 'acme', apple_id: 123 }],
  })
})

test('an empty variable makes a list empty', () => {
  expect(configuredBy({ WINDFALL_SERVER_TRUSTED_PROXIES: '' }).server.trusted_proxies).toEqual([])
  expect(configuredBy({ WINDFALL_SERVER_TRUSTED_PROXIES: '[]' }).server.trusted_proxies).toEqual([])
})

test('a variable changes one entry of a list or adds the next', () => {
  const { config } = configured('[[apps]]\nbundle_id = "com.a"\nsku = "A"\n[[apps]]\nbundle_id = "com.b"', {
    WINDFALL_APPS_0_SKU: 'Z',
    WINDFALL_APPS_1_APPLE_ID: '987',
    WINDFALL_APPS_2_BUNDLE_ID: 'com.c',
    WINDFALL_APPS_2_NAME: '77',
  })
  expect(config.apps).toMatchObject([
    { bundle_id: 'com.a', sku: 'Z' },
    { bundle_id: 'com.b', apple_id: 987 },
    { bundle_id: 'com.c', name: '77' },
  ])
})

test('a list variable replaces the whole list, and other variables change its entries', () => {
  const { config, locationByPath } = configured('[[apps]]\nbundle_id = "com.a"\nsku = "A"', {
    WINDFALL_APPS: '[{ bundle_id = "com.z" }]',
    WINDFALL_APPS_0_NAME: 'Z',
  })
  expect(locationByPath.get('apps[0].bundle_id')).toBe('WINDFALL_APPS')
  expect(locationByPath.get('apps[0].name')).toBe('WINDFALL_APPS_0_NAME')
  expect(config.apps).toMatchObject([{ bundle_id: 'com.z', name: 'Z', sku: null }])
})

test('orders more than ten entries by number', () => {
  const ids = Array.from({ length: 12 }, (_, index) => `com.app${index}`)
  const env = Object.fromEntries(ids.map((id, index) => [`WINDFALL_APPS_${index}_BUNDLE_ID`, id]))
  expect(configuredBy(env).apps.map((app) => app.bundle_id)).toEqual(ids)
})

test.each([
  ['WINDFALL_SERVER_PROT', '80', 'unknown variable. Did you mean WINDFALL_SERVER_PORT?'],
  ['WINDFALL_PORT', '80', 'unknown variable. Did you mean WINDFALL_SERVER_PORT?'],
  ['WINDFALL_SEVER_PORT', '80', 'unknown variable. Did you mean WINDFALL_SERVER_PORT?'],
  ['WINDFALL_CONFG', 'a.toml', 'unknown variable. Did you mean WINDFALL_CONFIG?'],
  ['WINDFALL_APP', '[]', 'unknown variable. Did you mean WINDFALL_APPS?'],
  ['WINDFALL_APPS_0_BUNDEL_ID', 'a', 'unknown variable. Did you mean WINDFALL_APPS_0_BUNDLE_ID?'],
  [
    'WINDFALL_APPS_0_FOO',
    'a',
    'unknown variable. Unset it; `windfall init` writes a file with every setting.',
  ],
  [
    'WINDFALL_APPS_00_SKU',
    'a',
    'unknown variable. Unset it; `windfall init` writes a file with every setting.',
  ],
  [
    'WINDFALL_XYZZYXYZZY',
    'a',
    'unknown variable. Unset it; `windfall init` writes a file with every setting.',
  ],
  ['WINDFALL_SERVER', '{}', 'unknown variable. Unset it; `windfall init` writes a file with every setting.'],
])('the variable %s is unknown', (name, value, words) => {
  expect(complaintsOf({ [name]: value })).toEqual([`${name}  ${words}`])
})

test.each([
  ['WINDFALL_SERVER_PORT', '', 'server.port  is empty. Unset it to use the default, or give it a value.'],
  [
    'WINDFALL_SERVER_PORT',
    '80a',
    'server.port  is the text "80a". Write a whole number from 0 to 65535, such as WINDFALL_SERVER_PORT=8787',
  ],
  [
    'WINDFALL_SERVER_PORT',
    '1e3',
    'server.port  is the text "1e3". Write a whole number from 0 to 65535, such as WINDFALL_SERVER_PORT=8787',
  ],
  [
    'WINDFALL_BASE_URL',
    'a.b',
    'base_url  "a.b" is not a URL. Write http:// or https:// and a host, without a path, such as WINDFALL_BASE_URL=http://127.0.0.1:8787',
  ],
  [
    'WINDFALL_APPLE_REVOCATION_CHECKS',
    '1',
    'apple.revocation_checks  is the text "1". Write true or false, such as WINDFALL_APPLE_REVOCATION_CHECKS=false',
  ],
  [
    'WINDFALL_SERVER_TRUSTED_PROXIES',
    '10.0.0.0/8,loopback',
    'server.trusted_proxies[1]  "loopback" is not an IP address or a CIDR range. Write a list of addresses and ranges in CIDR form, such as WINDFALL_SERVER_TRUSTED_PROXIES=127.0.0.0/8,::1/128',
  ],
  [
    'WINDFALL_SERVER_HOSTS',
    '["a.b"',
    'server.hosts  is not a valid TOML list. Separate items with commas, or write a TOML array: WINDFALL_SERVER_HOSTS=["a", "b"].',
  ],
  [
    'WINDFALL_APPS',
    'com.a',
    'apps  is not a valid TOML list. Write an array of inline tables: WINDFALL_APPS=[{ bundle_id = "com.example.app" }].',
  ],
  [
    'WINDFALL_ORGANIZATIONS',
    '[]\nserver = {}',
    'organizations  is not a valid TOML list. Write an array of inline tables: WINDFALL_ORGANIZATIONS=[{ slug = "acme" }].',
  ],
  [
    'WINDFALL_APPS',
    '[{ bundle_id = "com a" }]',
    'apps[0].bundle_id  "com a" is not a bundle id. Write letters, digits, dots and hyphens, such as bundle_id = "com.example.app"',
  ],
  [
    'WINDFALL_APPS',
    '[{ foo = 1, bundle_id = "a" }]',
    'apps[0].foo  unknown setting. [[apps]] has bundle_id, organization, name, apple_id, team_id, android_package, sku.',
  ],
  [
    'WINDFALL_APPS_1_SKU',
    'A',
    'apps[1].sku  there is no apps[0] before it. Entries are numbered from 0 without gaps: write WINDFALL_APPS_0_SKU.',
  ],
  [
    'WINDFALL_APPS_0_SKU',
    'A',
    'apps[0].bundle_id  is missing. Write letters, digits, dots and hyphens, such as WINDFALL_APPS_0_BUNDLE_ID=com.example.app',
  ],
])('of %s=%s it is said what to write', (name, value, words) => {
  expect(complaintsOf({ [name]: value })).toEqual([`${name}  ${words}`])
})

test('reports a section of the wrong shape in the file, not the variable for it', () => {
  const folder = openFolder()
  folder.write('config.toml', 'server = 1\napps = "none"')
  const issues = folder.issues({ WINDFALL_SERVER_PORT: '1', WINDFALL_APPS_0_SKU: 'A' })
  expect(issues.map((line) => line.split('  ').slice(0, 2))).toEqual([
    ['config.toml:1', 'server'],
    ['config.toml:2', 'apps'],
  ])
})
