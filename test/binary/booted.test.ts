/** The executable as a service of a real systemd: a Debian 12 that systemd-nspawn boots. It needs root. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { atEndOfFile } from '../closing.ts'
import { BUCKET, KEY, REGION } from '../offsite/bucket_service.ts'
import { isLong } from '../random.ts'
import { DEBOOTSTRAP, freshDebianRoot, NSPAWN } from './debian.ts'
import { executable, has } from './executable.ts'

const TIMEOUT = { timeout: 300_000 }
const isRoot = process.getuid?.() === 0
if (isLong && !existsSync(NSPAWN))
  process.stderr.write('\n*** The Debian package systemd-container is missing.\n\n')
if (!isRoot) process.stderr.write('\n*** Not root: the tests of a booted system are SKIPPED.\n\n')

/** The process that is number 1 inside of the container. */
function firstOf(container: ChildProcess): number | null {
  try {
    const children = readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8')
    return Number(children.trim().split(' ')[0]) || null
  } catch {
    return null
  }
}

/** Boots `root` without a network but loopback. Resolves with a function that runs a script in it. */
async function boot(root: string) {
  const options = ['--quiet', '--register=no', '--keep-unit', '--private-network', '--console=pipe']
  const container = spawn(NSPAWN, [...options, '--directory', root, '--boot'], { stdio: 'ignore' })
  atEndOfFile(async () => {
    const closed = new Promise((resolve) => container.once('close', resolve))
    if (container.exitCode !== null || container.signalCode !== null) return
    // Everything in the container ends with its first process, but not with systemd-nspawn.
    const first = firstOf(container)
    if (first === null) container.kill('SIGKILL')
    else process.kill(first, 'SIGKILL')
    await closed
  })

  function run(script: string) {
    const inside = ['-t', String(firstOf(container)), '-m', '-u', '-i', '-n', '-p', '-r', '-w']
    const { status, stdout, stderr } = spawnSync(
      'nsenter',
      [...inside, '/bin/sh', '-c', `cd /root; ${script}`],
      { encoding: 'utf8', env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' } },
    )
    return { status, stdout, stderr }
  }

  await vi.waitFor(
    () => {
      if (firstOf(container) === null) throw new Error('it has not begun')
      expect(run('systemctl is-system-running').stdout).toMatch(/^(?:running|degraded)$/m)
    },
    { timeout: 60_000, interval: 250 },
  )
  return { run, first: () => firstOf(container) }
}

/** Serves a bucket in the network of the container, from outside of it. Resolves with its endpoint. */
async function serveBucket(first: number | null): Promise<string> {
  const file = fileURLToPath(new URL('../offsite/bucket_process.ts', import.meta.url))
  const service = spawn('nsenter', ['-t', String(first), '-n', process.execPath, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEndOfFile(() => service.kill('SIGKILL'))
  const [endpoint] = await once(service.stdout, 'data')
  return String(endpoint).trim()
}

describe.runIf(isRoot && isLong && has(executable, DEBOOTSTRAP, NSPAWN))('with systemd', () => {
  let run: Awaited<ReturnType<typeof boot>>['run']
  let first: Awaited<ReturnType<typeof boot>>['first']
  let root: string
  /** Runs a script that succeeds. Returns its output. */
  const good = (script: string): string => {
    const { status, stdout, stderr } = run(script)
    expect({ script, status, stderr }).toMatchObject({ script, status: 0 })
    return stdout
  }
  const CONFIG = 'etc/windfall/config.toml'
  const shown = (property: string): string =>
    good(`systemctl show windfall --value --property=${property}`).trim()

  beforeAll(async () => {
    root = freshDebianRoot('systemd')
    copyFileSync(executable, join(root, 'root/windfall'))
    ;({ run, first } = await boot(root))
  }, TIMEOUT.timeout)

  test('is active when it serves, and reloads without other programs', TIMEOUT, () => {
    expect(good('./windfall install')).toMatch(/^started +the service$/m)
    // The start has ended, so it serves.
    expect(good('windfall health')).toBe('http://127.0.0.1:8787 is ready.\n')
    expect([shown('ActiveState'), shown('StatusText')]).toEqual([
      'active',
      'Serving at http://127.0.0.1:8787',
    ])
    const journal = good('journalctl --unit windfall --output cat')
    expect(journal).toContain('Set the dashboard password: run windfall owner reset')
    expect(journal).not.toContain('/setup#')
    expect(good('windfall owner reset')).toContain('/setup#')
    expect(good('windfall doctor || true')).toMatch(/^ok +systemd service /m)

    const config = readFileSync(join(root, CONFIG), 'utf8')
    writeFileSync(join(root, CONFIG), config.replace('#level = "info"', 'level = "warn"'))
    good('systemctl reload windfall')
    expect(good('journalctl --unit windfall --output cat')).toContain('Changed: log.level')
    appendFileSync(join(root, CONFIG), '[backup]\nschedule = "off"\n')
    expect(run('systemctl reload windfall').status).not.toBe(0)
    expect(good('journalctl --unit windfall --output cat')).toContain('[backup] is already in line ')
    good('systemctl kill --signal=HUP --kill-who=main windfall')
    const errors = () => good('journalctl --unit windfall --priority err --output cat --quiet')
    return vi
      .waitFor(() => expect(errors()).toContain('was not reloaded'), { timeout: 10_000, interval: 250 })
      .then(() => writeFileSync(join(root, CONFIG), config))
  })

  test('starts again after a crash', TIMEOUT, async () => {
    const before = shown('MainPID')
    good('systemctl kill --signal=KILL --kill-who=main windfall')
    await vi.waitFor(
      () => {
        const state = good('systemctl show windfall --property=ActiveState,MainPID')
        expect(state).toContain('ActiveState=active\n')
        expect(state).not.toMatch(new RegExp(`^MainPID=(?:0|${before})$`, 'm'))
      },
      { timeout: 60_000, interval: 500 },
    )
  })

  test('the drill of the documents ends with the old configuration in use', TIMEOUT, () => {
    writeFileSync(
      join(root, CONFIG),
      `${readFileSync(join(root, CONFIG), 'utf8')}[[apps]]\nbundle_id = "com.example.lantern"\n`,
    )
    good('systemctl reload windfall')
    good('windfall backup /var/lib/windfall/backup.tar.zst && mv /var/lib/windfall/backup.tar.zst /root')
    const config = readFileSync(join(root, CONFIG), 'utf8')
    // The machine is gone, and a new one is installed.
    good('windfall uninstall && rm -r /var/lib/windfall /etc/windfall && userdel windfall')
    good('./windfall install --no-start')
    expect(good('windfall restore backup.tar.zst')).toContain(
      'The previous file is now /etc/windfall/config.toml.replaced-1',
    )
    good('systemctl enable --now windfall')
    expect(readFileSync(join(root, CONFIG), 'utf8')).toBe(config)
    expect(good('windfall apps list')).toContain('com.example.lantern')
    expect(readdirSync(join(root, 'var/lib/windfall'))).toContain('windfall.db')
  })

  test(
    'uploads under the rules of the unit, and a new machine restores from the bucket',
    TIMEOUT,
    async () => {
      const endpoint = await serveBucket(first())
      const identity = await generateIdentity()
      const url = `s3://${BUCKET}/windfall`
      const secret = '/etc/windfall/secret_access_key'
      good(`echo ${KEY.secret} | install -m 600 -o windfall -g windfall /dev/stdin ${secret}`)
      const settings = [
        '[backup]',
        `recipients = ["${await identityToRecipient(identity)}"]`,
        `to = "${url}"`,
        `endpoint = "${endpoint}"`,
        `region = "${REGION}"`,
        `access_key_id = "${KEY.id}"`,
        `secret_access_key_file = "${secret}"`,
      ]
      const written = readFileSync(join(root, CONFIG), 'utf8')
      const config = written
        .replace(/^\[backup\]$/m, settings.join('\n'))
        .replace(/^\[outbound\]$/m, '[outbound]\nallow = ["127.0.0.1"]')
      writeFileSync(join(root, CONFIG), config)
      good('systemctl reload windfall && windfall outgoing resume')
      expect(good('windfall jobs run backup')).toContain(`uploaded to ${url}/windfall-`)
      expect(good('windfall doctor || true')).toMatch(/^ok +Backup elsewhere +s3:/m)
      // The machine is gone, and a new one is installed.
      good('windfall uninstall && rm -r /var/lib/windfall /etc/windfall && userdel windfall')
      good('./windfall install --no-start')
      writeFileSync(join(root, 'root/identity'), identity)
      const variables = [
        `WINDFALL_BACKUP_ENDPOINT=${endpoint}`,
        `WINDFALL_BACKUP_REGION=${REGION}`,
        `WINDFALL_BACKUP_ACCESS_KEY_ID=${KEY.id}`,
        `WINDFALL_BACKUP_SECRET_ACCESS_KEY=${KEY.secret}`,
        'WINDFALL_OUTBOUND_ALLOW=127.0.0.1',
      ]
      good(`${variables.join(' ')} windfall restore ${url} --identity identity`)
      expect(readFileSync(join(root, CONFIG), 'utf8')).toBe(config)
      good('systemctl enable --now windfall')
      expect(good('windfall apps list')).toContain('com.example.lantern')
      expect(good('windfall jobs run backup')).toContain('not uploaded, because outgoing requests are held')
      good('windfall outgoing resume')
      expect(good('windfall jobs run backup')).toContain(`uploaded to ${url}/windfall-`)
    },
  )
})
