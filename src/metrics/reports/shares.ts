/** Computes proceeds of a product in a country from the ratio of proceeds to payments in SALES reports. */
import { divideHalfEven } from '../../money.ts'
import { bound, type Store } from '../../store/store.ts'
import type { ConvertToBase } from '../joined/amount_sources.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { PriceRow } from './prices.ts'
import { afterCommission, type Commission } from './proceeds.ts'

/** `got`: the proceeds of a day. `paid`: the payments of the day. Both are in thousandths of the base currency. */
type Share = { day: DayNumber; got: bigint; paid: bigint }
/** `currency`: the base currency, to which sales are converted before they are summed. */
type ShareQuery = { app_id: string; product_id: string; storefront: string; day: DayNumber; currency: string }
/**
 * `of` returns the proceeds of an amount. `isEstimated`: no report up to the day contains the product in the country.
 */
type ShareLeft = { isEstimated: boolean; of: (milli: number) => number }

export type Shares = ReturnType<typeof openShares>

type Deps = { store: Store; convertToBase: ConvertToBase; commission: Commission }

export function openShares({ store, convertToBase, commission }: Deps) {
  const prices = store.prepare<[string, string, string], PriceRow>(`
    select * from reported_prices where app_id = ${bound} and product_id = ${bound} and storefront = ${bound}
    order by day`)
  const sharesOf = store.cached(['reported_prices', 'rates'], (name): Share[] => {
    const [app_id = '', product_id = '', storefront = '', base = ''] = name.split('\n')
    const days = Map.groupBy(prices.all(app_id, product_id, storefront), ({ day }) => day)
    return [...days].map(([day, rows]) => shareOf(base, day, rows)).filter(({ paid }) => paid > 0n)
  })

  function shareOf(base: string, day: DayNumber, rows: readonly PriceRow[]): Share {
    const share = { day, got: 0n, paid: 0n }
    for (const { units, price_milli, currency, proceeds_milli, proceeds_currency } of rows) {
      const got = convertToBase(base, proceeds_milli, proceeds_currency, day)
      const paid = convertToBase(base, units * price_milli, currency, day)
      if (got === null || paid === null) continue
      share.got += BigInt(got)
      share.paid += BigInt(paid)
    }
    return share
  }

  /** Proceeds of a day, by the ratio in the newest report up to the day, or estimated by the commission. */
  function leftOf({ app_id, product_id, storefront, day, currency }: ShareQuery): ShareLeft {
    const shares = sharesOf([app_id, product_id, storefront, currency].join('\n'))
    const share = shares.findLast((one) => one.day <= day)
    if (!share) return { isEstimated: true, of: (milli) => afterCommission(milli, commission) }
    const { got, paid } = share
    return { isEstimated: false, of: (milli) => Number(divideHalfEven(BigInt(milli) * got, paid)) }
  }

  return { leftOf }
}
