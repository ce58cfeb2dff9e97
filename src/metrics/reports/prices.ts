/** Stores the proceeds of each sold price by day, from SALES reports. */
import { openHook } from '../../hooks.ts'
import { bound, type Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import { storefrontOf } from './countries.ts'
import { isSale, type MoneyRow } from './money.ts'

/**
 * The proceeds of a price on a day. `price_milli`: of one unit. `proceeds_milli`: of all `units` together. `is_uniform`: each
 * unit has the same proceeds.
 */
export type PriceRow = {
  app_id: string
  product_id: string
  storefront: string
  currency: string
  price_milli: number
  is_after_a_year: number
  day: DayNumber
  units: number
  proceeds_milli: number
  proceeds_currency: string
  is_uniform: number
}

type PriceKey = Pick<PriceRow, 'app_id' | 'product_id' | 'storefront' | 'currency' | 'price_milli' | 'day'>

/** The prices of one app and day, by a text of all their key columns. */
export type Prices = Map<string, PriceRow & { unit_milli: number }>

export type ReportedPrices = ReturnType<typeof openReportedPrices>

export function openReportedPrices(store: Store) {
  const changed = openHook<[day: DayNumber]>()
  const pricesOn = store.prepare<[string, DayNumber], PriceRow>(
    'select * from reported_prices where app_id = ? and day = ?',
  )
  const clear = store.prepare<[string, DayNumber]>('delete from reported_prices where app_id = ? and day = ?')
  const put = store.prepare<PriceRow>(`
    insert into reported_prices ( app_id,  product_id,  storefront,  currency,  price_milli,  is_after_a_year,  day,  units,  proceeds_milli,  proceeds_currency,  is_uniform)
    values                      (:app_id, :product_id, :storefront, :currency, :price_milli, :is_after_a_year, :day, :units, :proceeds_milli, :proceeds_currency, :is_uniform)`)
  const newest = store.prepare<[string, string, string, string, number, number, DayNumber], PriceRow>(`
    select * from reported_prices
    where app_id = ${bound} and product_id = ${bound} and storefront = ${bound} and currency = ${bound}
      and price_milli = ${bound} and is_after_a_year = ${bound} and day <= ${bound}
    order by day desc, units desc, proceeds_currency limit 1`)

  const newestAnyPrice = store.prepare<[string, string, string, string, DayNumber], PriceRow>(`
    select * from reported_prices
    where app_id = ${bound} and product_id = ${bound} and storefront = ${bound} and currency = ${bound}
      and day <= ${bound}
    order by day desc, units desc, price_milli, is_after_a_year, proceeds_currency limit 1`)

  const first = store.prepare<[string, string, string, string], { day: DayNumber | null }>(`
    select min(day) as day from reported_prices
    where app_id = ? and product_id = ? and storefront = ? and currency = ?`)
  // Cached, because a rebuild reads the prices of all charges, and many are older than the first report.
  const firstDay = store.cached(['reported_prices'], (name): DayNumber => {
    const [app_id = '', product_id = '', storefront = '', currency = ''] = name.split('\n')
    return first.get(app_id, product_id, storefront, currency)?.day ?? Infinity
  })

  /**
   * Replaces the prices of an app’s day within the caller’s unit of work. Does nothing if the prices are unchanged,
   * as they often are, because each generation sums the same reports.
   */
  function replace(app_id: string, day: DayNumber, prices: Prices): void {
    const rows = [...prices.values()].map(({ unit_milli: _, ...row }) => row)
    const before = new Set(pricesOn.all(app_id, day).map(rowKey))
    if (rows.length === before.size && rows.every((row) => before.has(rowKey(row)))) return
    clear.run(app_id, day)
    for (const row of rows) put.run(row)
    changed.call(day)
  }

  /** The newest prices up to a day: `first` for the first year of service, `later` for later years. */
  function newestPrices({ app_id, product_id, storefront, currency, price_milli, day }: PriceKey) {
    if (day < firstDay(scopeKey({ app_id, product_id, storefront, currency }))) return NO_PRICES
    const newestPrice = (is_after_a_year: number): PriceRow | null =>
      newest.get(app_id, product_id, storefront, currency, price_milli, is_after_a_year, day) ?? null
    return { first: newestPrice(0), later: newestPrice(1) }
  }

  /** The price of a product in a country that sold most on the newest day up to a day. */
  const newestOf = ({ app_id, product_id, storefront, currency, day }: Omit<PriceKey, 'price_milli'>) =>
    day >= firstDay(scopeKey({ app_id, product_id, storefront, currency }))
      ? (newestAnyPrice.get(app_id, product_id, storefront, currency, day) ?? null)
      : null

  return {
    replace,
    newestPrices,
    newestOf,
    /** Calls the listener within the unit of work with the Pacific day whose prices changed. */
    onChange: changed.add,
  }
}

/** A text that is equal for equal rows. */
const rowKey = ({
  product_id,
  storefront,
  currency,
  price_milli,
  is_after_a_year,
  ...row
}: PriceRow): string =>
  JSON.stringify([
    product_id,
    storefront,
    currency,
    price_milli,
    is_after_a_year,
    row.proceeds_currency,
    row.units,
    row.proceeds_milli,
    row.is_uniform,
  ])

type PriceScope = Pick<PriceKey, 'app_id' | 'product_id' | 'storefront' | 'currency'>

const NO_PRICES = { first: null, later: null }
const scopeKey = ({ app_id, product_id, storefront, currency }: PriceScope): string =>
  [app_id, product_id, storefront, currency].join('\n')

/** Adds a row of SALES if it contains a price. */
export function addPrice(prices: Prices, app_id: string, day: DayNumber, row: MoneyRow): void {
  const { currency, proceeds_currency, price_milli, units, unit_proceeds_milli: unit_milli } = row
  if (!isSale(row) || currency === null || proceeds_currency === null) return
  const is_after_a_year = /after one year/i.test(row.proceeds_reason ?? '') ? 1 : 0
  const storefront = storefrontOf(row.country)
  const priceKey = { app_id, product_id: row.sku, storefront, currency, price_milli, is_after_a_year, day }
  const key = [row.sku, storefront, currency, price_milli, is_after_a_year, proceeds_currency].join('\t')
  const existing = prices.get(key)
  const proceeds_milli = units * unit_milli
  if (!existing) {
    prices.set(key, { ...priceKey, units, proceeds_milli, proceeds_currency, is_uniform: 1, unit_milli })
    return
  }
  existing.units += units
  existing.proceeds_milli += proceeds_milli
  if (existing.unit_milli !== unit_milli) existing.is_uniform = 0
}
