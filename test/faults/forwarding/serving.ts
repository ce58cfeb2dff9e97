/**
 * Forwards events to the endpoints of config.toml on a clock that runs fast, for tests that kill processes. While
 * APPENDING is yes, it appends events; otherwise it exits when nothing waits. Every commit waits before it is submitted
 * and before its caller continues, so that the gaps around a commit are long.
 */
import { setTimeout as pass } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { openApp, type Windfall } from '../../../src/app.ts'
import { logOf } from '../../../src/cli/serve.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openRandom, type Random } from '../../../src/demo/world/random.ts'
import { lockForServing } from '../../../src/store/disk/lock.ts'
import type { Store } from '../../../src/store/store.ts'

const { SEED = '', APPENDING = '', CLOCK_SPEED = '1', ...ENV } = process.env
/** The clock shows this instant plus the time since then, times the speed: it goes on through restarts. */
const FROM = Date.UTC(2026, 10, 21)
const KEYS = 6
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

/** Appends some events, each of a random key. */
function append({ store, feed, organizations, clock }: Windfall, random: Random): Promise<void> {
  const { id: organization_id } = organizations.resolve(null)
  const now = clock()
  const subjects = Array.from({ length: random.whole(1, 6) }, () => `key-${random.whole(1, KEYS)}`)
  return store.commit(() => {
    for (const subject of subjects)
      feed.append({
        organization_id,
        app_id: null,
        environment: 'production',
        type: 'gap.found',
        origin: 'live',
        // The body contains when the customer was read, so that a body that is made again has other bytes.
        customer_id: 'cus_0123456789abcdef',
        subject,
        cause: `${SEED}/${now}/${random.whole(1, 1e12)}`,
        data: () => ({ note: 'x'.repeat(random.whole(0, 2_000)) }),
        occurred_at: now,
        signed_at: null,
      })
  })
}

async function main(): Promise<void> {
  const loaded = loadConfig({ env: ENV, cwd: process.cwd() })
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
  const { forwarding, store } = windfall
  const random = openRandom(SEED)
  delayCommits(store, random)
  const waiting = store.prepare<[], { count: number }>(`
    select (select count(*) from deliveries where state = 'waiting')
      + (select count(*) from endpoints where cursor < (select max(seq) from events)) as count`)
  forwarding.start()
  log.info('serving', { address: 'http://127.0.0.1:1' })
  while (APPENDING === 'yes' || waiting.get()?.count !== 0) {
    await pass(TICK_MS)
    await forwarding.tick()
    if (APPENDING === 'yes') await append(windfall, random)
  }
  await windfall.close()
  lock.release()
}

if (isMainThread) await main()
