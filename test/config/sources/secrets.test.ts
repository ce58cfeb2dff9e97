import { join } from 'node:path'
import { expect, test } from 'vitest'
import { complaintsOf, openFolder } from '../folder.ts'

const KEY = `sk_live_${'k'.repeat(24)}`
const OTHER = `sk_live_${'o'.repeat(24)}`
const declared = (...lines: string[]) => ['[[organizations]]', 'slug = "acme"', ...lines].join('\n')
const secretOf = (folder: ReturnType<typeof openFolder>, env: NodeJS.ProcessEnv = {}, config?: string) =>
  folder.load(env, config).config.organizations[0]?.secret_key

test('reads a secret from its file and trims white space', () => {
  const folder = openFolder()
  folder.write('etc/config.toml', declared('secret_key_file = "keys/acme"'))
  folder.write('etc/keys/acme', `\n ${KEY}\r\n`)
  expect(secretOf(folder, {}, 'etc/config.toml')).toBe(KEY)
  const { config } = folder.load({}, 'etc/config.toml')
  expect(Object.keys(config.organizations[0] ?? {})).not.toContain('secret_key_file')
})

test('a secret or its file in the environment overrides both in the file', () => {
  const folder = openFolder()
  folder.write('key', KEY)
  folder.write('config.toml', declared(`secret_key = "${OTHER}"`))
  expect(secretOf(folder)).toBe(OTHER)
  expect(secretOf(folder, { WINDFALL_ORGANIZATIONS_0_SECRET_KEY_FILE: 'key' })).toBe(KEY)
  folder.write('config.toml', declared('secret_key_file = "missing"'))
  expect(secretOf(folder, { WINDFALL_ORGANIZATIONS_0_SECRET_KEY: OTHER })).toBe(OTHER)
  expect(
    secretOf(folder, { WINDFALL_ORGANIZATIONS: `[{ slug = "a", secret_key_file = "${folder.path}/key" }]` }),
  ).toBe(KEY)
})

test('refuses a secret together with its file', () => {
  const folder = openFolder()
  folder.write('key', KEY)
  folder.write('config.toml', declared(`secret_key = "${OTHER}"`, 'secret_key_file = "key"'))
  const words =
    'organizations[0].secret_key_file  is set together with secret_key. Keep one of the two, preferably secret_key_file.'
  expect(folder.issues()).toEqual([`config.toml:4  ${words}`])
  folder.write('config.toml', declared())
  expect(
    folder.issues({
      WINDFALL_ORGANIZATIONS_0_SECRET_KEY: OTHER,
      WINDFALL_ORGANIZATIONS_0_SECRET_KEY_FILE: 'key',
    }),
  ).toEqual([`WINDFALL_ORGANIZATIONS_0_SECRET_KEY_FILE  ${words}`])
  expect(
    folder.issues({
      WINDFALL_ORGANIZATIONS: `[{ slug = "a", secret_key = "${OTHER}", secret_key_file = "key" }]`,
    }),
  ).toEqual([`WINDFALL_ORGANIZATIONS  ${words}`])
})

test('reports a secret file that is missing, empty or a folder', () => {
  const folder = openFolder()
  const at = (name: string) => join(folder.path, name)
  folder.write('empty', ' \n')
  folder.write('dir/file', '')
  folder.write('latin1', Uint8Array.of(0xff))
  const issues = (file: string) => {
    folder.write('config.toml', declared(`secret_key_file = "${file}"`))
    return folder.issues()
  }
  const start = 'config.toml:3  organizations[0].secret_key_file  '
  const advice = 'Write the path of a file that contains only the secret_key.'
  expect(issues('missing')).toEqual([`${start}${at('missing')} does not exist. ${advice}`])
  expect(issues('empty/under')).toEqual([`${start}${at('empty/under')} does not exist. ${advice}`])
  expect(issues('dir')).toEqual([`${start}${at('dir')} is a folder. ${advice}`])
  expect(issues('latin1')).toEqual([`${start}${at('latin1')} is not UTF-8 text. ${advice}`])
  expect(issues('empty')).toEqual([`${start}${at('empty')} is empty. Write the secret_key into it.`])
  expect(issues('')).toEqual([
    `${start}"" is empty. Write the path of a file, such as secret_key_file = "/etc/windfall/secret_key"`,
  ])
})

test.each([0o640, 0o604, 0o666, 0o620])(
  'refuses a key file that other users can access (mode %o)',
  (mode) => {
    const folder = openFolder()
    const file = folder.write('key', KEY, mode)
    folder.write('config.toml', declared('secret_key_file = "key"'))
    const problem = `${file} is accessible to other users (mode 0${mode.toString(8)})`
    expect(folder.issues()).toEqual([
      `config.toml:3  organizations[0].secret_key_file  ${problem}. Run: chmod 600 ${file}`,
    ])
  },
)

test('ignores the file mode in the credentials folder of the service manager', () => {
  const folder = openFolder()
  folder.write('credentials/key', KEY, 0o440)
  folder.write('config.toml', declared('secret_key_file = "credentials/key"'))
  expect(secretOf(folder, { CREDENTIALS_DIRECTORY: join(folder.path, 'credentials') })).toBe(KEY)
  expect(folder.issues({ CREDENTIALS_DIRECTORY: join(folder.path, 'other') })).toHaveLength(1)
})

test('reports an invalid secret with the name of its file', () => {
  const folder = openFolder()
  const file = folder.write('key', 'hunter2')
  folder.write('config.toml', declared('secret_key_file = "key"'))
  expect(folder.issues()).toEqual([
    `${file}  organizations[0].secret_key  the value is not a secret key. Write sk_live_ followed by 24 to 64 letters and digits, such as secret_key = "sk_live_…"`,
  ])
})

test.each([
  ['a secret of the wrong form', declared('secret_key = "hunter2"')],
  ['a secret that is a number', declared('secret_key = 1982375')],
  ['a secret instead of its file', declared('secret_key_file = "sk_live_hunter2"')],
  ['a secret in the place of another key', declared('publishable_key = "sk_live_hunter2"')],
  ['a secret where a number belongs', '[server]\nport = "sk_live_hunter2"'],
  ['a secret under a name that does not exist', declared('secert_key = "hunter2"')],
  ['a secret beside a syntax error', declared('secret_key = "hunter2" "')],
  ['a password in an address', 'base_url = "https://u:hunter2@a.b"'],
])('%s is not shown', (_, toml) => {
  const issues = complaintsOf(toml)
  expect(issues).toHaveLength(1)
  expect(issues[0]).not.toMatch(/hunter2|1982375/)
})

test('does not show a secret in an invalid variable', () => {
  const env = { WINDFALL_ORGANIZATIONS: '[{ slug = "a", secret_key = "hunter2" "' }
  expect(complaintsOf('', env)[0]).not.toContain('hunter2')
})
