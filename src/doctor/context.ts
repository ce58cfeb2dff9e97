/** What the checks read: the configuration, the database, Apple's hosts and, if one runs, the server. */
import type { AppleHosts } from '../apple/api/hosts.ts'
import type { Clock } from '../clock.ts'
import type { ConfigSources } from '../config/load.ts'
import type { Config } from '../config/settings.ts'
import type { Finding } from '../health/findings.ts'
import type { SeenRequests } from '../http/admission/seen.ts'
import type { Reader } from '../store/reader.ts'
import type { StoreCondition } from '../store/store.ts'
import type { AppleReach } from './apple/reach.ts'
import type { Outcome } from './result.ts'

/** What only the serving process knows. */
export type ServingProcess = {
  base_url: string
  condition: () => StoreCondition
  /** A pragma of the connection that writes. */
  pragma: (name: string) => unknown
  seen: SeenRequests
  /** Findings about webhooks. */
  webhooks: () => readonly Finding[]
  /** Findings about channels of alerts. */
  alerts: () => readonly Finding[]
  /** Findings about parts that an error has stopped. */
  stopped: () => readonly Finding[]
  /** Whether the config file changed after the server loaded it. */
  hasConfigChanged: () => boolean
}

export type DoctorContext = {
  config: Config
  sources: ConfigSources
  clock: Clock
  wait: (ms: number) => Promise<void>
  hosts: AppleHosts
  /** A read-only connection; null if the database cannot be read. `databaseProblem` then says why. */
  reader: Reader | null
  databaseProblem: Outcome | null
  /** Null if no server runs. */
  serving: ServingProcess | null
  /** When the first of the trusted root certificates expires, in milliseconds since the epoch. */
  root_expires_at: number
  /** Whether to request a test notification for each app. */
  isTestRequested: boolean
  /** Whether to send requests to Apple's hosts. */
  asksApple: boolean
  /** Requests Apple's time from every host, once for all checks. */
  appleReach: () => Promise<AppleReach>
}

/** Why a check that needs the database or the server is skipped. */
export const NO_DATABASE = 'The database cannot be read.'
export const NO_SERVER = 'No server runs with this database.'
/** Why the checks that run daily leave Apple out. */
export const NOT_ASKED = 'The daily checks ask Apple only if there are Apple keys. Run the checks to ask now.'
