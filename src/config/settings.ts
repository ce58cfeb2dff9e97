/** The schema of config.toml, its sections, and the type of the loaded configuration. */
import * as v from 'valibot'
import { account } from './accounts.ts'
import { alertChannel, alertRule, alerts } from './alerts.ts'
import { attest } from './attest.ts'
import { backup } from './backup/settings.ts'
import type { Path } from './checks/issues.ts'
import { endpoint, forwarding } from './endpoints.ts'
import { app, organization } from './organizations.ts'
import { outbound } from './outbound.ts'
import { apple, jobs, limits, log, metrics, rates, root, server, sign_in, store, users } from './server.ts'
import { type Setting, table } from './setting.ts'

/** The schema of config.toml. It fills in defaults; those that depend on other settings are still null. */
export const Settings = v.object({
  base_url: root.base_url.schema,
  server: v.optional(table(server), {}),
  store: v.optional(table(store), {}),
  backup: v.optional(table(backup), {}),
  log: v.optional(table(log), {}),
  sign_in: v.optional(table(sign_in), {}),
  limits: v.optional(table(limits), {}),
  users: v.optional(table(users), {}),
  apple: v.optional(table(apple), {}),
  rates: v.optional(table(rates), {}),
  outbound: v.optional(table(outbound), {}),
  forwarding: v.optional(table(forwarding), {}),
  alerts: v.optional(table(alerts), {}),
  attest: v.optional(table(attest), {}),
  metrics: v.optional(table(metrics), {}),
  jobs: v.optional(table(jobs), {}),
  organizations: v.optional(v.array(table(organization)), []),
  accounts: v.optional(v.array(table(account)), []),
  apps: v.optional(v.array(table(app)), []),
  endpoints: v.optional(v.array(table(endpoint)), []),
  alert_channels: v.optional(v.array(table(alertChannel)), []),
  alert_rules: v.optional(v.array(table(alertRule)), []),
})

export type ParsedConfig = v.InferOutput<typeof Settings>

/** An organization as declared. `secret_key` is the key itself, also if it comes from a file. */
type OrganizationConfig = Omit<ParsedConfig['organizations'][number], 'name' | 'secret_key_file'> & {
  name: string
}

/** An app as declared. `organization` is a slug; "default" when no organization is declared. */
type AppConfig = Omit<ParsedConfig['apps'][number], 'organization'> & { organization: string }

/** An account as declared, with the keys themselves, also if they come from files. `organization` is a slug. */
export type AccountConfig = Omit<
  ParsedConfig['accounts'][number],
  'organization' | 'connect_key_file' | 'purchase_key_file'
> & { organization: string }

/** An endpoint as declared, with the secrets themselves, also if they come from a file. `organization` is a slug. */
type EndpointConfig = Omit<
  ParsedConfig['endpoints'][number],
  'organization' | 'secret_file' | 'secrets' | 'headers'
> & {
  organization: string
  /** Newest first. */
  secrets: string[]
  /** By lowercase name. */
  headers: Record<string, string>
}

/** A channel of alerts as declared, with its secrets, also if they come from a file. `organization` is a slug. */
type AlertChannelConfig = Omit<
  ParsedConfig['alert_channels'][number],
  'organization' | 'secrets_file' | 'settings' | 'secrets'
> & { organization: string; settings: Record<string, unknown>; secrets: Record<string, unknown> }

/** A rule of alerts as declared. `organization` is a slug. */
type AlertRuleConfig = Omit<ParsedConfig['alert_rules'][number], 'organization' | 'settings'> & {
  organization: string
  settings: Record<string, unknown>
}

/** The configuration in effect. Paths are absolute, every default is filled in, and it is deeply frozen. */
export type Config = Frozen<
  Omit<
    ParsedConfig,
    | 'base_url'
    | 'outbound'
    | 'organizations'
    | 'accounts'
    | 'apps'
    | 'endpoints'
    | 'alert_channels'
    | 'alert_rules'
  > & {
    base_url: string
    /** `ca` is the content of `ca_file`. */
    outbound: ParsedConfig['outbound'] & { ca: string | null }
    organizations: OrganizationConfig[]
    accounts: AccountConfig[]
    apps: AppConfig[]
    endpoints: EndpointConfig[]
    alert_channels: AlertChannelConfig[]
    alert_rules: AlertRuleConfig[]
  }
>

export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T

export type Section = Readonly<{
  /** Its key in the file; empty for the settings at the top level. */
  name: string
  /** Whether the section is a list, each entry under its own `[[name]]`. */
  list: boolean
  reason: string
  settings: Readonly<Record<string, Setting>>
}>

/** Every setting, in the order of the example file. */
export const SECTIONS: readonly Section[] = [
  { name: '', list: false, reason: '', settings: root },
  { name: 'server', list: false, reason: 'The HTTP server.', settings: server },
  { name: 'store', list: false, reason: 'The database.', settings: store },
  {
    name: 'backup',
    list: false,
    reason:
      'Scheduled backups. `windfall backup FILE` creates one at any time; `windfall restore` restores one.',
    settings: backup,
  },
  { name: 'log', list: false, reason: 'The log on standard output.', settings: log },
  { name: 'sign_in', list: false, reason: 'How long a sign-in to the dashboard lasts.', settings: sign_in },
  { name: 'limits', list: false, reason: 'Rate and size limits of requests.', settings: limits },
  { name: 'users', list: false, reason: 'Retention of users.', settings: users },
  { name: 'apple', list: false, reason: "Verification of Apple's signatures.", settings: apple },
  { name: 'rates', list: false, reason: 'Daily exchange rates.', settings: rates },
  {
    name: 'outbound',
    list: false,
    reason:
      'Requests to addresses that you enter, such as webhooks. Only public addresses are permitted by default, and only https.',
    settings: outbound,
  },
  { name: 'forwarding', list: false, reason: 'Webhooks: what is kept of deliveries.', settings: forwarding },
  {
    name: 'alerts',
    list: false,
    reason: 'Alerts. Channels and rules are made in the dashboard, or declared at the end of the file.',
    settings: alerts,
  },
  {
    name: 'attest',
    list: false,
    reason: 'App Attest: proofs that a call comes from a genuine copy of your app on a genuine device.',
    settings: attest,
  },
  { name: 'metrics', list: false, reason: 'How metrics are computed.', settings: metrics },
  {
    name: 'jobs',
    list: false,
    reason:
      'Schedules of background jobs: cron patterns of five fields (minute, hour, day, month, weekday) in UTC, or "off". `windfall jobs run` runs a job immediately.',
    settings: jobs,
  },
  {
    name: 'organizations',
    list: true,
    reason:
      'One for each company whose numbers stay apart. By default there is one, named "default". What is declared here can be changed only here. An organization that is removed here is marked as gone and keeps its history.',
    settings: organization,
  },
  {
    name: 'accounts',
    list: true,
    reason:
      'API keys from Apple, at most one account for each organization. The App Store Connect key fetches sales reports and apps; the In-App Purchase key fetches the history of notifications and transactions. `windfall connect` asks for both, tests them and writes this section.',
    settings: account,
  },
  {
    name: 'apps',
    list: true,
    reason:
      'The apps whose notifications are received. `windfall apps add` connects apps too. What is declared here can be changed only here.',
    settings: app,
  },
  {
    name: 'endpoints',
    list: true,
    reason:
      'The endpoints that receive events as webhooks. What is declared here can be changed only here. An endpoint that is removed here is disabled and keeps its log.',
    settings: endpoint,
  },
  {
    name: 'alert_channels',
    list: true,
    reason:
      'Where alerts go. What is declared here can be changed only here. A channel that is removed here is removed; its messages stay in the history.',
    settings: alertChannel,
  },
  {
    name: 'alert_rules',
    list: true,
    reason:
      'What alerts tell. What is declared here can be changed only here. Without a rule here, the first channel brings the default rules.',
    settings: alertRule,
  },
]

/** The heading of the section in the file: `[server]` or `[[apps]]`. */
export function heading(section: Section): string {
  return section.list ? `[[${section.name}]]` : `[${section.name}]`
}

/** The environment variable of a value: `['apps', 0, 'bundle_id']` is WINDFALL_APPS_0_BUNDLE_ID. */
export function variableName(path: Path): string {
  return ['WINDFALL', ...path].join('_').toUpperCase()
}

/** The section that a path names or leads into; null if there is none. */
export function sectionAt(path: Path): Section | null {
  const [first] = path
  if (first === undefined) return null
  return (
    SECTIONS.find(({ name, settings }) => (name === '' ? Object.hasOwn(settings, first) : name === first)) ??
    null
  )
}

/** The setting that a path names, or leads into if its value is a list; null if there is none. */
export function settingAt(path: Path): Setting | null {
  const section = sectionAt(path)
  if (section === null) return null
  const key = path[section.name === '' ? 0 : section.list ? 2 : 1]
  return typeof key === 'string' ? (section.settings[key] ?? null) : null
}
