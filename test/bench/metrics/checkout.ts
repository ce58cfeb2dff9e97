/**
 * One checkout of this project at work, in a process of its own: this one, or another that is measured beside it. What
 * is measured is imported from there; the business and the notifications are made here, the same for all.
 */
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Windfall } from '../../../src/app.ts'
import type { Verified } from '../../../src/apple/jws/signed.ts'
import type { Notification } from '../../../src/apple/notification.ts'
import { BUSINESS_UNTIL } from '../business/business.ts'
import { fillBusiness } from '../business/business_file.ts'
import { serveRequests } from '../child.ts'
import { APP, environmentOf } from '../database.ts'

type CheckoutFile = { root: string; file: string }
export type CheckoutRequest =
  /** Writes the business of so many subscriptions; the largest has so many renewals. */
  | { write: CheckoutFile & { subscriptions: number; apps: number; renewals: number } }
  | { open: CheckoutFile & { roots: readonly string[] } }
  /** Counts everything from the facts. */
  | { rebuild: true }
  /** Asks for each chart so often. */
  | { charts: number; paths: readonly string[] }
  /** Applies notifications, proved before, until nothing is due. */
  | { apply: readonly string[] }
  /** Begins to watch what comes in over HTTP. */
  | { watch: true }
  /** Waits until nothing of it is due. */
  | { drain: true }

/** `longest_turn_ms`: of the main thread, in processor time. */
export type Work = { seconds: number; cpu_seconds: number; longest_turn_ms: number }

/** Turns shorter than this are not told apart. */
const TICK_MS = 1
/** Notifications under way together, as over HTTP. */
const CONCURRENCY = 64
const LIVE = { origin: 'live', source: 'push' } as const

const importFrom = <Module>(root: string, path: string): Promise<Module> =>
  import(pathToFileURL(join(root, 'src', path)).href)

async function openCheckout({ root, file, roots }: CheckoutFile & { roots?: readonly string[] }) {
  const { openApp } = await importFrom<typeof import('../../../src/app.ts')>(root, 'app.ts')
  const { loadConfig } = await importFrom<typeof import('../../../src/config/load.ts')>(
    root,
    'config/load.ts',
  )
  const { openLog } = await importFrom<typeof import('../../../src/log.ts')>(root, 'log.ts')
  const { listen } = await importFrom<typeof import('../../../src/http/server.ts')>(root, 'http/server.ts')
  const env = { ...environmentOf(file), WINDFALL_LOG_LEVEL: 'error' }
  const { config } = loadConfig({ env, cwd: dirname(file) })
  const began = performance.now()
  const clock = () => Math.floor(BUSINESS_UNTIL + performance.now() - began)
  const log = openLog({ format: 'json', level: 'error' })
  const monotonic = () => performance.now()
  const windfall = await openApp({ config, clock, monotonic, log, ...(roots && { roots }) })
  const server = await listen(windfall.http, { port: 0, max_body_bytes: config.limits.apple_body_bytes })
  const { token } = await windfall.store.commit(() =>
    windfall.tokens.create('bench', { organization_id: null, apps: null }),
  )

  async function close(): Promise<void> {
    await server.close()
    await windfall.close()
  }

  return { root, windfall, url: server.url, token, close }
}

type Checkout = Awaited<ReturnType<typeof openCheckout>>

/** Watches processor time, and the turns of the event loop, until it is ended. */
function startWatch(): () => Work {
  const began = performance.now()
  const cpu = process.cpuUsage()
  let longest_ms = 0
  let last_ms = processorMs()
  function sample(): void {
    const now = processorMs()
    longest_ms = Math.max(longest_ms, now - last_ms)
    last_ms = now
  }
  const timer = setInterval(sample, TICK_MS)
  return () => {
    sample()
    clearInterval(timer)
    const { user, system } = process.cpuUsage(cpu)
    const seconds = (performance.now() - began) / 1000
    return { seconds, cpu_seconds: (user + system) / 1e6, longest_turn_ms: longest_ms }
  }
}

/** Of this thread so far. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function measureWork(work: () => Promise<unknown>): Promise<Work> {
  const end = startWatch()
  await work()
  return end()
}

async function write({
  root,
  file,
  ...size
}: CheckoutFile & { subscriptions: number; apps: number; renewals: number }) {
  const { windfall, close } = await openCheckout({ root, file })
  const { id } = windfall.organizations.resolve(null)
  await windfall.store.commit(() => windfall.apps.add(id, { bundle_id: APP }, 'bench'))
  await close()
  fillBusiness(file, size)
  return {}
}

async function rebuild({ windfall }: Checkout): Promise<Work> {
  return measureWork(async () => {
    await windfall.metrics.rebuild()
    await windfall.metrics.whenCurrent()
  })
}

/** The time of each answer in ms, of each chart but its first, which finds nothing in memory. */
async function charts({ windfall, token }: Checkout, turns: number, paths: readonly string[]) {
  const headers = { authorization: `Bearer ${token}` }
  const times: number[] = []
  for (const path of paths) {
    for (let turn = 0; turn <= turns; turn += 1) {
      const startedAt = performance.now()
      const response = await windfall.http.app.request(path, { headers })
      const text = await response.text()
      if (response.status !== 200) throw new Error(`${path}: ${text}`)
      if (turn > 0) times.push(performance.now() - startedAt)
    }
  }
  return { times }
}

async function apply({ root, windfall }: Checkout, payloads: readonly string[], roots: readonly string[]) {
  const { openVerifier } = await importFrom<typeof import('../../../src/apple/jws/signed.ts')>(
    root,
    'apple/jws/signed.ts',
  )
  const notifications = await importFrom<typeof import('../../../src/apple/notification.ts')>(
    root,
    'apple/notification.ts',
  )
  const verifier = openVerifier({ roots, clock: () => BUSINESS_UNTIL })
  const verified_notifications: Verified<Notification>[] = []
  for (const payload of payloads)
    verified_notifications.push(await notifications.verifyNotification(verifier, payload))
  return measureWork(async () => {
    const pending = verified_notifications.values()
    await Promise.all(Array.from({ length: CONCURRENCY }, () => applyAll(windfall, pending)))
    await windfall.metrics.whenCurrent()
  })
}

async function applyAll(
  { store, apps, ledger }: Windfall,
  pending: Iterable<Verified<Notification>>,
): Promise<void> {
  for (const verified of pending) {
    const [app] = apps.byBundle(verified.payload.bundle_id)
    if (!app) throw new Error(`${verified.payload.bundle_id} is not connected`)
    await store.commit(() => ledger.apply(app, verified, LIVE))
  }
}

let checkout: Checkout | undefined
let roots_of_checkout: readonly string[] = []
let stopWatch: (() => Work) | undefined

async function handle(message: CheckoutRequest): Promise<object> {
  if ('write' in message) return write(message.write)
  if ('open' in message) {
    roots_of_checkout = message.open.roots
    checkout = await openCheckout(message.open)
    await checkout.windfall.metrics.whenCurrent()
    return { url: checkout.url }
  }
  if (!checkout) throw new Error('no checkout is open')
  if ('rebuild' in message) return rebuild(checkout)
  if ('charts' in message) return charts(checkout, message.charts, message.paths)
  if ('apply' in message) return apply(checkout, message.apply, roots_of_checkout)
  if ('watch' in message) {
    stopWatch = startWatch()
    return {}
  }
  const { windfall } = checkout
  const { seconds } = await measureWork(() => windfall.metrics.whenCurrent())
  if (!stopWatch) throw new Error('nothing is watched')
  return { drained_seconds: seconds, ...stopWatch() }
}

serveRequests<CheckoutRequest>(handle, async () => checkout?.close())
