/** The command `windfall demo`: a simulated small company on a temporary database, which then continues live. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineCommand } from 'citty'
import type { Windfall } from '../../app.ts'
import { systemClock } from '../../clock.ts'
import { type LoadedConfig, loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/settings.ts'
import { codeOf } from '../../config/sources/files.ts'
import { type DemoReceiver, openDemoReceiver } from '../../demo/receiver.ts'
import type { Step } from '../../demo/world/steps.ts'
import { Refusal } from '../../errors.ts'
import { commandName } from '../../program/form.ts'
import { print } from '../instance/output.ts'
import { logOf, startServer, stopSignal } from '../serve.ts'
import {
  type Company,
  loseNotifications,
  openCompany,
  openPast,
  openWithHistory,
  PATH_BY_KIND,
  parseSubscribers,
  SUBSCRIBERS,
  simulateLive,
} from './company.ts'
import { createDemoOwner } from './owner.ts'
import { addReceiver, declareAccount, declareAddress, declareOutgoing, importReports } from './store.ts'

export const demoCommand = defineCommand({
  meta: { name: 'demo', description: 'Run Windfall with two years of a simulated company, then live' },
  args: {
    seed: {
      type: 'string',
      default: '1',
      valueHint: 'N',
      description: 'Random seed; another seed simulates another history',
    },
    subscribers: {
      type: 'string',
      default: String(SUBSCRIBERS.usual),
      valueHint: 'N',
      description: `Size of the simulated company, from ${SUBSCRIBERS.min} to ${SUBSCRIBERS.max}; the time to simulate it grows with it`,
    },
    port: {
      type: 'string',
      valueHint: 'PORT',
      description: 'Port (default: WINDFALL_SERVER_PORT, else 8787 or any free port)',
    },
    once: {
      type: 'boolean',
      default: false,
      description: 'Only fill the database, print how long it took, and exit',
    },
  },
  async run({ args }) {
    const seed = parseWholeNumber('seed', args.seed)
    const subscribers = parseSubscribers(args.subscribers)
    const port = args.port === undefined ? process.env.WINDFALL_SERVER_PORT : parsePort(args.port)
    const stopAtOnce = exitOnSignal()
    const folder = mkdtempSync(join(tmpdir(), 'windfall-demo-'))
    const remove = () => rmSync(folder, { recursive: true, force: true })
    process.once('exit', remove)
    try {
      await openAndRun({ folder, seed, subscribers, port, once: args.once, stopAtOnce })
    } finally {
      stopAtOnce.off()
      remove()
      process.off('exit', remove)
    }
  },
})

function parseWholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new Refusal(400, 'invalid_request', `--${name} must be a whole number, not ${text}`)
}

function parsePort(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text
  throw new Refusal(400, 'invalid_request', `--port must be a number from 0 to 65535, not ${text}`)
}

/** Makes a signal end the process immediately until `off` is called. Until then, there is no work to complete. */
function exitOnSignal(): { off(): void } {
  const stopAtOnce = (): void => {
    print('\nStopped. The demo data is deleted.')
    process.exit(130)
  }
  for (const signal of SIGNALS) process.on(signal, stopAtOnce)
  return {
    off: () => {
      for (const signal of SIGNALS) process.off(signal, stopAtOnce)
    },
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

type DemoOptions = {
  folder: string
  seed: number
  subscribers: number
  port: string | undefined
  once: boolean
  stopAtOnce: { off(): void }
}

async function openAndRun(options: DemoOptions): Promise<void> {
  const { folder } = options
  const { config } = loadDemoConfig(options)
  if (!options.once && options.port !== undefined) await assertPortFree(config.server)
  const [company, receiver] = [await openCompany(options), await openDemoReceiver(systemClock)]
  try {
    declareAccount(folder, company.store)
    declareOutgoing(folder)
    await runDemo({ ...options, ...company, receiver })
  } finally {
    await Promise.all([company.close(), receiver.close()])
  }
}

/** The demo's configuration: the config file in `folder`, the requested port, and a log at level `warn`. */
function loadDemoConfig({ folder, port }: DemoOptions): LoadedConfig {
  const env = { WINDFALL_LOG_LEVEL: 'warn', ...(port !== undefined && { WINDFALL_SERVER_PORT: port }) }
  return loadConfig({ env, cwd: folder })
}

/** Checks that the port is free, before two years are simulated. @throws Refusal 409 `no_port` */
async function assertPortFree({ host, port }: Config['server']): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  }).catch((error: unknown) => {
    const why = codeOf(error) === 'EADDRINUSE' ? 'is in use' : `is not available (${codeOf(error)})`
    throw new Refusal(409, 'no_port', `Port ${port} ${why}; use windfall demo --port 0 for any free port`)
  })
  await new Promise((resolve) => server.close(resolve))
}

/** Runs the server against the simulated store until it is stopped. */
async function runDemo(options: DemoOptions & Company & { receiver: DemoReceiver }): Promise<void> {
  const { folder, once, simulation, store, receiver } = options
  const { world, fillHistory } = openPast(options)
  const load = () => loadDemoConfig(options)

  async function prepare(windfall: Windfall): Promise<void> {
    await fillHistory(windfall)
    await addReceiver(windfall, receiver)
    loseNotifications(options)
  }

  if (once) {
    const { config } = load()
    return (await openWithHistory(options, config, logOf(config))).close()
  }
  const server = await startServer({ load, world, anyPort: options.port === undefined, prepare })
  const { windfall, log } = server
  options.stopAtOnce.off()
  const stopped = stopSignal()
  declareAddress(folder, server.url)
  // The file now has what the server already does: there is nothing to reload.
  windfall.doctor.noteConfig({ file: join(folder, 'config.toml'), base: folder })
  store.faults.notification_url = `${server.url}/apple/notifications`
  await welcome(windfall, { url: server.url, folder, backend: receiver.url })
  importReports(windfall, log)
  const simulating = simulateLive(simulation, log, (step) => deliver(windfall, step))
  await stopped
  await simulating.stop()
  await server.close()
}

const EXAMPLE_PATHS = [
  '/api/v1/overview',
  '/api/v1/metrics/mrr',
  '/api/v1/history',
  '/api/v1/imports',
  '/api/v1/jobs',
]

type Addresses = { url: string; folder: string; backend: string }

async function welcome(windfall: Windfall, { url, folder, backend }: Addresses): Promise<void> {
  const accessScope = { organization_id: null, apps: null }
  const { token } = await windfall.store.commit(() => windfall.tokens.create('demo', accessScope))
  const { id } = windfall.organizations.resolve(null)
  const key = windfall.keys.publishable(id)?.token
  const app = windfall.apps.list()[0]?.bundle_id
  const identify = JSON.stringify({ appUserId: 'me', bundleId: app, attributes: { plan: 'pro' } })
  print(`\nThe demo serves on ${url}; all data is simulated and is deleted when you stop it (Ctrl-C).`)
  await createDemoOwner(windfall, url)
  print('  Figures change until the line “Imported a year of Apple’s reports” appears.')
  print('\nWatch the feed, live:')
  print(`  curl -N -H 'Authorization: Bearer ${token}' ${url}/api/v1/events/stream`)
  print('The last five events:')
  print(`  curl -s -H 'Authorization: Bearer ${token}' '${url}/api/v1/events?limit=5'`)
  print('Identify a user:')
  print(`  curl -X POST ${url}/api/sdk/v1/identify -H 'Authorization: Bearer ${key}' \\`)
  print(`    -H 'Content-Type: application/json' -d '${identify}'`)
  print('Read metrics, reports and gaps (one in fifty notifications is lost on purpose, then recovered):')
  for (const path of EXAMPLE_PATHS) print(`  curl -s -H 'Authorization: Bearer ${token}' '${url}${path}'`)
  print(
    'Watch webhooks arrive at a backend that fails now and then; Settings, Webhooks shows the other side:',
  )
  print(`  ${backend}`)
  print('Run a command against it, for example:')
  print(`  ${commandName} doctor --config ${join(folder, 'config.toml')}\n`)
}

async function deliver(windfall: Windfall, step: Step): Promise<void> {
  await windfall.http.app.request(PATH_BY_KIND[step.kind], {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(step.body),
  })
}
