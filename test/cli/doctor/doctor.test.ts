import { rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import * as v from 'valibot'
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { Windfall } from '../../../src/app.ts'
import { diagnose } from '../../../src/cli/doctor/diagnose.ts'
import { resultText } from '../../../src/cli/doctor/report.ts'
import { openControl, verb } from '../../../src/control/socket.ts'
import { verbsOf } from '../../../src/control/verbs.ts'
import { type CheckResult, detailOf } from '../../../src/doctor/result.ts'
import { ago } from '../../../src/health/findings.ts'
import { closedAtEnd } from '../../closing.ts'
import { openTestStore, TIDES } from '../../demo/store/opened.ts'
import { temporaryFolder } from '../../folders.ts'
import { openForwardingApp, openHttpReceiver } from '../../forwarding/receiving.ts'
import { expectErrorsInFile } from '../../guards/error_lines.ts'
import { openTestApp, sharedAuthority } from '../../helpers.ts'
import { windfall } from '../command.ts'
import { type Folder, openKeyFolder } from '../connect/connecting.ts'

expectErrorsInFile('a job failed')

const opened = await openTestStore({ subscribers: 1, authority: await sharedAuthority() })
const { store, clock } = opened
/** A base URL at which no server listens, so that no test reaches the network. */
const NOBODY = 'https://127.0.0.1:1'
const NO_FAULTS = structuredClone(store.faults)
beforeEach(() => void Object.assign(store.faults, structuredClone(NO_FAULTS)))
afterAll(opened.close)

type More = {
  test?: boolean
  hosts?: typeof store.hosts
  ahead_ms?: number
  env?: Record<string, string>
  wait?: () => Promise<void>
}

async function diagnosed(
  folder: Folder,
  { test = false, hosts = store.hosts, ahead_ms = 0, env = {}, wait = () => store.settled() }: More = {},
) {
  const found: CheckResult[] = []
  const loadOptions = { env: { ...folder.env, ...env }, cwd: folder.path }
  const options = { loadOptions, isTestRequested: test, hosts, clock: () => clock() + ahead_ms, wait }
  for await (const one of diagnose(options)) found.push(one)
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
  const withoutRemedy = found.filter(({ status, remedy }) => /error|warning/.test(status) && remedy === null)
  expect(withoutRemedy).toEqual([])
  return found
}

/** The words of the results whose id begins with `id`, each with its status and what to do. */
const about = (found: readonly CheckResult[], id: string): string[] =>
  found
    .filter((one) => one.id === id || one.id.startsWith(`${id}:`))
    .map((one) => `${one.status} ${detailOf(one)}${one.remedy === null ? '' : ` → ${one.remedy}`}`)

async function openConnected(): Promise<Folder> {
  const folder = openKeyFolder(opened)
  expect((await folder.connect()).refusal).toBeNull()
  return folder
}

/** Runs a job, after the run that the start of the server began: a job that never ran is due then. */
const runJob = ({ windfall }: { windfall: Windfall }, name: string) =>
  vi.waitFor(() => windfall.jobs.runNow(name), { timeout: 60_000 })

test('an empty installation has next steps and no faults', async () => {
  const found = await diagnosed(openKeyFolder(opened))
  expect(found.filter(({ status }) => status === 'error')).toEqual([])
  expect(about(found, 'server')).toEqual([
    expect.stringMatching(/^warning No server runs with .*\/windfall\.db\. → Start it: `npm start`\.$/),
  ])
  expect(about(found, 'database')[0]).toContain('does not exist yet')
  expect(about(found, 'keys:none')[0]).toContain('`windfall connect`')
})

test('without a server of its own, the doctor says what answers at the base URL', async () => {
  const other = await openTestApp()
  const answers: [status: number, body: string, words: RegExp][] = [
    [
      200,
      'hello',
      /^warning No server runs .* another program answers, with status 200\. → Stop that program/,
    ],
    [502, 'bad gateway', /^skipped No server runs .* answers with status 502\. → Start it/],
    [
      200,
      await (await other.request('/readyz')).text(),
      /^warning .* a Windfall answers that uses another database/,
    ],
  ]
  for (const [status, body, words] of answers) {
    const receiver = await openHttpReceiver()
    receiver.behave((_, response) => void response.writeHead(status).end(body))
    const found = await diagnosed(openKeyFolder(opened), {
      env: { WINDFALL_BASE_URL: new URL(receiver.url).origin },
    })
    expect(about(found, 'address:request')).toEqual([expect.stringMatching(words)])
  }
  const found = await diagnosed(openKeyFolder(opened), { env: { WINDFALL_BASE_URL: 'http://127.0.0.1:1' } })
  expect(about(found, 'address:request')).toEqual([
    expect.stringMatching(
      /^skipped No server runs .* http:\/\/127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/,
    ),
  ])
})

test('a copied database has a warning about held requests', async () => {
  const { path } = temporaryFolder()
  const app = await openTestApp({ folder: path })
  await app.close()
  rmSync(join(path, 'data/instance'))
  await (await openTestApp({ folder: path, apps: [] })).close()
  const found = await diagnosed({ ...openKeyFolder(opened), path })
  expect(about(found, 'outgoing')).toEqual([
    expect.stringMatching(/^warning The database is a copy .*windfall outgoing resume/),
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
  expect(about(await diagnosed({ ...openKeyFolder(opened), path }), 'webhooks')).toEqual([
    expect.stringMatching(
      /^error backend is disabled since .*410.*[^.]\. → Webhooks: `windfall webhooks list`/,
    ),
  ])
})

test('a healthy installation has no errors, with the server running and a test notification', async () => {
  const folder = await openConnected()
  const env = { WINDFALL_BASE_URL: NOBODY }
  const app = await folder.startServing(env)
  await app.windfall.catalogue.refreshAll()
  await runJob(app, 'housekeeping')
  app.windfall.http.configure({ base_url: NOBODY })
  const found = await diagnosed(folder, { test: true, env })
  expect(about(found, 'server')).toEqual([`ok Windfall is running at ${app.server.url}.`])
  expect(about(found, 'configuration')[0]).toContain(`The config file is ${folder.path}/config.toml. `)
  expect(about(found, 'configuration')[0]).toContain('3 from environment variables, 2 from key files')
  expect(about(found, 'address:notifications')).toEqual([`ok ${NOBODY}/apple/notifications.`])
  expect(about(found, 'clock')).toEqual(['ok The clock agrees with the demo’s.'])
  expect(about(found, 'pragmas')[0]).toMatch(/^ok journal_mode = wal, synchronous = 2, foreign_keys = 1, /)
  expect(about(found, 'keys:connect')).toEqual([
    'ok CNCT4K7W2Q: Apple accepts the key, and it can list apps.',
  ])
  expect(about(found, 'keys:vendor')).toEqual([
    `ok ${store.vendor_number}: Apple provides the reports, so the role of the key suffices.`,
  ])
  expect(about(found, 'keys:purchase')).toEqual([
    'ok PRCH9M3X5L: Apple accepts the key, and it can read notifications.',
  ])
  expect(about(found, 'keys:apps')).toEqual(['ok Apple lists 3, all connected.'])
  expect(about(found, 'jobs:housekeeping')[0]).toMatch(
    /^ok Deleted 0 expired pending notifications \(just now\)$/,
  )
  expect(about(found, 'test_notification')).toHaveLength(6)
  expect(about(found, 'test_notification')).toContain(`ok ${TIDES}, production: a test notification arrived`)
  expect(about(found, 'last_notification')).toContain(`ok ${TIDES}: production just now, sandbox just now.`)
  // No rates are published here, and the job that asks for them may or may not have run by now. The folder for
  // temporary files may be in memory.
  const errors = found.filter(({ id, status }) => status === 'error' && !/^(rates|file_system)/.test(id))
  expect(errors).toEqual([])
})

test('a test notification that Apple has not sent is a warning to try again, not about the URL', async () => {
  const silent = createHttpServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    silent.closeAllConnections()
    silent.close()
    await store.settled()
  })
  const folder = await openConnected()
  const { path } = folder
  const app = await openTestApp({ folder: path, env: folder.env, apps: [], hosts: store.hosts, clock })
  await app.windfall.catalogue.refreshAll()
  await app.close()
  store.faults.notification_url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const found = await diagnosed(folder, { test: true, wait: () => Promise.resolve() })
  expect(about(found, 'test_notification')).toContain(
    `warning ${TIDES}, production: Apple accepted the request for a test notification but has not sent it within a minute. → Run \`windfall doctor --test\` again later.`,
  )
})

test('lists refused SDK calls and what to do', async () => {
  const folder = await openConnected()
  const app = await folder.startServing()
  const body = JSON.stringify({ appUserId: 'ann', bundleId: 'com.example.droid', platform: 'android' })
  const headers = { 'content-type': 'application/json' }
  await fetch(`${app.server.url}/api/sdk/v1/identify`, { method: 'POST', headers, body })
  await app.windfall.refusedCalls.flush()
  expect(about(await diagnosed(folder), 'sdk_calls')).toEqual([
    'warning Calls of an SDK or a backend were refused. 1 call for com.example.droid on Android, the latest at 2026-03-01 20:00Z: unknown_app. → Connect the app, or set android_package on the app it belongs to.',
  ])
})

test.each([
  ['keys:connect', { connect_key: 'revoked' }, 'Apple refused the key (401)'],
  ['keys:connect', { missing_agreement: true }, 'the Account Holder must accept the latest agreements'],
  ['keys:vendor', { connect_key: 'developer' }, 'to read sales reports the key needs the role'],
  ['keys:purchase', { purchase_key: 'revoked' }, 'check that it is an In-App Purchase key'],
] as const)('of the %s it says what is wrong (%j)', async (subject, faults, words) => {
  const folder = await openConnected()
  Object.assign(store.faults, faults)
  const found = about(await diagnosed(folder), subject)
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(/^error /)
  expect(found[0]).toContain(words)
})

test('reports a missing vendor number or In-App Purchase key with the consequence', async () => {
  const folder = openKeyFolder(opened)
  await folder.connect({ flags: { ...folder.flags, vendor: 'none', 'purchase-key': 'none' } })
  const found = await diagnosed(folder)
  expect(about(found, 'keys:vendor')[0]).toMatch(/^warning Missing: Windfall cannot import reports\. /)
  expect(about(found, 'keys:purchase')[0]).toMatch(/^warning Missing/)
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
  const found = await diagnosed(folder, { env })
  expect(about(found, 'keys:connect')[0]).toMatch(
    /^error .*accepts it as an In-App Purchase key: the two keys are/,
  )
  expect(about(found, 'keys:purchase')[0]).toMatch(
    /^error .*accepts it as an App Store Connect API key: the two keys are/,
  )
})

test('an unknown vendor number is a fault', async () => {
  const folder = await openConnected()
  const env = { WINDFALL_ACCOUNTS_0_VENDOR_NUMBERS: `${store.vendor_number},80000001` }
  const found = about(await diagnosed(folder, { env }), 'keys:vendor')
  expect(found[0]).toContain('Apple provides the reports')
  expect(found[1]).toMatch(/^error 80000001: /)
})

test.each([
  [0, 'ok The clock agrees'],
  [20_000, 'warning The clock of this machine is 20 s ahead of the demo’s'],
  [-90_000, 'error The clock of this machine is 90 s behind the demo’s'],
])('a clock %i ms from Apple’s is told', async (ahead_ms, words) => {
  expect(about(await diagnosed(openKeyFolder(opened), { ahead_ms }), 'clock')[0]).toContain(words)
})

test('checks everything else if Apple cannot be reached', async () => {
  const folder = await openConnected()
  const server = { ...store.hosts.server, sandbox: 'http://127.0.0.1:2' }
  const found = await diagnosed(folder, { hosts: { connect: 'http://127.0.0.1:1', server }, test: true })
  const words =
    'Cannot be reached (ECONNREFUSED). → Check that this machine is online, and that its firewall and DNS allow the connection.'
  expect(about(found, 'apple')).toEqual([
    'ok Apple is simulated at http://127.0.0.1:1 by the demo.',
    `error ${words}`,
    'ok Reachable.',
    `error ${words}`,
  ])
  expect(about(found, 'keys:connect')).toEqual(['skipped Apple cannot be reached, so the key is not tested.'])
  const nowhere = {
    connect: 'http://127.0.0.1:1',
    server: { production: 'http://127.0.0.1:1', sandbox: 'http://127.0.0.1:1' },
  }
  const without = await diagnosed(openKeyFolder(opened), { hosts: nowhere })
  expect(about(without, 'keys:none')[0]).toMatch(
    /^warning There are no Apple keys\. → Add them in the dashboard under Settings, Apple, or with `windfall connect`/,
  )
})

test('calls the Apple hosts of the running server, and reports where these differ from the configuration', async () => {
  const folder = await openConnected()
  const app = await folder.startServing()
  const hosts = {
    connect: 'http://127.0.0.1:1',
    server: { production: 'http://127.0.0.1:1', sandbox: 'http://127.0.0.1:1' },
  }
  const found = await diagnosed(folder, { hosts, env: { WINDFALL_BASE_URL: NOBODY } })
  expect(about(found, 'keys:connect')[0]).toMatch(/^ok CNCT4K7W2Q: Apple accepts the key/)
  expect(about(found, 'server:base_url')).toEqual([
    `warning The running server uses the base URL ${app.server.base_url}, this configuration ${NOBODY}. → Run this command with the same variables (\`WINDFALL_…\`) and config file as the server.`,
  ])
  expect(about(found, 'address:notifications')[0]).toContain(`${app.server.base_url}/apple/notifications`)
})

test('missing rates of most currencies are an error after the first fetch', async () => {
  const folder = await openConnected()
  // No server runs yet, because one would connect the apps that Apple lists.
  await (await openTestApp({ folder: folder.path, env: folder.env, apps: [] })).close()
  expect(about(await diagnosed(folder), 'rates')).toEqual(['ok Not needed before an app is connected.'])
  const app = await folder.startServing()
  const { store, apps } = app.windfall
  await store.commit(() => apps.add(app.organization.id, { bundle_id: TIDES }, 'test'))
  await runJob(app, 'rates')
  expect(about(await diagnosed(folder), 'rates')).toEqual([
    'error 40 of 43 currencies have no rate. → To import them, run windfall rates import',
  ])
})

const AGAIN = 'Windfall runs the job again. If it keeps failing, see the log.'

test('reports a running job that failed before, and a job interrupted by a crash', async () => {
  const folder = await openConnected()
  const app = await folder.startServing()
  // The run at the start ends first, because it writes the same row.
  await runJob(app, 'import')
  const run = app.windfall.store.prepare(
    "insert or replace into job_runs (job, started_at, failures) values ('import', 1, ?)",
  )
  await app.windfall.store.commit(() => run.run(1))
  expect(about(await diagnosed(folder), 'jobs:import')).toEqual(['ok Running.'])
  await app.windfall.store.commit(() => run.run(3))
  expect(about(await diagnosed(folder), 'jobs:import')).toEqual([
    `warning Running, after it failed 2 times. → ${AGAIN}`,
  ])
  app.windfall.accounts.declare([])
  await runJob(app, 'reconcile')
  // The job that connects apps may have run already.
  expect(about(await diagnosed(folder), 'jobs:reconcile')[0]).toMatch(
    /^skipped Not asked: no (?:app is connected|In-App Purchase key)/,
  )
  await app.server.close()
  expect(about(await diagnosed(folder), 'jobs:import')).toEqual([
    `warning The process ended during the run. → ${AGAIN}`,
  ])
})

test('reports apps that are not connected or have a different Apple id', async () => {
  const folder = await openConnected()
  // No server runs, because one would connect the apps that Apple lists.
  const { windfall, organization, close } = await openTestApp({
    folder: folder.path,
    env: folder.env,
    apps: [],
  })
  await windfall.store.commit(() => {
    windfall.apps.add(organization.id, { bundle_id: TIDES, apple_id: 5 }, 'command line')
    windfall.apps.add(organization.id, { bundle_id: 'com.lanternlabs.margin' }, 'command line')
    windfall.apps.remove(organization.id, 'com.lanternlabs.margin')
  })
  await close()
  expect(about(await diagnosed(folder), 'keys:apps')).toEqual([
    'warning Not connected yet: com.lanternlabs.chord. → Connect them: `windfall apps refresh`.',
    'ok Disconnected: com.lanternlabs.margin. → To connect one again: `windfall apps add BUNDLE_ID`.',
    `error ${TIDES} has Apple id 6470112201 at Apple and 5 here; its notifications are pending. → Correct \`apple_id\` in \`[[apps]]\`, or remove the app and run \`windfall apps refresh\`.`,
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
  await runJob(app, 'backfill')
  const found = await diagnosed(folder)
  expect(about(found, 'jobs:backfill')[0]).toMatch(/^error Failed (?:once|2 times) \(just now\): /)
  expect(about(found, 'notifications')).toEqual([
    'warning 1 pending for apps that are not connected. → To list them, run windfall apps list',
    'warning At least 1 notification was refused in the last day: not verifiably from Apple. → To see why, run windfall refused list',
  ])
})

test('reports an invalid configuration line by line, and stops', async () => {
  const folder = openKeyFolder(opened)
  folder.write('config.toml', '[server]\nprot = 80\nhost = 5\n')
  const found = await diagnosed(folder)
  expect(found.map(({ id }) => id)).toEqual(['configuration:1', 'configuration:2'])
  expect(about(found, 'configuration')[0]).toMatch(
    /^error .*config\.toml:2 {2}server\.prot {2}unknown setting\. → Did you mean server\.port\?/,
  )
})

test('a foreign database and a server that does not answer are errors', async () => {
  const folder = openKeyFolder(opened)
  folder.write('data/windfall.db', 'not a database')
  const unresponsive = createServer((socket) => socket.once('data', () => socket.destroy()))
  await new Promise<void>((resolve) => unresponsive.listen(`${folder.path}/data/windfall.db.sock`, resolve))
  onTestFinished(() => void unresponsive.close())
  const found = await diagnosed(folder)
  expect(about(found, 'database')[0]).toMatch(
    /^error .* is not a database, or is damaged: file is not a database/,
  )
  expect(about(found, 'server')[0]).toMatch(/^error The server does not answer/)
})

test('the command prints each result with what to do, and exits with 1 if there is an error', () => {
  const folder = openKeyFolder(opened)
  folder.write('config.toml', '[server]\nprot = 80\n')
  const { status, stdout, stderr } = windfall(['doctor'], { cwd: folder.path })
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
  expect(stdout).toBe(
    'error    Configuration               config.toml:2  server.prot  unknown setting.\n         → Did you mean server.port?\n\n1 error, 0 warnings, 0 skipped.\n',
  )
  const json = windfall(['doctor', '--json'], { cwd: folder.path })
  expect(json.status).toBe(1)
  expect(JSON.parse(json.stdout)).toMatchObject({
    error: 1,
    checks: [{ id: 'configuration:1', status: 'error', remedy: 'Did you mean server.port?' }],
  })
})

test.each([
  [[], '--purchase-key FILE (or none)'],
  [['--issuer', 'x'], 'issuer id'],
  [['--connect-key', 'missing.p8'], 'missing.p8'],
])(
  'without a terminal, windfall connect %j is wrong usage, and says what is missing or wrong',
  (args, words) => {
    const { status, stderr } = windfall(['connect', ...args], { cwd: openKeyFolder(opened).path })
    expect(status).toBe(2)
    expect(stderr).toContain(words)
    expect(stderr).toContain('Nothing was written.')
  },
)

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
  const none = { id: 'x', title: 'x', remedy: null, quote: null } as const
  expect(resultText({ ...none, status: 'ok', detail: 'a\nb' })).toBe(
    `ok       ${'x'.padEnd(26)}  a\n         b`,
  )
})
