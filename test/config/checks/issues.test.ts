import { expect, test } from 'vitest'
import { complaintsOf, openFolder } from '../folder.ts'

/** The settings of one organization or app, of which one is wrong. */
const organization = (line: string) => `[[organizations]]\nslug = "acme"\n${line}`
const app = (line: string) => `[[apps]]\nbundle_id = "com.a"\n${line}`

test.each([
  // Names that mean nothing.
  ['[server]\nprot = 80', 'config.toml:2  server.prot  unknown setting. Did you mean server.port?'],
  ['[server]\nPORT = 80', 'config.toml:2  server.PORT  unknown setting. Did you mean server.port?'],
  ['port = 80', 'config.toml:1  port  unknown setting. Did you mean server.port?'],
  ['server.prot = 80', 'config.toml:1  server.prot  unknown setting. Did you mean server.port?'],
  ['baseurl = "https://a.b"', 'config.toml:1  baseurl  unknown setting. Did you mean base_url?'],
  [
    '[log]\nbase_url = "https://a.b"',
    'config.toml:2  log.base_url  unknown setting. Did you mean base_url at the top of the file, before the first section?',
  ],
  ['bundle_id = "a"', 'config.toml:1  bundle_id  unknown setting. Did you mean bundle_id in [[apps]]?'],
  ['[sever]\nport = 80', 'config.toml:1  sever  unknown section. Did you mean [server]?'],
  ['[[app]]\nbundle_id = "a"', 'config.toml:1  app  unknown section. Did you mean [[apps]]?'],
  [
    '[webhooks]',
    'config.toml:1  webhooks  unknown section. The sections are [server], [store], [backup], [log], [sign_in], [limits], [users], [apple], [rates], [outbound], [forwarding], [alerts], [attest], [metrics], [jobs], [[organizations]], [[accounts]], [[apps]], [[endpoints]], [[alert_channels]], [[alert_rules]].',
  ],
  ['[store]\nxyzzy = 1', 'config.toml:2  store.xyzzy  unknown setting. [store] has path, native_dir.'],
  [
    'xyzzyxyzzy = 1',
    'config.toml:1  xyzzyxyzzy  unknown setting. The only setting at the top level is base_url; the others are in [server], [store], [backup], [log], [sign_in], [limits], [users], [apple], [rates], [outbound], [forwarding], [alerts], [attest], [metrics], [jobs], [[organizations]], [[accounts]], [[apps]], [[endpoints]], [[alert_channels]], [[alert_rules]].',
  ],
  [
    '__proto__ = 1',
    'config.toml:1  __proto__  unknown setting. The only setting at the top level is base_url; the others are in [server], [store], [backup], [log], [sign_in], [limits], [users], [apple], [rates], [outbound], [forwarding], [alerts], [attest], [metrics], [jobs], [[organizations]], [[accounts]], [[apps]], [[endpoints]], [[alert_channels]], [[alert_rules]].',
  ],
  [
    '[apple]\nconstructor = 1',
    'config.toml:2  apple.constructor  unknown setting. [apple] has revocation_checks, icons.',
  ],
  [
    app('bundel_id = 1'),
    'config.toml:3  apps[0].bundel_id  unknown setting. Did you mean apps[0].bundle_id?',
  ],
  [app('nmae = "a"'), 'config.toml:3  apps[0].nmae  unknown setting. Did you mean apps[0].name?'],
  [
    '"a b".c = 1',
    'config.toml:1  "a b"  unknown section. The sections are [server], [store], [backup], [log], [sign_in], [limits], [users], [apple], [rates], [outbound], [forwarding], [alerts], [attest], [metrics], [jobs], [[organizations]], [[accounts]], [[apps]], [[endpoints]], [[alert_channels]], [[alert_rules]].',
  ],

  // Sections of the wrong shape.
  [
    '[[server]]\nport = 80',
    'config.toml:1  server  is a list. Write [server] once, in single brackets, with its settings below it.',
  ],
  [
    'server = 80',
    'config.toml:1  server  is the number 80. Write [server] once, in single brackets, with its settings below it.',
  ],
  [
    'log = 2020-01-01',
    'config.toml:1  log  is a date. Write [log] once, in single brackets, with its settings below it.',
  ],
  [
    '[apps]\nbundle_id = "a"',
    'config.toml:1  apps  is a table. Write [[apps]], in double brackets, once for each entry, with its settings below it.',
  ],
  [
    'apps = [\n"com.a"]',
    'config.toml:2  apps[0]  is the text "com.a". Write [[apps]], in double brackets, once for each entry, with its settings below it.',
  ],

  // Values of the wrong type or out of range.
  [
    '[server]\nport = "80"',
    'config.toml:2  server.port  is the text "80". Write a whole number from 0 to 65535, such as port = 8787',
  ],
  [
    '[server]\nport = true',
    'config.toml:2  server.port  is the boolean true. Write a whole number from 0 to 65535, such as port = 8787',
  ],
  [
    '[server]\nport = nan',
    'config.toml:2  server.port  is the number NaN. Write a whole number from 0 to 65535, such as port = 8787',
  ],
  [
    '[server]\nport = inf',
    'config.toml:2  server.port  Infinity is not a whole number. Write a whole number from 0 to 65535, such as port = 8787',
  ],
  [
    '[server]\nport = 80.5',
    'config.toml:2  server.port  80.5 is not a whole number. Write a whole number from 0 to 65535, such as port = 8787',
  ],
  [
    '[server]\nport = -1',
    'config.toml:2  server.port  -1 is less than 0. Write a whole number from 0 to 65535, such as port = 8787',
  ],
  [
    '[server]\nport = 65_536',
    'config.toml:2  server.port  65536 is more than 65535. Write a whole number from 0 to 65535, such as port = 8787',
  ],
  [
    '[server]\nport.a = 1',
    'config.toml:2  server.port  is a table. Write a whole number from 0 to 65535, such as port = 8787',
  ],
  [
    '[server]\nhosts = "a.b"',
    'config.toml:2  server.hosts  is the text "a.b". Write a list of host names without scheme or port, such as hosts = ["windfall.internal"]',
  ],
  [
    '[server]\nhosts = ["a.b",\n 3]',
    'config.toml:3  server.hosts[1]  is the number 3. Write a list of host names without scheme or port, such as hosts = ["windfall.internal"]',
  ],
  [
    '[apple]\nrevocation_checks = "yes"',
    'config.toml:2  apple.revocation_checks  is the text "yes". Write true or false, such as revocation_checks = false',
  ],
  [
    '[log]\nlevel = "warning"',
    'config.toml:2  log.level  "warning" is not one of the choices, but "warn" is. Write debug, info, warn or error, such as level = "info"',
  ],
  [
    '[log]\nformat = "xml"',
    'config.toml:2  log.format  "xml" is not one of the choices. Write pretty, json or auto, such as format = "auto"',
  ],
  [
    '[log]\nlevel = 3',
    'config.toml:2  log.level  is the number 3. Write debug, info, warn or error, such as level = "info"',
  ],
  [
    '[store]\npath = ""',
    'config.toml:2  store.path  "" is empty. Write the path of a file, such as path = "./data/windfall.db"',
  ],
  [
    '[store]\npath = "data/"',
    'config.toml:2  store.path  "data/" is a folder, not a file. Write the path of a file, such as path = "./data/windfall.db"',
  ],
  [
    '[jobs]\n\nimport = "every hour"',
    'config.toml:3  jobs.import  "every hour" is not a cron pattern of five fields. Write a cron pattern of five fields, or "off", such as import = "13 * * * *"',
  ],
  [
    '[jobs]\nreconcile = "61 * * * *"',
    'config.toml:2  jobs.reconcile  "61 * * * *" is not a cron pattern. Write a cron pattern of five fields, or "off", such as reconcile = "*/15 * * * *"',
  ],
  [
    '[jobs]\nrates = "* * * * * *"',
    'config.toml:2  jobs.rates  "* * * * * *" is not a cron pattern of five fields. Write a cron pattern of five fields, or "off", such as rates = "25 5,17 * * *"',
  ],
  [
    '[jobs]\nrates = "0 0 31 2 *"',
    'config.toml:2  jobs.rates  "0 0 31 2 *" never matches a date. Write a cron pattern of five fields, or "off", such as rates = "25 5,17 * * *"',
  ],
  [
    '[jobs]\nlookups = false',
    'config.toml:2  jobs.lookups  is the boolean false. Write a cron pattern of five fields, or "off", such as lookups = "*/5 * * * *"',
  ],
  [
    '[jobs]\njitter_percent = 60',
    'config.toml:2  jobs.jitter_percent  60 is more than 50. Write a whole number from 0 to 50, such as jitter_percent = 5',
  ],
  [
    '[rates]\nfetch = "no"',
    'config.toml:2  rates.fetch  is the text "no". Write true or false, such as fetch = true',
  ],
])('of %j it is said: %s', (toml, complaint) => {
  expect(complaintsOf(toml)).toEqual([complaint])
})

test.each([
  ['0.0.0.0:80', false],
  ['http://a.b', false],
  ['[::1]', false],
  ['', false],
  ['a b', false],
  ['256.0.0.1', false],
  ['-a.b', false],
  [`${'a'.repeat(64)}.b`, false],
  [Array(128).fill('a').join('.'), false],
  ['::1', true],
  ['0.0.0.0', true],
  ['localhost', true],
  ['windfall_1.internal', true],
])('%j as a host is fine: %s', (host, is_fine) => {
  const text = JSON.stringify(host)
  const complaint = `config.toml:2  server.host  ${text} is not an IP address or a host name. Write an address or a host name, without a port, such as host = "127.0.0.1"`
  expect(complaintsOf(`[server]\nhost = ${text}`)).toEqual(is_fine ? [] : [complaint])
})

test.each([
  ['10.0.0.0/33', false],
  ['::/129', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['10.0.0/8', false],
  ['10.0.0.0/-8', false],
  ['fe80::1%eth0', false],
  ['localhost', false],
  ['10.0.0.0/8', true],
  ['10.0.0.7', true],
  ['fd00::/8', true],
  ['0.0.0.0/0', true],
])('%j as a trusted proxy is fine: %s', (range, is_fine) => {
  const complaint = `config.toml:2  server.trusted_proxies[0]  "${range}" is not an IP address or a CIDR range. Write a list of addresses and ranges in CIDR form, such as trusted_proxies = ["127.0.0.0/8", "::1/128"]`
  expect(complaintsOf(`[server]\ntrusted_proxies = ["${range}"]`)).toEqual(is_fine ? [] : [complaint])
})

test.each([
  ['windfall', '"windfall" is not a URL'],
  ['localhost:8787', '"localhost:8787" does not begin with http:// or https://'],
  ['ftp://a.b', '"ftp://a.b" does not begin with http:// or https://'],
  ['https://a.b/windfall', '"https://a.b/windfall" has a path; "https://a.b" does not'],
  ['https://a.b?x', '"https://a.b?x" has a query or fragment; "https://a.b" does not'],
  ['https://a.b/x#y', '"https://a.b/x#y" has a path and a query or fragment; "https://a.b" does not'],
  ['https://u:hunter2@a.b', 'the value has a user name or password; "https://a.b" does not'],
  ['http://a.b:0', '"http://a.b:0" has port 0, which no client can reach'],
])('%s cannot be the base URL', (base_url, problem) => {
  const advice =
    'Write http:// or https:// and a host, without a path, such as base_url = "http://127.0.0.1:8787"'
  expect(complaintsOf(`base_url = "${base_url}"`)).toEqual([`config.toml:1  base_url  ${problem}. ${advice}`])
})

test.each([
  [
    'slug = "Acme Inc"',
    '[[organizations]]\nslug = "Acme Inc"',
    'organizations[0].slug  "Acme Inc" is not a slug',
  ],
  ['no slug', '[[organizations]]\nname = "Acme"', 'organizations[0].slug  is missing'],
  ['an empty name', organization('name = " "'), 'organizations[0].name  " " is empty'],
  [
    'a name with a line break',
    organization('name = "a\\nb"'),
    'organizations[0].name  "a\\nb" contains a control character',
  ],
  ['a long name', organization(`name = "${'a'.repeat(201)}"`), ' is longer than 200 characters'],
  [
    'sdk_auth',
    organization('sdk_auth = "keys"'),
    'organizations[0].sdk_auth  "keys" is not one of the choices, but "key" is',
  ],
  [
    'a time zone',
    organization('time_zone = "Europe/Berln"'),
    '"Europe/Berln" is not a time zone, but "Europe/Berlin" is',
  ],
  ['an offset', organization('time_zone = "+02:00"'), '"+02:00" is not a time zone'],
  ['a currency', organization('currency = "eur"'), '"eur" is not a currency, but "EUR" is'],
  ['no currency', organization('currency = "XQX"'), '"XQX" is not a currency. Write an ISO 4217 code'],
  ['a short key', organization('publishable_key = "pk_live_abc"'), '"pk_live_abc" is not a publishable key'],
  ['a bundle id', '[[apps]]\nbundle_id = "com a"', 'apps[0].bundle_id  "com a" is not a bundle id'],
  [
    'no bundle id',
    '[[apps]]\nsku = "A"',
    'apps[0].bundle_id  is missing. Write letters, digits, dots and hyphens, such as bundle_id = "com.example.app"',
  ],
  [
    'an Apple id',
    app('apple_id = "12x"'),
    'apps[0].apple_id  is the text "12x". Write the digits of the Apple ID',
  ],
  ['a negative Apple id', app('apple_id = -1'), 'apps[0].apple_id  -1 is not an Apple id'],
  ['a team id', app('team_id = "a1b2c3d4e5"'), '"a1b2c3d4e5" is not a team id'],
  ['an Android package', app('android_package = "acme"'), '"acme" is not an Android application id'],
  [
    'a long Android package',
    app(`android_package = "com.${'a'.repeat(252)}"`),
    'is longer than 255 characters',
  ],
])('%s is complained of', (_, toml, words) => {
  const issues = complaintsOf(toml)
  expect(issues).toHaveLength(1)
  expect(issues[0]).toContain(words)
})

test('reports every issue, in the order of the file, then of the environment', () => {
  const issues = complaintsOf(
    `prot = 1
     [server]
     port = "80a"
     [sever]
     [[organizations]]
     slug = "acme"
     time_zone = "Berlin"
     [[organizations]]
     slug = "acme"
     [[apps]]
     organization = "acmee"`,
    { WINDFALL_LOG_LEVEL: 'loud', WINDFALL_PROT: '1' },
  )
  expect(issues.map((line) => line.split('  ').slice(0, 2))).toEqual([
    ['config.toml:1', 'prot'],
    ['config.toml:3', 'server.port'],
    ['config.toml:4', 'sever'],
    ['config.toml:7', 'organizations[0].time_zone'],
    ['config.toml:9', 'organizations[1].slug'],
    ['config.toml:10', 'apps[0].bundle_id'],
    ['config.toml:11', 'apps[0].organization'],
    ['WINDFALL_PROT', 'unknown variable. Did you mean WINDFALL_SERVER_PORT?'],
    ['WINDFALL_LOG_LEVEL', 'log.level'],
  ])
})

test('reports an unreadable file with the option or variable that named it', () => {
  const folder = openFolder()
  const file = `${folder.path}/a.toml`
  const advice = 'To create one with every setting: windfall init --path a.toml'
  expect(folder.issues({}, 'a.toml')).toEqual([`--config  ${file} does not exist. ${advice}`])
  expect(folder.issues({ WINDFALL_CONFIG: 'a.toml' })).toEqual([
    `WINDFALL_CONFIG  ${file} does not exist. ${advice}`,
  ])
  folder.write('a.toml/b', '')
  expect(folder.issues({}, file)).toEqual([`--config  ${file} is a folder. ${advice}`])
  expect(folder.issues({}, '/dev/null')).toEqual([
    '--config  /dev/null is not a regular file. To create one with every setting: windfall init --path /dev/null',
  ])
  folder.write('config.toml', Uint8Array.of(0xff, 0xfe))
  expect(folder.issues()).toEqual([
    `config.toml  ${folder.path}/config.toml is not UTF-8 text. To create one with every setting: windfall init --path config.toml`,
  ])
})

test('shows the absolute path of a file outside the working directory', () => {
  const [other, here] = [openFolder(), openFolder()]
  const file = other.write('config.toml', '[sever]')
  expect(here.issues({}, file)).toEqual([`${file}:1  sever  unknown section. Did you mean [server]?`])
})

test('reports unknown variables even if the file cannot be read', () => {
  expect(complaintsOf('[[apps', { WINDFALL_PROT: '1', WINDFALL_APPS_1_SKU: 'A' })).toEqual([
    expect.stringMatching(/^config\.toml:1 {2}is not valid TOML at column \d+: /),
    'WINDFALL_PROT  unknown variable. Did you mean WINDFALL_SERVER_PORT?',
  ])
})
