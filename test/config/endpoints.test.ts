/** Endpoints of webhooks in config.toml. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diffConfig } from '../../src/config/differences.ts'
import { effectiveSettings } from '../../src/config/effective_settings.ts'
import { backupSources } from '../../src/config/sources/backup_sources.ts'
import { complaintsOf, configured, openFolder } from './folder.ts'
import { WEBHOOK_SECRET, webhookSecret } from './keys.ts'

const URL_LINE = 'url = "https://backend.example.com/hooks"'
const SECRETS_LINE = `secrets = ["${WEBHOOK_SECRET}"]`
const endpoint = (...lines: string[]) => ['[[endpoints]]', 'name = "backend"', ...lines].join('\n')
const whole = (...lines: string[]) => endpoint(URL_LINE, SECRETS_LINE, ...lines)
/** The issues without the source and the index. */
const problemsOf = (toml: string) =>
  complaintsOf(toml).map((line) => line.replace(/^\S+ {2}endpoints\[0\]\./, '').replace(/\. .*/, ''))

test('an endpoint needs a name, a URL and a secret', () => {
  expect(configured(whole()).config.endpoints).toEqual([
    {
      name: 'backend',
      organization: 'default',
      url: 'https://backend.example.com/hooks',
      kind: 'events',
      apps: null,
      environment: null,
      types: null,
      ordered: false,
      max_per_second: null,
      headers: {},
      secrets: [WEBHOOK_SECRET],
    },
  ])
  expect(complaintsOf('[[endpoints]]')).toEqual([
    'config.toml:1  endpoints[0].name  is missing. Write 1 to 40 lowercase letters, digits, dots and hyphens, such as name = "backend"',
    'config.toml:1  endpoints[0].url  is missing. Write a URL without user name, password and fragment, such as url = "https://backend.example.com/webhooks"',
    'config.toml:1  endpoints[0].secrets  are missing. Write secret_file = "keys/webhook_secret", a file with whsec_ followed by 24 to 64 bytes in base64.',
  ])
})

test('reads every setting, and header names become lowercase', () => {
  const toml = whole(
    'apps = ["com.example.app"]',
    'environment = "sandbox"',
    'types = ["subscription.started"]',
    'ordered = true',
    'max_per_second = 5',
    '[endpoints.headers]',
    'Authorization = "Bearer hunter2"',
    'x-tenant = "7"',
  )
  expect(configured(toml).config.endpoints).toMatchObject([
    {
      apps: ['com.example.app'],
      environment: 'sandbox',
      types: ['subscription.started'],
      ordered: true,
      max_per_second: 5,
      headers: { authorization: 'Bearer hunter2', 'x-tenant': '7' },
    },
  ])
  const apple = endpoint(URL_LINE, SECRETS_LINE, 'kind = "apple"', 'environment = "production"')
  expect(configured(apple).config.endpoints).toMatchObject([{ kind: 'apple', environment: 'production' }])
})

test('reads one to three secrets from a file, one on each line, and a backup contains the file', () => {
  const folder = openFolder()
  const [newest, older] = [webhookSecret(24), webhookSecret(64)]
  folder.write('etc/config.toml', endpoint(URL_LINE, 'secret_file = "keys/hooks"'))
  const file = folder.write('etc/keys/hooks', `${newest}\r\n\n  ${older}\n`)
  const loaded = folder.load({}, 'etc/config.toml')
  expect(loaded.config.endpoints).toMatchObject([{ secrets: [newest, older] }])
  expect(loaded.config.endpoints[0]).not.toHaveProperty('secret_file')
  expect(backupSources(loaded).files).toEqual([{ path: 'keys/hooks', source: file }])
})

test('reports an unreadable secret file at its setting, and an invalid secret with the name of its file', () => {
  const folder = openFolder()
  const path = join(folder.path, 'hooks')
  folder.write('config.toml', endpoint(URL_LINE, 'secret_file = "hooks"'))
  expect(folder.issues()).toEqual([
    `config.toml:4  endpoints[0].secret_file  ${path} does not exist. Write the path of a file that contains only the secrets.`,
  ])
  folder.write('hooks', WEBHOOK_SECRET, 0o640)
  expect(folder.issues()).toEqual([
    `config.toml:4  endpoints[0].secret_file  ${path} is accessible to other users (mode 0640). Run: chmod 600 ${path}`,
  ])
  folder.write('hooks', `${WEBHOOK_SECRET}\nhunter2\n`)
  expect(folder.issues()).toEqual([
    `${path}  endpoints[0].secrets[1]  the value does not begin with whsec_. Write a list of secrets: whsec_ followed by 24 to 64 bytes in base64, such as secrets = ["whsec_…"]`,
  ])
})

test('the secrets are set once', () => {
  expect(complaintsOf(whole('secret_file = "hooks"'))).toEqual([
    'config.toml:5  endpoints[0].secret_file  is set together with secrets. Keep one of the two, preferably secret_file.',
  ])
  expect(complaintsOf(endpoint(URL_LINE, 'secrets = []'))).toEqual([
    'config.toml:4  endpoints[0].secrets  are empty. Write secret_file = "keys/webhook_secret", a file with whsec_ followed by 24 to 64 bytes in base64.',
  ])
  expect(complaintsOf(endpoint(URL_LINE, `secret_file = "${WEBHOOK_SECRET}"`))).toEqual([
    'config.toml:4  endpoints[0].secret_file  is a key, not the path of a file. Write the key as secrets, or put it into a file and write the path here.',
  ])
})

test.each([
  ['hunter2', 'secrets[0]  the value does not begin with whsec_'],
  ['whsec_hunter2!', 'secrets[0]  the value is not base64 after whsec_'],
  [webhookSecret(23), 'secrets[0]  the value does not have 24 to 64 bytes in base64'],
  [webhookSecret(65), 'secrets[0]  the value does not have 24 to 64 bytes in base64'],
  [webhookSecret(25).replace(/=+$/, ''), 'secrets[0]  the value is not base64 after whsec_'],
])('refuses the secret %s without showing it', (secret, problem) => {
  const toml = endpoint(URL_LINE, `secrets = ["${secret}"]`)
  expect(problemsOf(toml)).toEqual([problem])
  expect(complaintsOf(toml).join()).not.toContain(secret)
})

test('refuses a fourth secret', () => {
  const four = [1, 2, 3, 4].map(() => webhookSecret())
  expect(problemsOf(endpoint(URL_LINE, `secrets = ${JSON.stringify(four)}`))).toEqual([
    'secrets  the value has more than 3 secrets',
  ])
})

test.each([
  ['https://user:hunter2@backend.example.com', 'contains a user name or a password'],
  ['https://backend.example.com/#top', 'has a fragment (#)'],
  ['ftp://backend.example.com', 'does not begin with https://'],
  ['backend.example.com/hooks', 'does not begin with https://'],
  ['https://', 'has no host'],
])('refuses the URL %s', (url, problem) => {
  const issues = complaintsOf(endpoint(`url = "${url}"`, SECRETS_LINE))
  expect(issues).toEqual([expect.stringContaining(problem)])
  expect(issues[0]).not.toContain('hunter2')
})

test.each([
  ['"x y"', 'x y', 'has a name that is not a header name'],
  ['Host', 'Host', 'is a header that Windfall or HTTP sets'],
  ['content-type', 'content-type', 'is a header that Windfall or HTTP sets'],
  ['Webhook-Id', 'Webhook-Id', 'is a header that Windfall or HTTP sets'],
  ['windfall-attempt', 'windfall-attempt', 'is a header that Windfall or HTTP sets'],
  ['transfer-encoding', 'transfer-encoding', 'is a header that Windfall or HTTP sets'],
  ['proxy-authorization', 'proxy-authorization', 'is a header that Windfall or HTTP sets'],
])('refuses the header %s', (name, key, problem) => {
  const path = key.includes(' ') ? `headers["${key}"]` : `headers.${key}`
  const issues = complaintsOf(whole(`headers = { ${name} = "hunter2" }`))
  expect(issues).toEqual([expect.stringContaining(`the value ${problem}. `)])
  expect(issues[0]).toContain(key.includes(' ') ? 'headers' : path)
  expect(issues[0]).not.toContain('hunter2')
})

test('reports every header that is invalid', () => {
  const eleven = Array.from({ length: 11 }, (_, index) => `x-${index} = "1"`).join(', ')
  expect(problemsOf(whole(`headers = { ${eleven} }`))).toEqual([
    'headers  the value has more than 10 headers',
  ])
  expect(problemsOf(whole('headers = { host = "a", x-a = "b\\nhunter2", X-B = "1", x-b = "" }'))).toEqual([
    'headers.host  the value is a header that Windfall or HTTP sets',
    'headers.x-a  the value is not 1 to 4,096 visible ASCII characters',
    'headers.x-b  the value is a header that is there twice',
  ])
  expect(problemsOf(whole('headers = { x-a = 1 }'))).toEqual(['headers.x-a  is a number'])
  expect(problemsOf(whole('headers = "x-a: hunter2"'))).toEqual(['headers  is a text'])
})

test.each([
  ['name = "Back end"', '"Back end" is not a name of 1 to 40'],
  ['environment = "sandbx"', '"sandbx" is not one of the choices, but "sandbox" is'],
  ['kind = "all"', '"all" is not one of the choices'],
  ['types = []', 'is empty: leave it out for the default'],
  ['apps = ["com example"]', '"com example" is not a bundle id'],
  ['types = ["everything"]', '"everything" is not an event type'],
  ['ordered = "yes"', 'is the text "yes"'],
  ['max_per_second = 0', 'is less than 1'],
  ['max_per_second = 1001', 'is more than 1000'],
  ['max_per_second = 0.5', 'is not a whole number'],
])('refuses %s', (line, problem) => {
  const name = line.startsWith('name') ? '' : 'name = "backend"'
  expect(complaintsOf(['[[endpoints]]', name, URL_LINE, SECRETS_LINE, line].join('\n'))).toEqual([
    expect.stringContaining(problem),
  ])
})

test('an endpoint for Apple’s notifications has neither event types nor an order', () => {
  expect(problemsOf(whole('kind = "apple"', 'types = ["trial.started"]', 'ordered = true'))).toEqual([
    'types  are set, but an endpoint of this kind has no event types',
    "ordered  is true, but Apple's notifications have no order",
  ])
})

test('a name is unique in its organization', () => {
  const two = '[[organizations]]\nslug = "a"\n[[organizations]]\nslug = "b"\n'
  const inA = whole('organization = "a"')
  expect(complaintsOf(`${two}${inA}\n${whole('organization = "b"')}`)).toEqual([])
  expect(complaintsOf(`${two}${inA}\n${inA}`)).toEqual([
    'config.toml:11  endpoints[1].name  is the same as endpoints[0].name in line 6. A name identifies one endpoint: write another name.',
  ])
  expect(problemsOf(two + whole())).toEqual(['organization  is missing, and 2 organizations are declared'])
})

test('reads an endpoint from variables', () => {
  const env = {
    WINDFALL_ENDPOINTS_0_NAME: 'backend',
    WINDFALL_ENDPOINTS_0_URL: 'https://backend.example.com',
    WINDFALL_ENDPOINTS_0_SECRETS: `${WEBHOOK_SECRET},${WEBHOOK_SECRET}`,
    WINDFALL_ENDPOINTS_0_TYPES: 'trial.started, trial.ended',
    WINDFALL_ENDPOINTS_0_HEADERS: '{ authorization = "Bearer hunter2" }',
    WINDFALL_FORWARDING_KEEP_MB: '64',
  }
  const { config } = openFolder().load(env)
  expect(config.endpoints).toMatchObject([
    {
      secrets: [WEBHOOK_SECRET, WEBHOOK_SECRET],
      types: ['trial.started', 'trial.ended'],
      headers: { authorization: 'Bearer hunter2' },
    },
  ])
  expect(config.forwarding).toEqual({ keep_mb: 64 })
  const issues = openFolder().issues({ ...env, WINDFALL_ENDPOINTS_0_HEADERS: 'authorization: hunter2' })
  expect(issues).toEqual([
    `WINDFALL_ENDPOINTS_0_HEADERS  endpoints[0].headers  is a text. Write a table of header names and values, such as WINDFALL_ENDPOINTS_0_HEADERS='{ authorization = "Bearer 123" }'`,
  ])
})

test('a variable for the secrets replaces the file that config.toml names', () => {
  const toml = endpoint(URL_LINE, 'secret_file = "nowhere"')
  const { config } = configured(toml, { WINDFALL_ENDPOINTS_0_SECRETS: WEBHOOK_SECRET })
  expect(config.endpoints).toMatchObject([{ secrets: [WEBHOOK_SECRET] }])
})

test('the settings in effect show neither secrets nor headers', () => {
  const loaded = configured(whole('headers = { authorization = "Bearer hunter2" }'))
  const section = effectiveSettings(loaded.config, loaded).find(({ name }) => name === 'endpoints')
  const byKey = Object.fromEntries(section?.settings.map((setting) => [setting.key, setting]) ?? [])
  expect(byKey.headers).toMatchObject({ value: null, is_secret: true, is_set: true, place: 'config.toml:5' })
  expect(byKey.secrets).toMatchObject({ value: null, is_secret: true, is_set: true, place: 'config.toml:4' })
  expect(JSON.stringify(section)).not.toMatch(/hunter2|whsec_[A-Za-z0-9]/)
  const bare = configured(whole())
  const headers = effectiveSettings(bare.config, bare)
    .flatMap(({ settings }) => settings)
    .find(({ path }) => path === 'endpoints[0].headers')
  expect(headers).toMatchObject({ is_set: false, source: 'default' })
})

test('a reload applies endpoints and retention', () => {
  const before = configured('').config
  const after = configured(`${whole()}\n[forwarding]\nkeep_mb = 16`).config
  expect(diffConfig(before, { ...after, store: before.store, backup: before.backup })).toEqual({
    reloadable: ['forwarding.keep_mb', 'endpoints'],
    restart: [],
  })
})
