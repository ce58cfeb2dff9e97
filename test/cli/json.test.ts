/** `--json` of each command, and of errors. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { folderOf, run, startServing } from '../processes.ts'

const BUNDLE = 'com.example.app'
const SECRET = 'a-secret-token-of-the-metrics'
const TARGET = 'https://backend.invalid/webhooks'

let cwd: string

beforeAll(async () => {
  cwd = folderOf({ 'config.toml': `[metrics]\ntoken = "${SECRET}"\n` })
  await startServing({ cwd })
})

const windfall = (args: string) => run(args.split(' '), { cwd })

/** The document that a command prints: one line, an object, with names in snake_case. */
async function json(args: string, code = 0): Promise<Record<string, unknown>> {
  const { stdout, stderr, status } = await windfall(`${args} --json`)
  expect([args, stderr, status, stdout.split('\n').length]).toEqual([args, '', code, 2])
  const document: Record<string, unknown> = JSON.parse(stdout)
  expect([args, namesIn(document).filter((name) => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name))]).toEqual([
    args,
    [],
  ])
  expect(Array.isArray(document)).toBe(false)
  return document
}

/** Every name of a field, at any depth. Headers have the names of HTTP. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(namesIn)
  return Object.entries(value).flatMap(([name, inner]) => [
    name,
    ...(name === 'request_headers' ? [] : namesIn(inner)),
  ])
}

/** The error that a command prints on stderr, and its exit code. */
async function failure(args: string): Promise<{ status: number | null; error: Record<string, unknown> }> {
  const { stdout, stderr, status } = await windfall(args)
  expect([args, stdout, stderr.trim().split('\n').length]).toEqual([args, '', 1])
  return { status, error: JSON.parse(stderr).error }
}

const anyText = expect.any(String)

test('apps, keys and tokens', async () => {
  expect(await json(`apps add ${BUNDLE}`)).toMatchObject({ app: { bundle_id: BUNDLE }, applied: 0 })
  const [apps, key, token] = await Promise.all([
    json('apps list'),
    json('keys create --secret'),
    json('tokens create --label laptop'),
  ])
  expect(apps).toMatchObject({ organizations: [{ apps: [{ bundle_id: BUNDLE }] }] })
  expect(key).toMatchObject({ kind: 'secret', token: expect.stringMatching(/^sk_live_/) })
  expect(token.token).toMatch(/^wf_/)
  const [rotated, tokens] = await Promise.all([json(`keys rotate ${key.id}`), json('tokens list')])
  expect(rotated).toMatchObject({ replaces: key.id })
  expect(tokens).toMatchObject({ tokens: [{ id: token.id, label: 'laptop', revoked_at: null }] })
})

test('users and jobs', async () => {
  const erased = await json(`forget --app ${BUNDLE} user-1 --unknown --compact`)
  expect(erased).toMatchObject({ bundle_id: BUNDLE, compacted: { bytes: expect.any(Number) } })
  const [erasures, jobs, reconciled] = await Promise.all([
    json('forget --list'),
    json('jobs'),
    json('reconcile', 1),
  ])
  expect(erasures).toMatchObject({ erasures: [{ id: erased.id }] })
  expect(jobs).toMatchObject({ jobs: expect.arrayContaining([expect.objectContaining({ job: 'backup' })]) })
  expect(reconciled).toMatchObject({ compared: [], without_key: [BUNDLE] })
})

test('webhooks: the secret is printed together with the test', async () => {
  expect(await json(`webhooks add ${TARGET} --name backend`)).toMatchObject({
    endpoint: { name: 'backend' },
    secret: expect.stringMatching(/^whsec_/),
    test: { is_test: true, state: 'failed' },
  })
  const [log, delivery, replay, asking, following] = await Promise.all([
    json('webhooks log'),
    json('webhooks log --id 1'),
    json('webhooks replay backend --since 1d --yes'),
    failure('webhooks replay backend --since 1d --json'),
    failure('webhooks log --follow --json'),
  ])
  expect(log).toMatchObject({ deliveries: [{ id: 1 }] })
  expect(delivery).toMatchObject({ id: 1, attempt_log: [{ number: 1 }] })
  expect(replay).toMatchObject({ matching: 0 })
  expect(asking).toMatchObject({ status: 2, error: { message: expect.stringContaining('add --yes') } })
  expect(following).toMatchObject({ status: 2 })
})

test('backups', async () => {
  const file = join(cwd, 'a.tar')
  expect(await json(`backup ${file} --plain`)).toMatchObject({ file, encrypted: false, rows: { apps: 1 } })
  const folder = join(cwd, 'restored')
  const [verified, restored] = await Promise.all([
    json(`verify ${file}`),
    json(`restore ${file} --into ${folder}`),
  ])
  expect(verified).toEqual({ difference: null, lineages: 0, due: 0 })
  expect(restored).toMatchObject({
    database: join(folder, 'data/windfall.db'),
    moved_aside: null,
    rows: { apps: 1 },
    files: expect.arrayContaining([
      expect.objectContaining({ file: join(folder, 'config.toml'), state: 'restored' }),
    ]),
    backup: { windfall: anyText },
  })
})

test('the configuration', async () => {
  const [written, checked] = await Promise.all([json('init --path other.toml'), json('check')])
  expect(written).toEqual({ file: join(cwd, 'other.toml') })
  expect(checked).toEqual({
    valid: true,
    config_file: join(cwd, 'config.toml'),
    base_url: 'http://127.0.0.1:8787',
    database: join(cwd, 'data/windfall.db'),
  })
})

test('config dump has each value with its source, and no secret', async () => {
  const { config_file, sections } = await json('config dump')
  expect(config_file).toBe(join(cwd, 'config.toml'))
  const settings = (sections as { settings: { path: string }[] }[]).flatMap((section) => section.settings)
  const at = (path: string) => settings.find((one) => one.path === path)
  expect(at('metrics.token')).toMatchObject({ value: null, is_set: true, place: 'config.toml:2' })
  expect(at('rates.fetch')).toMatchObject({
    value: false,
    source: 'environment',
    place: 'WINDFALL_RATES_FETCH',
  })
  expect(at('server.port')).toMatchObject({ value: 8787, source: 'default', place: null })
  expect(JSON.stringify(settings)).not.toContain(SECRET)
  const { stdout } = await windfall('config')
  for (const line of [
    /^metrics\.token +\(not shown\) +file config\.toml:2$/m,
    /^rates\.fetch +false +environment WINDFALL_RATES_FETCH$/m,
    /^server\.port +8787 +default$/m,
    /^outbound\.ca_file +not set +default$/m,
  ])
    expect(stdout).toMatch(line)
  expect(stdout).not.toContain(SECRET)
})

test('an error is JSON on stderr, with the exit code of the text', async () => {
  const cases: [args: string, status: number, code: string][] = [
    ['keys revoke key_0', 1, 'unknown_key'],
    ['keys rotate key_0 --overlap x', 2, 'invalid_request'],
    ['apps list --wrong', 2, 'wrong_usage'],
    ['apps add', 2, 'wrong_usage'],
    ['apps frobnicate', 2, 'wrong_usage'],
  ]
  const failures = await Promise.all(cases.map(([args]) => failure(`${args} --json`)))
  expect(failures).toEqual(cases.map(([, status, code]) => ({ status, error: { code, message: anyText } })))
})

test('each fault of a configuration is named', async () => {
  writeFileSync(join(cwd, 'bad.toml'), 'base_url = 3\n[server]\nprt = 1\n')
  const { status, error } = await failure('check --json --config bad.toml')
  expect(status).toBe(2)
  expect(error).toEqual({
    code: 'invalid_configuration',
    message: expect.stringContaining('bad.toml:3'),
    errors: [
      { path: 'base_url', message: anyText, advice: anyText },
      { path: 'server.prt', message: anyText, advice: anyText },
    ],
  })
})

test('a command without a JSON document refuses the option', async () => {
  expect(await windfall('licenses --json')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: 'Unknown option --json. windfall licenses --help lists the options.\n',
  })
})
