/** Stores the apps that reports name, and links each to a connected app once that is known. */
import type { App, Apps } from '../../apps/apps.ts'
import type { Store } from '../../store/store.ts'

/** How a report names an app: SALES by SKU (with its Apple id if the row concerns the app itself), the others by id. */
export type AppReference = { sku?: string; apple_id: number | null; name: string | null }

type ReportedApp = {
  id: number
  organization_id: string
  sku: string | null
  apple_id: number | null
  name: string | null
  app_id: string | null
}

export type ReportedApps = ReturnType<typeof openReportedApps>

export function openReportedApps(store: Store, apps: Apps) {
  const bySku = store.prepare<[string, string], ReportedApp>(
    'select * from reported_apps where organization_id = ? and sku = ?',
  )
  const byAppleId = store.prepare<[string, number | null], ReportedApp>(
    'select * from reported_apps where organization_id = ? and sku is null and apple_id = ?',
  )
  const insert = store.prepare<Omit<ReportedApp, 'id'>>(`
    insert into reported_apps ( organization_id,  sku,  apple_id,  name,  app_id)
    values                    (:organization_id, :sku, :apple_id, :name, :app_id)`)
  const learn = store.prepare<ReportedApp>(
    'update reported_apps set apple_id = :apple_id, name = :name, app_id = :app_id where id = :id',
  )
  const ofOrganization = store.prepare<[string], ReportedApp>(
    'select * from reported_apps where organization_id = ? order by id',
  )

  /** The id of the app that a row names, within the caller's unit of work. Adds a new app. */
  function idOf(organization_id: string, reference: AppReference): number {
    const sku = reference.sku ?? null
    const known =
      sku === null ? byAppleId.get(organization_id, reference.apple_id) : bySku.get(organization_id, sku)
    const apple_id = known?.apple_id ?? reference.apple_id
    const name = reference.name ?? known?.name ?? null
    if (known && known.apple_id === apple_id && known.name === name) return known.id
    const app_id = connectedAppOf({ organization_id, sku, apple_id }) ?? known?.app_id ?? null
    if (known) learn.run({ ...known, apple_id, name, app_id })
    return known?.id ?? Number(insert.run({ organization_id, sku, apple_id, name, app_id }).lastInsertRowid)
  }

  const connected = store.cached(['apps', 'organizations'], (organization_id) =>
    indexApps(apps.list().filter((app) => app.organization_id === organization_id)),
  )

  /** The connected app: by Apple's id, which Apple never reuses, else by SKU. */
  function connectedAppOf({
    organization_id,
    sku,
    apple_id,
  }: Pick<App, 'organization_id' | 'sku' | 'apple_id'>) {
    const own = connected(organization_id)
    return own.byAppleId.get(apple_id) ?? own.bySku.get(sku) ?? null
  }

  /** Links reported apps to apps connected since, within the caller's unit of work. Returns how many. */
  function linkConnected(organization_id: string): number {
    const found = ofOrganization
      .all(organization_id)
      .map((one) => ({ ...one, previous_app_id: one.app_id, app_id: connectedAppOf(one) ?? one.app_id }))
      .filter((one) => one.app_id !== one.previous_app_id)
    for (const { previous_app_id: _, ...one } of found) learn.run(one)
    return found.length
  }

  /** The apps in an organization's reports that are not connected. */
  const unconnectedApps = (organization_id: string): ReportedApp[] =>
    ofOrganization.all(organization_id).filter((one) => one.app_id === null)

  return { idOf, linkConnected, unconnectedApps }
}

/** Indexes apps by the names that reports use. Of two with the same name the first wins. */
function indexApps(connected: readonly App[]) {
  const byAppleId = new Map<number | null, string>()
  const bySku = new Map<string | null, string>()
  for (const { id, apple_id, sku } of connected.toReversed()) {
    if (apple_id !== null) byAppleId.set(apple_id, id)
    if (sku !== null) bySku.set(sku, id)
  }
  return { byAppleId, bySku }
}
