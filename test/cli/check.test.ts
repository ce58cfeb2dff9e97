import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../src/cli/check.ts'
import { UNIT } from '../../src/systemd/unit.ts'
import { openFolder } from '../config/folder.ts'
import { WEBHOOK_SECRET } from '../config/keys.ts'
import { openTestApp, rowsOf } from '../helpers.ts'
import { windfall } from './command.ts'

const KEY = `sk_live_${'k'.repeat(24)}`

test('prints the settings of a valid configuration that are not at their defaults, with their sources', async () => {
  const folder = openFolder()
  const key = folder.write('key', KEY)
  folder.write(
    'config.toml',
    '[server]\nport = 80\nhosts = ["a.b"]\n[[organizations]]\nslug = "acme"\nsecret_key_file = "key"\n',
  )
  const env = { WINDFALL_LOG_LEVEL: 'debug' }
  expect(await check({ env, cwd: folder.path })).toEqual([
    'config.toml is valid.',
    '  server.port = 80                           config.toml:2',
    '  server.hosts = ["a.b"]                     config.toml:3',
    '  log.level = "debug"                        WINDFALL_LOG_LEVEL',
    '  organizations[0].slug = "acme"             config.toml:5',
    `  organizations[0].secret_key = (not shown)  ${key}`,
    'All other settings have their defaults.',
    `Windfall serves at http://127.0.0.1 and stores its data in ${folder.path}/data/windfall.db`,
  ])
})

test('names a config file outside of the working directory by its whole path, also in the root folder', async () => {
  const file = openFolder().write('config.toml', '[server]\nport = 80\n')
  for (const cwd of [openFolder().path, '/']) {
    const [first, setting] = await check({ path: file, env: {}, cwd })
    expect([first, setting?.trim().split(/ {2,}/).at(-1)]).toEqual([`${file} is valid.`, `${file}:2`])
  }
})

test('a missing config file is valid', async () => {
  const folder = openFolder()
  expect(await check({ env: {}, cwd: folder.path })).toEqual([
    'No config file. Windfall does not need one.',
    'All settings have their defaults.',
    `Windfall serves at http://127.0.0.1:8787 and stores its data in ${folder.path}/data/windfall.db`,
  ])
})

test('shows neither the secrets nor the headers of an endpoint', async () => {
  const folder = openFolder()
  folder.write(
    'config.toml',
    `[[endpoints]]
name = "backend"
url = "https://backend.example.com"
secrets = ["${WEBHOOK_SECRET}"]
headers = { Authorization = "Bearer hunter2" }
`,
  )
  expect(await check({ env: {}, cwd: folder.path })).toEqual(
    expect.arrayContaining([
      '  endpoints[0].secrets = (not shown)                config.toml:4',
      '  endpoints[0].headers = (not shown)                config.toml:5',
    ]),
  )
})

test('a path that the installed service cannot use is reported with its line, and a default with the service', async () => {
  const folder = openFolder()
  chmodSync(folder.path, 0o755)
  folder.write('etc/passwd', 'windfall:x:990:990::/var/lib/windfall:/usr/sbin/nologin\n', 0o644)
  folder.write('etc/systemd/system/windfall.service', UNIT, 0o644)
  const text = '[server]\nport = 80\n[backup]\nfolder = "/srv/backups"\n'
  const path = folder.write('etc/windfall/config.toml', text, 0o644)
  for (const name of ['etc', 'etc/windfall']) chmodSync(join(folder.path, name), 0o755)
  const checking = check({ env: {}, cwd: folder.path, path }, folder.path)
  const issues = await checking.then(
    () => [],
    (error: Error) => error.message.split('\n'),
  )
  expect(issues).toEqual([
    expect.stringMatching(
      /^windfall\.service {2}store\.path {2}\/etc\/windfall\/data cannot be written by windfall\.service/,
    ),
    expect.stringMatching(
      /^etc\/windfall\/config\.toml:4 {2}backup\.folder {2}\/srv\/backups cannot be written by windfall\.service/,
    ),
  ])
})

test('names the nearest event type for each that does not exist', async () => {
  const folder = openFolder()
  const types = ['trial.started', 'subscription.renewd', 'purchase.eaten_up']
  const secrets = JSON.stringify([WEBHOOK_SECRET])
  const lines = ['name = "a"', 'url = "https://a.example"', `secrets = ${secrets}`]
  folder.write('config.toml', `[[endpoints]]\n${lines.join('\n')}\ntypes = ${JSON.stringify(types)}\n`)
  const checking = check({ env: {}, cwd: folder.path })
  await expect(checking).rejects.toThrow(
    `config.toml:5  endpoints[0].types[1]  "subscription.renewd" is not an event type. Did you mean "subscription.renewed"?
config.toml:5  endpoints[0].types[2]  "purchase.eaten_up" is not an event type. docs/webhook-events.md lists the types.`,
  )
})

test('exits with 0 for a valid configuration, with the result on standard output', () => {
  const folder = openFolder()
  folder.write('a.toml', '[server]\nport = 80')
  const { status, stdout, stderr } = windfall(['check', '--config', 'a.toml'], { cwd: folder.path })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^a\.toml is valid\.\n {2}server\.port = 80 {2}a\.toml:2\n/)
})

test('exits with 2 for an invalid configuration, with one line for each error', () => {
  const folder = openFolder()
  folder.write('config.toml', '[server]\nprot = 80\n[sever]')
  const { status, stdout, stderr } = windfall(['check'], {
    cwd: folder.path,
    env: { WINDFALL_LOG_LEVEL: 'loud' },
  })
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr.split('\n')).toEqual([
    'config.toml:2  server.prot  unknown setting. Did you mean server.port?',
    'config.toml:3  sever  unknown section. Did you mean [server]?',
    'WINDFALL_LOG_LEVEL  log.level  "loud" is not one of the choices. Write debug, info, warn or error, such as WINDFALL_LOG_LEVEL=info',
    '',
  ])
})

test('reports conflicts with the database without changing it', async () => {
  const folder = openFolder()
  const organization = (slug: string, more = '') => `[[organizations]]\nslug = "${slug}"\n${more}`
  const keyed = `secret_key = "${KEY}"\n`
  const app = await openTestApp({ folder: folder.path, apps: [] })
  folder.write('config.toml', organization('one') + organization('two', keyed))
  await app.windfall.declare(folder.load().config)
  const tables = () => ['organizations', 'sdk_keys', 'apps'].map((name) => rowsOf(app.windfall.store, name))
  const before = tables()
  const checked = (toml: string) => {
    folder.write('config.toml', toml)
    return check({ env: {}, cwd: folder.path })
  }
  await expect(checked(organization('one', keyed) + organization('two'))).rejects.toMatchObject({
    code: 'key_in_use',
    message:
      'the secret key …kkkk in config.toml belongs to the organization two; declare it there, or use another key',
  })
  const { status, stdout, stderr } = windfall(['check'], { cwd: folder.path })
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('…kkkk'),
  })
  expect((await checked(organization('one') + organization('zwei', keyed)))[0]).toBe('config.toml is valid.')
  expect(tables()).toEqual(before)
})

test('warns when passkeys exist for another host than that of base_url', async () => {
  const folder = openFolder()
  const app = await openTestApp({ folder: folder.path, apps: [] })
  const add = (id: string, host: string) =>
    app.windfall.store.commit(() =>
      app.windfall.store
        .prepare(
          `insert into passkeys (id, credential_id, public_key, host, name, transports, is_synced, counter, created_at)
           values (?, ?, x'a0', ?, 'Mac', '[]', 0, 0, 0)`,
        )
        .run(id, id, host),
    )
  await add('psk_1', 'old.example')
  const warned = async (base_url: string) => {
    folder.write('config.toml', `base_url = "${base_url}"`)
    return (await check({ env: {}, cwd: folder.path })).filter((line) => line.startsWith('Warning'))
  }
  expect(await warned('https://old.example')).toEqual([])
  expect(await warned('https://new.example')).toEqual([
    'Warning: 1 passkey was added at old.example and cannot sign in at https://new.example. Set base_url to the address at which the passkeys were added; or sign in with the password, and under Settings, Security remove them and add new ones.',
  ])
  await add('psk_2', 'new.example')
  await add('psk_3', 'older.example')
  expect((await warned('https://new.example'))[0]).toContain(
    '2 passkeys were added at old.example and older.example',
  )
  // Without https, no browser uses a passkey.
  expect((await warned('http://new.example'))[0]).toContain('3 passkeys were added at')
  const { status, stdout } = windfall(['check'], { cwd: folder.path })
  expect({ status, stdout }).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Warning: 3 passkeys'),
  })
})

test('prints no secret on either stream', () => {
  const folder = openFolder()
  folder.write('config.toml', `[[organizations]]\nslug = "acme"\nsecret_key = "${KEY}"`)
  const fine = windfall(['check'], { cwd: folder.path })
  expect(fine.stdout).toContain('organizations[0].secret_key = (not shown)')
  expect(fine.stdout + fine.stderr).not.toContain('kkk')
  const wrong = windfall(['check'], { cwd: folder.path, env: { WINDFALL_LOG_LEVEL: 'loud' } })
  expect(wrong.status).toBe(2)
  expect(wrong.stdout + wrong.stderr).not.toContain('kkk')
})
