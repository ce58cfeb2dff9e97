/** The instance that the commands of the documents run against: two months of a simulated company, over a real socket. */

import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { serve } from '../../../src/cli/serve.ts'
import { runVerb } from '../../../src/control/socket.ts'
import { verbsOf } from '../../../src/control/verbs.ts'
import { fill } from '../../../src/demo/fill.ts'
import { openPublisher } from '../../../src/demo/publisher.ts'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { openAppStore } from '../../../src/demo/store/store.ts'
import { atEndOfFile, closedAtEnd } from '../../closing.ts'
import { temporaryFolder } from '../../folders.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

const DAY = 86_400_000
const HISTORY_DAYS = 60
const SUBSCRIBERS = 40
const BACKUPS = 'backups'
/** A notification that no root of Apple signed. */
const FORGED = { signedPayload: 'e30.e30.e30' }

export type Instance = Awaited<ReturnType<typeof openInstance>>

/** The clock of this machine, unless it is set to the past. */
function openPastClock() {
  let past: number | null = null
  return Object.assign(() => past ?? Date.now(), {
    set(at: number | null): void {
      past = at
    },
    turn: () => {},
  })
}

/** A backend that accepts every webhook. Returns its URL. */
async function openReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEndOfFile(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`
}

/** A simulated company of the last two months, with its App Store and a publisher of exchange rates. */
async function openCompany() {
  const until = Date.now()
  const authority = await openAuthority({ now: until })
  const from = until - HISTORY_DAYS * DAY
  const simulation = openSimulation({ seed: 1, from, until, subscribers: SUBSCRIBERS, authority })
  const store = closedAtEnd(await openAppStore({ simulation, authority, clock: Date.now }))
  return { authority, simulation, store, publisher: closedAtEnd(await openPublisher()) }
}

/** What `windfall connect` writes, and the sections of the documents that permit a backend and place backups. */
const configOf = ({ connect_key, purchase_key, vendor_number }: Company['store'], folder: string): string => `
[[accounts]]
issuer_id = "${connect_key.issuer_id}"
vendor_numbers = ["${vendor_number}"]
connect_key_id = "${connect_key.key_id}"
connect_key = """${connect_key.private_key}"""
purchase_key_id = "${purchase_key.key_id}"
purchase_key = """${purchase_key.private_key}"""
[outbound]
allow = ["127.0.0.1/32"]
[backup]
folder = "${join(folder, BACKUPS)}"
`

/** The channel of alerts that the documents name. */
function addChannel({ windfall: { alerts, store }, organization }: TestApp, url: string): Promise<unknown> {
  const fields = { name: 'phone', kind: 'json', secrets: {}, hides_amounts: false, digests: [] }
  const { id: organization_id } = organization
  return store.commit(() =>
    alerts.channelAdministration.add({ ...fields, organization_id, settings: { url }, source: 'dashboard' }),
  )
}

type Company = Awaited<ReturnType<typeof openCompany>>

/** Opens, fills and serves the instance until the tests of the file end. */
export async function openInstance() {
  const company = await openCompany()
  const { authority, simulation, store, publisher } = company
  const folder = temporaryFolder().path
  mkdirSync(join(folder, BACKUPS), { mode: 0o700 })
  const config = join(folder, 'config.toml')
  writeFileSync(config, configOf(store, folder), { mode: 0o600 })
  const clock = openPastClock()
  const app = await openTestApp({
    folder,
    apps: simulation.apps,
    // A backfill that begins by itself fails for an app that a page adds without a key of its team.
    env: { WINDFALL_SERVER_PORT: '0', WINDFALL_LOG_LEVEL: 'error', WINDFALL_JOBS_BACKFILL: 'off' },
    roots: [authority.root_pem],
    hosts: store.hosts,
    rate_origins: publisher.origins,
    clock,
  })
  const { windfall } = app
  await fill(windfall, simulation.stepsAhead(), clock, () => {})
  clock.set(null)
  const server = closedAtEnd(await serve(windfall, app.config, windfall.log))
  store.faults.notification_url = `${server.url}/apple/notifications`
  writeFileSync(config, `${configOf(store, folder)}[server]\nport = ${new URL(server.url).port}\n`)
  await app.post('/apple/notifications', FORGED)

  const identity = await generateIdentity()
  const verbs = verbsOf(windfall)
  /** The answer of a command’s verb, without a process. */
  const send = <Answer>(verb: string, args: unknown) => runVerb(verbs, verb, args) as Promise<Answer>

  const receiver = await openReceiver()
  await addChannel(app, receiver)
  const links = windfall.store.prepare<[], { id: string; bundle: string }>(
    `select original_transaction_id as id, apps.bundle_id as bundle from transactions
     join apps on apps.id = transactions.app_id where environment = 'production' limit 2`,
  )
  const all = { organization_id: null, apps: null }
  const [{ id = '', bundle = '' } = {}, { id: other_id = '' } = {}] = links.all()

  return {
    windfall,
    folder,
    config,
    database: app.config.store.path,
    url: server.url,
    receiver,
    bundle,
    original_transaction_ids: [id, other_id] as const,
    token: await windfall.store.commit(
      () => windfall.tokens.create('docs', all, { can_annotate: true }).token,
    ),
    publishable: (await app.key('publishable')).toString(),
    secret: (await app.key('secret')).toString(),
    age: { identity, recipient: await identityToRecipient(identity) },
    send,
    post: app.post,
    /** A call for a new user, which the stream of events shows. */
    identify: () => app.post('/api/sdk/v1/identify', { appUserId: `user-${randomUUID()}`, bundleId: bundle }),
  }
}
