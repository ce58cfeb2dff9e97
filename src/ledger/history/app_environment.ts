/** What we compute: the world that one of Apple's histories is about: an app in one environment. */
import type { Environment } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'

export type AppEnvironment = { app: App; environment: Environment }

/** Production of every app first: a sandbox can wait. */
export const appEnvironmentsOf = (apps: readonly App[]): AppEnvironment[] =>
  (['production', 'sandbox'] as const).flatMap((environment) => apps.map((app) => ({ app, environment })))

/** How a realm is named in a log line or an answer. */
export const labelsOf = ({ app, environment }: AppEnvironment) => ({ bundle_id: app.bundle_id, environment })
