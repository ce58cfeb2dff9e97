/** The command `windfall apps`: which apps are connected. */
import { defineCommand } from 'citty'
import type { App } from '../apps/apps.ts'
import type { CatalogueChanges } from '../apps/catalogue.ts'
import type { Organization } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'
import type { PendingSummary } from '../ledger/pending.ts'
import { columns, configArg, organizationArg, plural, print, sendVerb, shownAt } from './instance/instance.ts'

type Listed = { organizations: (Organization & { apps: App[] })[]; pending: PendingSummary[] }
type Added = { app: App; organization: string; applied: number }

const bundleArg = {
  bundle: { type: 'positional', required: true, description: 'Bundle id, as in com.example.app' },
} as const

const add = defineCommand({
  meta: { name: 'add', description: 'Connect an app, or say more of one' },
  args: {
    ...bundleArg,
    'apple-id': {
      type: 'string',
      valueHint: 'ID',
      description: 'Apple’s number of the app (App Information)',
    },
    'team-id': { type: 'string', valueHint: 'TEAM', description: 'Ten characters; needed for App Attest' },
    'android-package': {
      type: 'string',
      valueHint: 'PACKAGE',
      description: 'Application id of its Android sister',
    },
    sku: { type: 'string', valueHint: 'SKU', description: 'The SKU given in App Store Connect' },
    name: { type: 'string', valueHint: 'NAME', description: 'The name that people read' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { app, organization, applied } = await sendVerb<Added>(args.config, 'apps.add', {
      organization: args.organization ?? null,
      bundle_id: args.bundle,
      apple_id: args['apple-id'] === undefined ? undefined : digits(args['apple-id']),
      team_id: args['team-id'],
      android_package: args['android-package'],
      sku: args.sku,
      name: args.name,
    })
    print(`${app.bundle_id} is connected to ${organization}.`)
    if (applied > 0)
      print(
        `${plural(applied, 'notification')} that had waited for it ${applied === 1 ? 'is' : 'are'} in the feed.`,
      )
  },
})

function digits(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Refusal(400, 'invalid_request', `--apple-id takes digits, as in 6448311069; ${text} is none`)
}

const remove = defineCommand({
  meta: { name: 'remove', description: 'Disconnect an app; what it has sent stays' },
  args: { ...bundleArg, ...organizationArg, ...configArg },
  async run({ args }) {
    const request = { organization: args.organization ?? null, bundle_id: args.bundle }
    const app = await sendVerb<App>(args.config, 'apps.remove', request)
    print(`${app.bundle_id} is disconnected. What it sends now waits for seven days.`)
  },
})

const list = defineCommand({
  meta: { name: 'list', description: 'Show the connected apps, and those that wait to be' },
  args: configArg,
  async run({ args }) {
    const { organizations, pending } = await sendVerb<Listed>(args.config, 'apps.list', {})
    for (const organization of organizations) {
      print(`${organization.slug} (${organization.id})`)
      if (organization.apps.length === 0) print('  no app yet: windfall apps add BUNDLE')
      else print(columns([HEAD, ...organization.apps.map(rowOf)]))
    }
    if (pending.length === 0) return
    print('\nNotifications wait, for seven days:')
    print(columns(pending.map(waitingRow)))
  },
})

const refresh = defineCommand({
  meta: { name: 'refresh', description: 'Ask Apple for the list of apps and of their subscriptions, now' },
  args: { ...organizationArg, ...configArg },
  async run({ args }) {
    const request = { organization: args.organization ?? null }
    const answer = await sendVerb<(CatalogueChanges & { organization: string })[]>(
      args.config,
      'apps.refresh',
      request,
    )
    for (const { organization, added, renamed, gone } of answer) {
      const changes = [
        ...added.map((app) => `connected: ${nameOf(app)}`),
        ...renamed.map((app) => `renamed: ${nameOf(app)}`),
        ...gone.map((app) => `gone from Apple’s list: ${nameOf(app)}`),
      ]
      print(changes.length === 0 ? `${organization}: nothing has changed.` : `${organization}:`)
      for (const change of changes) print(`  ${change}`)
    }
  },
})

const nameOf = ({ name, bundle_id }: App): string => (name === null ? bundle_id : `${bundle_id} (${name})`)

const waitingRow = (one: PendingSummary) => [
  '',
  one.bundle_id,
  one.notifications,
  `since ${shownAt(one.first_received_at)}`,
  waitingReason(one),
]

function waitingReason({ bundle_id, apple_id, connected }: PendingSummary): string {
  if (connected === null) return `not connected: windfall apps add ${bundle_id}`
  const remedy =
    connected.source === 'config'
      ? `write apple_id = ${apple_id} in config.toml`
      : `windfall apps add ${bundle_id} --apple-id ${apple_id}`
  return `connected with Apple id ${connected.apple_id}, but Apple says ${apple_id}: ${remedy}`
}

const HEAD = ['', 'bundle id', 'Apple id', 'team id', 'Android package', 'said by']
const rowOf = (app: App) => ['', app.bundle_id, app.apple_id, app.team_id, app.android_package, app.source]

export const appsCommand = defineCommand({
  meta: { name: 'apps', description: 'Connect, disconnect and list apps' },
  subCommands: { add, remove, list, refresh },
})
