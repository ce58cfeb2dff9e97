/** `windfall upgrade` that is killed in each step: the machine still serves or can, and the next run ends the upgrade. */
import { beforeAll, describe, expect, test } from 'vitest'
import { openRandom } from '../../../src/demo/world/random.ts'
import { isLong, seed } from '../../random.ts'
import { canLaunch } from './launcher.ts'
import { type Machine, openMachine, outcomeOf } from './machine.ts'
import { bundleNext, bundleThis, GOOD_STEP, NEXT_DATABASE } from './releases.ts'

const TIMEOUT = { timeout: isLong ? 1_800_000 : 180_000 }
/** Kills at a random time, in milliseconds from the start of the command. */
const RANDOM_KILLS = isLong ? 60 : 0
const LONGEST_MS = 2_500
let own: string
let next: string

/** Runs the upgrade until it printed `moment`, and kills it. */
async function killAt(machine: Machine, moment: string, args: readonly string[]): Promise<void> {
  const running = machine.upgrade(args)
  await running.until((stdout) => stdout.includes(moment) || null)
  running.kill('SIGKILL')
  await running.ended
}

/** Starts the service as a restart of the machine would, and waits until it stores. */
async function serveAndStore(machine: Machine, user: string): Promise<void> {
  await machine.service.start()
  await machine.ready()
  expect(await machine.identify(user)).toBe(200)
}

describe.runIf(canLaunch)('an upgrade that is killed', () => {
  beforeAll(async () => {
    own = bundleThis()
    next = await bundleNext({ step: GOOD_STEP })
  })

  test('in each step forward is ended by the next run', TIMEOUT, async () => {
    const machine = await openMachine({ bundle: own })
    const file = machine.download('windfall-9', next)
    // Until step 4 the next run begins again.
    const begun = [
      '1/6',
      'accepts the configuration',
      '2/6',
      'verified',
      'copying',
      'migrating',
      '3/6  rehearsal  the copy',
    ]
    for (const [index, moment] of begun.entries()) {
      await killAt(machine, moment, [file])
      await serveAndStore(machine, `user-${index}`)
    }
    await killAt(machine, '4/6  switch     /', [file])
    await serveAndStore(machine, 'user-8')
    // From here on it needs no file.
    for (const moment of ['restarting', '5/6  wait       waiting']) {
      await killAt(machine, moment, [])
      await serveAndStore(machine, 'user-9')
    }
    const { stdout } = await machine.upgrade(['--json']).ended
    expect(outcomeOf(stdout)).toMatchObject({ outcome: 'upgraded', to: '9.0.0' })
    expect(machine.isInstalled(file)).toBe(true)
    expect(machine.leftovers()).toEqual(['windfall.previous'])
    expect(machine.version()).toBe(NEXT_DATABASE)
    expect(machine.users()).toHaveLength(begun.length + 2)
  })

  test('in each step back is ended by the next run', TIMEOUT, async () => {
    const machine = await openMachine({ bundle: own })
    await machine.identify('before')
    const version = machine.version()
    const elsewhere = `[ "$1" = serve ] && export WINDFALL_SERVER_PORT=${machine.otherPort}`
    const file = machine.download('silent', next, elsewhere)
    await killAt(machine, '6/6  go back    stopping', [file, '--wait', '4'])
    for (const moment of ['restoring', 'starting']) await killAt(machine, moment, [])
    const { stdout, status } = await machine.upgrade(['--json']).ended
    expect(status).toBe(1)
    expect(outcomeOf(stdout)).toMatchObject({ outcome: 'went_back' })
    expect(machine.leftovers()).toEqual([])
    expect(machine.version()).toBe(version)
    expect(machine.users()).toEqual(['before'])
    expect(await machine.identify('after')).toBe(200)
  })

  test.runIf(RANDOM_KILLS > 0)(`at any time is ended by the next run (seed ${seed})`, TIMEOUT, async () => {
    const random = openRandom(`upgrade command/${seed}`)
    for (let kill = 0; kill < RANDOM_KILLS; kill += 1) {
      const machine = await openMachine({ bundle: own })
      const isGood = kill % 2 === 0
      const elsewhere = `[ "$1" = serve ] && export WINDFALL_SERVER_PORT=${machine.otherPort}`
      const file = machine.download('windfall-9', next, isGood ? '' : elsewhere)
      await machine.identify('before')
      const args = [file, ...(isGood ? [] : ['--wait', '1.5'])]
      const running = machine.upgrade(args)
      const timer = setTimeout(
        () => running.kill('SIGKILL'),
        random.whole(0, isGood ? LONGEST_MS : 2 * LONGEST_MS),
      )
      await running.ended
      clearTimeout(timer)
      const { stdout, stderr } = await machine.upgrade(args).ended
      expect(`${stdout}${stderr}`).toMatch(isGood ? /Upgraded|already/ : /serves again/)
      expect(machine.users()).toEqual(['before'])
      await serveAndStore(machine, 'after')
      await machine.service.close()
    }
  })
})
