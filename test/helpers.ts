/** The setup of most tests: a Windfall on a temporary database, with a manual clock and a test authority. */
import { createHash, randomUUID } from 'node:crypto'
import { openApp } from '../src/app.ts'
import type { AppleHosts } from '../src/apple/api/hosts.ts'
import type { AppDeclaration } from '../src/apps/apps.ts'
import type { Clock, Clocks } from '../src/clock.ts'
import { loadConfig } from '../src/config/load.ts'
import { type Authority, openAuthority } from '../src/demo/signing/authority.ts'
import { openLog } from '../src/log.ts'
import type { RateOrigins } from '../src/rates/origins.ts'
import type { Store } from '../src/store/store.ts'
import { APPLE_ID, BUNDLE, NOW } from './apple/samples.ts'
import { closedAtEnd } from './closing.ts'
import { temporaryFolder } from './folders.ts'
import { assertDocumented } from './guards/documented.ts'
import { noteLog } from './guards/error_lines.ts'
import { placeEmptyDatabase } from './store/empty_database.ts'

export type HandClock = Clock & { turn(ms: number): void; set(at: number): void }

export function handClock(start = NOW): HandClock {
  let now = start
  return Object.assign(() => now, {
    turn: (ms: number) => {
      now += ms
    },
    set: (at: number) => {
      now = at
    },
  })
}

/** Clocks with fractions, as those of some machines and of `performance.now()`: the program cuts them off. */
const fractional = ({ clock, monotonic }: Clocks): Clocks => ({
  clock: () => clock() + 0.25,
  monotonic: () => monotonic() + 0.75,
})

/** Addresses without a server, so that no test reaches the network. */
const NOWHERE: RateOrigins = {
  frankfurter: 'http://127.0.0.1:1',
  fawazahmed0: 'http://127.0.0.1:1',
  fawazahmed0_fallback: 'http://127.0.0.1:1',
  ecb: 'http://127.0.0.1:1',
}

/** Addresses without a server, so that no test reaches Apple. */
const NO_APPLE: AppleHosts = {
  connect: 'http://127.0.0.1:1',
  server: { production: 'http://127.0.0.1:1', sandbox: 'http://127.0.0.1:1' },
}

/** One authority per test file, because generating keys takes longer than most tests. */
let sharedChain: Promise<Authority> | undefined
export const sharedAuthority = (): Promise<Authority> => {
  sharedChain ??= openAuthority({ now: NOW })
  return sharedChain
}

export type TestOptions = {
  apps?: readonly AppDeclaration[]
  env?: Record<string, string>
  folder?: string
  clock?: HandClock
  /** The monotonic clock; by default the same as `clock`. */
  monotonic?: Clock
  logged?: string[]
  /** PEM of the roots to trust instead of the test authority's. */
  roots?: readonly string[]
  /** PEM of the roots of attestations; Apple's by default. */
  attest_roots?: readonly string[]
  /** The addresses of Apple's APIs, such as a simulated store; unreachable by default. */
  hosts?: AppleHosts
  /** The addresses of the exchange rates; unreachable by default. */
  rate_origins?: RateOrigins
  /** How to wait between two requests to Apple; not at all by default. */
  wait?: (ms: number) => Promise<void>
  /** The version of the metric formulas; the program's by default. */
  formula?: number
  /**
   * When Apple's test notifications of the apps arrived, from which their figures are known; by default none has arrived.
   */
  heard_at?: number | undefined
}

/** The body of a response: its fields, or those of a problem. */
type Answered = Record<string, unknown> & { code?: string; errors?: { path: string; message: string }[] }

export type TestApp = Awaited<ReturnType<typeof openTestApp>>

/**
 * Opens Windfall with one organization and, by default, one connected app, `com.example.lantern`. It is closed at the end
 * of the test.
 */
export async function openTestApp(options: TestOptions = {}) {
  const authority = await sharedAuthority()
  const folder = options.folder === undefined ? temporaryFolder() : { path: options.folder, remove: () => {} }
  const clock = options.clock ?? handClock()
  const loaded = loadConfig({ env: options.env ?? {}, cwd: folder.path })
  const { config } = loaded
  if (options.folder === undefined) await placeEmptyDatabase(config.store.path)
  const log = openLog({
    format: 'json',
    level: 'info',
    write: (bytes) => {
      const text = Buffer.from(bytes).toString()
      noteLog(text)
      options.logged?.push(text)
    },
    clock,
  })
  const windfall = await openApp({
    config,
    configSources: loaded,
    ...fractional({ clock, monotonic: options.monotonic ?? clock }),
    log,
    roots: options.roots ?? [authority.root_pem],
    ...(options.attest_roots && { attest_roots: options.attest_roots }),
    hosts: options.hosts ?? NO_APPLE,
    wait: options.wait ?? (() => Promise.resolve()),
    rate_origins: options.rate_origins ?? NOWHERE,
    ...(options.formula && { formula: options.formula }),
    random: () => 0,
  })
  const organization = windfall.organizations.resolve(null)
  for (const app of options.apps ?? [{ bundle_id: BUNDLE, apple_id: APPLE_ID }]) {
    await windfall.store.commit(() => windfall.apps.add(organization.id, app, 'test'))
  }

  async function close(): Promise<void> {
    await windfall.close()
    folder.remove()
  }

  /** Sends a request. Fails the test if the OpenAPI document does not list the response. */
  async function request(path: string, init?: RequestInit): Promise<Response> {
    const response = await windfall.http.app.request(path, init)
    await assertDocumented(windfall.http.routes(), { path, method: init?.method ?? 'GET' }, response)
    return response
  }

  /** Posts JSON and returns the status, the headers and the parsed body. */
  async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const response = await request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const answered = (await response.json()) as Answered
    return { status: response.status, headers: response.headers, body: answered }
  }

  /** Signs a payload as Apple would and posts it as a notification. */
  const notify = (payload: object) => post('/apple/notifications', { signedPayload: authority.sign(payload) })

  /** Turns the clock back to an instant at which Apple's test notifications of the apps arrive. */
  async function hear(at: number): Promise<void> {
    const now = clock()
    clock.set(at)
    for (const { bundle_id: bundleId, apple_id: appAppleId } of windfall.apps.list())
      for (const environment of ['Production', 'Sandbox']) {
        const data = { bundleId, environment, ...(appAppleId !== null && { appAppleId }) }
        const outer = { notificationType: 'TEST', notificationUUID: randomUUID(), signedDate: now }
        const { status } = await notify({ ...outer, version: '2.0', data })
        if (status !== 200) throw new Error(`the test notification was refused with ${status}`)
      }
    clock.set(now)
  }
  if (options.heard_at !== undefined) await hear(options.heard_at)

  /** Returns the events of the feed, oldest first. Quiet types are included only if `types` names them. */
  const feed = (types: readonly string[] | null = null) =>
    windfall.feed.read({ after: 0, limit: 1_000_000, types })

  const token = () =>
    windfall.store.commit(() => windfall.tokens.create('test', { organization_id: null, apps: null }).token)
  const key = (kind: 'publishable' | 'secret') =>
    windfall.store.commit(() => windfall.keys.create(organization.id, kind, 'test').token)

  /** Signs in the owner, or a guest of a share link. Returns the headers of a request from the dashboard. */
  async function signIn(
    link_id: string | null = null,
  ): Promise<{ cookie: string; 'sec-fetch-site': string }> {
    const session = { link_id, address: '127.0.0.1', user_agent: 'test' }
    const { token } = await windfall.store.commit(() => windfall.sessions.begin(session))
    return { cookie: `windfall=${token}`, 'sec-fetch-site': 'same-origin' }
  }

  return closedAtEnd({
    windfall,
    config,
    organization,
    authority,
    clock,
    folder: folder.path,
    request,
    post,
    notify,
    hear,
    feed,
    token,
    key,
    signIn,
    close,
  })
}

/** Returns the rows of a table as sorted JSON texts, without the columns in `omit`. */
export function rowsOf(store: Store, table: string, omit: readonly string[] = []): string[] {
  const rows = store.prepare<[], Record<string, unknown>>(`select * from ${table}`).all()
  const plain = (key: string, value: unknown) => {
    if (omit.includes(key)) return undefined
    return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
      ? createHash('sha256').update(JSON.stringify(value)).digest('hex')
      : value
  }
  return rows.map((row) => JSON.stringify(row, plain)).sort()
}
