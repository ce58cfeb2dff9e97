/** The command `windfall serve`: runs the server. */
import module from 'node:module'
import { defineCommand } from 'citty'
import * as v from 'valibot'
import { COMMAND_LINE } from '../access/audit.ts'
import type { Windfall } from '../app.ts'
import type { AppOptions } from '../app_options.ts'
import { systemClock, systemClocks } from '../clock.ts'
import { withPort } from '../config/base_url.ts'
import { ConfigError, issueLine } from '../config/checks/issues.ts'
import { diffConfig, reloadedConfig } from '../config/differences.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Config } from '../config/settings.ts'
import { parseListenAddress } from '../config/values.ts'
import { openControl, type Verbs, verb } from '../control/socket.ts'
import { Refusal } from '../errors.ts'
import { httpSettingsOf } from '../http/http_settings.ts'
import type { Listener } from '../http/listening/listener.ts'
import { openSerial } from '../limiter.ts'
import { type Log, openLog } from '../log.ts'
import { lockWhenFree } from '../store/disk/lock.ts'
import { isJournal, notifyReady } from '../systemd/notify.ts'
import { configArg } from './instance/instance.ts'
import { listenOnPort, openWhileListening } from './instance/listening.ts'
import { loadWithTypes } from './instance/load.ts'
import { setupText, welcome } from './welcome.ts'

export const serveCommand = defineCommand({
  meta: { name: 'serve', description: 'Run the server' },
  args: configArg,
  async run({ args }) {
    const loadOptions = { path: args.config, env: process.env, cwd: process.cwd() }
    await serveUntilStopped(() => loadWithTypes(loadOptions))
  },
})

/**
 * Serves with the configuration that `load` returns, until SIGINT or SIGTERM. Tests pass the root certificates and hosts
 * of a simulated Apple as `world`.
 */
export async function serveUntilStopped(load: () => LoadedConfig, world: World = {}): Promise<void> {
  const server = await startServer({ load, world })
  const { windfall, log } = server
  welcome(windfall, server, await setupText(windfall))
  notifyReady(`Serving at ${server.url}`).catch((error: unknown) =>
    log.error('systemd was not told that the server is ready, and waits', { error }),
  )
  // Node would write it when the process exits, which a killed process does not.
  module.flushCompileCache?.()
  if (windfall.accounts.list().length > 0) (await fetching()).startFetching(windfall.jobs)
  await stopSignal()
  await server.close()
}

/** What a simulated world replaces: the clocks, Apple's roots and hosts, and the publishers of exchange rates. */
export type World = Partial<
  Pick<AppOptions, 'clock' | 'monotonic' | 'roots' | 'attest_roots' | 'hosts' | 'rate_origins'>
>

type Start = {
  load: () => LoadedConfig
  world?: World
  /** Whether to listen on a free port if the configured port is taken. */
  anyPort?: boolean
  /** Changes the opened program before it serves. Requests get the answers of a start meanwhile. */
  prepare?: (windfall: Windfall) => Promise<void>
  /** More control verbs. */
  verbs?: (windfall: Windfall) => Verbs
}

/**
 * Starts a server with the configuration that `load` returns. `windfall serve`, the demo, `npm run dev` and tests all run
 * this. SIGHUP loads the configuration again. `close` finishes running work, then closes everything.
 */
export async function startServer({ load, world, anyPort = false, prepare, verbs = () => ({}) }: Start) {
  const hangups = openHangupSignals()
  const loaded = load()
  const { config } = loaded
  const log = logOf(config)
  const lock = await lockWhenFree(config.store.path, {
    upToMs: 5_000,
    onWait: (holder) =>
      log.warn('waiting up to 5 seconds for the process that has the database open', { holder }),
  })
  const listener = await listenOnPort(config, log, anyPort)
  const options = { config, configSources: loaded, ...systemClocks, log, ...world }
  const windfall = await openWhileListening(listener, options, prepare)
  const reload = openReloading(windfall, loaded, load)
  const allVerbs = { ...reloadVerb(reload), ...verbs(windfall) }
  const server = await serve(windfall, config, log, { listener, verbs: allVerbs })
  hangups.start(() => reload().then(logReload(log), logReloadFailure(log)))
  return {
    ...server,
    windfall,
    log,
    async close(): Promise<void> {
      await hangups.stop()
      await server.close()
      lock.release()
    },
  }
}

/** Loaded late, so that the server listens before the modules of the program are evaluated. */
const fetching = () => import('../jobs/fetching.ts')

/** Opens the log that the configuration describes. */
export function logOf(config: Config): Log {
  const { format, level } = config.log
  return openLog({
    format: format === 'auto' ? (process.stdout.isTTY ? 'pretty' : 'json') : format,
    level,
    hasPriorities: isJournal(),
  })
}

/**
 * Serves HTTP requests and commands. `close` finishes running work, then closes everything. Without a `listener`, it
 * opens one. `verbs` are added to the control verbs.
 */
export async function serve(
  windfall: Windfall,
  config: Config,
  log: Log,
  options: { listener?: Listener; verbs?: Verbs } = {},
) {
  const listener = options.listener ?? (await listenOnPort(config, log))
  const [{ serveOn }, { verbsOf }] = await Promise.all([
    import('../http/server.ts'),
    import('../control/verbs.ts'),
  ])
  const server = serveOn(listener, windfall.http)
  windfall.http.beginServing(systemClock())
  const { base_url } = withPort(config, server.port)
  windfall.http.configure(httpSettingsOf(withPort(config, server.port)))
  const control = await openControl(
    config.store.path,
    { ...verbsOf(windfall), ...options.verbs, ...statusVerb(windfall, server.url) },
    log,
  ).catch(async (error) => {
    await server.close()
    await windfall.close()
    throw error
  })
  const metrics = await listenForMetrics(windfall, config, log)
  windfall.store.watchFreeSpace()
  windfall.jobs.start()
  windfall.forwarding.start()
  await windfall.alerts.start()
  log.info('serving', { address: server.url, database: config.store.path })
  return {
    url: server.url,
    base_url,
    async close(): Promise<void> {
      log.info('stopping')
      await control.close()
      await metrics?.close()
      await server.close()
      await windfall.close()
      log.info('stopped')
      log.flush()
    },
  }
}

/** Listens on `metrics.listen`, if it is set. @throws Error if the address cannot be used. */
async function listenForMetrics(windfall: Windfall, { metrics: { listen } }: Config, log: Log) {
  const address = listen === null ? null : parseListenAddress(listen)
  if (address === null) return null
  const { openMetricsListener } = await import('../http/metrics_listener.ts')
  const {
    METRICS_PATH: path,
    METRICS_TYPE: type,
    openMetricsText,
  } = await import('../api/monitoring/monitoring.ts')
  const listener = await openMetricsListener({ ...address, path, type, read: openMetricsText(windfall), log })
  log.info('serving metrics', { address: `http://${listen?.replace(/\d+$/, String(listener.port))}${path}` })
  return listener
}

/** What the server reports about itself: its address, its base URL, and Apple's hosts. */
const statusVerb = ({ http, hosts, store }: Windfall, address: string): Verbs => ({
  'instance.status': verb(v.object({}), () => ({
    address,
    base_url: http.baseUrl() ?? address,
    hosts,
    database: store.condition(),
  })),
})

/** Resolves on the first SIGINT or SIGTERM. A second one ends the process immediately. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.off(signal, stop)
        process.once(signal, () => process.exit(130))
      }
      resolve()
    }
    process.once('SIGINT', stop)
    process.once('SIGTERM', stop)
  })
}

/**
 * Handles SIGHUP, which would otherwise end the process. Before `start`, a SIGHUP is remembered until `start`. After
 * `start`, each SIGHUP reloads the configuration, one reload at a time. After `stop`, SIGHUP has no effect.
 */
function openHangupSignals() {
  let reload: (() => Promise<void>) | null = null
  let isReloadPending = false
  const reloads = openSerial()
  process.on('SIGHUP', () => {
    if (reload) void reloads.run(reload)
    else isReloadPending = true
  })
  return {
    start(runReload: () => Promise<void>): void {
      reload = runReload
      if (isReloadPending) void reloads.run(runReload)
    },
    async stop(): Promise<void> {
      reload = null
      await reloads.idle()
    },
  }
}

type Reloaded = { taken_over: string[]; needs_a_restart: string[] }

/**
 * Returns a function that reloads the configuration and applies the settings that can change while serving, one reload
 * at a time. If Apple's keys changed, it also starts the jobs that fetch with them. The function rejects if the
 * configuration is invalid; the previous configuration then stays in effect.
 */
export function openReloading(
  windfall: Windfall,
  loaded: LoadedConfig,
  load: () => LoadedConfig,
): () => Promise<Reloaded> {
  let current = loaded.config
  const reloads = openSerial()

  async function reload(): Promise<Reloaded> {
    const reloaded = load()
    const { config: next, file } = reloaded
    // A missing file is more likely a mistake than an attempt to disconnect every app.
    if (loaded.file !== null && file === null) throw new Error(`${loaded.file} is gone`)
    const { reloadable, restart } = diffConfig(current, next)
    const running = reloadedConfig(current, next)
    await windfall.declare(running, reloaded)
    current = running
    windfall.audit.noteInBackground({
      ...COMMAND_LINE,
      action: 'configuration.read',
      detail: reloadable.join(', ').slice(0, 500),
    })
    if (reloadable.includes('accounts')) (await fetching()).restartFetching(windfall.jobs)
    return { taken_over: reloadable, needs_a_restart: restart }
  }

  return () => reloads.run(reload)
}

const logReload =
  (log: Log) =>
  (outcome: Reloaded): void => {
    if (outcome.needs_a_restart.length === 0) log.info('configuration reloaded', outcome)
    else log.warn('configuration reloaded; some changes need a restart', outcome)
  }

const logReloadFailure = (log: Log) => (error: unknown) =>
  log.error('the configuration is invalid and was not reloaded; the previous one stays in effect', {
    why: errorText(error),
  })

/** The verb that reloads the configuration. It refuses an invalid one with 400 `invalid_configuration`. */
export const reloadVerb = (reload: () => Promise<Reloaded>): Verbs => ({
  'config.reload': verb(v.object({}), () =>
    reload().catch((error: unknown) => {
      throw new Refusal(400, 'invalid_configuration', [errorText(error)].flat().join('\n'))
    }),
  ),
})

function errorText(error: unknown): string | string[] {
  if (error instanceof ConfigError) return error.issues.map(issueLine)
  return error instanceof Error ? error.message : String(error)
}
