/** Reads subscription periods from reports, for products that are missing from Apple's product list. */
import { setImmediate } from 'node:timers/promises'
import { parsePeriod } from '../../apps/periods.ts'
import type { Products } from '../../apps/products.ts'
import type { Store } from '../../store/store.ts'

/** The number of newest reports to search. Each product that still renews is in one of them. */
const REPORTS_READ = 40

export type ReportedPeriods = ReturnType<typeof openReportedPeriods>

type ReportedProduct = {
  app_id: string
  apple_id: string
  name: string | null
  group_id: string | null
  duration: string
}
type SoldProduct = { app_id: string; apple_id: string; product_id: string }

export function openReportedPeriods({ store, products }: { store: Store; products: Products }) {
  const newest = store.prepare<[string, string, number], { report_id: number }>(`
    select report_id from import_days
    where organization_id = ? and kind = ? and state = 'done' and report_id is not null
    order by day_on desc limit ?`)
  const subscriptionsIn = store.prepare<[number], ReportedProduct>(`
    select distinct app_id, subscription_apple_id as apple_id, subscription_name as name, group_id, duration
    from subscription_days join reported_apps on reported_apps.id = reported_app_id
    where report_id = ? and app_id is not null`)
  const salesIn = store.prepare<[number], SoldProduct>(`
    select distinct app_id, sales_days.apple_id as apple_id, sales_days.sku as product_id
    from sales_days join reported_apps on reported_apps.id = reported_app_id
    where report_id = ? and app_id is not null and class = 'subscription' and sales_days.apple_id is not null`)
  const latestReports = new Map<string, number | undefined>()

  /**
   * Sets the unknown periods (“Standard Subscription Duration”) of an organization's products from its newest reports.
   * SUBSCRIPTION has only the Apple id of a product, and SALES its product id. Returns the number of set periods.
   */
  async function learn(organization_id: string): Promise<number> {
    const reports = newest.all(organization_id, 'subscription', REPORTS_READ)
    const latest = reports[0]?.report_id
    if (latestReports.get(organization_id) === latest) return 0
    latestReports.set(organization_id, latest)
    const missing = await unknownPeriods(reports)
    let learned = 0
    for (const { report_id } of missing.size > 0 ? newest.all(organization_id, 'sales', REPORTS_READ) : []) {
      if (missing.size === 0) break
      for (const sold of salesIn.all(report_id)) learned += await learnOne(sold, missing)
      await setImmediate()
    }
    return learned
  }

  /** The reported products without a known period, by app and the product's Apple id. */
  async function unknownPeriods(
    reports: readonly { report_id: number }[],
  ): Promise<Map<string, ReportedProduct>> {
    const missing = new Map<string, ReportedProduct>()
    const known = new Map<string, ReadonlySet<string | null>>()
    for (const { report_id } of reports) {
      for (const product of subscriptionsIn.all(report_id)) {
        const ids = known.get(product.app_id) ?? knownProducts(product.app_id)
        known.set(product.app_id, ids)
        if (!ids.has(product.apple_id) && !missing.has(keyOf(product))) missing.set(keyOf(product), product)
      }
      await setImmediate()
    }
    return missing
  }

  const knownProducts = (app_id: string): ReadonlySet<string | null> =>
    new Set(products.list(app_id).flatMap(({ apple_id, period }) => (period === null ? [] : apple_id)))

  async function learnOne(sold: SoldProduct, missing: Map<string, ReportedProduct>): Promise<number> {
    const product = missing.get(keyOf(sold))
    const period = product && parsePeriod(product.duration)
    if (!product || !period) return 0
    missing.delete(keyOf(sold))
    const { apple_id, name, group_id } = product
    const learnedPeriod = { product_id: sold.product_id, period, apple_id, name, group_id }
    return Number(await store.commitBulk(() => products.setReportedPeriod(sold.app_id, learnedPeriod)))
  }

  return { learn }
}

const keyOf = ({ app_id, apple_id }: { app_id: string; apple_id: string }): string => `${app_id} ${apple_id}`
