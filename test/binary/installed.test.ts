/** The executable as an installed service and in a container, each in a bare Debian 12; and an upgrade of it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { atEndOfFile } from '../closing.ts'
import { openMachine, outcomeOf } from '../faults/upgrade/machine.ts'
import { writeChecksum } from '../faults/upgrade/releases.ts'
import { isLong } from '../random.ts'
import { DEBOOTSTRAP, freshDebianRoot } from './debian.ts'
import { executable, has } from './executable.ts'

const TIMEOUT = { timeout: 600_000 }
const isRoot = process.getuid?.() === 0
if (!isRoot) process.stderr.write('\n*** Not root: the tests of an installed executable are SKIPPED.\n\n')
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** `writable`: the only folder that can be written; everything by default. */
type Options = { user?: string; env?: Record<string, string>; cwd?: string; writable?: string }

const readOnlyBut = (folder: string): string =>
  `mount --rbind "$0" "$0" && mount -o remount,bind,ro "$0" && mount --bind "$0${folder}" "$0${folder}" && mount -o remount,bind,rw "$0${folder}"`

/** The arguments of `unshare` that run `words` in `root`, with /proc, from which a program knows its own path. */
const inRoot = (root: string, words: readonly string[], { user, cwd = '/', writable }: Options): string[] => [
  '--mount',
  'sh',
  '-ec',
  `mount -t proc proc "$0/proc"${writable === undefined ? '' : ` && ${readOnlyBut(writable)}`} && exec chroot "$@"`,
  root,
  ...(user === undefined ? [] : [`--userspec=${user}`, '--groups=']),
  root,
  '/bin/sh',
  '-ec',
  `cd ${cwd} && exec "$0" "$@"`,
  ...words,
]

const runIn = (root: string, words: readonly string[], options: Options = {}) =>
  spawnSync('unshare', inRoot(root, words, options), {
    encoding: 'utf8',
    env: { PATH, WINDFALL_RATES_FETCH: 'false', ...options.env },
  })

/** Starts a program in `root`, which ends with the test file. */
function startIn(root: string, words: readonly string[], options: Options): ChildProcess {
  const child = spawn('unshare', inRoot(root, words, options), {
    env: { PATH, WINDFALL_RATES_FETCH: 'false', ...options.env },
    stdio: 'ignore',
  })
  atEndOfFile(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    await closed
  })
  return child
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The instructions of the Dockerfile with their values. */
const dockerSteps = (): string[][] =>
  readFileSync(new URL('../../docs/deploy/Dockerfile', import.meta.url), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => /^(\w+) (.*)$/.exec(line)?.slice(1) ?? [])

/** Writes a program that stands in for systemctl: it notes what it is asked, and says that the unit is loaded. */
function writeSystemctl(root: string): void {
  const script = `#!/bin/sh
echo "$1" >> /systemctl.log
[ "$1" != show ] || { echo LoadState=loaded; echo ActiveState=$(cat /active 2>/dev/null || echo inactive); }
[ "$1" != start ] || echo active > /active
`
  writeFileSync(join(root, 'usr/bin/systemctl'), script, { mode: 0o755 })
}

describe.runIf(isRoot && isLong && has(executable, DEBOOTSTRAP))('in a bare Debian 12', () => {
  test('installs itself, and serves as the user of the unit', TIMEOUT, async () => {
    const root = freshDebianRoot()
    copyFileSync(executable, join(root, 'root/windfall'))
    expect(runIn(root, ['/root/windfall', 'install']).stderr).toContain('so nothing was installed')
    expect(existsSync(join(root, 'etc/windfall'))).toBe(false)
    writeSystemctl(root)
    const first = runIn(root, ['/root/windfall', 'install'])
    expect([first.status, first.stderr]).toEqual([0, ''])
    expect(first.stdout).toMatch(/^started +the service$/m)
    expect(
      readFileSync(join(root, 'systemctl.log'), 'utf8')
        .split('\n')
        .filter((verb) => verb !== 'show'),
    ).toEqual(['daemon-reload', 'enable', 'start', ''])
    expect(runIn(root, ['windfall', 'install']).stdout).toContain('Everything was installed already.')
    appendFileSync(join(root, 'root/windfall'), 'another build')
    expect(runIn(root, ['/root/windfall', 'install']).stderr).toContain(
      'To replace it: windfall upgrade /root/windfall',
    )
    const port = await freePort()
    const config = join(root, 'etc/windfall/config.toml')
    writeFileSync(config, readFileSync(config, 'utf8').replace('#port = 8787', `port = ${port}`))
    const env = { WINDFALL_CONFIG: '/etc/windfall/config.toml' }
    // As in the unit, only the folder of the data can be written.
    const writable = '/var/lib/windfall'
    startIn(root, ['windfall', 'serve'], { user: 'windfall', env, cwd: writable, writable })
    // Root’s commands find the installed configuration in every folder.
    expect(runIn(root, ['windfall', 'health', '--wait', '30'], { cwd: '/tmp' }).status).toBe(0)
    expect(runIn(root, ['windfall', 'owner', 'reset'], { cwd: '/tmp' }).stdout).toContain('/setup#')
    expect(runIn(root, ['windfall', 'check'], { cwd: '/tmp' }).stdout).toContain(
      '/etc/windfall/config.toml is valid',
    )
    appendFileSync(config, 'unknown = 1\n')
    const connect = ['windfall', 'connect', '--purchase-key', 'none']
    expect(runIn(root, connect, { cwd: '/tmp' }).stderr).toContain('etc/windfall/config.toml')
    writeFileSync(config, readFileSync(config, 'utf8').replace('unknown = 1\n', ''))
    const doctor = runIn(root, ['windfall', 'doctor'], { cwd: '/tmp' }).stdout
    expect(doctor).toMatch(
      /^ok +systemd service +\/etc\/systemd\/system\/windfall\.service permits every path/m,
    )
    expect(statSync(join(root, 'var/lib/windfall/windfall.db')).uid).not.toBe(0)
    const removed = runIn(root, ['windfall', 'uninstall'])
    expect(removed.stdout).toContain('kept         /var/lib/windfall')
  })

  test('serves by the steps of the Dockerfile', TIMEOUT, async () => {
    const root = freshDebianRoot()
    const env: Record<string, string> = { WINDFALL_SERVER_PORT: String(await freePort()) }
    const options: Options = { env }
    const words: Record<string, string[]> = {}
    const take: Record<string, (value: string) => void> = {
      RUN: (value) => expect(runIn(root, ['sh', '-ec', value]).stderr).toBe(''),
      COPY: () => copyFileSync(executable, join(root, 'usr/local/bin/windfall')),
      ENV: (value) => void Object.assign(env, Object.fromEntries([value.split('=')])),
      USER: (user) => void Object.assign(options, { user }),
      WORKDIR: (cwd) => void Object.assign(options, { cwd }),
      ENTRYPOINT: (value) => void Object.assign(words, { program: JSON.parse(value) }),
      CMD: (value) => void Object.assign(words, { command: JSON.parse(value) }),
      HEALTHCHECK: (value) =>
        void Object.assign(words, { health: JSON.parse(value.replace(/^.* CMD /, '')) }),
    }
    for (const [instruction = '', value = ''] of dockerSteps()) take[instruction]?.(value)
    const server = startIn(root, [...(words.program ?? []), ...(words.command ?? [])], options)
    const ready = runIn(root, ['windfall', 'health', '--wait', '30'], options)
    expect(ready.status).toBe(0)
    expect(runIn(root, words.health ?? [], options).status).toBe(0)
    expect(runIn(root, ['windfall', 'upgrade', 'windfall-9'], options).stderr).toContain(
      'a part of the image windfall',
    )
    const database = statSync(join(root, 'var/lib/windfall/windfall.db'))
    expect([database.uid, database.mode & 0o777]).toEqual([10_001, 0o600])
    server.kill('SIGTERM')
    await new Promise((resolve) => server.once('close', resolve))
    expect(runIn(root, words.health ?? [], options).status).toBe(1)
  })
})

test.runIf(has(executable))('upgrades to another build of the executable', TIMEOUT, async () => {
  const machine = await openMachine({ program: executable })
  await machine.identify('before')
  const file = join(machine.home, 'windfall-again')
  copyFileSync(executable, file)
  // The end of the file is not read, so this is another build of the same version.
  appendFileSync(file, 'another build')
  writeChecksum(file)
  const { stdout, stderr, status } = await machine.upgrade([file, '--json']).ended
  expect([status, stderr]).toEqual([0, ''])
  expect(outcomeOf(stdout)).toMatchObject({ outcome: 'upgraded' })
  expect(machine.isInstalled(file)).toBe(true)
  expect(machine.leftovers()).toEqual(['windfall.previous'])
  expect(await machine.identify('after')).toBe(200)
  expect(machine.users()).toEqual(['after', 'before'])
})
