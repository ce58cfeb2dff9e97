/** Commands that root runs on another user's database. Skipped unless the tests run as root. */
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listenPath } from '../../src/control/socket_path.ts'
import { folderOf, run, start, startServing } from '../processes.ts'

const isRoot = process.getuid?.() === 0
const OTHER_UID = 65_534
const BUNDLE = 'com.example.lantern'

/** A folder that belongs to `nobody`, with the files that a process of theirs needs. */
function folderOfOtherUser(): string {
  const folder = folderOf()
  chownSync(folder, OTHER_UID, OTHER_UID)
  return folder
}

const ownersIn = (folder: string) =>
  new Set(readdirSync(folder, { recursive: true }).map((name) => statSync(join(folder, String(name))).uid))

/** A process of `nobody` that listens at `path` and answers every command with an address of its own. */
async function fakeServerAt(path: string): Promise<void> {
  const program = `
    const { mkdirSync } = require('node:fs')
    mkdirSync(require('node:path').dirname(process.argv[1]), { recursive: true })
    require('node:http').createServer((req, res) => res.end(JSON.stringify({
      result: { url: 'https://evil.example/setup#x', expires_at: 0 } })))
      .listen(process.argv[1], () => console.log('listening'))`
  const child = spawn(process.execPath, ['-e', program, path], { uid: OTHER_UID, gid: OTHER_UID, cwd: '/' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise((resolve) => child.stdout.once('data', resolve))
}

test.skipIf(!isRoot)(
  'a command run by root leaves no files owned by root next to the database (needs root)',
  async () => {
    const cwd = folderOfOtherUser()
    const env = { TMPDIR: folderOfOtherUser() }
    expect((await run(['apps', 'add', BUNDLE], { cwd, env })).stdout).toContain('is connected')
    expect(ownersIn(cwd)).toEqual(new Set([OTHER_UID]))
    // Its owner can serve it.
    const serving = await startServing({ cwd, env, uid: OTHER_UID })
    expect((await run(['apps', 'list'], { cwd, env })).stdout).toContain(BUNDLE)
    expect((await run(['apps', 'add', 'com.example.tides'], { cwd, env })).stdout).toContain('is connected')
    await serving.logged('command', ({ verb }) => verb === 'apps.add')
    // The server writes backups, and cannot write everywhere that root can.
    const refused = await run(['backup', join(folderOf(), 'backup.tar'), '--plain'], { cwd, env })
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^Windfall cannot write to \S+ \(EACCES\): choose a folder/),
    })
    serving.kill('SIGTERM')
    expect((await serving.ended).status).toBe(0)
    await run(['doctor'], { cwd, env })
    expect(ownersIn(cwd)).toEqual(new Set([OTHER_UID]))
  },
)

test.skipIf(!isRoot)('ignores a socket of another user (needs root)', async () => {
  const cwd = folderOf()
  expect((await run(['apps', 'add', BUNDLE], { cwd })).status).toBe(0)
  const data = join(cwd, 'data')
  for (const folder of [cwd, data]) chmodSync(folder, 0o1777)
  await fakeServerAt(join(data, 'windfall.db.sock'))
  const reset = await run(['owner', 'reset'], { cwd })
  expect(reset).toMatchObject({ status: 1, stdout: '' })
  expect(reset.stderr).toContain(`is not a socket of this user (its owner is user ${OTHER_UID})`)
})

test.skipIf(!isRoot)(
  'ignores a socket of another user in the temporary folder, used for long paths (needs root)',
  async () => {
    const [cwd, TMPDIR] = [folderOf(), folderOf()]
    const env = { TMPDIR, WINDFALL_STORE_PATH: `${'deep/'.repeat(30)}windfall.db` }
    expect((await run(['apps', 'add', BUNDLE], { cwd, env })).status).toBe(0)
    const path = listenPath(join(cwd, env.WINDFALL_STORE_PATH)).split('/').slice(-2).join('/')
    chmodSync(TMPDIR, 0o1777)
    await fakeServerAt(join(TMPDIR, path))
    expect(statSync(join(TMPDIR, path)).uid).toBe(OTHER_UID)
    const reset = await run(['owner', 'reset'], { cwd, env })
    expect(reset).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('is not trusted') })
    const server = start(['serve'], { cwd, env: { ...env, WINDFALL_SERVER_PORT: '0' } })
    const ended = await server.ended
    expect(ended).toMatchObject({ status: 1 })
    expect(ended.stderr).toContain(`user ${OTHER_UID} owns the folder`)
  },
)

test.skipIf(!isRoot)('a user ignores the socket of another user (needs root)', async () => {
  const cwd = folderOf()
  const serving = await startServing({ cwd })
  for (const folder of [cwd, join(cwd, 'data')]) chmodSync(folder, 0o755)
  mkdirSync(join(cwd, 'tmp'), { mode: 0o1777 })
  const result = await run(['apps', 'list'], { cwd, uid: OTHER_UID, env: { TMPDIR: join(cwd, 'tmp') } })
  expect(result).toMatchObject({ status: 1, stderr: expect.stringContaining('(its owner is user 0)') })
  serving.kill('SIGTERM')
  await serving.ended
})

test.skipIf(!isRoot)(
  'files restored by root belong to the owner of the folder, who can serve them (needs root)',
  async () => {
    const source = folderOf({ 'config.toml': '[rates]\nfetch = false\n' })
    await run(['apps', 'add', BUNDLE], { cwd: source })
    expect((await run(['backup', 'backup.tar'], { cwd: source })).status).toBe(0)
    const cwd = folderOfOtherUser()
    const env = { TMPDIR: folderOfOtherUser() }
    expect((await run(['restore', join(source, 'backup.tar')], { cwd, env })).status).toBe(0)
    expect(ownersIn(cwd)).toEqual(new Set([OTHER_UID]))
    const serving = await startServing({ cwd, env, uid: OTHER_UID })
    serving.kill('SIGTERM')
    expect((await serving.ended).status).toBe(0)
  },
)
