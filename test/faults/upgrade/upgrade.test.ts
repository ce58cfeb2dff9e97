/** `windfall upgrade` with real executables, a real server and a stand-in for systemd. Each step fails once. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { nonEmpty } from '../../non_empty.ts'
import { isLong } from '../../random.ts'
import { canLaunch, writeLauncher } from './launcher.ts'
import { commandsBelow, type Machine, openMachine, outcomeOf } from './machine.ts'
import {
  bundleNext,
  bundleThis,
  GOOD_STEP,
  NEXT,
  NEXT_DATABASE,
  withStep,
  writeChecksum,
} from './releases.ts'

const RELEASED = readFileSync(new URL('../../store/schema/fixtures/0.1.0.sql', import.meta.url), 'utf8')
const TIMEOUT = { timeout: 180_000 }
/** The next version; and one that changes nothing in the database. */
let own: string
let next: string
let same: string

/** A server that listens elsewhere: it starts, migrates and stores, and is never ready where it should be. */
const elsewhere = ({ otherPort }: Machine): string =>
  `[ "$1" = serve ] && export WINDFALL_SERVER_PORT=${otherPort}`

/** The machine is as before the upgrade, and serves. */
async function expectUntouched(machine: Machine, pid: number | null): Promise<void> {
  expect(machine.service.pid()).toBe(pid)
  expect(machine.leftovers()).toEqual([])
  expect(machine.rehearsals()).toBe(false)
  expect(machine.isInstalled(machine.program)).toBe(true)
  expect(await machine.identify('still-here')).toBe(200)
}

describe.runIf(canLaunch)('windfall upgrade', () => {
  beforeAll(async () => {
    own = bundleThis()
    ;[next, same] = await Promise.all([bundleNext({ step: GOOD_STEP }), bundleNext(null)])
  })

  test('replaces the program and migrates a database of 0.1.0', TIMEOUT, async () => {
    const machine = await openMachine({ bundle: own, dump: RELEASED })
    await machine.identify('before')
    const before = machine.users()
    const file = machine.download('windfall-9', next)
    const { stdout, stderr, status } = await machine.upgrade([file, '--json']).ended
    expect([status, stderr]).toEqual([0, ''])
    expect(outcomeOf(stdout)).toMatchObject({ outcome: 'upgraded', to: NEXT })
    expect(machine.isInstalled(file)).toBe(true)
    expect(machine.leftovers()).toEqual(['windfall.previous'])
    expect(machine.rehearsals()).toBe(false)
    expect(await machine.identify('after')).toBe(200)
    expect(machine.users()).toEqual([...before, 'after'].sort())
    expect(machine.version()).toBe(NEXT_DATABASE)
    const again = await machine.upgrade([file]).ended
    expect(again.stdout).toBe(`Windfall ${NEXT} is installed and runs already.\n`)
    const older = machine.download('windfall-old', own)
    expect((await machine.upgrade([older]).ended).stderr).toContain('older than the installed 9.0.0')
  })

  test('refuses a file that is damaged, foreign or not accepted, and changes nothing', TIMEOUT, async () => {
    const machine = await openMachine({ bundle: own })
    const pid = machine.service.pid()
    const file = machine.download('windfall-9', next)
    const refusal = async (...args: string[]) => (await machine.upgrade(args).ended).stderr
    expect(await refusal(`${file}-missing`)).toMatch(/there is no file \S+windfall-9-missing$/m)
    const unsigned = join(machine.home, 'unsigned')
    writeFileSync(unsigned, '')
    expect(await refusal(unsigned)).toContain('unsigned.sha256')
    expect(await refusal(file, '--sha256', 'abc')).toContain('64 hexadecimal digits')
    expect(await refusal(file, '--sha256', '0'.repeat(64))).toContain('the download is damaged')
    const text = join(machine.home, 'notes.txt')
    writeFileSync(text, 'notes')
    writeChecksum(text)
    expect(await refusal(text)).toContain('is not a Linux executable')
    const foreign = join(machine.home, 'arm64')
    writeLauncher(foreign, '/bin/false', 183)
    writeChecksum(foreign)
    expect(await refusal(foreign)).toContain('is for arm64, and this machine is x64: download linux-x64')
    const other = join(machine.home, 'other')
    writeLauncher(other, '/bin/false')
    writeChecksum(other)
    expect(await refusal(other)).toContain('is not a Windfall executable')
    const picky = machine.download(
      'picky',
      next,
      '[ "$1" = check ] && { echo config.toml:7 wrong >&2; exit 2; }',
    )
    expect(await refusal(picky)).toMatch(/does not accept the configuration:\nconfig.toml:7 wrong/)
    await expectUntouched(machine, pid)
  })

  test('changes nothing if the backup or the migration of a copy fails', TIMEOUT, async () => {
    const machine = await openMachine({ bundle: own })
    const pid = machine.service.pid()
    const file = machine.download('windfall-9', next)
    writeFileSync(join(machine.home, 'backups'), 'a file where the folder should be')
    const unsaved = await machine.upgrade([file]).ended
    expect(unsaved.stderr).toContain('backups')
    rmSync(join(machine.home, 'backups'))
    const broken = machine.download('broken', withStep(next, 'insert into missing values (1)'))
    const rehearsed = await machine.upgrade([broken]).ended
    expect(rehearsed.status).toBe(1)
    expect(rehearsed.stderr).toContain('no such table: missing')
    expect(rehearsed.stdout).toMatch(/^2\/6 {2}backup .* verified$/m)
    await expectUntouched(machine, pid)
  })

  test('goes back to the old program if the new one ends or is never ready', TIMEOUT, async () => {
    const machine = await openMachine({ bundle: own })
    const crashing = machine.download('crashing', same, '[ "$1" = serve ] && exit 3')
    const ended = await machine.upgrade([crashing, '--json']).ended
    expect(ended.status).toBe(1)
    expect(outcomeOf(ended.stdout)).toMatchObject({ outcome: 'went_back', database: null })
    expect(outcomeOf(ended.stdout).reason).toMatch(/^windfall\.service (?:ended at its start|is failed); /)
    const silent = machine.download('silent', same, elsewhere(machine))
    const waited = await machine.upgrade([silent, '--wait', '1']).ended
    expect(waited.status).toBe(1)
    expect(waited.stdout).toMatch(
      /Windfall \d+\.\d+\.\d+ serves again, and nothing that was stored is lost\./,
    )
    await expectUntouched(machine, machine.service.pid())
  })

  test('goes back after the first crash, and keeps the program of an earlier upgrade', TIMEOUT, async () => {
    const machine = await openMachine({ bundle: own, isPatient: true })
    const file = machine.download('windfall-9', next)
    expect(await machine.upgrade([file]).ended).toMatchObject({ status: 0 })
    const kept = machine.previous()
    const crashing = machine.download('crashing', next, '[ "$1" = serve ] && exit 3')
    const { stdout, status } = await machine.upgrade([crashing, '--json']).ended
    expect(status).toBe(1)
    expect(outcomeOf(stdout)).toMatchObject({
      outcome: 'went_back',
      reason: 'windfall.service ended at its start; journalctl -u windfall says why',
    })
    expect(machine.isInstalled(file)).toBe(true)
    expect(machine.leftovers()).toEqual(['windfall.previous'])
    expect(machine.previous()).toBe(kept)
    expect(await machine.identify('still-here')).toBe(200)
  })

  test('restores the database from before a migration, with every write until then', TIMEOUT, async () => {
    const machine = await openMachine({ bundle: own })
    const version = machine.version()
    const silent = machine.download('silent', next, elsewhere(machine))
    const running = machine.upgrade([silent, '--wait', '4'])
    // After the backup of step 2, and before the new version takes over.
    await running.until((stdout) => stdout.includes('verified') || null)
    expect(await machine.identify('after-the-backup')).toBe(200)
    const { stdout } = await running.ended
    expect(stdout).toMatch(/Windfall \d+\.\d+\.\d+ serves again, and nothing that was stored is lost\./)
    const [, migrated = ''] = /had migrated is (\S+)\. Delete/.exec(stdout) ?? []
    expect(existsSync(migrated)).toBe(true)
    expect(machine.version()).toBe(version)
    expect(machine.users()).toEqual(['after-the-backup'])
    await expectUntouched(machine, machine.service.pid())
    // Nothing else serves this database, so no request to the owner's backend is held.
    const held = await machine.shell(`${machine.program} outgoing status`)
    expect(held.stdout).not.toContain('held since')
  })

  test(
    'restores nothing once the new version has acknowledged a write, and prints both ways on',
    TIMEOUT,
    async () => {
      const machine = await openMachine({ bundle: own })
      await machine.identify('before')
      const silent = machine.download('silent', next, elsewhere(machine))
      const running = machine.upgrade([silent, '--wait', '6'])
      await running.until((stdout) => stdout.includes('5/6') || null)
      await machine.ready(machine.otherUrl)
      expect(await machine.identify('acknowledged', machine.otherUrl)).toBe(200)
      const { stdout, status } = await running.ended
      expect(status).toBe(1)
      expect(stdout).toContain('Writes since the migration were acknowledged')
      expect(stdout).toContain(`${machine.database}  has everything`)
      const [, copy = ''] = /^ {2}(\S+) {2}is from before the migration$/m.exec(stdout) ?? []
      expect(existsSync(copy)).toBe(true)
      expect(machine.service.active()).toBe('inactive')
      expect(machine.version()).toBe(NEXT_DATABASE)
      expect(machine.users()).toEqual(['acknowledged', 'before'])
      // The first way keeps everything.
      const keep = commandsBelow(stdout, 'To keep everything')
      for (const command of nonEmpty(keep)) expect((await machine.shell(command)).stderr).toBe('')
      await machine.ready(machine.otherUrl)
      await machine.service.stop()
      // The second loses what was stored since.
      const goBack = commandsBelow(stdout, 'To go back')
      for (const command of nonEmpty(goBack)) {
        const { status, stderr } = await machine.shell(command)
        expect([command, status, stderr.replace('Verifying the backup …\n', '')]).toEqual([command, 0, ''])
      }
      await machine.ready()
      expect(machine.users()).toEqual(['before'])
    },
  )

  test.runIf(isLong && process.getuid?.() === 0)(
    'skips the rehearsal without room for a copy, and goes back if the migration has none (needs root)',
    TIMEOUT,
    async () => {
      // The database has 13 MB, its log up to 12, and the ballast 16; the migration needs 26 MB, and the copy 39.
      const dump = `${RELEASED}insert into settings (key, value) values ('large', printf('%.*c', 12000000, 'x'));\n`
      const roomy = await openMachine({ bundle: own, dump, data_mb: 72 })
      const skipped = await roomy.upgrade([roomy.download('windfall-9', next)]).ended
      expect(skipped.stdout).toMatch(
        /^3\/6 {2}rehearsal {2}skipped: a copy needs \d+ MB .* only \d+ MB are free$/m,
      )
      expect(skipped.stdout).toContain('Upgraded from')
      const full = await openMachine({ bundle: own, dump, data_mb: 62 })
      const failed = await full.upgrade([full.download('windfall-9', next)]).ended
      expect(failed.stdout).toContain('serves again')
      expect(full.service.output()).toContain('for a backup, but only')
    },
  )

  test('without a service it prints what to do; in a container it names the image', TIMEOUT, async () => {
    const machine = await openMachine({ bundle: own })
    const file = machine.download('windfall-9', next)
    const PATH = process.env.PATH ?? ''
    const image = await machine.upgrade([file], { env: { PATH, CONTAINER_IMAGE: 'example.com/windfall' } })
      .ended
    expect(image.stderr).toContain('part of the image example.com/windfall: build or pull')
    const { stdout, status } = await machine.upgrade([file, '--json'], { env: { PATH } }).ended
    expect(status).toBe(0)
    const { outcome, commands } = outcomeOf(stdout) as { outcome: string; commands: string[] }
    expect(outcome).toBe('by_hand')
    await machine.service.stop()
    expect((await machine.shell(commands[1] ?? '')).status).toBe(0)
    await machine.service.start()
    await machine.ready()
    expect(machine.version()).toBe(NEXT_DATABASE)
    expect(machine.leftovers()).toEqual(['windfall.previous'])
  })
})
