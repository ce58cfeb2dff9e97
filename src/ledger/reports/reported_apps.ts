/** Stores the apps that reports name, and links each to its connected app. */
import type { App, Apps } from '../../apps/apps.ts'
import type { Store } from '../../store/store.ts'

/**
 * How a report identifies an app. SALES has the SKU, and in rows of the app itself also the Apple id. Other reports
 * have only the Apple id.
 */
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
  const update = store.prepare<ReportedApp>(
    'update reported_apps set apple_id = :apple_id, name = :name, app_id = :app_id where id = :id',
  )
  const ofOrganization = store.prepare<[string], ReportedApp>(
    'select * from reported_apps where organization_id = ? order by id',
  )

  /** The id of the reported app that a row names. Adds the app if it is new. Call it inside a unit of work. */
  function idOf(organization_id: string, reference: AppReference): number {
    const sku = reference.sku ?? null
    const known =
      sku === null ? byAppleId.get(organization_id, reference.apple_id) : bySku.get(organization_id, sku)
    const apple_id = known?.apple_id ?? reference.apple_id
    const name = reference.name ?? known?.name ?? null
    if (known && known.apple_id === apple_id && known.name === name) return known.id
    const app_id = connectedAppOf({ organization_id, sku, apple_id }) ?? known?.app_id ?? null
    if (known) update.run({ ...known, apple_id, name, app_id })
    return known?.id ?? Number(insert.run({ organization_id, sku, apple_id, name, app_id }).lastInsertRowid)
  }

  const indexOf = store.cached(['apps', 'organizations'], (organization_id) =>
    indexApps(apps.list().filter((app) => app.organization_id === organization_id)),
  )

  /** The id of the connected app: by Apple id, which Apple never reuses, else by SKU. */
  function connectedAppOf({
    organization_id,
    sku,
    apple_id,
  }: Pick<App, 'organization_id' | 'sku' | 'apple_id'>) {
    const index = indexOf(organization_id)
    return index.byAppleId.get(apple_id) ?? index.bySku.get(sku) ?? null
  }

  /** Links reported apps to newly connected apps. Returns the number of new links. Call it inside a unit of work. */
  function linkConnected(organization_id: string): number {
    const changed = ofOrganization
      .all(organization_id)
      .map((one) => ({ ...one, previous_app_id: one.app_id, app_id: connectedAppOf(one) ?? one.app_id }))
      .filter((one) => one.app_id !== one.previous_app_id)
    for (const { previous_app_id: _, ...one } of changed) update.run(one)
    return changed.length
  }

  /** The apps in an organization's reports that are not connected. */
  const unconnectedApps = (organization_id: string): ReportedApp[] =>
    ofOrganization.all(organization_id).filter((one) => one.app_id === null)

  return { idOf, linkConnected, unconnectedApps }
}

/** Indexes apps by Apple id and by SKU. Of several apps with the same SKU, the first is used. */
function indexApps(indexOf: readonly App[]) {
  const byAppleId = new Map<number | null, string>()
  const bySku = new Map<string | null, string>()
  for (const { id, apple_id, sku } of indexOf.toReversed()) {
    if (apple_id !== null) byAppleId.set(apple_id, id)
    if (sku !== null) bySku.set(sku, id)
  }
  return { byAppleId, bySku }
}
