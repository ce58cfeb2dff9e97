/** One server of the benchmark in a separate process: Windfall or one of the baselines. */
import { dirname } from 'node:path'
import { openApp, type Windfall } from '../../../src/app.ts'
import { systemClocks } from '../../../src/clock.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openHttp } from '../../../src/http/http.ts'
import { listen } from '../../../src/http/server.ts'
import { openLog } from '../../../src/log.ts'
import { serveRequests } from '../child.ts'
import { clockFrom } from '../clock_from.ts'
import { environmentOf } from '../database.ts'
import { type AppleAccount, type AppleRequest, openAppleWork } from './apple_work.ts'
import { commitPerRequest, openBare, withoutStorage } from './baselines.ts'
import { type ForwardingRequest, openForwardingWork } from './forwarding_work.ts'
import { delayCommits } from './slow_disk.ts'

export type Kind = 'windfall' | 'commit per request' | 'without storage' | 'bare'

/**
 * `commit_ms`: the extra time of each commit. `apps`: the apps to connect. `apple`: the account to import from; none by
 * default. `at`: the start of the server's clock; now by default.
 */
export type ServerSpec = {
  kind: Kind
  file: string
  commit_ms?: number
  roots?: readonly string[]
  apps?: readonly { bundle_id: string; apple_id: number }[]
  apple?: AppleAccount
  at?: number
}

export type ServerRequest =
  | { open: ServerSpec }
  | { backup: string }
  | { token: true }
  | { session: true }
  | { rebuild: true }
  | AppleRequest
  | ForwardingRequest

async function openWindfall({ kind, file, commit_ms = 0, roots, apps = [], apple, at }: ServerSpec) {
  if (commit_ms > 0) delayCommits(commit_ms)
  const { config } = loadConfig({ env: environmentOf(file), cwd: dirname(file) })
  const log = openLog({ format: 'json', level: 'info' })
  const { clock, monotonic } = systemClocks
  const overrides = { ...(roots && { roots }), ...(apple && { hosts: apple.hosts }) }
  const windfall = await openApp({
    config,
    clock: at === undefined ? clock : clockFrom(at),
    monotonic,
    log,
    ...overrides,
  })
  const { id } = windfall.organizations.resolve(null)
  for (const app of apps) await windfall.store.commit(() => windfall.apps.add(id, app, 'bench'))

  const http = kind === 'windfall' ? windfall.http : openHttp({ log })
  if (kind === 'without storage') http.add(withoutStorage(windfall, config.limits))
  if (kind === 'commit per request') http.add(commitPerRequest(windfall, config.limits))
  const server = await listen(http, { port: 0, max_body_bytes: config.limits.apple_body_bytes })
  let closed = false
  return {
    url: server.url,
    windfall,
    apple: apple && openAppleWork(windfall, apple),
    forward: openForwardingWork(windfall),
    isClosed: () => closed,
    async close(): Promise<void> {
      closed = true
      await server.close()
      await windfall.close()
    },
  }
}

/** Recomputes all metrics repeatedly until the server is closed. */
async function rebuildContinuously(
  { metrics }: Pick<Windfall, 'metrics'>,
  isClosed: () => boolean,
): Promise<void> {
  while (!isClosed()) {
    try {
      await metrics.rebuild()
    } catch (error) {
      if (!isClosed()) throw error
    }
  }
}

let running: Awaited<ReturnType<typeof openWindfall>> | Awaited<ReturnType<typeof openBare>> | undefined

async function handle(message: ServerRequest): Promise<object> {
  if ('open' in message) {
    running = await (message.open.kind === 'bare' ? openBare() : openWindfall(message.open))
    return { url: running.url }
  }
  if (!running || !('windfall' in running)) throw new Error('this server has no database')
  if ('apple' in message) {
    if (!running.apple) throw new Error('this server has no Apple account')
    return running.apple(message)
  }
  if ('forwarding' in message) return running.forward(message)
  if ('rebuild' in message) {
    void rebuildContinuously(running.windfall, running.isClosed)
    return {}
  }
  const { store, tokens, sessions } = running.windfall
  if ('backup' in message) return running.windfall.backups.backup(message.backup, null)
  if ('session' in message) {
    const { token } = await store.commit(() =>
      sessions.begin({ link_id: null, address: '127.0.0.1', user_agent: 'bench' }),
    )
    return { token }
  }
  return {
    token: (await store.commit(() => tokens.create('bench', { organization_id: null, apps: null }))).token,
  }
}

serveRequests<ServerRequest>(handle, async () => running?.close())
