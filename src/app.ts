/** Opens every module in order and joins them: the one file that sees the whole program. */
import { X509Certificate } from 'node:crypto'
import { openRevocation } from './apple/revocation.ts'
import { APPLE_ROOTS } from './apple/roots.ts'
import { openVerifier } from './apple/signed.ts'
import { openApps } from './apps/apps.ts'
import { openDeclarations } from './apps/declarations.ts'
import { openKeys } from './apps/keys.ts'
import { openOrganizations } from './apps/organizations.ts'
import { openAttribution } from './attribution/attribution.ts'
import { openCallers } from './attribution/callers.ts'
import { attributionRoutes } from './attribution/routes.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config/settings.ts'
import { dashboardRoutes } from './dashboard/routes.ts'
import { openApiTokens } from './dashboard/tokens.ts'
import { openFeed } from './events/feed.ts'
import { openLive } from './events/live.ts'
import { healthRoutes } from './health.ts'
import { openHttp } from './http/http.ts'
import { type Job, openJobs } from './jobs.ts'
import { openArrivals } from './ledger/arrivals.ts'
import { openLedger } from './ledger/ledger.ts'
import { ledgerRoutes } from './ledger/routes.ts'
import type { Log } from './log.ts'
import { openStore } from './store/store.ts'
import { version } from './version.ts'

export type AppOptions = {
  config: Config
  clock: Clock
  /** A clock that never jumps, for rate windows. */
  monotonic: Clock
  log: Log
  /** PEM of the roots to trust. Only the demo and tests name others than Apple's. */
  roots?: readonly string[]
}

export type Windfall = Awaited<ReturnType<typeof openApp>>

/**
 * Opens the whole program on its database, with what the configuration declares written down and what waited for
 * it applied. Nothing listens yet.
 */
export async function openApp({ config, clock, monotonic, log, roots = APPLE_ROOTS }: AppOptions) {
  const store = openStore(config.store.path, { warn: log.warn })
  const feed = openFeed(store, clock)
  const live = openLive(feed)
  const organizations = openOrganizations(store, clock)
  const keys = openKeys(store, clock)
  const apps = openApps(store, clock)
  const declarations = openDeclarations({ store, organizations, apps, keys, log })
  const revocation = config.apple.revocation_checks ? openRevocation({ clock, log }) : undefined
  const verifier = openVerifier({ roots, clock, revocation })
  const ledger = openLedger({ store, clock, feed, apps })
  const arrivals = openArrivals({ store, clock, verifier, apps, ledger, log })
  // One object for all who read it, so that a reload reaches them.
  const limits = { ...config.limits }
  const attribution = openAttribution({ store, clock, feed, ledger, limits })
  const callers = openCallers({ apps, keys, organizations })
  const tokens = openApiTokens(store, clock)
  const http = openHttp({ log, version, ...reachOf(config) })
  const jobs = openJobs(jobList({ arrivals }), { store, clock, log })

  const rootExpiry = Math.min(...roots.map((pem) => new X509Certificate(pem).validToDate.getTime()))
  http.add(ledgerRoutes({ arrivals, organizations, limits }))
  http.add(attributionRoutes({ store, monotonic, verifier, callers, attribution, limits }))
  http.add(dashboardRoutes({ feed, live, apps, tokens, closing: http.closing }))
  http.add(healthRoutes({ store, jobs, clock, closing: http.closing, root_expires_at: rootExpiry }))

  /**
   * Takes over what a configuration declares and what of it can change while running.
   *
   * @throws Refusal when what it declares cannot be so; then nothing of it is taken over.
   */
  async function declare(next: Config): Promise<void> {
    // First what can fail: an error leaves all as it was.
    await declarations.declare(next)
    Object.assign(limits, next.limits)
    http.reach(reachOf(next))
    log.setLevel(next.log.level)
    const applied = await arrivals.applyPending()
    if (applied > 0) log.info('applied notifications that had waited for their app', { applied })
  }

  async function close(): Promise<void> {
    jobs.close()
    await revocation?.close()
    await store.close()
  }

  try {
    await declare(config)
  } catch (error) {
    await close()
    throw error
  }
  return {
    clock,
    log,
    http,
    jobs,
    store,
    feed,
    live,
    organizations,
    keys,
    apps,
    ledger,
    arrivals,
    attribution,
    tokens,
    verifier,
    declare,
    close,
  }
}

/** Whom the HTTP application answers for, as configured. */
export const reachOf = (config: Config) => ({
  base_url: config.base_url,
  hosts: config.server.hosts,
  trusted_proxies: config.server.trusted_proxies,
})

function jobList({ arrivals }: { arrivals: ReturnType<typeof openArrivals> }): Job[] {
  return [
    {
      name: 'housekeeping',
      schedule: '17 * * * *',
      run: () => `${arrivals.pending.expire()} pending notifications were too old`,
    },
  ]
}
