/** The single executable, in an empty folder and in an environment without Node. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { haveVectors, textOf } from '../apple/vectors.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { folderOf, run, startServing } from '../processes.ts'
import { executable } from './executable.ts'
import { residentShare } from './resident.ts'

const GENUINE = 'apple-signed/notification.2022-09-02124132.test.jws'
const BUNDLE = 'com.example.app'

const windfall = (args: readonly string[], cwd: string, env: Record<string, string> = {}) =>
  run(args, { cwd, env, program: executable })
const serving = (cwd: string, env: Record<string, string> = {}) =>
  startServing({ cwd, env, program: executable })

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

test('names its versions and its licences', async () => {
  const cwd = folderOf()
  const { stdout } = await windfall(['--version', '--json'], cwd)
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(JSON.parse(stdout)).toEqual({
    windfall: version,
    commit: expect.stringMatching(/^[0-9a-f]{12}(-dirty)?$/),
    node: process.versions.node,
    sqlite: expect.stringMatching(/^3\.\d+\.\d+$/),
  })
  expect((await windfall(['licenses'], cwd)).stdout).toMatch(/^valibot .* \(MIT\)$/m)
  expect(readdirSync(cwd)).toEqual([])
})

test('has a checksum, and a list of components that names it', () => {
  const sha256 = createHash('sha256').update(readFileSync(executable)).digest('hex')
  expect(readFileSync(`${executable}.sha256`, 'utf8').split('  ')[0]).toBe(sha256)
  const list = JSON.parse(readFileSync(`${executable}.cdx.json`, 'utf8'))
  expect(list.metadata.component.hashes).toEqual([{ alg: 'SHA-256', content: sha256 }])
  const names = list.components.map(({ name }: { name: string }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['better-sqlite3', 'h3', 'node', 'preact', 'sqlite', 'undici']),
  )
  expect(names).not.toContain('vitest')
})

test('is configured, serves, counts, exports, answers queries, backs up and restores', async () => {
  const cwd = folderOf()
  expect((await windfall(['init', '--bundle', BUNDLE], cwd)).status).toBe(0)
  expect((await windfall(['check'], cwd)).stdout).toContain('is valid')
  const server = await serving(cwd)
  const key = /pk_live_\w+/.exec(server.stdout())?.[0]
  const body = { appUserId: 'user-1', bundleId: BUNDLE }
  const identified = await post(`${server.url}/api/sdk/v1/identify`, body, { authorization: `Bearer ${key}` })
  expect(identified.status).toBe(200)
  const page = await fetch(server.url)
  expect(await page.text()).toContain('<script')
  // The rebuild runs in the server; verifying and packing run on threads.
  expect((await windfall(['rebuild', 'metrics'], cwd)).status).toBe(0)
  expect((await windfall(['verify'], cwd)).stdout).toContain('match')
  expect((await windfall(['export', 'copy.sqlite'], cwd)).stdout).toContain('users: 1 row\n')
  expect((await windfall(['sql', '--csv', 'select app_user_id from users'], cwd)).stdout).toContain(
    'user-1\r\n',
  )
  const backup = join(cwd, 'backup.tar')
  expect((await windfall(['backup', backup, '--plain'], cwd)).stdout).toContain('verified')
  server.kill('SIGTERM')
  expect((await server.ended).status).toBe(0)
  const copy = folderOf()
  expect((await windfall(['restore', backup, '--into', join(copy, 'restored')], copy)).status).toBe(0)
  expect((await windfall(['verify', backup], copy)).stdout).toContain('match')
})

test('packs in a child process while another program writes, with the addon of its parent', async () => {
  // On a busy machine the writer can keep the lock from a job for five seconds. The job succeeds at its next run.
  expectErrors('database is locked')
  const cwd = folderOf({ 'config.toml': '[store]\nnative_dir = "addon"\n' })
  const server = await serving(cwd)
  const { hasWritten, unusedPages } = openBusyWriter(join(cwd, 'data/windfall.db'))
  expect(unusedPages).toBeGreaterThan(1_000)
  const WINDFALL_STORE_NATIVE_DIR = join(cwd, 'addon')

  /** Backs up and restores. Returns the unused pages of the copy, which SQLite's online backup would have copied. */
  async function unusedAfter(attempt: number): Promise<number> {
    const [file, copy] = [`backup-${attempt}.tar`, `copy-${attempt}`]
    const backup = await windfall(['backup', file, '--plain'], cwd)
    expect(backup).toMatchObject({ status: 0, stdout: expect.stringContaining('verified') })
    const into = await windfall(['restore', file, '--into', copy], cwd, { WINDFALL_STORE_NATIVE_DIR })
    expect(into.status).toBe(0)
    expect(readdirSync(join(cwd, copy, 'data'))).not.toContain('native')
    const restored = new Database(join(cwd, copy, 'data/windfall.db'), { readonly: true })
    const unused = Number(restored.pragma('freelist_count', { simple: true }))
    restored.close()
    return unused
  }

  // On a busy machine the writer can be too slow to restart the online backup twenty times.
  let unused = Number(unusedPages)
  for (let attempt = 1; attempt <= 5 && unused >= 10; attempt += 1) unused = await unusedAfter(attempt)
  expect(unused).toBeLessThan(10)
  expect(hasWritten()).toBe(true)
  expect(readdirSync(join(cwd, 'data'))).not.toContain('native')
  server.kill('SIGTERM')
  await server.ended
})

/** Fills the database, deletes a fifth of it, and then writes in each turn of the event loop until the test ends. */
function openBusyWriter(file: string) {
  const db = new Database(file)
  db.pragma('synchronous = off')
  const insert = db.prepare('insert into settings (key, value) values (?, ?)')
  db.transaction(() => {
    for (let n = 0; n < 5_000; n += 1) insert.run(`before${n}`, 'x'.repeat(4_000))
    db.exec("delete from settings where key like 'before1%'")
  }).immediate()
  const unusedPages = db.pragma('freelist_count', { simple: true })
  let [writes, isStopped] = [0, false]
  function write(): void {
    if (isStopped) return void db.close()
    insert.run(`during${writes}`, '')
    writes += 1
    setImmediate(write)
  }
  write()
  onTestFinished(() => {
    isStopped = true
  })
  return { unusedPages, hasWritten: () => writes > 20 }
}

test.runIf(haveVectors)('takes a notification that Apple signed', async () => {
  const cwd = folderOf()
  const signedPayload = textOf(GENUINE)
  const { data } = JSON.parse(Buffer.from(signedPayload.split('.')[1] ?? '', 'base64url').toString())
  await windfall(['init', '--bundle', data.bundleId], cwd)
  const server = await serving(cwd)
  expect((await post(`${server.url}/apple/notifications`, { signedPayload })).status).toBe(200)
  const forged = `${signedPayload.slice(0, -4)}AAAA`
  expect((await post(`${server.url}/apple/notifications`, { signedPayload: forged })).status).toBe(401)
})

test('ignores NODE_OPTIONS, and SIGUSR1 opens no inspector', async () => {
  const cwd = folderOf({ 'foreign.js': "require('node:fs').writeFileSync('foreign', '')" })
  const server = await serving(cwd, { NODE_OPTIONS: `--require=${join(cwd, 'foreign.js')} --inspect=0` })
  server.kill('SIGUSR1')
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect(existsSync(join(cwd, 'foreign'))).toBe(false)
  await expect(connects(9229)).resolves.toBe(false)
  expect(server.stdout()).not.toContain('Debugger')
})

/** True if something on this machine listens on `port`. */
const connects = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })

test('writes its addon once, and replaces one that was changed', async () => {
  const cwd = folderOf()
  const native = join(cwd, 'data/native')
  const first = await serving(cwd)
  const [name = ''] = readdirSync(native)
  const written = statSync(join(native, name))
  expect(written.mode & 0o777).toBe(0o500)
  first.kill('SIGTERM')
  await first.ended
  const second = await serving(cwd)
  expect(statSync(join(native, name)).ino).toBe(written.ino)
  second.kill('SIGTERM')
  await second.ended
  writeFileSync(join(cwd, 'changed'), readFileSync(join(native, name)).fill(0, 4096, 8192), { mode: 0o500 })
  renameSync(join(cwd, 'changed'), join(native, name))
  const third = await serving(cwd)
  expect((await fetch(`${third.url}/readyz`)).status).toBe(200)
  expect(readdirSync(native)).toEqual([name])
})

test('reads the addon inside it only to write the file', async () => {
  const cwd = folderOf()
  // The build writes the executable at once. Linux keeps such a file in large pieces, which it maps whole.
  const program = join(cwd, 'windfall')
  copyFileSync(executable, program)

  /** The share of the addon in the memory of a server that has started. */
  async function shareOfStart(): Promise<number> {
    const server = await startServing({ cwd, program })
    const native = join(cwd, 'data/native')
    const addon = readFileSync(join(native, readdirSync(native)[0] ?? ''))
    const share = residentShare(server.pid, program, addon)
    server.kill('SIGTERM')
    await server.ended
    return share
  }

  expect(await shareOfStart()).toBe(1)
  // At both ends, Linux maps neighbours of other pages.
  expect(await shareOfStart()).toBeLessThan(0.5)
})

test('refuses a folder for its addon that other users can write', async () => {
  const cwd = folderOf()
  const open = join(cwd, 'open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  const { status, stderr } = await windfall(['serve'], cwd, { WINDFALL_STORE_NATIVE_DIR: open })
  expect(status).toBe(1)
  expect(stderr.trim().split('\n')).toEqual([expect.stringContaining('other users can write it')])
  // This command reads no configuration, and must not take the addon for the damage of a backup.
  new Database(join(cwd, 'copy.db')).exec('create table one (n integer)').close()
  const verified = await windfall(['verify', 'copy.db'], cwd, { WINDFALL_STORE_NATIVE_DIR: open })
  expect(verified).toMatchObject({ status: 1, stderr: expect.stringContaining('other users can write it') })
  expect(verified.stderr).not.toContain('damaged')
})
