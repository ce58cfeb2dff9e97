/**
 * Opens Windfall on a clock that runs fast, for programs that tests kill. Every commit waits before it is submitted and
 * before its caller continues, so that the gaps around a commit are long.
 */
import { setTimeout as pass } from 'node:timers/promises'
import { openApp } from '../../src/app.ts'
import { logOf } from '../../src/cli/serve.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openRandom, type Random } from '../../src/demo/world/random.ts'
import { lockForServing } from '../../src/store/disk/lock.ts'
import type { Store } from '../../src/store/store.ts'

/** The clock shows this instant plus the time since then, times the speed: it goes on through restarts. */
const FROM = Date.UTC(2026, 10, 21)
const MOST_DELAY_MS = 6
const TICK_MS = 3

function delayCommits(store: Store, random: Random): void {
  const { commit } = store
  const someTime = (): Promise<unknown> | null =>
    random.chance(0.5) ? pass(random.whole(1, MOST_DELAY_MS)) : null
  const late: Store['commit'] = async (work) => {
    await someTime()
    const done = await commit(work)
    await someTime()
    return done
  }
  Object.assign(store, { commit: late })
}

/** Opens the instance of the working directory. SEED, APPENDING and CLOCK_SPEED are read from the environment. */
export async function openFastInstance() {
  const { SEED = '', APPENDING = '', CLOCK_SPEED = '1', ...env } = process.env
  const loaded = loadConfig({ env, cwd: process.cwd() })
  const { config } = loaded
  const log = logOf(config)
  const lock = lockForServing(config.store.path)
  const speed = Number(CLOCK_SPEED)
  const windfall = await openApp({
    config,
    configSources: loaded,
    clock: () => Math.floor(FROM + (Date.now() - FROM) * speed),
    monotonic: () => performance.now() * speed,
    log,
  })
  const random = openRandom(SEED)
  delayCommits(windfall.store, random)
  const isAppending = APPENDING === 'yes'

  /** Calls `turn` again and again while the instance appends, and then until it is done; then closes the instance. */
  async function run(turn: () => Promise<void>, isDone: () => boolean): Promise<void> {
    log.info('serving', { address: 'http://127.0.0.1:1' })
    while (isAppending || !isDone()) {
      await pass(TICK_MS)
      await turn()
    }
    await windfall.close()
    lock.release()
  }

  return { windfall, random, isAppending, seed: SEED, run }
}
