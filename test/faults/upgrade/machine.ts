/** A machine with an installed and running Windfall, for tests of `windfall upgrade`. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { vi } from 'vitest'
import { ballastOf } from '../../../src/store/disk/disk_space.ts'
import { atEndOfFile } from '../../closing.ts'
import { start } from '../../processes.ts'
import { restore } from '../../store/schema/dump.ts'
import { openFolder, SERVER_UID as uid, writeExecutable } from './releases.ts'
import { openSupervisor } from './supervisor.ts'

const BUNDLE = 'com.example.lantern'

/** A port of the loopback address that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Resolves once `url` answers 200. */
async function answers(url: string): Promise<void> {
  for (;;) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const sha256Of = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/**
 * The bundle of the installed version, or an executable; the dump of a database to begin with; the size of the disk for
 * the data, which needs root; and whether systemd never gives up.
 */
type Options = ({ bundle: string } | { program: string }) & {
  dump?: string
  data_mb?: number
  isPatient?: boolean
}

/** Mounts a disk in memory, until the tests of the file end. */
function mountMemory(folder: string, megabytes: number): void {
  const size = `size=${megabytes}m`
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'none', folder], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`no disk can be mounted: ${stderr}`)
  atEndOfFile(() => void spawnSync('umount', [folder]))
}

/** Installs a version and serves it. It is stopped after the tests of the file. */
export async function openMachine({ dump, data_mb, isPatient = false, ...installed }: Options) {
  const folder = openFolder()
  const bin = join(folder, 'bin')
  const home = join(folder, 'home')
  for (const path of [bin, home, join(home, 'data')]) mkdirSync(path)
  if (data_mb !== undefined) mountMemory(join(home, 'data'), data_mb)
  const program = join(bin, 'windfall')
  if ('bundle' in installed) writeExecutable(program, installed.bundle)
  else copyFileSync(installed.program, program)
  const [port, otherPort] = [await freePort(), await freePort()]
  const config = join(home, 'config.toml')
  const lines = ['[server]', `port = ${port}`, '[rates]', 'fetch = false', '[log]', 'format = "json"']
  writeFileSync(config, `${lines.join('\n')}\n[[apps]]\nbundle_id = "${BUNDLE}"\n`, { mode: 0o600 })
  const database = join(home, 'data/windfall.db')
  if (dump !== undefined) restore(dump, database)
  if (uid !== undefined)
    for (const path of [
      home,
      ...readdirSync(home, { recursive: true }).map((name) => join(home, String(name))),
    ])
      chownSync(path, uid, uid)
  const env = { PATH: process.env.PATH ?? '', WINDFALL_CONFIG: config, TMPDIR: home }
  const service = await openSupervisor({ program, cwd: home, env, uid, isPatient })
  const url = `http://127.0.0.1:${port}`
  await service.start()
  await answers(`${url}/readyz`)
  // The sizes of disks in these tests include the ballast, which the server writes after its start.
  if (data_mb !== undefined) await vi.waitFor(() => statSync(ballastOf(database)), 10_000)

  /** Runs `windfall upgrade` of the installed program, or of another one. */
  const upgrade = (args: readonly string[], { from = program, env: more = {} } = {}) =>
    start(['upgrade', ...args, '--executable', program, '--config', config], {
      cwd: home,
      env: { PATH: `${service.path}:${process.env.PATH}`, TMPDIR: home, ...more },
      program: from,
    })

  /** A call of an app, which is stored before it is answered. */
  async function identify(user: string, at = url): Promise<number> {
    const { status } = await fetch(`${at}/api/sdk/v1/identify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ appUserId: user, bundleId: BUNDLE }),
    })
    return status
  }

  /** Reads the database while nothing serves it, or while something does. */
  function read<Row>(sql: string): Row[] {
    const db = new Database(database, { readonly: true })
    try {
      return db.prepare<[], Row>(sql).all()
    } finally {
      db.close()
    }
  }

  return {
    program,
    config,
    home,
    database,
    service,
    url,
    port,
    otherPort,
    otherUrl: `http://127.0.0.1:${otherPort}`,
    upgrade,
    identify,
    ready: (at = url) => answers(`${at}/readyz`),
    users: () =>
      read<{ app_user_id: string }>('select app_user_id from users order by 1').map((row) => row.app_user_id),
    version: () => read<{ user_version: number }>('pragma user_version')[0]?.user_version,
    isInstalled: (file: string) => sha256Of(program) === sha256Of(file),
    /** The SHA-256 of `windfall.previous`. */
    previous: () => sha256Of(`${program}.previous`),
    /** What lies beside the installed program. */
    leftovers: () =>
      readdirSync(bin)
        .filter((name) => name !== 'windfall' && !name.endsWith('.sha256'))
        .sort(),
    rehearsals: () => existsSync(`${database}.rehearsal`),
    /** A new executable in the home of whoever upgrades. */
    download: (name: string, from: string, before = '') => writeExecutable(join(folder, name), from, before),
    /** Runs commands that `windfall upgrade` printed. */
    shell: (command: string) =>
      start(['-c', command], {
        cwd: home,
        env: { ...env, PATH: `${service.path}:${env.PATH}` },
        program: '/bin/sh',
      }).ended,
  }
}

export type Machine = Awaited<ReturnType<typeof openMachine>>

/** The document that `windfall upgrade --json` printed. */
export const outcomeOf = (stdout: string): Record<string, unknown> => JSON.parse(stdout)

/** The indented commands below the line that begins with `heading`. */
export function commandsBelow(stdout: string, heading: string): string[] {
  const lines = stdout.split('\n')
  const below = lines.slice(lines.findIndex((line) => line.startsWith(heading)) + 1)
  const end = below.findIndex((line) => !line.startsWith('  '))
  return below.slice(0, end).map((line) => line.trim())
}
