/** Computes proceeds of a product in a country from the ratio of proceeds to payments in SALES reports. */
import { divideHalfEven } from '../../money.ts'
import { bound, type Store } from '../../store/store.ts'
import type { ConvertToBase } from '../joined/amount_sources.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { PriceRow } from './prices.ts'
import { afterCommission, type Commission } from './proceeds.ts'

/** The proceeds of a day and the payments that they come from, in thousandths of the base currency. */
type DayRatio = { day: DayNumber; base_proceeds: bigint; base_paid: bigint }
/** `currency`: the base currency, to which sales are converted before they are summed. */
type ShareQuery = { app_id: string; product_id: string; storefront: string; day: DayNumber; currency: string }
/**
 * `toProceeds` returns the proceeds of an amount. `isEstimated`: no report up to the day contains the product in the country.
 */
type ProceedsConversion = { isEstimated: boolean; toProceeds: (milli: number) => number }

export type Shares = ReturnType<typeof openShares>

type Deps = { store: Store; convertToBase: ConvertToBase; commission: Commission }

export function openShares({ store, convertToBase, commission }: Deps) {
  const prices = store.prepare<[string, string, string], PriceRow>(`
    select * from reported_prices where app_id = ${bound} and product_id = ${bound} and storefront = ${bound}
    order by day`)
  const dayRatiosOf = store.cached(['reported_prices', 'rates'], (name): DayRatio[] => {
    const [app_id = '', product_id = '', storefront = '', base = ''] = name.split('\n')
    const days = Map.groupBy(prices.all(app_id, product_id, storefront), ({ day }) => day)
    return [...days]
      .map(([day, rows]) => dayRatioOf(base, day, rows))
      .filter(({ base_paid }) => base_paid > 0n)
  })

  function dayRatioOf(base: string, day: DayNumber, rows: readonly PriceRow[]): DayRatio {
    const dayRatio = { day, base_proceeds: 0n, base_paid: 0n }
    for (const { units, price_milli, currency, proceeds_milli, proceeds_currency } of rows) {
      const base_proceeds = convertToBase(base, proceeds_milli, proceeds_currency, day)
      const base_paid = convertToBase(base, units * price_milli, currency, day)
      if (base_proceeds === null || base_paid === null) continue
      dayRatio.base_proceeds += BigInt(base_proceeds)
      dayRatio.base_paid += BigInt(base_paid)
    }
    return dayRatio
  }

  /** How to compute proceeds on a day: by the ratio in the newest report up to the day, or else by the commission. */
  function proceedsRatioOf({
    app_id,
    product_id,
    storefront,
    day,
    currency,
  }: ShareQuery): ProceedsConversion {
    const dayRatios = dayRatiosOf([app_id, product_id, storefront, currency].join('\n'))
    const dayRatio = dayRatios.findLast((one) => one.day <= day)
    if (!dayRatio) return { isEstimated: true, toProceeds: (milli) => afterCommission(milli, commission) }
    const { base_proceeds, base_paid } = dayRatio
    return {
      isEstimated: false,
      toProceeds: (milli) => Number(divideHalfEven(BigInt(milli) * base_proceeds, base_paid)),
    }
  }

  return { proceedsRatioOf }
}
