/** The server of `npm run dev`: `windfall serve` against the simulated company of the process that started it. */
import type { Windfall } from '../../src/app.ts'
import type { AppleHosts } from '../../src/apple/api/hosts.ts'
import { startServer, stopSignal } from '../../src/cli/serve.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { RateOrigins } from '../../src/rates/origins.ts'

/** The simulated hosts and trusted roots, passed as JSON in the only argument. */
export type SimulatedHosts = { roots: string[]; hosts: AppleHosts; rate_origins: RateOrigins }

async function run(): Promise<void> {
  const world: SimulatedHosts = JSON.parse(process.argv[2] ?? '')
  const stopped = stopSignal()
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  const load = () => loadConfig({ env: process.env, cwd: process.cwd() })
  const { windfall, log, url, close } = await startServer({ load, world })
  process.send?.(url)
  fetchReports(windfall).catch((error) => log.error('the reports could not be imported', { error }))
  await stopped
  await close()
  if (process.connected) process.disconnect()
}

/** Fetches Apple's list of apps and the missing reports. */
async function fetchReports({ catalogue, imports }: Windfall): Promise<void> {
  await catalogue.refreshAll()
  await imports.run()
}

void run()
