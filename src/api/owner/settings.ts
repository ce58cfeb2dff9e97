/** `/api/v1/settings`: every setting with its source, the version and the database. Owner only. */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { effectiveSettings } from '../../config/effective_settings.ts'
import type { ConfigSources } from '../../config/load.ts'
import type { Config } from '../../config/settings.ts'
import type { Http } from '../../http/http.ts'
import type { Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { version } from '../../version.ts'
import { defineList } from '../lists.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const nullableText = v.nullable(v.string())
const SettingAnswer = v.object({
  path: v.string(),
  key: v.string(),
  value: v.pipe(v.unknown(), v.description('null for secrets and settings without a value')),
  is_secret: v.boolean(),
  is_set: v.boolean(),
  source: v.picklist(['default', 'file', 'environment', 'secret file']),
  place: v.pipe(nullableText, v.description('The line, the variable or the secret file')),
  default: nullableText,
  variable: v.pipe(v.string(), v.description('The environment variable that sets it')),
  reason: v.string(),
  needs_restart: v.boolean(),
})
export const SettingsAnswer = v.object({
  version: v.string(),
  started_at: v.number(),
  uptime_ms: v.number(),
  base_url: v.string(),
  config_file: v.pipe(nullableText, v.description('null if there is none')),
  database: v.object({ name: v.string(), bytes: v.number(), wal_bytes: v.number() }),
  notification_url: v.pipe(v.string(), v.description('The URL for notifications of every organization')),
  organizations: v.array(
    v.object({
      id: v.string(),
      slug: v.string(),
      name: v.string(),
      time_zone: v.string(),
      time_zone_source: v.pipe(
        v.picklist(['none', 'config', 'dashboard']),
        v.description('none: nobody chose a zone, and it is UTC'),
      ),
      currency: v.string(),
      sdk_auth: v.picklist(['any', 'key', 'attestation']),
      source: v.string(),
      notification_url: v.pipe(
        v.string(),
        v.description('The URL for notifications of this organization only'),
      ),
    }),
  ),
  sections: v.array(
    v.object({
      name: v.pipe(v.string(), v.description('Empty for settings above all sections')),
      reason: v.string(),
      settings: v.array(SettingAnswer),
    }),
  ),
})

/** The CSV has one row for each setting. */
const SETTINGS_TABLE = {
  columns: Object.keys(SettingAnswer.entries),
  rowsOf: ({ sections }: v.InferOutput<typeof SettingsAnswer>) =>
    sections.flatMap(({ settings }) => settings),
}

type Deps = {
  store: Store
  clock: Clock
  organizations: Organizations
  http: Pick<Http, 'baseUrl' | 'servingSince'>
  /** The current configuration; it changes on reload. */
  current: { readonly config: Config; readonly configSources: ConfigSources }
  auth: Auth
}

export function settingsRoutes({ store, clock, organizations, http, current, auth }: Deps): Route[] {
  const opened_at = clock()

  function settings(): v.InferOutput<typeof SettingsAnswer> {
    const { config, configSources } = current
    // In the demo, two simulated years pass between the creation of these routes and the first request.
    const started_at = http.servingSince() ?? opened_at
    const base_url = http.baseUrl() ?? config.base_url
    const notification_url = `${base_url}/apple/notifications`
    return {
      version,
      started_at,
      uptime_ms: clock() - started_at,
      base_url,
      config_file: configSources.file,
      database: {
        name: basename(store.file),
        bytes: sizeOf(store.file),
        wal_bytes: sizeOf(`${store.file}-wal`),
      },
      notification_url,
      organizations: organizations
        .list()
        .map(({ created_at: _, gone_at: __, ...organization }) => ({
          ...organization,
          notification_url: `${notification_url}/${organization.slug}`,
        })),
      sections: effectiveSettings(config, configSources),
    }
  }

  return defineList(auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/settings',
    summary:
      'Returns every setting with value and source, the version, the database, and the notification URLs',
    description: 'For secrets, only whether they are set. Change settings in config.toml.',
    access: auth.owner,
    answer: { description: 'The current settings', schema: SettingsAnswer },
    read: settings,
    table: SETTINGS_TABLE,
  })
}

/** The size of a file in bytes; 0 if it does not exist. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
