/** The settings that an owner makes on an installed server, so that it lives in the world around it. */
import { createServer } from 'node:net'
import { APPS } from '../../src/demo/world/catalogue.ts'
import type { Installed } from './installed.ts'

/** What the processes of the world are reached at. */
export type World = {
  /** The URL of each endpoint by name. */
  endpoints: Record<string, string>
  phones: { http: number; mail: number }
  /** The certificate authority of the service of Web Push, as PEM. */
  ca: string
  secret: string
  keys: {
    connect: { issuer_id: string | null; key_id: string; private_key: string }
    purchase: { key_id: string; private_key: string }
    vendor_number: string
  }
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

const table = (head: string, fields: Record<string, unknown>): string =>
  [`[[${head}]]`, ...Object.entries(fields).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)].join(
    '\n',
  )

/** TOML's inline table. */
const inline = (fields: Record<string, unknown>): string =>
  `{ ${Object.entries(fields)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(', ')} }`

/** An endpoint of config.toml. */
export const endpointToml = (name: string, url: string, secret: string): string =>
  table('endpoints', {
    name,
    url,
    kind: name === 'apple' ? 'apple' : 'events',
    ...(name === 'ordered' && { ordered: true }),
    secrets: [secret],
  })

const channelToml = (name: string, kind: string, settings: object, secrets: object = {}): string =>
  `${table('alert_channels', { name, kind })}\nsettings = ${inline({ ...settings })}\nsecrets = ${inline({ ...secrets })}`

/** The names of the channels, as the world knows them. */
export const CHANNELS = ['hook', 'telegram', 'ntfy', 'mail'] as const

function channelsToml({ phones }: World): string[] {
  const server = `http://127.0.0.1:${phones.http}`
  return [
    `${channelToml('hook', 'json', { url: `${server}/hook` })}\ndigests = ["daily"]`,
    channelToml('telegram', 'telegram', { server, chat_id: '4711' }, { token: `123456:${'a'.repeat(30)}` }),
    channelToml('ntfy', 'ntfy', { server, topic: 'windfall' }),
    channelToml('mail', 'email', {
      host: '127.0.0.1',
      port: phones.mail,
      from: 'windfall@example.com',
      to: 'owner@example.com',
    }),
  ]
}

const ruleToml = (template: string): string =>
  `${table('alert_rules', { name: `Soak: ${template}`, template })}\nsettings = ${inline({ per_hour: 1_000 })}`

/** Writes the settings. `late` is an endpoint that is added later. */
export function writeSettings(installed: Installed, port: number, world: World): void {
  const { set, add, addFile } = installed
  set('server', 'port', String(port))
  set('outbound', 'allow', '["127.0.0.1/32", "::1/128"]')
  set('outbound', 'ca_file', JSON.stringify(addFile('private-ca.pem', world.ca)))
  set('alerts', 'contact', '"owner@example.com"')
  set('limits', 'sdk_requests_per_minute', '2000')
  const { connect, purchase, vendor_number } = world.keys
  const apps = APPS.map(({ bundle_id, apple_id, team_id, sku, name, android_package }) =>
    table('apps', {
      bundle_id,
      apple_id,
      team_id,
      sku,
      name,
      ...(android_package !== null && { android_package }),
    }),
  )
  const account = table('accounts', {
    issuer_id: connect.issuer_id,
    vendor_numbers: [vendor_number],
    connect_key_id: connect.key_id,
    connect_key_file: addFile('connect.p8', connect.private_key),
    purchase_key_id: purchase.key_id,
    purchase_key_file: addFile('purchase.p8', purchase.private_key),
  })
  const endpoints = Object.entries(world.endpoints)
    .filter(([name]) => name !== 'late')
    .map(([name, url]) => endpointToml(name, url, world.secret))
  const rules = ['sale', 'new_subscriber', 'trial', 'first_in_country'].map(ruleToml)
  const organization = table('organizations', { slug: 'lantern', time_zone: 'UTC' })
  for (const toml of [organization, ...apps, account, ...endpoints, ...channelsToml(world), ...rules])
    add(toml)
}
