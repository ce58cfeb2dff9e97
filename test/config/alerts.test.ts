/** Alerts in config.toml: the heartbeat, channels and rules. */
import { expect, test } from 'vitest'
import { loadWithTypes } from '../../src/cli/instance/load.ts'
import { ConfigError, issueLine } from '../../src/config/checks/issues.ts'
import { effectiveSettings } from '../../src/config/effective_settings.ts'
import { complaintsOf, openFolder } from './folder.ts'

/** Every issue that `windfall check` shows. */
function issuesOf(toml: string, files: Record<string, string> = {}): string[] {
  const folder = openFolder()
  for (const [name, text] of Object.entries(files)) folder.write(name, text)
  folder.write('config.toml', toml)
  try {
    loadWithTypes({ env: {}, cwd: folder.path })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.issues.map(issueLine).map((line) => line.replaceAll(folder.path, '/etc/windfall'))
  }
}

const TELEGRAM = `[[alert_channels]]
name = "phone"
kind = "telegram"
settings = { chat_id = "42" }
`

test('reads channels with the secrets of their files, and rules', () => {
  const folder = openFolder()
  folder.write('keys/phone.toml', 'token = "123:abcdefghijklmnopqrstuvwxyz"\n')
  folder.write('keys/heartbeat', 'https://hc-ping.example.com/1234\n')
  folder.write(
    'config.toml',
    `[alerts]\nheartbeat_url_file = "keys/heartbeat"\n${TELEGRAM}secrets_file = "keys/phone.toml"\n[[alert_rules]]\nname = "Sales"\ntemplate = "sale"`,
  )
  const loaded = loadWithTypes({ env: {}, cwd: folder.path })
  const { alerts, alert_channels, alert_rules } = loaded.config
  expect(alerts).toMatchObject({ contact: null, heartbeat_url: 'https://hc-ping.example.com/1234' })
  expect(alert_channels).toEqual([
    {
      name: 'phone',
      organization: 'default',
      kind: 'telegram',
      settings: { chat_id: '42' },
      secrets: { token: '123:abcdefghijklmnopqrstuvwxyz' },
      hides_amounts: false,
      digests: [],
    },
  ])
  expect(alert_rules).toEqual([
    { name: 'Sales', organization: 'default', template: 'sale', settings: {}, channels: null, on: true },
  ])
  const shown = JSON.stringify(effectiveSettings(loaded.config, loaded))
  expect(shown).not.toContain('123:abc')
  expect(shown).not.toContain('hc-ping')
})

test('refuses what the kind or the template does not accept, and quotes no secret', () => {
  expect(issuesOf(`${TELEGRAM}secrets = { token = "hunter2" }`)).toEqual([
    'config.toml:5  alert_channels[0].secrets.token  must be a bot token such as 123456:ABC…. docs/alerts.md lists the fields.',
  ])
  expect(issuesOf(`${TELEGRAM.replace('{ chat', '{ chat = 1, chat')}`)[0]).toContain(
    'alert_channels[0].settings.chat  is not one of its fields',
  )
  const mail = (to: string, more = '') =>
    `[[alert_channels]]\nname = "mail"\nkind = "email"\nsettings = { host = "mail.example.com", from = "a@example.com", to = ${to}${more} }`
  const several = 'must be an e-mail address, or several in one text, separated by commas'
  const to = 'config.toml:4  alert_channels[0].settings.to '
  expect(issuesOf(mail('["a@example.com", "b@example.com"]'))).toEqual([
    `${to} ${several}. docs/alerts.md lists the fields.`,
  ])
  expect(issuesOf(mail('"a@example.com, b"'))).toEqual([
    `${to} ${several}: "b" is not one. docs/alerts.md lists the fields.`,
  ])
  expect(issuesOf(mail('"b"'))).toEqual([`${to} ${several}. docs/alerts.md lists the fields.`])
  for (const [field, problem] of [
    ['port = "25"', 'port  must be a number'],
    ['port = 2.5', 'port  must be a whole number'],
    ['port = 70000', 'port  must be at most 65535'],
    ['security = "ssl"', 'security  must be "starttls" or "tls"'],
    [
      'securty = "tls"',
      'securty  is not one of its fields. Did you mean security? The fields are host, port',
    ],
    [
      'colour = 1',
      'colour  is not one of its fields. Remove it. The fields are host, port, security, from, to, user.',
    ],
  ] as const)
    expect(issuesOf(mail('"a@example.com"', `, ${field}`))).toEqual([
      expect.stringContaining(`alert_channels[0].settings.${problem}`),
    ])
  expect(issuesOf('[[alert_channels]]\nname = "a"\nkind = "telegramm"')).toEqual([
    'config.toml:3  alert_channels[0].kind  "telegramm" is not known. Did you mean "telegram"?',
  ])
  expect(issuesOf('[[alert_channels]]\nname = "a"\nkind = "web_push"')[0]).toContain(
    '"web_push" is not known',
  )
  const json = `[[alert_channels]]
name = "push"
kind = "json"
settings = { url = "https://push.example.com", template = '{"key": "{{token}}"}' }
`
  expect(issuesOf(json)).toEqual([
    expect.stringContaining(
      'alert_channels[0].secrets.token  is required, because the template has {{token}}',
    ),
  ])
  expect(issuesOf(`${json}secrets = { token = "hunter2" }`)).toEqual([])
  expect(issuesOf(json.replace('https:', 'ftp:'))).toEqual([
    expect.stringContaining('alert_channels[0].settings.url  must be an address that begins with https://'),
  ])
  const rule = '[[alert_rules]]\nname = "a"\ntemplate = "sale"\n'
  expect(issuesOf(`${rule}settings = { per_hour = 0 }\nchannels = ["phone"]`)).toEqual([
    expect.stringContaining('config.toml:4  alert_rules[0].settings.per_hour'),
    'config.toml:5  alert_rules[0].channels[0]  "phone" is not known. Add [[alert_channels]].',
  ])
  expect(issuesOf(rule.replace('"sale"', '"sales"'))).toEqual([
    'config.toml:3  alert_rules[0].template  "sales" is not known. Did you mean "sale"?',
  ])
})

test('refuses names twice, unknown organizations and broken secret files', () => {
  const channel = (name: string) => `[[alert_channels]]\nname = "${name}"\nkind = "ntfy"\n`
  expect(complaintsOf(`${channel('a')}${channel('a')}`)).toEqual([
    'config.toml:5  alert_channels[1].name  is the same as alert_channels[0].name in line 2. A name identifies one channel: write another name.',
  ])
  expect(complaintsOf(`${channel('a')}organization = "acme"`)).toEqual([
    'config.toml:4  alert_channels[0].organization  "acme" is not declared. Add [[organizations]] with slug = "acme", or leave organization out.',
  ])
  expect(issuesOf(`${channel('a')}secrets_file = "key"`, { key: 'just a token' })).toEqual([
    'config.toml:4  alert_channels[0].secrets_file  /etc/windfall/key is not valid TOML. Write secrets such as token = "…" into it.',
  ])
})
