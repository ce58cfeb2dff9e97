import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import * as v from 'valibot'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { examine } from '../../../src/cli/doctor/doctor.ts'
import { findingLine } from '../../../src/cli/doctor/findings.ts'
import { openControl, verb } from '../../../src/control/socket.ts'
import { verbsOf } from '../../../src/control/verbs.ts'
import { ago, type Finding } from '../../../src/health/findings.ts'
import { closedAtEnd } from '../../closing.ts'
import { openTestStore, TIDES } from '../../demo/store/opened.ts'
import { temporaryFolder } from '../../folders.ts'
import { openForwardingApp, openHttpReceiver } from '../../forwarding/receiving.ts'
import { openTestApp, sharedAuthority } from '../../helpers.ts'
import { windfall } from '../command.ts'
import { type Folder, openKeyFolder } from '../connect/connecting.ts'

const opened = await openTestStore({ subscribers: 1, authority: await sharedAuthority() })
const { store, clock } = opened
const NO_FAULTS = structuredClone(store.faults)
beforeEach(() => void Object.assign(store.faults, structuredClone(NO_FAULTS)))
afterAll(opened.close)

type More = { test?: boolean; hosts?: typeof store.hosts; ahead_ms?: number; env?: Record<string, string> }

async function findings(
  folder: Folder,
  { test = false, hosts = store.hosts, ahead_ms = 0, env = {} }: More = {},
) {
  const found: Finding[] = []
  const loadOptions = { env: { ...folder.env, ...env }, cwd: folder.path }
  const wait = () => store.settled()
  for await (const one of examine({ loadOptions, test, hosts, clock: () => clock() + ahead_ms, wait }))
    found.push(one)
  return found
}

/** The words of what was found about a subject, each with its state. */
const about = (found: readonly Finding[], subject: string): string[] =>
  found.flatMap((one) => (one.subject === subject ? `${one.state} ${one.text}` : []))

async function openConnected(): Promise<Folder> {
  const folder = openKeyFolder(opened)
  expect((await folder.connect()).refusal).toBeNull()
  return folder
}

test('an empty installation has next steps and no faults', async () => {
  const found = await findings(openKeyFolder(opened))
  expect(found.filter(({ state }) => state === 'fault')).toEqual([])
  expect(about(found, 'server')).toEqual(['warning Windfall is not running. Start it with: windfall serve'])
  expect(about(found, 'database')[0]).toContain('does not exist yet')
  expect(about(found, 'keys')[0]).toContain('`windfall connect`')
})

test('a copied database has a warning about held requests', async () => {
  const { path } = temporaryFolder()
  const app = await openTestApp({ folder: path })
  await app.close()
  rmSync(join(path, 'data/instance'))
  await (await openTestApp({ folder: path, apps: [] })).close()
  const found = await findings({ ...openKeyFolder(opened), path })
  expect(about(found, 'outgoing')).toEqual([
    expect.stringMatching(/^warning the database is a copy .*windfall outgoing resume/),
  ])
})

test('a running server reports a disabled webhook', async () => {
  const { path } = temporaryFolder()
  const app = await openForwardingApp({ folder: path })
  const receiver = await openHttpReceiver(() => 410)
  await app.addEndpoint(receiver.url, { name: 'backend' })
  await app.append(1)
  await app.run(3_600_000)
  const verbs = verbsOf(app.windfall)
  const { base_url } = app.config
  const status = verb(v.object({}), () => ({
    address: base_url,
    base_url,
    hosts: store.hosts,
    database: app.windfall.store.condition(),
  }))
  const { path: file } = app.config.store
  closedAtEnd(await openControl(file, { ...verbs, 'instance.status': status }, app.windfall.log))
  expect(about(await findings({ ...openKeyFolder(opened), path }), 'webhooks')).toEqual([
    expect.stringMatching(/^fault backend is disabled since .*410/),
  ])
})

test('a healthy installation has only ok findings, with the server running and a test notification', async () => {
  const folder = await openConnected()
  const env = { WINDFALL_BASE_URL: 'https://windfall.example.com' }
  const app = await folder.startServing(env)
  await app.windfall.catalogue.refreshAll()
  await app.windfall.jobs.runNow('housekeeping')
  store.faults.notification_url = `${app.server.url}/apple/notifications`
  const found = await findings(folder, { test: true, env })
  expect(about(found, 'server')).toEqual([`ok Windfall is running at ${app.server.url}.`])
  expect(about(found, 'base_url')).toEqual([])
  expect(about(found, 'configuration')).toEqual([`ok ${folder.path}/config.toml is valid.`])
  expect(about(found, 'notification URL')).toEqual(['ok https://windfall.example.com/apple/notifications'])
  expect(about(found, 'clock')).toEqual(['ok agrees with Apple’s.'])
  expect(about(found, 'App Store Connect key')).toEqual(['ok CNCT4K7W2Q: Apple accepts the key.'])
  expect(about(found, 'vendor number')).toEqual([`ok ${store.vendor_number}: Apple provides the reports.`])
  expect(about(found, 'In-App Purchase key')).toEqual(['ok PRCH9M3X5L: Apple accepts the key.'])
  expect(about(found, 'apps')).toEqual(['ok Apple lists 3, all connected.'])
  expect(about(found, 'housekeeping')[0]).toMatch(/^ok deleted 0 expired pending notifications \(just now\)$/)
  expect(about(found, 'last notification')[0]).toContain('production never, sandbox never')
  expect(about(found, 'test notification')).toHaveLength(6)
  expect(about(found, 'test notification')).toContain(`ok ${TIDES}, production: a test notification arrived`)
  const again = await findings(folder, { env })
  expect(about(again, 'last notification')).toContain(`ok ${TIDES}: production just now, sandbox just now.`)
  // No rates are published here, and the job that asks for them may or may not have run by now.
  const faults = found.filter(({ state, subject }) => state === 'fault' && subject !== 'exchange rates')
  expect(faults).toEqual([])
})

test('lists refused SDK calls and what to do', async () => {
  const folder = await openConnected()
  const app = await folder.startServing()
  const body = JSON.stringify({ appUserId: 'ann', bundleId: 'com.example.droid', platform: 'android' })
  const headers = { 'content-type': 'application/json' }
  await fetch(`${app.server.url}/api/sdk/v1/identify`, { method: 'POST', headers, body })
  await app.windfall.refusedCalls.flush()
  expect(about(await findings(folder), 'SDK calls')).toEqual([
    'warning 1 call for com.example.droid on Android was refused today (UTC): unknown_app. Connect the app, or set android_package on the app it belongs to.',
  ])
})

test.each([
  ['App Store Connect key', { connect_key: 'revoked' }, 'Apple refused the key (401)'],
  [
    'App Store Connect key',
    { missing_agreement: true },
    'the Account Holder must accept the latest agreements',
  ],
  ['vendor number', { connect_key: 'developer' }, 'to read sales reports the key needs the role'],
  ['In-App Purchase key', { purchase_key: 'revoked' }, 'check that it is an In-App Purchase key'],
] as const)('of the %s it says what is wrong (%j)', async (subject, faults, words) => {
  const folder = await openConnected()
  Object.assign(store.faults, faults)
  const found = about(await findings(folder), subject)
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(/^fault /)
  expect(found[0]).toContain(words)
})

test('reports a missing vendor number or In-App Purchase key with the consequence', async () => {
  const folder = openKeyFolder(opened)
  await folder.connect({ flags: { ...folder.flags, vendor: 'none', 'purchase-key': 'none' } })
  const found = await findings(folder)
  expect(about(found, 'vendor number')[0]).toMatch(/^warning missing: Windfall cannot import reports\. /)
  expect(about(found, 'In-App Purchase key')[0]).toMatch(/^warning missing/)
})

test('recognizes swapped keys', async () => {
  const folder = await openConnected()
  const [connect, purchases] = ['keys/AuthKey_CNCT4K7W2Q.p8', 'keys/SubscriptionKey_PRCH9M3X5L.p8']
  const env = {
    WINDFALL_ACCOUNTS_0_CONNECT_KEY_ID: 'PRCH9M3X5L',
    WINDFALL_ACCOUNTS_0_CONNECT_KEY_FILE: purchases,
    WINDFALL_ACCOUNTS_0_PURCHASE_KEY_ID: 'CNCT4K7W2Q',
    WINDFALL_ACCOUNTS_0_PURCHASE_KEY_FILE: connect,
    WINDFALL_APPS: `[{ bundle_id = "${TIDES}" }]`,
  }
  const found = await findings(folder, { env })
  expect(about(found, 'App Store Connect key')[0]).toMatch(
    /^fault .*accepts it as an In-App Purchase key: the two keys are/,
  )
  expect(about(found, 'In-App Purchase key')[0]).toMatch(
    /^fault .*accepts it as an App Store Connect API key: the two keys are/,
  )
})

test('an unknown vendor number is a fault', async () => {
  const folder = await openConnected()
  const env = { WINDFALL_ACCOUNTS_0_VENDOR_NUMBERS: `${store.vendor_number},80000001` }
  const found = about(await findings(folder, { env }), 'vendor number')
  expect(found[0]).toContain('Apple provides the reports')
  expect(found[1]).toMatch(/^fault 80000001: /)
})

test.each([
  [0, 'ok agrees'],
  [20_000, 'warning the clock of this machine is 20 s ahead of Apple’s'],
  [-90_000, 'fault the clock of this machine is 90 s behind Apple’s'],
])('a clock %i ms from Apple’s is told', async (ahead_ms, words) => {
  expect(about(await findings(openKeyFolder(opened), { ahead_ms }), 'clock')[0]).toContain(words)
})

test('checks everything else if Apple cannot be reached', async () => {
  const folder = await openConnected()
  const server = { ...store.hosts.server, sandbox: 'http://127.0.0.1:2' }
  const found = await findings(folder, { hosts: { connect: 'http://127.0.0.1:1', server }, test: true })
  const words =
    'cannot be reached (ECONNREFUSED); check that this machine is online and that a firewall allows the connection.'
  expect(about(found, 'Apple')).toEqual([
    'ok is simulated at http://127.0.0.1:1 by the demo.',
    `fault 127.0.0.1:1 ${words}`,
    `fault 127.0.0.1:2 ${words}`,
  ])
  expect(found.map(({ subject }) => subject)).not.toContain('App Store Connect key')
  const nowhere = {
    connect: 'http://127.0.0.1:1',
    server: { production: 'http://127.0.0.1:1', sandbox: 'http://127.0.0.1:1' },
  }
  const without = await findings(openKeyFolder(opened), { hosts: nowhere })
  expect(about(without, 'keys')[0]).toMatch(
    /^warning there are no Apple keys\. Add them with `windfall connect`/,
  )
})

test('calls the Apple hosts of the running server, and reports where these differ from the configuration', async () => {
  const folder = await openConnected()
  const app = await folder.startServing()
  const hosts = {
    connect: 'http://127.0.0.1:1',
    server: { production: 'http://127.0.0.1:1', sandbox: 'http://127.0.0.1:1' },
  }
  const found = await findings(folder, { hosts, env: { WINDFALL_BASE_URL: 'https://windfall.example.com' } })
  expect(about(found, 'App Store Connect key')).toEqual(['ok CNCT4K7W2Q: Apple accepts the key.'])
  expect(about(found, 'base_url')).toEqual([
    `warning the running server uses ${app.server.base_url}, this configuration https://windfall.example.com; check whether it was started with other settings (WINDFALL_…).`,
  ])
  expect(about(found, 'notification URL')[0]).toContain(`${app.server.base_url}/apple/notifications`)
})

test('missing rates of most currencies are a fault after the first fetch', async () => {
  const folder = await openConnected()
  const app = await folder.startServing()
  expect(about(await findings(folder), 'exchange rates')[0]).toMatch(/^warning there are none yet/)
  await app.windfall.jobs.runNow('rates')
  expect(about(await findings(folder), 'exchange rates')).toEqual([
    'fault 40 of 43 currencies have no rate. To import them, run windfall rates import',
  ])
})

test('reports a running job that failed before, and a job interrupted by a crash', async () => {
  const folder = await openConnected()
  const app = await folder.startServing()
  const run = app.windfall.store.prepare(
    "insert or replace into job_runs (job, started_at, failures) values ('import', 1, ?)",
  )
  await app.windfall.store.commit(() => run.run(1))
  expect(about(await findings(folder), 'import')).toEqual(['ok running'])
  await app.windfall.store.commit(() => run.run(3))
  expect(about(await findings(folder), 'import')).toEqual(['warning running, after it failed 2 times.'])
  app.windfall.accounts.declare([])
  await app.windfall.jobs.runNow('reconcile')
  expect(about(await findings(folder), 'reconcile')[0]).toMatch(/^warning not asked: no app is connected/)
  await app.server.close()
  expect(about(await findings(folder), 'import')).toEqual([
    'warning the process ended during the run. Windfall runs the job again.',
  ])
})

test('reports apps that are not connected or have a different Apple id', async () => {
  const folder = await openConnected()
  const { windfall: running, organization } = await folder.startServing()
  await running.store.commit(() => {
    running.apps.add(organization.id, { bundle_id: TIDES, apple_id: 5 }, 'command line')
    running.apps.add(organization.id, { bundle_id: 'com.lanternlabs.margin' }, 'command line')
    running.apps.remove(organization.id, 'com.lanternlabs.margin')
  })
  expect(about(await findings(folder), 'apps')).toEqual([
    'warning not connected yet: com.lanternlabs.chord. Run: windfall apps refresh',
    'ok disconnected: com.lanternlabs.margin. `windfall apps add` connects it again.',
    `fault ${TIDES} has Apple id 6470112201 at Apple and 5 here; its notifications are pending.`,
  ])
})

test('reports pending and refused notifications, and failed jobs', async () => {
  const folder = await openConnected()
  const app = await folder.startServing()
  const data = { bundleId: 'com.example.unknown', appAppleId: 5, environment: 'Production' }
  const uuid = '00000000-0000-4000-8000-000000000001'
  const payload = {
    notificationType: 'TEST',
    notificationUUID: uuid,
    version: '2.0',
    signedDate: clock(),
    data,
  }
  expect((await app.notify(payload)).status).toBe(200)
  expect((await app.post('/apple/notifications', { signedPayload: 'a.b.c' })).status).toBe(401)
  store.faults.purchase_key = 'revoked'
  await app.windfall.catalogue.refreshAll()
  await app.windfall.jobs.runNow('backfill')
  const found = await findings(folder)
  expect(about(found, 'backfill')[0]).toMatch(/^fault failed once \(just now\): /)
  expect(about(found, 'notifications')).toEqual([
    'warning 1 pending for apps that are not connected. To list them, run windfall apps list',
    'warning at least 1 notification was refused in the last day: not verifiably from Apple. To see why, run windfall refused list',
  ])
})

test('reports an invalid configuration line by line, and stops', async () => {
  const folder = openKeyFolder(opened)
  folder.write('config.toml', '[server]\nprot = 80\nhost = 5\n')
  const found = await findings(folder)
  expect(found.map(({ state, subject }) => `${state} ${subject}`)).toEqual([
    'fault configuration',
    'fault configuration',
  ])
  expect(found[0]?.text).toContain('config.toml:2  server.prot  unknown setting')
})

test('a foreign database and a server that does not answer are faults', async () => {
  const folder = openKeyFolder(opened)
  folder.write('data/windfall.db', 'not a database')
  const unresponsive = createServer((socket) => socket.once('data', () => socket.destroy()))
  await new Promise<void>((resolve) => unresponsive.listen(`${folder.path}/data/windfall.db.sock`, resolve))
  onTestFinished(() => void unresponsive.close())
  const found = await findings(folder)
  expect(about(found, 'database')[0]).toMatch(
    /^fault .* is not a database, or is damaged: file is not a database/,
  )
  expect(about(found, 'server')[0]).toMatch(/^fault the server does not answer/)
})

test('the command prints one line for each finding and exits with 1 if there is a fault', () => {
  const folder = openKeyFolder(opened)
  folder.write('config.toml', '[server]\nprot = 80\n')
  const { status, stdout, stderr } = windfall(['doctor'], { cwd: folder.path })
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
  expect(stdout).toBe(
    'fault    configuration           config.toml:2  server.prot  unknown setting. Did you mean server.port?\n\n1 fault, 0 warnings.\n',
  )
})

test('without a terminal, windfall connect lists the required options', () => {
  const { status, stderr } = windfall(['connect'], { cwd: openKeyFolder(opened).path })
  expect(status).toBe(1)
  expect(stderr).toContain('--purchase-key FILE (or none)')
})

test('prints an age in one unit', () => {
  const MINUTE = 60_000
  const texts = [0, 5, 119, 120, 47 * 60, 72 * 60].map((minutes) => ago(0, minutes * MINUTE))
  expect(texts).toEqual([
    'just now',
    '5 minutes ago',
    '119 minutes ago',
    '2 hours ago',
    '47 hours ago',
    '3 days ago',
  ])
  expect(findingLine({ state: 'ok', subject: 'x', text: 'a\nb' })).toBe(
    `ok       ${'x'.padEnd(22)}  a\n           b`,
  )
})
