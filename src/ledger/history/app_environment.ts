/** An app in one environment: each of Apple's histories belongs to one. */
import type { Environment } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'

export type AppEnvironment = { app: App; environment: Environment }

/** Production of every app first; the sandbox is less urgent. */
export const appEnvironmentsOf = (apps: readonly App[]): AppEnvironment[] =>
  (['production', 'sandbox'] as const).flatMap((environment) => apps.map((app) => ({ app, environment })))

/** The fields that identify an app environment in a log line or an answer. */
export const labelsOf = ({ app, environment }: AppEnvironment) => ({ bundle_id: app.bundle_id, environment })
