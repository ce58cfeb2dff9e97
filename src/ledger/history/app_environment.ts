/** Pairs of an app and an environment. Apple has a separate history for each pair. */
import type { Environment } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'

export type AppEnvironment = { app: App; environment: Environment }

/** Every app in both environments. Production of all apps comes first, because the sandbox is less urgent. */
export const appEnvironmentsOf = (apps: readonly App[]): AppEnvironment[] =>
  (['production', 'sandbox'] as const).flatMap((environment) => apps.map((app) => ({ app, environment })))

/** The fields that identify an app environment in a log line or an answer. */
export const labelsOf = ({ app, environment }: AppEnvironment) => ({ bundle_id: app.bundle_id, environment })
