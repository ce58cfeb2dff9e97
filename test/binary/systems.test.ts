/** The executable on other systems: a file system without executable files, a bare Debian, another architecture. */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderOf, run, startServing } from '../processes.ts'
import { isLong } from '../random.ts'
import { DEBOOTSTRAP, debianRoot } from './debian.ts'
import { executable, executableFor, has } from './executable.ts'

const OTHER_UID = 65_534
const isRoot = process.getuid?.() === 0
const QEMU = '/usr/bin/qemu-aarch64-static'

/** Runs a shell script as root in mount namespaces of its own. */
const unshared = (script: string, cwd: string) =>
  spawnSync('unshare', ['--mount', 'sh', '-ec', script], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })

/** Identifies a user at a server that was started with the bundle id com.example.app. */
async function identifies(server: { url: string; stdout: () => string }): Promise<number> {
  const { status } = await fetch(`${server.url}/api/sdk/v1/identify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ appUserId: 'user-1', bundleId: 'com.example.app' }),
  })
  return status
}

const CONFIG = '[[apps]]\nbundle_id = "com.example.app"\n'

if (!isRoot)
  process.stderr.write('\n*** Not root: the tests of the executable on other systems are SKIPPED.\n\n')

describe.runIf(isRoot && has(executable))('as root', () => {
  test('says in one line what to do where files cannot be executed', () => {
    const cwd = folderOf({ 'config.toml': CONFIG })
    mkdirSync(join(cwd, 'data'))
    const { stderr, status } = unshared(
      `mount -t tmpfs -o noexec,mode=700 none data && WINDFALL_SERVER_PORT=0 exec ${executable} serve`,
      cwd,
    )
    expect(status).toBe(1)
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(
        /mounted with noexec\. Set store\.native_dir .* such as \/usr\/local\/lib\/windfall\.$/,
      ),
    ])
  })

  test('refuses a folder for its addon that another user made in one that everyone can write', async () => {
    const open = folderOf()
    chmodSync(open, 0o1777)
    const native = join(open, 'native')
    mkdirSync(native)
    chownSync(native, OTHER_UID, OTHER_UID)
    const options = { cwd: folderOf(), env: { WINDFALL_STORE_NATIVE_DIR: native }, program: executable }
    const { status, stderr } = await run(['serve'], options)
    expect(stderr).toContain('other users can write it')
    expect(status).toBe(1)
  })

  test('restores what the owner of the folder can serve, addon included', async () => {
    const source = folderOf({ 'config.toml': CONFIG })
    const backup = join(source, 'backup.tar')
    await run(['apps', 'add', 'com.example.app'], { cwd: source, program: executable })
    expect((await run(['backup', backup, '--plain'], { cwd: source, program: executable })).status).toBe(0)
    const [cwd, TMPDIR] = [folderOf(), folderOf()]
    for (const folder of [cwd, TMPDIR]) chownSync(folder, OTHER_UID, OTHER_UID)
    const options = { cwd, env: { TMPDIR }, program: executable }
    expect((await run(['restore', backup], options)).status).toBe(0)
    const server = await startServing({ ...options, uid: OTHER_UID })
    server.kill('SIGTERM')
    expect((await server.ended).status).toBe(0)
  })

  test.runIf(isLong && has(DEBOOTSTRAP))('runs on a bare Debian 12', { timeout: 600_000 }, () => {
    const root = debianRoot('amd64')
    cpSync(executable, join(root, 'usr/local/bin/windfall'))
    rmSync(join(root, 'srv/windfall'), { recursive: true, force: true })
    mkdirSync(join(root, 'srv/windfall'))
    const script = `
      cd /srv/windfall
      windfall init && windfall check
      WINDFALL_RATES_FETCH=false WINDFALL_SERVER_PORT=0 windfall serve > log & pid=$!
      until grep -q '"serving"' log; do kill -0 $pid; done
      windfall apps add com.example.app
      windfall backup --plain /srv/windfall/backup.tar
      windfall verify /srv/windfall/backup.tar
      kill $pid; wait $pid`
    const { status, stderr, stdout } = spawnSync('/usr/sbin/chroot', [root, 'sh', '-ec', script], {
      encoding: 'utf8',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    })
    expect(stderr).toBe('Verifying the backup …\n')
    expect(stdout).toContain('metrics match')
    expect(status).toBe(0)
  })

  test.runIf(isLong && has(DEBOOTSTRAP, QEMU, executableFor('linux-arm64')))(
    'starts, stores and serves on arm64',
    { timeout: 600_000 },
    async () => {
      const root = debianRoot('arm64')
      // Node finds its executable by this name, so a script stands for the emulator with its arguments.
      const program = join(folderOf(), 'windfall')
      const own = executableFor('linux-arm64')
      writeFileSync(program, `#!/bin/sh\nexec ${QEMU} -L ${root} ${own} "$@"\n`, { mode: 0o700 })
      const cwd = folderOf({ 'config.toml': CONFIG })
      const server = await startServing({ cwd, program })
      expect(await identifies(server)).toBe(200)
      server.kill('SIGTERM')
      expect((await server.ended).status).toBe(0)
      const again = await startServing({ cwd, program })
      expect(again.lines().filter(({ level }) => level === 'error')).toEqual([])
      expect(await identifies(again)).toBe(200)
    },
  )
})
