/** The command `windfall apps`: connect, disconnect and list apps. */
import { existsSync } from 'node:fs'
import { defineCommand } from 'citty'
import type { App } from '../apps/apps.ts'
import type { CatalogueChanges } from '../apps/catalogue.ts'
import type { Organization } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'
import { parse } from '../http/parse.ts'
import type { PendingSummary } from '../ledger/pending.ts'
import { commandName } from '../program/form.ts'
import {
  columns,
  configArg,
  instantText,
  load,
  organizationArg,
  plural,
  sendVerb,
} from './instance/instance.ts'
import { print, setResult } from './instance/output.ts'

type AppList = { organizations: (Organization & { apps: App[] })[]; pending: PendingSummary[] }
type AddedApp = { app: App; organization: string; change: 'added' | 'updated' | 'none'; applied: number }

const bundleArg = {
  bundle: { type: 'positional', required: true, description: 'Bundle id, such as com.example.app' },
} as const

const add = defineCommand({
  meta: { name: 'add', description: 'Add or update an app' },
  args: {
    ...bundleArg,
    'apple-id': { type: 'string', valueHint: 'ID', description: 'The Apple ID of the app (App Information)' },
    'team-id': { type: 'string', valueHint: 'TEAM', description: 'Ten characters; required for App Attest' },
    'android-package': {
      type: 'string',
      valueHint: 'PACKAGE',
      description: 'Application id of the app on Android',
    },
    sku: { type: 'string', valueHint: 'SKU', description: 'The SKU in App Store Connect' },
    name: { type: 'string', valueHint: 'NAME', description: 'The display name' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const request = {
      organization: args.organization ?? null,
      bundle_id: args.bundle,
      apple_id: args['apple-id'] === undefined ? undefined : parseAppleId(args['apple-id']),
      team_id: args['team-id'],
      android_package: args['android-package'],
      sku: args.sku,
      name: args.name,
    }
    await assertValidFirst(args.config, request)
    const { app, organization, change, applied } = await sendVerb<AddedApp>(args.config, 'apps.add', request)
    print(ADDED[change](app.bundle_id, organization))
    if (applied > 0)
      print(`${plural(applied, 'pending notification')} ${applied === 1 ? 'was' : 'were'} applied.`)
  },
})

const ADDED: Record<AddedApp['change'], (bundle: string, organization: string) => string> = {
  added: (bundle, organization) => `${bundle} is connected to ${organization}.`,
  updated: (bundle, organization) =>
    `${bundle} was already connected to ${organization}. Its details are updated.`,
  none: (bundle, organization) => `${bundle} is already connected to ${organization}. Nothing changed.`,
}

/** Checks a request that would create the database, because the server checks it after that. @throws Refusal 400, 404 */
async function assertValidFirst(
  configPath: string | undefined,
  request: { organization: string | null },
): Promise<void> {
  const { store, organizations: declared } = load(configPath).config
  if (existsSync(store.path)) return
  const [{ AddApp }, { resolveAmong }] = await Promise.all([
    import('../control/app_verbs.ts'),
    import('../apps/organizations.ts'),
  ])
  const { organization } = parse(AddApp, request)
  const present: readonly { slug: string }[] = declared.length === 0 ? [{ slug: 'default' }] : declared
  resolveAmong(present, organization)
}

function parseAppleId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Refusal(400, 'invalid_request', `--apple-id must be a number such as 6448311069, not ${text}`)
}

const remove = defineCommand({
  meta: { name: 'remove', description: 'Disconnect an app; its data stays' },
  args: { ...bundleArg, ...organizationArg, ...configArg },
  async run({ args }) {
    const request = { organization: args.organization ?? null, bundle_id: args.bundle }
    const app = await sendVerb<App>(args.config, 'apps.remove', request)
    print(`${app.bundle_id} is disconnected. New notifications for it stay pending for seven days.`)
  },
})

const list = defineCommand({
  meta: { name: 'list', description: 'List connected apps and apps with pending notifications' },
  args: configArg,
  async run({ args }) {
    const { organizations, pending } = await sendVerb<AppList>(args.config, 'apps.list', {})
    for (const organization of organizations) {
      print(`${organization.slug} (${organization.id})`)
      if (organization.apps.length === 0) print(`  no apps yet; run: ${commandName} apps add BUNDLE`)
      else print(columns([HEADER, ...organization.apps.map(rowOf)]))
    }
    if (pending.length === 0) return
    print('\nPending notifications, stored for seven days:')
    print(columns(pending.map(pendingRow)))
  },
})

const refresh = defineCommand({
  meta: { name: 'refresh', description: 'Fetch the list of apps and subscriptions from Apple now' },
  args: { ...organizationArg, ...configArg },
  async run({ args }) {
    const request = { organization: args.organization ?? null }
    const refreshed = await sendVerb<(CatalogueChanges & { organization: string })[]>(
      args.config,
      'apps.refresh',
      request,
    )
    setResult({ organizations: refreshed })
    for (const { organization, added, renamed, gone } of refreshed) {
      const changes = [
        ...added.map((app) => `connected: ${nameOf(app)}`),
        ...renamed.map((app) => `renamed: ${nameOf(app)}`),
        ...gone.map((app) => `no longer listed by Apple: ${nameOf(app)}`),
      ]
      print(changes.length === 0 ? `${organization}: no changes.` : `${organization}:`)
      for (const change of changes) print(`  ${change}`)
    }
  },
})

const nameOf = ({ name, bundle_id }: App): string => (name === null ? bundle_id : `${bundle_id} (${name})`)

const pendingRow = (summary: PendingSummary) => [
  '',
  summary.bundle_id,
  summary.notifications,
  `since ${instantText(summary.first_received_at)}`,
  pendingReason(summary),
]

function pendingReason({ bundle_id, apple_id, connected }: PendingSummary): string {
  if (connected === null) return `not connected; run: ${commandName} apps add ${bundle_id}`
  const remedy =
    connected.source === 'config'
      ? `set apple_id = ${apple_id} in config.toml`
      : `run: ${commandName} apps add ${bundle_id} --apple-id ${apple_id}`
  return `connected with Apple id ${connected.apple_id}, but Apple sends ${apple_id}; ${remedy}`
}

const HEADER = ['', 'bundle id', 'Apple id', 'team id', 'Android package', 'source']
const rowOf = (app: App) => ['', app.bundle_id, app.apple_id, app.team_id, app.android_package, app.source]

export const appsCommand = defineCommand({
  meta: { name: 'apps', description: 'Connect, disconnect and list apps' },
  subCommands: { add, remove, list, refresh },
})
