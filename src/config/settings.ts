/** What may be written: the whole of config.toml: its schema, its sections and the type of what comes out. */
import * as v from 'valibot'
import { account } from './accounts.ts'
import type { Path } from './checks/issues.ts'
import { app, organization } from './organizations.ts'
import {
  apple,
  backup,
  jobs,
  limits,
  log,
  metrics,
  rates,
  root,
  server,
  sign_in,
  store,
  users,
} from './server.ts'
import { type Setting, table } from './setting.ts'

/** What config.toml may hold: each value checked, defaults filled in; what follows from other settings is still null. */
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
  metrics: v.optional(table(metrics), {}),
  jobs: v.optional(table(jobs), {}),
  organizations: v.optional(v.array(table(organization)), []),
  accounts: v.optional(v.array(table(account)), []),
  apps: v.optional(v.array(table(app)), []),
})

export type ParsedConfig = v.InferOutput<typeof Settings>

/** An organization as declared. `secret_key` is the key itself, wherever it was written. */
type OrganizationConfig = Omit<ParsedConfig['organizations'][number], 'name' | 'secret_key_file'> & {
  name: string
}

/** An app as declared. `organization` is a slug; "default" when no organization is declared. */
type AppConfig = Omit<ParsedConfig['apps'][number], 'organization'> & { organization: string }

/** Apple's keys as declared, themselves, wherever they were written. `organization` is a slug as with an app. */
export type AccountConfig = Omit<
  ParsedConfig['accounts'][number],
  'organization' | 'connect_key_file' | 'purchase_key_file'
> & { organization: string }

/** What applies. Paths are absolute, every default is filled in, and nothing in it can be changed. */
export type Config = Frozen<
  Omit<ParsedConfig, 'base_url' | 'organizations' | 'accounts' | 'apps'> & {
    base_url: string
    organizations: OrganizationConfig[]
    accounts: AccountConfig[]
    apps: AppConfig[]
  }
>

export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T

export type Section = Readonly<{
  /** Its key in the file; empty for the settings above all sections. */
  name: string
  /** Whether there may be several, each under its own `[[name]]`. */
  list: boolean
  reason: string
  settings: Readonly<Record<string, Setting>>
}>

/** Every setting, in the order of the example file. */
export const SECTIONS: readonly Section[] = [
  { name: '', list: false, reason: '', settings: root },
  { name: 'server', list: false, reason: 'How Windfall is reached.', settings: server },
  { name: 'store', list: false, reason: 'Where everything is kept.', settings: store },
  {
    name: 'backup',
    list: false,
    reason:
      'Backups that are made by themselves. `windfall backup FILE` makes one at any time; `windfall restore` puts one back.',
    settings: backup,
  },
  { name: 'log', list: false, reason: 'What is written to standard output.', settings: log },
  { name: 'sign_in', list: false, reason: 'How long a sign-in to the dashboard lasts.', settings: sign_in },
  { name: 'limits', list: false, reason: 'How much is taken from whom.', settings: limits },
  { name: 'users', list: false, reason: 'How long users are kept.', settings: users },
  { name: 'apple', list: false, reason: 'How Apple is listened to.', settings: apple },
  {
    name: 'rates',
    list: false,
    reason: 'What amounts are worth in other currencies, day by day.',
    settings: rates,
  },
  { name: 'metrics', list: false, reason: 'How numbers are counted.', settings: metrics },
  {
    name: 'jobs',
    list: false,
    reason:
      'When things happen by themselves: cron patterns of five fields (minute, hour, day, month, weekday) in UTC, or "off". `windfall jobs run` does one at once.',
    settings: jobs,
  },
  {
    name: 'organizations',
    list: true,
    reason:
      'One for each company whose numbers stay apart. Without any there is one, named "default". What is declared here can be changed only here; what is taken out is marked gone and keeps its history.',
    settings: organization,
  },
  {
    name: 'accounts',
    list: true,
    reason:
      "Apple's keys, one account for each organization at most: with the App Store Connect key its sales reports and apps are fetched, with the In-App Purchase key what its customers did before. `windfall connect` asks for both, tries them and writes this.",
    settings: account,
  },
  {
    name: 'apps',
    list: true,
    reason:
      'The apps to listen for. They can also be connected with `windfall apps add`; what is declared here can be changed only here.',
    settings: app,
  },
]

/** How the section stands in the file: `[server]` or `[[apps]]`. */
export function heading(section: Section): string {
  return section.list ? `[[${section.name}]]` : `[${section.name}]`
}

/** The environment variable of a value: `['apps', 0, 'bundle_id']` is WINDFALL_APPS_0_BUNDLE_ID. */
export function variableName(path: Path): string {
  return ['WINDFALL', ...path].join('_').toUpperCase()
}

/** The section that a path leads into or names, or null where there is none. */
export function sectionAt(path: Path): Section | null {
  const [first] = path
  if (first === undefined) return null
  return (
    SECTIONS.find(({ name, settings }) => (name === '' ? Object.hasOwn(settings, first) : name === first)) ??
    null
  )
}

/** The setting that a path leads to, or into when its value is a list; null where there is none. */
export function settingAt(path: Path): Setting | null {
  const section = sectionAt(path)
  if (section === null) return null
  const key = path[section.name === '' ? 0 : section.list ? 2 : 1]
  return typeof key === 'string' ? (section.settings[key] ?? null) : null
}
