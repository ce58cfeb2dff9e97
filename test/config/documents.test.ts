import { expect, test } from 'vitest'
import { commentedConfig, settingsTable } from '../../src/config/documents.ts'
import { type Config, SECTIONS } from '../../src/config/settings.ts'
import { configured, openFolder } from './folder.ts'
import { keyFile, WEBHOOK_SECRET } from './keys.ts'

/** What does not depend on where the file is. */
const withoutPaths = (config: Config) => ({
  ...config,
  store: undefined,
  backup: { ...config.backup, folder: undefined },
})
const defaults = () => withoutPaths(openFolder().load().config)

/** The commented settings made valid: a # without a space after it stands before each. */
const uncommented = (text: string) => text.replaceAll(/^#(?=[^ ])/gm, '')

test('the unchanged commented file has no effect', () => {
  const { config, sourceKindByPath } = configured(commentedConfig())
  expect(withoutPaths(config)).toEqual(defaults())
  expect(new Set(sourceKindByPath.values())).toEqual(new Set(['default']))
})

test('every value in the commented file is the default or a valid example', () => {
  const secrets =
    /^(to|endpoint|access_key_id|secret_access_key|secret_access_key_file|ca_file|listen|publishable_key|secret_key|secret_key_file|connect_key|purchase_key|secrets|secrets_file|contact|heartbeat_url|heartbeat_url_file|token|token_file) =.*$/gm
  const folder = openFolder()
  folder.write('config.toml', uncommented(commentedConfig()).replaceAll(secrets, ''))
  for (const [name, pem] of [keyFile('AuthKey_2X9R4HXF34'), keyFile('SubscriptionKey_ABCDE12345')])
    folder.write(`keys/${name}`, pem)
  folder.write('keys/webhook_secret', WEBHOOK_SECRET)
  const { config, sourceKindByPath } = folder.load()
  const { organizations, accounts, apps, endpoints, alert_channels, alert_rules, store, ...rest } = config
  const lists = [organizations, accounts, apps, endpoints, alert_channels, alert_rules]
  const none = {
    organizations: [],
    accounts: [],
    apps: [],
    endpoints: [],
    alert_channels: [],
    alert_rules: [],
  }
  expect(withoutPaths({ ...rest, ...none, store })).toEqual(defaults())
  expect(lists.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1, 1])
  const unwritten = [...sourceKindByPath].filter(([, kind]) => kind === 'default').map(([path]) => path)
  const keys = ['organizations[0].publishable_key', 'organizations[0].secret_key']
  const bucket = ['to', 'endpoint', 'access_key_id', 'secret_access_key', 'secret_access_key_file']
  const metrics = ['metrics.token', 'metrics.token_file', 'metrics.listen']
  const alerts = ['alerts.contact', 'alerts.heartbeat_url', 'alerts.heartbeat_url_file']
  expect(unwritten).toEqual([
    ...bucket.map((key) => `backup.${key}`),
    'outbound.ca_file',
    'outbound.ca',
    ...alerts,
    ...metrics,
    ...keys,
    'alert_channels[0].secrets',
  ])
})

test('the example keys in the commented file are not valid keys', () => {
  const folder = openFolder()
  folder.write(
    'config.toml',
    uncommented(commentedConfig()).replaceAll(/^(\w+_key|ca|secrets?|token|heartbeat_url)_file.*$/gm, ''),
  )
  expect(folder.issues().map((line) => line.split('  ').slice(1, 3).join(' '))).toEqual([
    expect.stringContaining('backup.to would upload backups that are not encrypted'),
    expect.stringContaining('backup.secret_access_key the value has spaces'),
    expect.stringContaining('metrics.token the value is shorter than 16 characters'),
    expect.stringContaining('organizations[0].publishable_key "pk_live_…" is not a publishable key'),
    expect.stringContaining('organizations[0].secret_key the value is not a secret key'),
    expect.stringContaining('accounts[0].connect_key the value is not a complete private key'),
    expect.stringContaining('accounts[0].purchase_key the value is not a complete private key'),
    expect.stringContaining('endpoints[0].secrets[0] the value is not base64 after whsec_'),
  ])
})

test('a declared app leaves all other settings at their defaults', () => {
  const { config } = configured(commentedConfig('com.acme.notes'))
  expect(withoutPaths({ ...config, apps: [] })).toEqual(defaults())
  expect(config.apps).toMatchObject([{ bundle_id: 'com.acme.notes', organization: 'default', name: null }])
})

test('the table has a row with variable and description for every setting', () => {
  const table = settingsTable().split('\n').slice(2)
  const count = SECTIONS.reduce(
    (sum, { settings, list }) => sum + Object.keys(settings).length + (list ? 1 : 0),
    0,
  )
  expect(table).toHaveLength(count)
  for (const row of table) expect(row).toMatch(/^\| `[\w.[\]]+` \| [^|]+ \| `WINDFALL_\w+` \| [^|]+\. \|$/)
})

test('wraps the lines of the file', () => {
  for (const line of commentedConfig('com.acme.notes').split('\n'))
    expect(line.length).toBeLessThanOrEqual(100)
})
