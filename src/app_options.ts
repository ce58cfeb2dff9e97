/** The options of `openApp`. */
import type { AppleHosts } from './apple/api/hosts.ts'
import type { Clocks } from './clock.ts'
import type { ConfigSources } from './config/load.ts'
import type { Config } from './config/settings.ts'
import type { Log } from './log.ts'
import type { RateOrigins } from './rates/origins.ts'

export type AppOptions = Clocks & {
  config: Config
  /** Where each setting was written. By default, no setting has a source. */
  configSources?: ConfigSources
  log: Log
  /** Trusted root certificates as PEM. By default Apple's; the demo and tests pass others. */
  roots?: readonly string[]
  /** Trusted roots of attestations as PEM. By default Apple's. */
  attest_roots?: readonly string[]
  /** Hosts of Apple's APIs. The demo and tests pass others. */
  hosts?: AppleHosts
  /** Waits before a request to Apple is retried, in milliseconds. Tests do not wait. */
  wait?: (ms: number) => Promise<void>
  /** URLs of the publishers of exchange rates. The demo and tests pass others. */
  rate_origins?: RateOrigins
  /** The version of the metric formulas. Tests pass another. */
  formula?: number
  /** A random number from 0 to below 1, for the jitter of jobs. Tests pass a constant. */
  random?: () => number
}

/** The sources of a configuration that was not loaded from a file or from variables. */
export const NO_CONFIG_SOURCES: ConfigSources = {
  file: null,
  base: process.cwd(),
  sourceKindByPath: new Map(),
  locationByPath: new Map(),
}
