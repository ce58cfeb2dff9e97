/** Stores the proceeds of a price, as a sales report does when it is summed. */
import type { Windfall } from '../../src/app.ts'
import { dayNumber } from '../../src/metrics/lineage/calendar.ts'

/** `proceeds_milli`: of all `units` together, in the currency of the price unless another is named. */
type Reported = {
  product_id: string
  storefront: string
  price_milli: number
  proceeds_milli: number
  currency?: string
  proceeds_currency?: string
  units?: number
}

/** Stores prices of the first app on a Pacific day ('YYYY-MM-DD'), and waits until the figures contain them. */
export async function reportPrices(
  { store, apps, metrics }: Pick<Windfall, 'store' | 'apps' | 'metrics'>,
  day_on: string,
  prices: readonly Reported[],
): Promise<void> {
  const day = dayNumber(day_on)
  const insert = store.prepare<unknown[]>(`
    insert into reported_prices (app_id, product_id, storefront, currency, price_milli, is_after_a_year, day, units,
      proceeds_milli, proceeds_currency, is_uniform) values (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, 1)`)
  await store.commit(() => {
    for (const { product_id, storefront, price_milli, proceeds_milli, ...more } of prices) {
      const { currency = 'USD', proceeds_currency = currency, units = 1 } = more
      const key = [apps.list()[0]?.id, product_id, storefront, currency, price_milli]
      insert.run(...key, day, units, proceeds_milli, proceeds_currency)
    }
    metrics.pricesChanged(day)
  })
  await metrics.whenCurrent()
}
