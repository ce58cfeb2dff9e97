/**
 * `npm run dev`: runs the demo from the sources. A change of the server restarts the server on the same database. After
 * any change the browser reloads. The simulated company runs in this process and continues during restarts.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import {
  loseNotifications,
  openCompany,
  openWithHistory,
  PATH_BY_KIND,
  parseSubscribers,
  SUBSCRIBERS,
  simulateLive,
} from '../../src/cli/demo/company.ts'
import { createDemoOwner } from '../../src/cli/demo/owner.ts'
import { declareAccount, declareAddress } from '../../src/cli/demo/store.ts'
import { print } from '../../src/cli/instance/output.ts'
import { logOf, stopSignal } from '../../src/cli/serve.ts'
import { preciseTime } from '../../src/clock.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Step } from '../../src/demo/world/steps.ts'
import { at } from '../bundle.mjs'
import { openBuilds, SERVER_FILE } from './builds.ts'
import { watchFiles } from './changes.ts'
import { openProxy } from './proxy.ts'
import type { SimulatedHosts } from './server.ts'

const PORT = 8787
/** A server that takes longer to stop is killed. The database survives that. */
const STOP_MS = 1_000
/** Code that runs in this process or that filled the database. A change requires a restart of `npm run dev`. */
const FIXED = /^(?:src\/demo\/|src\/cli\/demo\/|schema\.sql$|tools\/)/

const WORDS =
  'a change below src restarts the server or rebuilds the page, and the browser reloads; Ctrl-C stops'

async function run(): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: 'string' }, subscribers: { type: 'string' } } })
  const subscribers =
    values.subscribers === undefined ? SUBSCRIBERS.usual : parseSubscribers(values.subscribers)
  const folder = mkdtempSync(join(tmpdir(), 'windfall-dev-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const leave = () => process.exit(130)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, leave)
  const proxy = await openProxyAt(values.port)
  const builds = await openBuilds()
  const { page } = await builds.build()
  proxy.show(page ?? {})
  const company = await openCompany({ seed: 1, subscribers })
  declareAccount(folder, company.store)
  const env = environment(proxy.url)
  const { config } = loadConfig({ env, cwd: folder })
  const log = logOf(config)
  const windfall = await openWithHistory(company, config, log)
  await createDemoOwner(windfall, proxy.url)
  await windfall.close()
  declareAddress(folder, proxy.url)
  company.store.faults.notification_url = `${proxy.url}${PATH_BY_KIND.notification}`
  loseNotifications(company)

  const { root, rates: rate_origins, store } = company
  const server = openServer({ folder, env, simulated: { roots: [root], hosts: store.hosts, rate_origins } })
  proxy.forwardTo(server.start())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, leave)
  const stopped = stopSignal()
  const changes = openChanges({ builds, proxy, server })
  const life = simulateLive(company.simulation, log, (step) => post(proxy.url, step))
  print(`\n${proxy.url}: ${WORDS}.\n`)
  await stopped
  changes.close()
  await life.stop()
  await server.stop()
  proxy.close()
  await Promise.all([builds.close(), company.close()])
}

type Proxy = Awaited<ReturnType<typeof openProxy>>
type Builds = Awaited<ReturnType<typeof openBuilds>>
type Server = ReturnType<typeof openServer>

/** Opens the proxy on the port of the options; by default on 8787, or on a free port if 8787 is taken. */
async function openProxyAt(port: string | undefined): Promise<Proxy> {
  if (port !== undefined) return openProxy(Number(port))
  return openProxy(PORT).catch(() => openProxy(0))
}

/** The environment of the server, which listens on a free port behind the proxy. */
const environment = (url: string) => ({
  WINDFALL_BASE_URL: url,
  WINDFALL_SERVER_PORT: '0',
  WINDFALL_SERVER_SHUTDOWN_SECONDS: '1',
  WINDFALL_LOG_LEVEL: process.env.WINDFALL_LOG_LEVEL ?? 'warn',
})

type Start = { folder: string; env: Record<string, string>; simulated: SimulatedHosts }

/** Starts and stops the server of the last build in `folder`, which has its database. */
function openServer({ folder, env, simulated }: Start) {
  let child: ChildProcess | null = null

  /** Resolves with the server's address. @throws Error if it exits before it serves. */
  function start(): Promise<string> {
    const args = ['--enable-source-maps', SERVER_FILE, JSON.stringify(simulated)]
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
    const begun = spawn(process.execPath, args, { cwd: folder, env, stdio: [...stdio] })
    child = begun
    return new Promise((resolve, reject) => {
      begun.once('message', (url) => resolve(String(url)))
      begun.once('error', reject)
      begun.once('exit', (code) => reject(new Error(`the server exited with ${code}; see its output`)))
    })
  }

  async function stop(): Promise<void> {
    const ending = child
    child = null
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return
    const ended = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill('SIGTERM')
    const timer = setTimeout(() => ending.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(timer)
  }

  return { start, stop }
}

/** Applies changes below src, one at a time. */
function openChanges({ builds, proxy, server }: { builds: Builds; proxy: Proxy; server: Server }) {
  let turn = Promise.resolve()

  async function takeOver(paths: readonly string[]): Promise<void> {
    const began = preciseTime()
    const fixed = paths.filter((path) => FIXED.test(path))
    if (fixed.length > 0) print(`${fixed.join(', ')}: restart npm run dev to apply this change.`)
    const built = await builds.build().catch(() => null)
    if (built === null) return print('The build failed; the server and the page are unchanged.')
    if (built.page) proxy.show(built.page)
    if (built.server) await restart()
    if (!built.page && !built.server) return
    proxy.reload()
    const what = [built.server && 'server restarted', built.page && 'page rebuilt'].filter(Boolean).join(', ')
    print(`${paths.join(', ')}: ${what} in ${((preciseTime() - began) / 1000).toFixed(1)} s`)
  }

  /** Restarts the server. Requests wait until the new server responds. */
  async function restart(): Promise<void> {
    const address = server.stop().then(server.start)
    proxy.forwardTo(address)
    await address.catch(({ message }) =>
      print(`The server does not start: ${message}. It starts again after the next change.`),
    )
  }

  const watched = { folders: ['src', 'tools'].map(at), files: [at('schema.sql')] }
  return watchFiles(watched, (paths) => {
    turn = turn.then(() => takeOver(paths.map((path) => relative(at('.'), path))))
  })
}

/** Delivers the steps of the simulation to the server over HTTP. */
async function post(url: string, { kind, body }: Step): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  await fetch(`${url}${PATH_BY_KIND[kind]}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

await run()
