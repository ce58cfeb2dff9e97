/** `windfall install` and `uninstall` into a folder, and the unit that it writes. They need root. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { checkService } from '../../src/doctor/checks/configuration.ts'
import { accessProblems } from '../../src/systemd/access.ts'
import { parseUnit, UNIT } from '../../src/systemd/unit.ts'
import { blocksOf } from '../docs/snippets.ts'
import { folderOf } from '../processes.ts'
import { windfall } from './command.ts'

const canInstall = process.getuid?.() === 0 && spawnSync('useradd', ['--version']).error === undefined
if (!canInstall)
  process.stderr.write('\n*** Not root, or no useradd: the tests of windfall install are SKIPPED.\n\n')
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).error === undefined
if (!hasAnalyze)
  process.stderr.write('\n*** systemd-analyze is missing: the tests of the unit are SKIPPED.\n\n')

/** The root folder of a system without users. */
function emptyRoot(): string {
  const root = folderOf()
  mkdirSync(join(root, 'etc'))
  for (const name of ['passwd', 'group', 'shadow', 'gshadow']) writeFileSync(join(root, 'etc', name), '')
  chmodSync(root, 0o755)
  return root
}

const executable = join(folderOf({ program: '#!/bin/sh\n' }), 'program')

function install(root: string): { status: number | null; outcomes: Record<string, string>; stdout: string } {
  const args = ['install', '--root', root, '--no-start', '--executable', executable]
  const { status, stdout } = windfall(args, { cwd: root })
  const lines = stdout.split('\n').flatMap((line) => {
    const [, outcome = '', what = ''] = /^(created|updated|unchanged) +(.+)$/.exec(line) ?? []
    return what === '' ? [] : [[what.replace(root, ''), outcome] as const]
  })
  return { status, outcomes: Object.fromEntries(lines), stdout }
}

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8)

describe.runIf(canInstall)('windfall install', () => {
  const root = emptyRoot()
  let first: ReturnType<typeof install>
  beforeAll(() => {
    first = install(root)
  })

  test('creates the user, the folders, the unit and a first config that fits it', () => {
    expect(first.status).toBe(0)
    expect(first.outcomes).toEqual({
      'the user windfall': 'created',
      '/etc/windfall': 'created',
      '/etc/windfall/config.toml': 'created',
      '/var/lib/windfall': 'created',
      '/usr/local/lib/windfall': 'created',
      '/usr/local/bin/windfall': 'created',
      '/etc/systemd/system/windfall.service': 'created',
    })
    expect(first.stdout).toContain('windfall connect')
    const modes = Object.keys(first.outcomes)
      .filter((what) => what.startsWith('/'))
      .map((what) => modeOf(join(root, what)))
    expect(modes).toEqual(['700', '600', '700', '755', '755', '644'])
    const [, , uid] = readFileSync(join(root, 'etc/passwd'), 'utf8').split(':')
    expect(statSync(join(root, 'var/lib/windfall')).uid).toBe(Number(uid))
    expect(statSync(join(root, 'usr/local/bin/windfall')).uid).toBe(0)
    const { config } = loadConfig({ path: join(root, 'etc/windfall/config.toml'), env: {}, cwd: root })
    expect(config.store.path).toBe('/var/lib/windfall/windfall.db')
    expect(config.backup).toMatchObject({ folder: '/var/lib/windfall/backups', schedule: '30 3 * * *' })
  })

  test('changes nothing the second time, and keeps what the owner changed', () => {
    expect(new Set(Object.values(install(root).outcomes))).toEqual(new Set(['unchanged']))
    const config = join(root, 'etc/windfall/config.toml')
    const text = `${readFileSync(config, 'utf8')}\n[users]\nprune_after_days = 90\n`
    writeFileSync(config, text)
    chmodSync(join(root, 'var/lib/windfall'), 0o755)
    rmSync(join(root, 'etc/systemd/system/windfall.service'))
    const { outcomes } = install(root)
    expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'unchanged')).toEqual([
      ['/var/lib/windfall', 'updated'],
      ['/etc/systemd/system/windfall.service', 'created'],
    ])
    expect(readFileSync(config, 'utf8')).toBe(text)
  })

  test('names each path that the unit or its user cannot use, and what to change', () => {
    const key = join(root, 'etc/windfall/secret')
    writeFileSync(key, `sk_live_${'k'.repeat(24)}`, { mode: 0o600 })
    const config = join(root, 'etc/windfall/config.toml')
    const lines = [
      '[store]\npath = "/var/lib/windfall/windfall.db"',
      '[backup]\nfolder = "/srv/backups"',
      '[[organizations]]\nslug = "acme"\nsecret_key_file = "secret"',
    ]
    const kept = readFileSync(config, 'utf8')
    writeFileSync(config, `${lines.join('\n')}\n`)
    const problems = () =>
      accessProblems(loadConfig({ path: config, env: {}, cwd: root }), root).map(
        ({ setting, problem, advice }) => `${setting}: ${problem}. ${advice}`,
      )
    expect(problems()).toEqual([
      expect.stringMatching(
        /^backup\.folder: \/srv\/backups cannot be written by windfall\.service\. Run `systemctl edit windfall`, add .*"ReadWritePaths=\/srv\/backups"/,
      ),
      expect.stringMatching(
        /secret_key.*: \/etc\/windfall\/secret cannot be read by the user windfall\. Run: chown windfall: \/etc\/windfall\/secret$/,
      ),
    ])
    // The drop-in that docs/install.md shows, and the owner that the advice asks for.
    mkdirSync(join(root, 'etc/systemd/system/windfall.service.d'))
    writeFileSync(
      join(root, 'etc/systemd/system/windfall.service.d/override.conf'),
      blocksOf('docs/install.md').find(({ language }) => language === 'ini')?.text ?? '',
    )
    const { uid, gid } = statSync(join(root, 'etc/windfall'))
    chownSync(key, uid, gid)
    expect(problems()).toEqual([])
    expect(install(root).status).toBe(0)
    rmSync(join(root, 'etc/systemd/system/windfall.service.d'), { recursive: true })
    expect(install(root)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('ReadWritePaths=/srv/backups'),
    })
    writeFileSync(config, kept)
  })

  test('the doctor says when the unit is not the one of this version, and a second installation replaces it', () => {
    const { config, ...sources } = loadConfig({ env: {}, cwd: folderOf() })
    const unit = join(root, 'etc/systemd/system/windfall.service')
    const check = () => checkService({ config, sources }, root)
    expect(check()).toMatchObject([
      { status: 'ok', detail: `${unit} permits every path of the configuration.` },
    ])
    writeFileSync(unit, UNIT.replace('TimeoutStopSec=45', 'TimeoutStopSec=30'))
    expect(check()).toMatchObject([
      {
        status: 'warning',
        detail: `${unit} is not the unit of this version.`,
        remedy: expect.stringContaining('Run `windfall install`'),
      },
    ])
    expect(install(root).outcomes['/etc/systemd/system/windfall.service']).toBe('updated')
    expect(check()).toMatchObject([{ status: 'ok' }])
  })

  test('refuses a folder that is not the root folder of a system', () => {
    const folder = folderOf()
    const args = ['install', '--root', folder, '--no-start', '--executable', executable]
    const { status, stderr } = windfall(args, { cwd: root })
    expect([status, stderr]).toEqual([1, expect.stringContaining('it has no etc/passwd')])
    expect(readdirSync(folder)).toEqual([])
  })

  test('uninstall removes the program and the unit, and keeps the data', () => {
    writeFileSync(join(root, 'var/lib/windfall/windfall.db'), 'data')
    const { stdout } = windfall(['uninstall', '--root', root], { cwd: root })
    expect(stdout).toContain(
      `rm -r ${root}/var/lib/windfall ${root}/etc/windfall && userdel --prefix ${root} windfall`,
    )
    expect(readdirSync(join(root, 'usr/local/bin'))).toEqual([])
    expect(readdirSync(join(root, 'etc/systemd/system'))).toEqual([])
    expect(readFileSync(join(root, 'var/lib/windfall/windfall.db'), 'utf8')).toBe('data')
    expect(windfall(['uninstall', '--root', root], { cwd: root }).stdout).toContain('is not installed')
  })
})

test('the unit runs no program but Windfall, so that it works on a machine without others', () => {
  const programs = [...UNIT.matchAll(/^Exec\w+=(\S+)/gm)].map(([, program]) => program)
  expect(new Set(programs)).toEqual(new Set(['/usr/local/bin/windfall']))
  expect(UNIT).toContain('ExecReload=/usr/local/bin/windfall reload\n')
})

test('a unit hides homes and temporary folders, and a drop-in can reset what it says', () => {
  const unit = parseUnit('x', UNIT)
  expect(unit).toMatchObject({
    config: '/etc/windfall/config.toml',
    user: 'windfall',
    writable: ['/var/lib/windfall'],
    hidden: ['/home', '/root', '/run/user', '/tmp', '/var/tmp'],
    readOnly: ['/'],
  })
  const dropIn =
    '[Service]\nReadWritePaths=/srv/a \\\n -/srv/b\nProtectHome=read-only\nPrivateTmp=no\nStateDirectory='
  expect(parseUnit('x', `${UNIT}\n${dropIn}`)).toMatchObject({
    writable: ['/srv/a', '/srv/b'],
    hidden: [],
    readOnly: ['/', '/home', '/root', '/run/user'],
  })
})

describe.runIf(hasAnalyze)('the unit', () => {
  // systemd-analyze wants the program to exist.
  const unit = join(folderOf(), 'windfall.service')
  writeFileSync(unit, UNIT.replaceAll('/usr/local/bin/windfall', '/bin/true'))

  test('is valid', () => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    expect([status, stdout, stderr]).toEqual([0, '', ''])
  })

  test('is exposed to at most 2.0 of 10', () => {
    const args = ['security', '--offline=true', '--threshold=20', '--no-pager', unit]
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    expect([status, /exposure level.*/.exec(stdout)?.[0]]).toEqual([0, expect.stringMatching(/: 1\.\d OK/)])
  })
})
