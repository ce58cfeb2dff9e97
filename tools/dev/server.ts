/** The server of `npm run dev`: `windfall serve` against the simulated company of the process that started it. */
import { openApp, type Windfall } from '../../src/app.ts'
import type { AppleHosts } from '../../src/apple/api/hosts.ts'
import { logOf, serve, stopSignal } from '../../src/cli/serve.ts'
import { systemClock } from '../../src/clock.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { RateOrigins } from '../../src/rates/sources.ts'

/** The simulated hosts and trusted roots, passed as JSON in the only argument. */
export type SimulatedHosts = { roots: string[]; hosts: AppleHosts; rate_origins: RateOrigins }

async function run(): Promise<void> {
  const simulated: SimulatedHosts = JSON.parse(process.argv[2] ?? '')
  const stopped = stopSignal()
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  const configSources = loadConfig({ env: process.env, cwd: process.cwd() })
  const { config } = configSources
  const log = logOf(config)
  const monotonic = () => performance.now()
  const windfall = await openApp({ config, configSources, clock: systemClock, monotonic, log, ...simulated })
  const server = await serve(windfall, config, log)
  process.send?.(server.url)
  fetchReports(windfall).catch((error) => log.error('the reports could not be imported', { error }))
  await stopped
  await server.close()
  if (process.connected) process.disconnect()
}

/** Fetches Apple's list of apps and the missing reports. */
async function fetchReports({ catalogue, imports }: Windfall): Promise<void> {
  await catalogue.refreshAll()
  await imports.run()
}

void run()
