import { readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type Ended, folderOf, run, type Serving, startServing } from '../processes.ts'

const BUNDLE = 'com.example.lantern'
const ESCAPE = String.fromCharCode(27)

/** Runs commands in a folder. */
function openShell(cwd: string) {
  const all = (args: string) => run(args.split(' '), { cwd })
  return {
    cwd,
    run: all,
    /** Gives standard output; a `remark` goes elsewhere. */
    async good(args: string, remark = ''): Promise<string> {
      const { status, stdout, stderr } = await all(args)
      expect({ args, status }).toEqual({ args, status: 0 })
      if (remark === '') expect(stderr).toBe('')
      else expect(stderr).toContain(remark)
      return stdout
    },
  }
}

/** The id and the secret that a command printed first. */
function made(stdout: string): { id: string; secret: string } {
  const [id = '', secret = ''] = stdout.split(/\s+/)
  return { id, secret }
}

/** What a call with this credential is answered with. */
async function statusOf({ url }: Serving, secret: string): Promise<number> {
  const authorization = `Bearer ${secret}`
  if (secret.startsWith('wf_'))
    return (await fetch(`${url}/api/v1/events`, { headers: { authorization } })).status
  const answer = await fetch(`${url}/api/sdk/v1/identify`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ appUserId: 'somebody', bundleId: BUNDLE }),
  })
  return answer.status
}

const ONCE = 'shown only once'
const NO_APP = /^default \(org_\w+\)\n {2}no apps yet; run: npm run -s windfall -- apps add BUNDLE\n$/
const DETAILS =
  '--apple-id 6448311069 --team-id A1B2C3D4E5 --android-package com.droid --sku L1 --name Lantern'
const LISTED = /\n +com\.example\.lantern +6448311069 +A1B2C3D4E5 +com\.droid +command line\n$/
const printed = (id: string, secret: string) => new RegExp(`^${id}_\\w+ {2}${secret}_[0-9a-f]{48}\n$`)

test('connects, lists and disconnects apps on a running server', async () => {
  const cwd = folderOf()
  const { good } = openShell(cwd)
  const serving = await startServing({ cwd })
  const { secret } = made(await good('keys create'))
  expect(await good('apps list')).toMatch(NO_APP)
  expect(await statusOf(serving, secret)).toBe(403)
  expect(await good(`apps add ${BUNDLE} ${DETAILS}`)).toBe(`${BUNDLE} is connected to default.\n`)
  expect(await good(`apps add ${BUNDLE}`)).toBe(
    `${BUNDLE} is already connected to default. Nothing changed.\n`,
  )
  expect(await good('apps list')).toMatch(LISTED)
  expect(await good(`apps add ${BUNDLE} --sku LANTERN`)).toMatch(
    / was already connected to default\. Its details are updated\.$/m,
  )
  expect(await statusOf(serving, secret)).toBe(200)
  expect(await good(`apps remove ${BUNDLE}`)).toContain(`${BUNDLE} is disconnected.`)
  expect(await good('apps list')).toMatch(NO_APP)
  expect(await statusOf(serving, secret)).toBe(403)
})

test('creates, shows once, rotates and revokes keys and tokens on a running server', async () => {
  const cwd = folderOf({ 'config.toml': `[[apps]]\nbundle_id = "${BUNDLE}"\n` })
  const { good, run } = openShell(cwd)
  const serving = await startServing({ cwd })
  const publishable = await good('keys create --label ios')
  expect(publishable).toMatch(printed('key', 'pk_live'))
  const secret = await good('keys create --secret --label backend', ONCE)
  expect(secret).toMatch(printed('key', 'sk_live'))
  const successor = await good(
    `keys rotate ${made(secret).id} --overlap 1`,
    `${made(secret).id} stays valid until `,
  )
  expect(successor).toMatch(printed('key', 'sk_live'))
  for (const key of [publishable, secret, successor])
    expect(await statusOf(serving, made(key).secret)).toBe(200)
  expect(await good(`keys revoke ${made(secret).id}`)).toBe(`${made(secret).id} is revoked.\n`)
  expect(await statusOf(serving, made(secret).secret)).toBe(401)
  expect(await run(`keys revoke ${made(secret).id}`)).toMatchObject({ status: 1 })
  const keys = await good('keys list')
  expect(keys).toMatch(
    new RegExp(`\n${made(secret).id} .* sk_live_…${made(secret).secret.slice(-4)} .* revoked `),
  )
  expect(keys).toContain(made(publishable).secret)
  expect(keys).not.toContain(made(successor).secret)

  const token = await good(`tokens create --label phone --app ${BUNDLE} --days 3`, ONCE)
  expect(token).toMatch(printed('tok', 'wf'))
  expect(await statusOf(serving, made(token).secret)).toBe(200)
  expect(await good(`tokens revoke ${made(token).id}`)).toBe(`${made(token).id} is revoked.\n`)
  expect(await statusOf(serving, made(token).secret)).toBe(401)
  const tokens = await good('tokens list')
  expect(tokens).toMatch(/ phone .* revoked /)
  expect(tokens).not.toContain(made(token).secret)
})

test('the same commands work without a server', async () => {
  const cwd = folderOf()
  const { good } = openShell(cwd)
  expect(await good(`apps add ${BUNDLE} ${DETAILS}`)).toBe(`${BUNDLE} is connected to default.\n`)
  expect(await good('tokens list')).toBe(
    'There are no tokens yet; run: npm run -s windfall -- tokens create\n',
  )
  expect(await good('apps list')).toMatch(LISTED)
  const secret = await good('keys create --secret', ONCE)
  const { id, secret: successor } = made(
    await good(`keys rotate ${made(secret).id} --overlap 0`, 'stays valid until'),
  )
  const token = made(await good('tokens create', ONCE))
  const serving = await startServing({ cwd })
  expect(await statusOf(serving, made(secret).secret)).toBe(401)
  for (const one of [successor, token.secret]) expect(await statusOf(serving, one)).toBe(200)
  serving.kill('SIGTERM')
  await serving.ended
  expect(await good(`keys revoke ${id}`)).toBe(`${id} is revoked.\n`)
  expect(await good(`apps remove ${BUNDLE}`)).toContain(`${BUNDLE} is disconnected.`)
})

test.each([
  ['while it serves', true],
  ['while nobody serves', false],
])('a backup is whole, closed to others, and written over nothing, %s', async (_, serves) => {
  const cwd = folderOf()
  const { good, run } = openShell(cwd)
  await good(`apps add ${BUNDLE}`)
  if (serves) await startServing({ cwd })
  const backupOutput = await good('backup copy.tar')
  expect(backupOutput).toMatch(
    /copy\.tar: [\d,]+ bytes, [\d,]+ rows in \d+ tables, verified\nsha256 [0-9a-f]{64}\n/,
  )
  expect(backupOutput).toContain('The file is not encrypted')
  expect(statSync(join(cwd, 'copy.tar')).mode & 0o777).toBe(0o600)
  expect(await good('restore copy.tar --into elsewhere', 'Verifying')).toContain(
    `To inspect it: WINDFALL_SERVER_PORT=0 WINDFALL_STORE_PATH=${join(cwd, 'elsewhere/data/windfall.db')} npm run -s windfall -- serve`,
  )
  const copy = new Database(join(cwd, 'elsewhere/data/windfall.db'), { readonly: true })
  expect(copy.prepare('select bundle_id from apps').pluck().all()).toEqual([BUNDLE])
  copy.close()
  expect(await run('backup copy.tar')).toMatchObject({
    status: 1,
    stderr: `${cwd}/copy.tar exists; a backup never overwrites a file; name another one\n`,
  })
})

test('without a server, concurrent commands wait for each other', async () => {
  const cwd = folderOf()
  const { good } = openShell(cwd)
  await good(`apps add ${BUNDLE}`)
  const labels = ['one', 'two', 'three', 'four']
  await Promise.all(labels.map((label) => good(`keys create --label ${label}`)))
  const keys = await good('keys list')
  for (const label of labels) expect(keys).toContain(` ${label} `)
})

/** Nothing was done, in words, without the insides of the program. */
function expectRefused(args: string, { status, stdout, stderr }: Ended, code: number, words: string): void {
  expect({ args, status, stdout }).toEqual({ args, status: code, stdout: '' })
  expect(stderr).toContain(words)
  expect(stderr).not.toMatch(/\n +at |node:internal|Error:/)
}

test('refuses wrong usage with a suggestion', async () => {
  const { run } = openShell(folderOf())
  const wrong: [string, string][] = [
    ['srve', 'Unknown command windfall srve. Did you mean windfall serve?'],
    ['apps ad', 'Unknown command windfall apps ad. Did you mean windfall apps add?'],
    ['frobnicate', 'Unknown command windfall frobnicate. Commands: serve, demo, init, check, '],
    ['apps add', 'Missing required positional argument: BUNDLE.'],
    [`apps add ${BUNDLE} com.b`, 'Unexpected argument: com.b. windfall apps add --help'],
    ['keys create --secrt', 'Unknown option --secrt. Did you mean --secret?'],
    ['serve -p 80', 'Unknown option -p.'],
    ['keys create --label', '--label needs a value.'],
    ['keys create --label=', '--label needs a value.'],
    ['apps list --config missing.toml', 'missing.toml does not exist'],
  ]
  const all = await Promise.all(wrong.map(async ([args, words]) => ({ args, words, ended: await run(args) })))
  for (const { args, words, ended } of all) expectRefused(args, ended, 2, words)
})

test('reports an error once, as a sentence', async () => {
  const cwd = folderOf()
  const { run } = openShell(cwd)
  await startServing({ cwd })
  const impossible: [string, string][] = [
    [`apps add ${BUNDLE} --organization nope`, 'there is no organization nope: default'],
    ['apps remove com.nope', 'com.nope is not connected'],
    ['keys rotate nope', 'there is no key nope; npm run -s windfall -- keys list shows them'],
    ['keys revoke nope', 'there is no key nope'],
    ['keys list --organization nope', 'there is no organization nope: default'],
    ['tokens create --app com.nope', 'com.nope is not connected'],
    ['tokens revoke nope', 'there is no token nope'],
    ['backup missing/copy.db', 'missing/copy.db cannot be written: its folder does not exist'],
  ]
  // A value that an option does not take.
  const invalid: [string, string][] = [
    [`apps add com,a.b`, 'bundle_id: a bundle id has letters, digits, dots and hyphens'],
    [`apps add foo`, 'bundle_id: a bundle id has parts between dots, such as com.example.app'],
    [`apps add com..app`, 'bundle_id: a bundle id has parts between dots, such as com.example.app'],
    [`apps add ${BUNDLE} --apple-id x`, '--apple-id must be a number'],
    [`apps add ${BUNDLE} --team-id abc`, 'team_id: a team id is ten capital letters and digits'],
    ['keys rotate nope --overlap=-1', '--overlap must be a number of hours'],
    ['tokens create --days 0', '--days must be a positive whole number'],
    ['tokens create --days 99999', 'valid_ms: must be at most 100 years ahead'],
  ]
  const all = await Promise.all(
    [...impossible, ...invalid].map(async ([args, words]) => ({ args, words, ended: await run(args) })),
  )
  for (const [index, { args, words, ended }] of all.entries()) {
    expectRefused(args, ended, index < impossible.length ? 1 : 2, words)
    expect(ended.stderr.trim().split('\n')).toHaveLength(1)
  }
})

test('refuses a foreign database, and a database path that is a folder', async () => {
  const cwd = folderOf({ 'notes.txt': 'not a database' })
  const other = new Database(join(cwd, 'other.db'))
  other.exec('create table t (a)')
  other.close()
  const at = (path: string, args: string[]) => run(args, { cwd, env: { WINDFALL_STORE_PATH: path } })
  expectRefused('other.db', await at('other.db', ['apps', 'list']), 1, 'is not a Windfall database')
  const folder = await at('notes.txt/db', ['apps', 'add', BUNDLE])
  expectRefused('notes.txt/db', folder, 1, 'notes.txt/db cannot be written')
})

test('where there is no database, a command creates none, even if another server runs', async () => {
  await startServing({ cwd: folderOf() })
  const cwd = folderOf({ 'rates.csv': '2026-01-31,EUR,0.86\n', 'links.csv': 'app_user_id\n' })
  const { run } = openShell(cwd)
  const commands = [
    'apps list',
    'apps refresh',
    `apps remove ${BUNDLE}`,
    'keys list',
    'keys create',
    'keys rotate key_1',
    'keys revoke key_1',
    'tokens list',
    'tokens create',
    'tokens revoke tok_1',
    'owner reset',
    'refused list',
    'jobs',
    'jobs run housekeeping',
    'rates',
    'rates show EUR',
    'rates import rates.csv',
    'rates remove EUR 2026-01-31',
    'verify',
    'import',
    'reconcile',
    'rebuild metrics',
    `links import links.csv --app ${BUNDLE}`,
    `forget --app ${BUNDLE} somebody`,
    'forget --compact',
    'users prune --unseen-for 30',
    'devices revoke dev_1',
    'webhooks add https://example.com/hook',
    'webhooks remove hook',
    'alerts mute 1h',
    'outgoing resume',
    'outgoing new-key',
    'backup copy.tar',
    'export copy.sqlite',
    'sql select',
  ]
  for (const command of commands)
    expectRefused(
      command,
      await run(command),
      1,
      `there is no database at ${cwd}/data/windfall.db yet; npm start creates it. If Windfall uses another file, `,
    )
  expect(readdirSync(cwd).sort()).toEqual(['links.csv', 'rates.csv'])
})

test('apps add checks its arguments before it creates the database', async () => {
  const alone = openShell(folderOf())
  const { run } = alone
  const config = `${['kelp', 'moss'].map((slug) => `[[organizations]]\nslug = "${slug}"`).join('\n')}\n`
  const declared = openShell(folderOf({ 'config.toml': config }))
  const wrong: [(args: string) => Promise<Ended>, string, number, string][] = [
    [run, 'apps add notabundle', 2, 'bundle_id: a bundle id has parts between dots'],
    [run, `apps add ${BUNDLE} --apple-id x`, 2, '--apple-id must be a number'],
    [run, `apps add ${BUNDLE} --team-id abc`, 2, 'team_id: a team id is ten capital letters and digits'],
    [run, `apps add ${BUNDLE} --organization kelp`, 1, 'there is no organization kelp: default'],
    [declared.run, `apps add ${BUNDLE}`, 1, 'specify an organization: kelp, moss'],
    [
      declared.run,
      `apps add ${BUNDLE} --organization default`,
      1,
      'there is no organization default: kelp, moss',
    ],
  ]
  for (const [runIn, command, status, words] of wrong)
    expectRefused(command, await runIn(command), status, words)
  for (const { cwd } of [declared, alone]) expect(readdirSync(cwd)).not.toContain('data')
  expect(await declared.good(`apps add ${BUNDLE} --organization moss`)).toBe(
    `${BUNDLE} is connected to moss.\n`,
  )
})

test('while a restore is interrupted, a command says so', async () => {
  const cwd = folderOf()
  const { good, run } = openShell(cwd)
  await good(`apps add ${BUNDLE}`)
  const database = join(cwd, 'data/windfall.db')
  renameSync(database, `${database}.replaced-1`)
  writeFileSync(`${database}.swapping`, `${database}.replaced-1`)
  for (const command of ['apps list', 'keys create'])
    expectRefused(command, await run(command), 1, `a restore of ${database} was interrupted`)
})

test('every command prints its help, without colors outside a terminal', async () => {
  const { run } = openShell(folderOf())
  const commands = ['', 'serve', 'demo', 'init', 'check', 'backup', 'refused list']
  commands.push('apps', 'apps add', 'apps remove', 'apps list', 'tokens', 'tokens create', 'tokens list')
  commands.push('tokens revoke', 'keys', 'keys create', 'keys list', 'keys rotate', 'keys revoke')
  const helps = await Promise.all(commands.map((command) => run(`${command} --help`.trim())))
  for (const [index, { status, stdout, stderr }] of helps.entries()) {
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain(`USAGE windfall ${commands[index]}`.trim())
    expect(stdout).not.toContain(ESCAPE)
  }
  expect(await run('--version')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^windfall \d+\.\d+\.\d+ \(commit \S+, Node 24\.\S+, SQLite 3\.\S+\)\n$/),
    stderr: '',
  })
  expect(await run('apps')).toMatchObject({ status: 0, stdout: helps[commands.indexOf('apps')]?.stdout })
})
