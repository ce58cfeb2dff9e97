/** What we remember: the periods of subscriptions as reports tell them, for products of which Apple's list does not. */
import { setImmediate } from 'node:timers/promises'
import { periodFromWords } from '../../apps/periods.ts'
import type { Products } from '../../apps/products.ts'
import type { Store } from '../../store/store.ts'

/** How many of the newest reports are looked through: whoever still renews stands in one of them. */
const REPORTS_READ = 40

export type ReportedPeriods = ReturnType<typeof openReportedPeriods>

type Told = {
  app_id: string
  apple_id: string
  name: string | null
  group_id: string | null
  duration: string
}
type Sold = { app_id: string; apple_id: string; product_id: string }

export function openReportedPeriods({ store, products }: { store: Store; products: Products }) {
  const newest = store.prepare<[string, string, number], { report_id: number }>(`
    select report_id from import_days
    where organization_id = ? and kind = ? and state = 'done' and report_id is not null
    order by day_on desc limit ?`)
  const toldIn = store.prepare<[number], Told>(`
    select distinct app_id, subscription_apple_id as apple_id, subscription_name as name, group_id, duration
    from subscription_days join reported_apps on reported_apps.id = reported_app_id
    where report_id = ? and app_id is not null`)
  const soldIn = store.prepare<[number], Sold>(`
    select distinct app_id, sales_days.apple_id as apple_id, sales_days.sku as product_id
    from sales_days join reported_apps on reported_apps.id = reported_app_id
    where report_id = ? and app_id is not null and class = 'subscription' and sales_days.apple_id is not null`)
  const lookedAt = new Map<string, number | undefined>()

  /**
   * Gives an organization's products the periods (“Standard Subscription Duration”) that its newest reports tell, where
   * none is known. SUBSCRIPTION names a product by Apple's number alone, SALES knows its id. Returns how many are new.
   */
  async function learn(organization_id: string): Promise<number> {
    const reports = newest.all(organization_id, 'subscription', REPORTS_READ)
    const latest = reports[0]?.report_id
    if (lookedAt.get(organization_id) === latest) return 0
    lookedAt.set(organization_id, latest)
    const wanted = await wantedFrom(reports)
    let learned = 0
    for (const { report_id } of wanted.size > 0 ? newest.all(organization_id, 'sales', REPORTS_READ) : []) {
      if (wanted.size === 0) break
      for (const sold of soldIn.all(report_id)) learned += await learnOne(sold, wanted)
      await setImmediate()
    }
    return learned
  }

  /** What the reports tell of products whose period nobody has told, by app and Apple's number. */
  async function wantedFrom(reports: readonly { report_id: number }[]): Promise<Map<string, Told>> {
    const wanted = new Map<string, Told>()
    const known = new Map<string, ReadonlySet<string | null>>()
    for (const { report_id } of reports) {
      for (const told of toldIn.all(report_id)) {
        const ids = known.get(told.app_id) ?? knownIn(told.app_id)
        known.set(told.app_id, ids)
        if (!ids.has(told.apple_id) && !wanted.has(keyOf(told))) wanted.set(keyOf(told), told)
      }
      await setImmediate()
    }
    return wanted
  }

  const knownIn = (app_id: string): ReadonlySet<string | null> =>
    new Set(products.list(app_id).flatMap(({ apple_id, period }) => (period === null ? [] : apple_id)))

  async function learnOne(sold: Sold, wanted: Map<string, Told>): Promise<number> {
    const told = wanted.get(keyOf(sold))
    const period = told && periodFromWords(told.duration)
    if (!told || !period) return 0
    wanted.delete(keyOf(sold))
    const { apple_id, name, group_id } = told
    const said = { product_id: sold.product_id, period, apple_id, name, group_id }
    return Number(await store.commitBulk(() => products.learnPeriod(sold.app_id, said)))
  }

  return { learn }
}

const keyOf = ({ app_id, apple_id }: { app_id: string; apple_id: string }): string => `${app_id} ${apple_id}`
