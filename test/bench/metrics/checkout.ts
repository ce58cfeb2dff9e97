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
import { answerRequests } from '../child.ts'
import { APP, environmentOf } from '../database.ts'

type Place = { root: string; file: string }
export type CheckoutRequest =
  /** Writes the business of so many subscriptions; the largest has so many renewals. */
  | { write: Place & { subscriptions: number; apps: number; renewals: number } }
  | { open: Place & { roots: readonly string[] } }
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
const TOGETHER = 64
const LIVE = { origin: 'live', source: 'push' } as const

const from = <Module>(root: string, path: string): Promise<Module> =>
  import(pathToFileURL(join(root, 'src', path)).href)

async function openCheckout({ root, file, roots }: Place & { roots?: readonly string[] }) {
  const { openApp } = await from<typeof import('../../../src/app.ts')>(root, 'app.ts')
  const { loadConfig } = await from<typeof import('../../../src/config/load.ts')>(root, 'config/load.ts')
  const { openLog } = await from<typeof import('../../../src/log.ts')>(root, 'log.ts')
  const { listen } = await from<typeof import('../../../src/http/server.ts')>(root, 'http/server.ts')
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
function openWatch(): () => Work {
  const began = performance.now()
  const cpu = process.cpuUsage()
  let longest = 0
  let last = processorMs()
  function look(): void {
    const now = processorMs()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(look, TICK_MS)
  return () => {
    look()
    clearInterval(timer)
    const { user, system } = process.cpuUsage(cpu)
    const seconds = (performance.now() - began) / 1000
    return { seconds, cpu_seconds: (user + system) / 1e6, longest_turn_ms: longest }
  }
}

/** Of this thread so far. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function watched(work: () => Promise<unknown>): Promise<Work> {
  const end = openWatch()
  await work()
  return end()
}

async function write({
  root,
  file,
  ...size
}: Place & { subscriptions: number; apps: number; renewals: number }) {
  const { windfall, close } = await openCheckout({ root, file })
  const { id } = windfall.organizations.resolve(null)
  await windfall.store.commit(() => windfall.apps.add(id, { bundle_id: APP }, 'bench'))
  await close()
  fillBusiness(file, size)
  return {}
}

async function rebuild({ windfall }: Checkout): Promise<Work> {
  return watched(async () => {
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
  const { openVerifier } = await from<typeof import('../../../src/apple/jws/signed.ts')>(
    root,
    'apple/jws/signed.ts',
  )
  const notifications = await from<typeof import('../../../src/apple/notification.ts')>(
    root,
    'apple/notification.ts',
  )
  const verifier = openVerifier({ roots, clock: () => BUSINESS_UNTIL })
  const proved: Verified<Notification>[] = []
  for (const payload of payloads) proved.push(await notifications.verifyNotification(verifier, payload))
  return watched(async () => {
    const waiting = proved.values()
    await Promise.all(Array.from({ length: TOGETHER }, () => applyAll(windfall, waiting)))
    await windfall.metrics.whenCurrent()
  })
}

async function applyAll(
  { store, apps, ledger }: Windfall,
  waiting: Iterable<Verified<Notification>>,
): Promise<void> {
  for (const verified of waiting) {
    const [app] = apps.byBundle(verified.payload.bundle_id)
    if (!app) throw new Error(`${verified.payload.bundle_id} is not connected`)
    await store.commit(() => ledger.apply(app, verified, LIVE))
  }
}

let running: Checkout | undefined
let trusted: readonly string[] = []
let endWatch: (() => Work) | undefined

async function answer(question: CheckoutRequest): Promise<object> {
  if ('write' in question) return write(question.write)
  if ('open' in question) {
    trusted = question.open.roots
    running = await openCheckout(question.open)
    await running.windfall.metrics.whenCurrent()
    return { url: running.url }
  }
  if (!running) throw new Error('no checkout is open')
  if ('rebuild' in question) return rebuild(running)
  if ('charts' in question) return charts(running, question.charts, question.paths)
  if ('apply' in question) return apply(running, question.apply, trusted)
  if ('watch' in question) {
    endWatch = openWatch()
    return {}
  }
  const { windfall } = running
  const { seconds } = await watched(() => windfall.metrics.whenCurrent())
  if (!endWatch) throw new Error('nothing is watched')
  return { drained_seconds: seconds, ...endWatch() }
}

answerRequests<CheckoutRequest>(answer, async () => running?.close())
