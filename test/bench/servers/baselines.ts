/** Baselines for the bench: Windfall with another store, without a store, and a bare server. */
import { H3, HTTPError, readBody, serve } from 'h3'
import * as v from 'valibot'
import { type SdkLimits, sdkRoutes } from '../../../src/api/sdk.ts'
import type { Windfall } from '../../../src/app.ts'
import { type Attribution, openAttribution } from '../../../src/attribution/attribution.ts'
import { openCallers } from '../../../src/attribution/callers.ts'
import { AttributeCall, IdentifyCall } from '../../../src/attribution/requests.ts'
import { openFeed } from '../../../src/events/feed.ts'
import type { Route } from '../../../src/http/route.ts'
import { sha256Of } from '../../../src/ids.ts'
import type { Store } from '../../../src/store/store.ts'
import { APP, TOKEN } from '../database.ts'

type Limits = SdkLimits & { attributes_per_user: number }

/** Where SQLite moves its log into the database when nobody says otherwise. */
const USUAL_CHECKPOINT = 'wal_autocheckpoint = 1000'

/** The two routes on another store over the same database. */
function routesOn(windfall: Windfall, store: Store, limits: Limits): Route[] {
  const { apps, keys, organizations, ledger, erasures, verifier, clock, refusedCalls } = windfall
  const feed = openFeed(store, clock)
  const attribution = openAttribution({ store, clock, apps, feed, ledger, erasures, limits })
  const callers = openCallers({ apps, keys, organizations })
  return sdkRoutes({
    store,
    monotonic: () => performance.now(),
    verifier,
    callers,
    attribution,
    refusedCalls,
    limits,
  })
}

/** Each request in a transaction of its own, with its own wait for the disk. */
export function oneByOne(windfall: Windfall, limits: Limits): Route[] {
  const { store } = windfall
  store.pragma(USUAL_CHECKPOINT)
  const begin = store.prepare('begin immediate')
  const end = store.prepare('commit')
  const undo = store.prepare('rollback')
  async function commit<T>(work: () => T): Promise<T> {
    begin.run()
    try {
      const value = work()
      end.run()
      return value
    } catch (error) {
      undo.run()
      throw error
    }
  }
  return routesOn(windfall, { ...store, commit, afterCommit: (effect) => effect() }, limits)
}

/** Everything but the storage: the same checks, of credentials that are looked up in memory, and the same answers. */
export function withoutStorage(windfall: Windfall, limits: Limits): Route[] {
  const { store, verifier, refusedCalls, attribution: real } = windfall
  const attribution: Attribution = {
    ...real,
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
      moved: false,
    }),
  }
  return sdkRoutes({
    store: { ...store, commit: async (work) => work() },
    monotonic: () => performance.now(),
    verifier,
    callers: callersInMemory(windfall),
    attribution,
    refusedCalls,
    limits,
  })
}

function callersInMemory({ apps, keys, organizations }: Windfall) {
  const key = keys.findByToken(TOKEN)
  const connected = new Map([[APP, apps.byBundle(APP)]])
  const known = new Map([[sha256Of(TOKEN).toString('hex'), key]])
  const all = new Map(organizations.list().map((organization) => [organization.id, organization]))
  return openCallers({
    apps: { ...apps, byBundle: (bundle_id) => connected.get(bundle_id) ?? [] },
    keys: { ...keys, findByToken: (token) => known.get(sha256Of(token).toString('hex')) ?? null },
    organizations: { ...organizations, get: (id) => all.get(id) ?? null },
  })
}

/** h3 as its documentation shows it, a key in a map, and the call's schema: nothing else. */
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
