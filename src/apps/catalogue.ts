/** Reads Apple's list of an organization's apps and their subscriptions, and stores it. */
import type { AppleApp, ConnectApi } from '../apple/api/connect.ts'
import { AppleFault, type FaultKind } from '../apple/api/faults.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { openHook } from '../hooks.ts'
import type { Log } from '../log.ts'
import { bound, type Store } from '../store/store.ts'
import type { Accounts } from './accounts.ts'
import type { AppleClients } from './apple_clients.ts'
import type { App, Apps } from './apps.ts'
import type { Products } from './products.ts'

type Deps = {
  store: Store
  clock: Clock
  apps: Apps
  products: Products
  accounts: Accounts
  appleClients: AppleClients
  log: Log
}

/** The changes of a refresh. `renamed` has the new names; `periods` has the ids of products with a new period. */
export type CatalogueChanges = { added: App[]; renamed: App[]; gone: App[]; periods: string[] }

export type Catalogue = ReturnType<typeof openCatalogue>

/** Faults that concern one app. Requests for other apps may succeed. */
const SINGLE_APP_FAULTS: ReadonlySet<FaultKind> = new Set(['not_found', 'refused', 'unreadable'])

/** How many apps are written in one unit of work. */
const SLICE = 50

/** Opens the catalogue. */
export function openCatalogue(deps: Deps) {
  const { store, clock, apps, products, accounts, appleClients, log } = deps
  const inOrganization = store.prepare<[string, string], App>(
    'select * from apps where organization_id = ? and bundle_id = ?',
  )
  const ofApple = store.prepare<[string], App>(
    `select * from apps where organization_id = ${bound} and source = 'apple' and gone_at is null`,
  )
  const fillFields = store.prepare<Pick<App, 'id' | 'name' | 'apple_id' | 'team_id' | 'sku'>>(`
    update apps set name = ifnull(name, :name), apple_id = ifnull(apple_id, :apple_id),
      team_id = ifnull(team_id, :team_id), sku = ifnull(sku, :sku) where id = :id`)
  const updateGoneAt = store.prepare<[number, string]>('update apps set gone_at = ? where id = ?')
  const warnedAbout = new Set<string>()
  const connected = openHook<[], Promise<unknown>>()

  /**
   * Reads Apple's list of apps and their subscriptions, and stores it. An app from config.toml or a command keeps its
   * fields and gains those that are missing; one that a command removed stays disconnected. Apps from Apple's list are
   * marked gone only after the whole list was read.
   *
   * @throws Refusal 409 `no_connect_key`; AppleFault if Apple does not return the list of apps (then nothing changes),
   * or fails temporarily to return a list of subscriptions. A permanent fault of one app is logged, and it is skipped.
   */
  async function refresh(organization_id: string): Promise<CatalogueChanges> {
    const api = appleClients.connect(organization_id)
    if (!api)
      throw new Refusal(409, 'no_connect_key', 'there is no App Store Connect key; run windfall connect')
    const listed = await api.apps()
    const teams = await readOrLog(organization_id, 'team ids', () => api.teams())
    const { added, renamed } = await connectListed(organization_id, listed, teams)
    const gone = await store.commit(() => markGone(organization_id, listed))
    const periods = await refreshProducts(organization_id, api, listed)
    return { added, renamed, gone, periods }
  }

  /** Stores the apps of a list that Apple has just returned, and calls the listeners if it connects one. */
  async function connectListed(
    organization_id: string,
    listed: readonly AppleApp[],
    teams: Teams = null,
  ): Promise<{ added: App[]; renamed: App[] }> {
    const changes = { added: [] as App[], renamed: [] as App[] }
    for (let start = 0; start < listed.length; start += SLICE) {
      await store.commit(() => {
        for (const one of listed.slice(start, start + SLICE)) {
          const { kind, app } = applyListedApp(organization_id, one, teams?.get(one.bundle_id) ?? null)
          if (kind !== null) changes[kind].push(app)
        }
      })
    }
    if (changes.added.length > 0) await Promise.all(connected.call())
    return changes
  }

  function applyListedApp(organization_id: string, listed: AppleApp, team_id: string | null): Change {
    const known = inOrganization.get(organization_id, listed.bundle_id)
    if (known && isDeclared(known)) {
      const { name, apple_id, sku } = listed
      if (hasMissingFields(known, team_id)) fillFields.run({ id: known.id, name, apple_id, team_id, sku })
      return { kind: null, app: known }
    }
    if (known && isUpToDate(known, listed, team_id)) return { kind: null, app: known }
    const app = apps.add(organization_id, { ...listed, team_id: team_id ?? undefined }, 'apple')
    if (!known || known.gone_at !== null) return { kind: 'added', app }
    return { kind: known.name === app.name ? null : 'renamed', app }
  }

  function markGone(organization_id: string, listed: readonly AppleApp[]): App[] {
    // For a key without access to apps, Apple returns an empty list. A developer who removed all apps gets one as well.
    if (listed.length === 0) return []
    const present = new Set(listed.map(({ bundle_id }) => bundle_id))
    const gone = ofApple.all(organization_id).filter(({ bundle_id }) => !present.has(bundle_id))
    for (const app of gone) updateGoneAt.run(clock(), app.id)
    return gone.map((app) => ({ ...app, gone_at: clock() }))
  }

  async function refreshProducts(
    organization_id: string,
    api: ConnectApi,
    listed: readonly AppleApp[],
  ): Promise<string[]> {
    const periods: string[] = []
    for (const { bundle_id, apple_id } of listed) {
      const app = inOrganization.get(organization_id, bundle_id)
      if (!app || app.gone_at !== null) continue
      const read = () =>
        api.subscriptions(apple_id).catch((error: unknown) => logSkipped(log, bundle_id, error))
      const list = await readOrLog(organization_id, 'subscriptions', read)
      if (list === null) break
      if (list === undefined) continue
      periods.push(...(await store.commit(() => products.declare(app.id, list))))
    }
    return periods
  }

  /** The result of `read`; null if the key lacks the permission, which is logged once. */
  async function readOrLog<T>(
    organization_id: string,
    what: string,
    read: () => Promise<T>,
  ): Promise<T | null> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof AppleFault) || error.kind !== 'forbidden') throw error
      const warningKey = `${organization_id} ${what}`
      if (!warnedAbout.has(warningKey)) {
        const why = error.message
        log.info('the App Store Connect key lacks a permission; Windfall uses other sources', { what, why })
      }
      warnedAbout.add(warningKey)
      return null
    }
  }

  /** Refreshes every organization that has a key. Logs a fault and continues with the next organization. */
  async function refreshAll(): Promise<void> {
    for (const { organization_id, connect } of accounts.list()) {
      if (connect === null) continue
      try {
        const { added, renamed, gone } = await refresh(organization_id)
        const counts = { added: added.length, renamed: renamed.length, gone: gone.length }
        if (Object.values(counts).some((count) => count > 0)) log.info('Apple’s list of apps changed', counts)
      } catch (error) {
        if (!(error instanceof AppleFault)) throw error
        log.warn('Apple’s list of apps could not be read', { organization_id, why: error.message })
      }
    }
  }

  return {
    refresh,
    refreshAll,
    connectListed,
    /** Calls the listener after apps were connected; `refresh` waits for it. */
    onConnected: connected.add,
  }
}

/** Logs a fault of one app, so the others are still read. @throws any fault that concerns all apps. */
function logSkipped(log: Log, bundle_id: string, error: unknown): undefined {
  if (!(error instanceof AppleFault) || !SINGLE_APP_FAULTS.has(error.kind)) throw error
  log.warn('an app’s subscriptions could not be read', { bundle_id, why: error.message })
}

type Teams = ReadonlyMap<string, string> | null
type Change = { kind: 'added' | 'renamed' | null; app: App }

/** Whether config.toml or a command determines the app. Apple's list may reconnect an app that config.toml dropped. */
const isDeclared = ({ source, gone_at }: App): boolean =>
  source !== 'apple' && (gone_at === null || source !== 'config')

/** Whether Apple's list has a field that a connected app lacks. */
const hasMissingFields = (app: App, team_id: string | null): boolean =>
  app.gone_at === null &&
  (app.name === null || app.apple_id === null || app.sku === null || (app.team_id ?? team_id) !== app.team_id)

const isUpToDate = (app: App, listed: AppleApp, team_id: string | null): boolean =>
  app.gone_at === null &&
  app.name === listed.name &&
  app.apple_id === listed.apple_id &&
  app.sku === listed.sku &&
  (team_id === null || app.team_id === team_id)
