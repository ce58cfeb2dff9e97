/** A database with the history of the demo. */
import { dirname } from 'node:path'
import { openApp } from '../../src/app.ts'
import { systemClock } from '../../src/clock.ts'
import { loadConfig } from '../../src/config/load.ts'
import { fill } from '../../src/demo/fill.ts'
import { openAuthority } from '../../src/demo/signing/authority.ts'
import { openSimulation } from '../../src/demo/simulation.ts'
import { openLog } from '../../src/log.ts'
import { environmentOf } from './database.ts'

const TWO_YEARS_MS = 2 * 365 * 86_400_000

/**
 * Fills `file` with the history of the demo and closes it, which checkpoints the write-ahead log. `subscribers` is by
 * default that of the demo.
 */
export async function fillHistory(file: string, subscribers: number | undefined): Promise<void> {
  const until = systemClock()
  const authority = await openAuthority({ now: until })
  const simulation = openSimulation({ seed: 1, from: until - TWO_YEARS_MS, until, subscribers, authority })
  let now = until - TWO_YEARS_MS
  const clock = () => now
  const { config } = loadConfig({ env: environmentOf(file), cwd: dirname(file) })
  const log = openLog({ format: 'json', level: 'error' })
  const windfall = await openApp({ config, clock, monotonic: clock, log, roots: [authority.root_pem] })
  const { id } = windfall.organizations.resolve(null)
  for (const { bundle_id, apple_id, android_package } of simulation.apps) {
    await windfall.store.commit(() =>
      windfall.apps.add(id, { bundle_id, apple_id, android_package }, 'bench'),
    )
  }
  const fillClock = {
    set: (at: number) => {
      now = at
    },
  }
  await fill(windfall, simulation.steps(), fillClock, () => {})
  await windfall.close()
}
