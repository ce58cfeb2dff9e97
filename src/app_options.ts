/** What the whole program is opened with. */
import type { AppleHosts } from './apple/api/hosts.ts'
import type { Clock } from './clock.ts'
import type { ConfigSources } from './config/load.ts'
import type { Config } from './config/settings.ts'
import type { Log } from './log.ts'
import type { RateOrigins } from './rates/sources.ts'

export type AppOptions = {
  config: Config
  /** Who said what of it; nobody unless said. */
  configSources?: ConfigSources
  clock: Clock
  /** A clock that never jumps, for rate windows. */
  monotonic: Clock
  log: Log
  /** PEM of the roots to trust. Only the demo and tests name others than Apple's. */
  roots?: readonly string[]
  /** Where Apple is asked. Only the demo and tests name others than Apple's. */
  hosts?: AppleHosts
  /** How long work that asks Apple waits before it tries again, in milliseconds. Tests do not wait. */
  wait?: (ms: number) => Promise<void>
  /** Where exchange rates are asked for. Only the demo and tests name others than those who publish them. */
  rate_origins?: RateOrigins
  /** The number of the formulas that figures are counted by. Tests name another. */
  formula?: number
  /** Chance, from 0 to below 1: how far the runs of jobs are spread. Tests draw none. */
  random?: () => number
}

/** For a configuration that no file holds. */
export const NO_CONFIG_SOURCES: ConfigSources = {
  file: null,
  base: process.cwd(),
  sources: new Map(),
  places: new Map(),
}
