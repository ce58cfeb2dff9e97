import { expect, test } from 'vitest'
import { complaintsOf, configured, openFolder } from '../folder.ts'

const KEY = 'a'.repeat(24)

test('refuses a headers timeout that is longer than the request timeout', () => {
  const advice = 'A request includes its headers: write a headers_timeout_seconds that is not longer.'
  expect(complaintsOf('[server]\nheaders_timeout_seconds = 11')).toEqual([
    `config.toml:2  server.headers_timeout_seconds  headers_timeout_seconds (11) is more than request_timeout_seconds (10). ${advice}`,
  ])
  expect(complaintsOf('[server]\nrequest_timeout_seconds = 4')).toEqual([
    `config.toml:2  server.request_timeout_seconds  headers_timeout_seconds (5) is more than request_timeout_seconds (4). ${advice}`,
  ])
  expect(complaintsOf('', { WINDFALL_SERVER_REQUEST_TIMEOUT_SECONDS: '4' })).toEqual([
    `WINDFALL_SERVER_REQUEST_TIMEOUT_SECONDS  server.request_timeout_seconds  headers_timeout_seconds (5) is more than request_timeout_seconds (4). ${advice}`,
  ])
  expect(complaintsOf('[server]\nheaders_timeout_seconds = 10')).toEqual([])
})

test('refuses a command that copies backups without naming them, or without encryption', () => {
  const recipients = 'recipients = ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]'
  const complaints = (command: string, more = '') => complaintsOf(`[backup]\ncommand = ${command}\n${more}`)
  expect(complaints('["scp", "{file}", "there:"]', recipients)).toEqual([])
  expect(complaints('[]')).toEqual([])
  expect(complaints('["scp", "{file}", "there:"]')).toEqual([
    'config.toml:2  backup.command  would copy backups that are not encrypted. A backup contains your keys: set recipients.',
  ])
  expect(complaints('["sync"]', recipients)).toEqual([
    'config.toml:2  backup.command  does not name the backup. Write {file} where the program takes its path.',
  ])
})

const RECIPIENTS = 'recipients = ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]'
const SECRET = 'secret_access_key = "s"'

test('refuses an upload of backups without encryption or a key, and beside a command', () => {
  const complaints = (...lines: string[]) =>
    complaintsOf(`[backup]\nto = "s3://bucket/windfall"\n${lines.join('\n')}`)
  expect(complaints(RECIPIENTS, 'access_key_id = "A"', SECRET)).toEqual([])
  expect(complaints('access_key_id = "A"', SECRET)).toEqual([
    'config.toml:2  backup.to  would upload backups that are not encrypted. A backup contains your keys: set recipients.',
  ])
  expect(complaints(RECIPIENTS, SECRET)).toEqual([
    'config.toml:2  backup.to  is set without access_key_id. Write the id of a key for the bucket.',
  ])
  expect(complaints(RECIPIENTS, 'access_key_id = "A"')).toEqual([
    'config.toml:2  backup.to  is set without secret_access_key. Write the path of a file with the secret as secret_access_key_file.',
  ])
  expect(complaints(RECIPIENTS, 'access_key_id = "A"', SECRET, 'command = ["scp", "{file}"]')).toEqual([
    'config.toml:2  backup.to  is set together with command. Keep one of the two.',
  ])
  expect(complaintsOf(`[backup]\naccess_key_id = "A"\n${SECRET}`)).toEqual([])
})

test('refuses a secret of a bucket in a config file that other users can read', () => {
  const folder = openFolder()
  folder.write('config.toml', `[backup]\n${SECRET}`, 0o640)
  expect(folder.issues()).toEqual([])
  folder.write('config.toml', `[backup]\n${SECRET}`, 0o644)
  expect(folder.issues()).toEqual([
    'config.toml:2  backup.secret_access_key  is in a file that other users of the machine can read. Put the secret into a file of its own, chmod 600, and write its path as secret_access_key_file.',
  ])
})

test.each([
  ['to', 'http://bucket/x', 'does not begin with s3://'],
  ['to', 's3://', 'does not name a bucket'],
  ['to', 's3://b', 'does not name a bucket'],
  ['to', 's3://KEY:SECRET@bucket/x', 'has a key in it'],
  ['to', 's3://bucket/a b', 'has a path with other characters'],
  ['to', 's3://bucket/a//b', 'has a path with an empty part'],
  ['to', 's3://bucket/../b', 'has a path with an empty part, . or ..'],
  ['to', `s3://bucket/${'a'.repeat(801)}`, 'more than 800 characters'],
  ['endpoint', 's3.example.com', 'does not begin with https://'],
  ['endpoint', 'https://user:pass@s3.example.com', 'contains a user name'],
  ['endpoint', 'https://s3.example.com/?x', 'has a query'],
  ['region', 'eu central', 'is not the name of a region'],
  ['access_key_id', 'A/B', 'is not the id of an access key'],
])('refuses %s = %j of a bucket', (key, value, problem) => {
  const [complaint = ''] = complaintsOf(`[backup]\n${key} = ${JSON.stringify(value)}`)
  expect(complaint).toContain(`config.toml:2  backup.${key}`)
  expect(complaint).toContain(problem)
})

test('refuses a duplicate slug', () => {
  expect(
    complaintsOf(
      '[[organizations]]\nslug = "a"\n[[organizations]]\nslug = "b"\n[[organizations]]\nslug = "a"',
    ),
  ).toEqual([
    'config.toml:6  organizations[2].slug  is the same as organizations[0].slug in line 2. Write another slug, or keep one of the two.',
  ])
})

test.each(['publishable_key', 'secret_key'])('two organizations cannot share a %s', (name) => {
  const key = `${name === 'secret_key' ? 'sk' : 'pk'}_live_${KEY}`
  const toml = ['a', 'b'].map((slug) => `[[organizations]]\nslug = "${slug}"\n${name} = "${key}"`).join('\n')
  expect(complaintsOf(toml)).toEqual([
    `config.toml:6  organizations[1].${name}  is the same as organizations[0].${name} in line 3. A key identifies one organization: write a different key.`,
  ])
})

test('refuses a duplicate app within an organization', () => {
  const twice = 'An organization has an app once: remove one of the two.'
  expect(complaintsOf('[[apps]]\nbundle_id = "com.a"\n[[apps]]\nbundle_id = "com.a"')).toEqual([
    `config.toml:4  apps[1].bundle_id  is the same as apps[0].bundle_id in line 2. ${twice}`,
  ])
  expect(
    complaintsOf(
      '[[organizations]]\nslug = "a"\n[[apps]]\nbundle_id = "com.a"\norganization = "a"\n[[apps]]\nbundle_id = "com.a"',
    ),
  ).toEqual([`config.toml:7  apps[1].bundle_id  is the same as apps[0].bundle_id in line 4. ${twice}`])
  expect(
    complaintsOf(
      '[[apps]]\nbundle_id = "com.a"\nandroid_package = "com.x"\n[[apps]]\nbundle_id = "com.b"\nandroid_package = "com.x"',
    ),
  ).toEqual([
    `config.toml:6  apps[1].android_package  is the same as apps[0].android_package in line 3. ${twice}`,
  ])
  expect(complaintsOf('', { WINDFALL_APPS: '[{ bundle_id = "com.a" }, { bundle_id = "com.a" }]' })).toEqual([
    `WINDFALL_APPS  apps[1].bundle_id  is the same as apps[0].bundle_id. ${twice}`,
  ])
})

test('accepts the same app in two organizations', () => {
  const { config } = configured(
    '[[organizations]]\nslug = "a"\n[[organizations]]\nslug = "b"\n' +
      '[[apps]]\nbundle_id = "com.a"\norganization = "a"\n[[apps]]\nbundle_id = "com.a"\norganization = "b"',
  )
  expect(config.apps.map((app) => app.organization)).toEqual(['a', 'b'])
})

test('refuses an app of an undeclared organization', () => {
  const app = (organization: string) => `[[apps]]\nbundle_id = "com.a"\norganization = "${organization}"\n`
  const acme = '[[organizations]]\nslug = "acme"\n'
  const at = 'config.toml:3  apps[0].organization '
  expect(complaintsOf(app('acem') + acme)).toEqual([
    `${at} "acem" is not a declared organization. Did you mean "acme"?`,
  ])
  expect(complaintsOf(app('other') + acme)).toEqual([
    `${at} "other" is not a declared organization. Write organization = "acme"`,
  ])
  expect(complaintsOf(app('acme'))).toEqual([
    `${at} "acme" is not declared. Add [[organizations]] with slug = "acme", or leave organization out.`,
  ])
})

test('requires the organization of an app if there are several', () => {
  const toml = '[[organizations]]\nslug = "a"\n[[organizations]]\nslug = "b"\n[[apps]]\nbundle_id = "com.a"'
  expect(complaintsOf(toml)).toEqual([
    'config.toml:5  apps[0].organization  is missing, and 2 organizations are declared. Write organization = "a" or "b"',
  ])
})

test('does not report a duplicate if the organization is unknown', () => {
  const toml = '[[organizations]]\nslug = "a"\n[[organizations]]\nslug = "b"\n'
  const app = '[[apps]]\nbundle_id = "com.a"\n'
  expect(complaintsOf(toml + app + app).map((line) => line.split('  ')[1])).toEqual([
    'apps[0].organization',
    'apps[1].organization',
  ])
  const nameless = '[[organizations]]\nsdk_auth = "key"\n'
  expect(complaintsOf(nameless + app).map((line) => line.split('  ')[1])).toEqual(['organizations[0].slug'])
})

test('reports an invalid setting once', () => {
  const toml = `
    [server]
    headers_timeout_seconds = 5000
    [[organizations]]
    slug = "Not A Slug"
    sdk_auth = "key"
    [[apps]]
    bundle_id = 1
    organization = "Not A Slug"
    team_id = 5`
  expect(complaintsOf(toml).map((line) => line.split('  ')[1])).toEqual([
    'server.headers_timeout_seconds',
    'organizations[0].slug',
    'apps[0].bundle_id',
    'apps[0].organization',
    'apps[0].team_id',
  ])
})
