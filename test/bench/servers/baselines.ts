/** Baselines: Windfall with one commit per request, Windfall without storage, and a bare h3 server. */
import { H3, HTTPError, readBody, serve } from 'h3'
import * as v from 'valibot'
import { type SdkLimits, sdkRoutes } from '../../../src/api/sdk/calls.ts'
import type { Windfall } from '../../../src/app.ts'
import { type Attribution, openAttribution } from '../../../src/attribution/attribution.ts'
import { openCallers } from '../../../src/attribution/callers.ts'
import { openAttest } from '../../../src/attribution/devices/attest.ts'
import { AttributeCall, IdentifyCall } from '../../../src/attribution/requests.ts'
import { systemClocks } from '../../../src/clock.ts'
import { openFeed } from '../../../src/events/feed.ts'
import type { Route } from '../../../src/http/route.ts'
import { sha256Of } from '../../../src/ids.ts'
import type { Store } from '../../../src/store/store.ts'
import { APP, TOKEN } from '../database.ts'

type Limits = SdkLimits & { attributes_per_user: number }

const NO_ATTEST = { config: { attest: { accept: [], assertions: 'off' } } } as const

/** SQLite's default for automatic checkpoints. */
const DEFAULT_CHECKPOINT = 'wal_autocheckpoint = 1000'

/** The two SDK routes on another store of the same database. */
function routesOn(windfall: Windfall, store: Store, limits: Limits): Route[] {
  const { apps, keys, organizations, ledger, erasures, verifier, clock, refusedCalls, callerMemory, http } =
    windfall
  const feed = openFeed(store, clock)
  const attribution = openAttribution({ store, clock, apps, feed, ledger, erasures, limits })
  const attest = openAttest({ store, clock, erasures, roots: [], current: NO_ATTEST })
  const callers = openCallers({ apps, keys, organizations, ...attest })
  return sdkRoutes({
    store,
    monotonic: systemClocks.monotonic,
    verifier,
    callers,
    callerMemory,
    attribution,
    attest,
    refusedCalls,
    http,
    limits,
  })
}

/** Commits each request in a separate transaction, with a separate fsync. */
export function commitPerRequest(windfall: Windfall, limits: Limits): Route[] {
  const { store } = windfall
  store.pragma(DEFAULT_CHECKPOINT)
  const begin = store.prepare('begin immediate')
  const end = store.prepare('commit')
  const rollback = store.prepare('rollback')
  async function commit<T>(work: () => T): Promise<T> {
    begin.run()
    try {
      const value = work()
      end.run()
      return value
    } catch (error) {
      rollback.run()
      throw error
    }
  }
  return routesOn(windfall, { ...store, commit, afterCommit: (effect) => effect() }, limits)
}

/** The same checks and responses without storage: credentials are looked up in memory. */
export function withoutStorage(windfall: Windfall, limits: Limits): Route[] {
  const { store, verifier, refusedCalls, http, attribution: windfallAttribution } = windfall
  const attribution: Attribution = {
    ...windfallAttribution,
    identify: (_, __, unattested) => ({ verification: 'unverified', unattested }),
    attribute: (_, { appUserId, productId }, { unattested }) => ({
      link: {
        app_user_id: appUserId,
        proved_app_user_id: null,
        proofs: [],
        verification: 'unverified',
        product_id: productId,
        unattested,
      },
      before: null,
      moved: false,
    }),
  }
  return sdkRoutes({
    store: { ...store, commit: async (work) => work() },
    monotonic: systemClocks.monotonic,
    verifier,
    callers: callersInMemory(windfall),
    callerMemory: windfall.callerMemory,
    attribution,
    attest: { ...windfall.attest, accept: (_, apply) => apply() },
    refusedCalls,
    http,
    limits,
  })
}

function callersInMemory({ apps, keys, organizations, attest }: Windfall) {
  const key = keys.findByToken(TOKEN)
  const connected = new Map([[APP, apps.byBundle(APP)]])
  const known = new Map([[sha256Of(TOKEN).toString('hex'), key]])
  const all = new Map(organizations.list().map((organization) => [organization.id, organization]))
  return openCallers({
    apps: { ...apps, byBundle: (bundle_id) => connected.get(bundle_id) ?? [] },
    keys: { ...keys, findByToken: (token) => known.get(sha256Of(token).toString('hex')) ?? null },
    organizations: { ...organizations, get: (id) => all.get(id) ?? null },
    devices: attest.devices,
    attestedOnly: { untilOf: () => null },
  })
}

/** A minimal h3 server: looks up the key in a map and validates the body with the call's schema. */
export async function openBare() {
  const keys = new Map([[`Bearer ${TOKEN}`, APP]])
  const app = new H3()

  async function checked<Schema extends v.GenericSchema>(
    request: Parameters<typeof readBody>[0],
    schema: Schema,
  ) {
    if (!('req' in request) || !keys.has(request.req.headers.get('authorization') ?? '')) {
      throw new HTTPError({ status: 401 })
    }
    return v.parse(schema, await readBody(request))
  }

  app.post('/api/sdk/v1/identify', async (event) => {
    const { appUserId, bundleId } = await checked(event, IdentifyCall)
    return { appUserId, bundleId, verification: 'unverified' }
  })
  app.post('/api/sdk/v1/attribute', async (event) => {
    const { appUserId, originalTransactionId } = await checked(event, AttributeCall)
    return { originalTransactionId, appUserId, moved: false, verification: 'unverified' }
  })
  const server = serve(app, { port: 0, hostname: '127.0.0.1', silent: true, gracefulShutdown: false })
  await server.ready()
  return { url: server.url ?? '', close: () => server.close(true) }
}
