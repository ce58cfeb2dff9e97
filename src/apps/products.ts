/** The subscriptions that an app sells, with their periods and groups, from Apple's list or from reports. */
import type { AppleSubscription } from '../apple/api/connect.ts'
import type { Clock } from '../clock.ts'
import { openHook } from '../hooks.ts'
import { bound, type Store } from '../store/store.ts'

/** `period` is an ISO 8601 duration (P1W, P1M, …, P1Y) from Apple's list of subscriptions or from its reports. */
type Product = {
  app_id: string
  product_id: string
  /** Apple's number of the product, which identifies it in subscription reports. */
  apple_id: string | null
  name: string | null
  group_id: string | null
  group_name: string | null
  /** 1 is the highest of its group. */
  group_level: number | null
  period: string | null
  period_source: 'connect' | 'report' | null
  created_at: number
  gone_at: number | null
}

/** The fields of a product in a report. */
type ReportedProduct = { product_id: string; period: string } & {
  [Key in 'apple_id' | 'name' | 'group_id']?: Product[Key] | undefined
}

export type Products = ReturnType<typeof openProducts>

/** Opens the products. */
export function openProducts(store: Store, clock: Clock) {
  const ofApp = store.prepare<[string], Product>(
    `select * from products where app_id = ${bound} order by product_id`,
  )
  const selectOne = store.prepare<[string, string], Product>(
    'select * from products where app_id = ? and product_id = ?',
  )
  const upsert = store.prepare<Product>(`
    insert into products ( app_id,  product_id,  apple_id,  name,  group_id,  group_name,  group_level,  period,  period_source,  created_at,  gone_at)
    values               (:app_id, :product_id, :apple_id, :name, :group_id, :group_name, :group_level, :period, :period_source, :created_at, :gone_at)
    on conflict (app_id, product_id) do update set
      apple_id = excluded.apple_id, name = excluded.name, group_id = excluded.group_id,
      group_name = excluded.group_name, group_level = excluded.group_level, period = excluded.period,
      period_source = excluded.period_source, gone_at = excluded.gone_at`)

  const periodChanged = openHook<[app_id: string]>()

  /** Every product of an app, including those that are gone. */
  const list = (app_id: string): Product[] => ofApp.all(app_id)

  /** The period of a product as an ISO 8601 duration; null if it is unknown. */
  const periodOf = (app_id: string, product_id: string): string | null =>
    selectOne.get(app_id, product_id)?.period ?? null

  /**
   * Stores Apple's complete list of an app's subscriptions. Products that are no longer on it are marked gone.
   * Returns the ids of the products whose period changed.
   */
  function declare(app_id: string, subscriptions: readonly AppleSubscription[]): string[] {
    const present = new Set(subscriptions.map(({ product_id }) => product_id))
    for (const product of list(app_id)) {
      if (product.gone_at === null && !present.has(product.product_id))
        upsert.run({ ...product, gone_at: clock() })
    }
    return subscriptions.flatMap((subscription) => declareProduct(app_id, subscription))
  }

  function declareProduct(app_id: string, reported: AppleSubscription): string[] {
    const known = selectOne.get(app_id, reported.product_id)
    // A product without a period is a draft in App Store Connect. It keeps the period from a report.
    const period = reported.period ?? known?.period ?? null
    const period_source = reported.period === null ? (known?.period_source ?? null) : 'connect'
    const created_at = known?.created_at ?? clock()
    write(known, { ...reported, app_id, period, period_source, created_at, gone_at: null })
    return known?.period === period || period === null ? [] : [reported.product_id]
  }

  /**
   * Stores the fields of a product from a report, unless its period comes from Apple's list. Returns whether the
   * period changed.
   */
  function setReportedPeriod(app_id: string, reported: ReportedProduct): boolean {
    const known = selectOne.get(app_id, reported.product_id)
    if (known?.period_source === 'connect') return false
    write(known, {
      app_id,
      product_id: reported.product_id,
      apple_id: known?.apple_id ?? reported.apple_id ?? null,
      name: known?.name ?? reported.name ?? null,
      group_id: known?.group_id ?? reported.group_id ?? null,
      group_name: known?.group_name ?? null,
      group_level: known?.group_level ?? null,
      period: reported.period,
      period_source: 'report',
      created_at: known?.created_at ?? clock(),
      gone_at: known?.gone_at ?? null,
    })
    return known?.period !== reported.period
  }

  function write(known: Product | undefined, next: Product): void {
    const isUnchanged = known && COLUMNS.every((column) => known[column] === next[column])
    if (isUnchanged) return
    upsert.run(next)
    if (known?.period !== next.period) periodChanged.call(next.app_id)
  }

  return {
    list,
    periodOf,
    declare,
    setReportedPeriod,
    /** Calls the listener with an app within the unit of work that changes a period of its products. */
    onPeriod: periodChanged.add,
  }
}

const COLUMNS = [
  'apple_id',
  'name',
  'group_id',
  'group_name',
  'group_level',
  'period',
  'period_source',
  'gone_at',
] as const
