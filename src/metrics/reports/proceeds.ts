/** Computes the proceeds of a charge and their certainty from Apple’s reports. */
import { divideHalfEven } from '../../money.ts'
import { type Calendar, openCalendar } from '../lineage/calendar.ts'
import type { PricedCharge, Proceeds } from '../lineage/proceeds.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { PriceRow, ReportedPrices } from './prices.ts'

/** Apple’s commission in percent, from the settings `[metrics]`. A small business pays at most 15 %. */
export type Commission = Readonly<{
  commission_percent: number
  commission_after_a_year_percent: number
  small_business: boolean
}>

/**
 * Returns a function that computes the proceeds of a charge. `is_after_a_year`: the subscription had been paid for a year;
 * null if unknown. `prices`: the prices in reports. `commission` is read on each use, so that a reload of the configuration
 * applies.
 */
export function openProceedsCalculator(prices: ReportedPrices, commission: Commission) {
  const pacific: Calendar = openCalendar(PACIFIC)

  return (app_id: string, charge: PricedCharge, is_after_a_year: boolean | null = null): Proceeds => {
    const { product_id, currency, quantity } = charge
    const isWhole = quantity > 0 && charge.price_milli % quantity === 0
    const price_milli = isWhole ? charge.price_milli / quantity : charge.price_milli
    const day = pacific.dayOf(charge.at)
    const key = { app_id, product_id, storefront: charge.storefront ?? '', currency, day }
    const { first, later } = prices.newestPrices({ ...key, price_milli })
    const price = choosePrice(first, later, is_after_a_year, day)
    if (price !== null) return applyPrice(charge, price)
    const other = prices.newestOf(key)
    if (other !== null) return { ...applyPrice(charge, { ...other, isSure: false }), basis: 'estimated' }
    const milli = afterCommission(charge.price_milli, commission, is_after_a_year ?? false)
    return { milli, currency, basis: 'estimated' }
  }
}

/** A price from reports. `isSure`: the price is from the charge’s day, and all such charges had equal proceeds. */
type ReportedPrice = Pick<PriceRow, 'price_milli' | 'units' | 'proceeds_milli' | 'proceeds_currency'> & {
  isSure: boolean
}

/**
 * Selects the reported price of a charge. If it is unknown whether the charge follows a year of paid service, combines
 * both prices of the newest day.
 */
function choosePrice(
  first: PriceRow | null,
  later: PriceRow | null,
  is_after_a_year: boolean | null,
  day: number,
): ReportedPrice | null {
  const withCertainty = (row: PriceRow): ReportedPrice => ({
    ...row,
    isSure: row.day === day && row.is_uniform === 1,
  })
  if (is_after_a_year !== null) {
    const own = is_after_a_year ? later : first
    return own && withCertainty(own)
  }
  if (!first || !later || first.day !== later.day || first.proceeds_currency !== later.proceeds_currency) {
    const newest = !later || (first && first.day >= later.day) ? first : later
    return newest && withCertainty(newest)
  }
  const units = first.units + later.units
  return { ...first, units, proceeds_milli: first.proceeds_milli + later.proceeds_milli, isSure: false }
}

/** Computes price × reported proceeds ÷ reported price, rounded once, half to even. */
function applyPrice(
  charge: Pick<PricedCharge, 'price_milli'>,
  { price_milli, units, proceeds_milli, proceeds_currency, isSure }: ReportedPrice,
): Proceeds {
  const [paid, sold] = [BigInt(charge.price_milli), BigInt(units) * BigInt(price_milli)]
  const milli = Number(divideHalfEven(paid * BigInt(proceeds_milli), sold))
  return { milli, currency: proceeds_currency, basis: isSure ? 'exact' : 'ratio' }
}

/** Estimates the proceeds of an amount by subtracting Apple’s commission. The tax in the amount is unknown and not subtracted. */
export function afterCommission(milli: number, commission: Commission, is_after_a_year = false): number {
  const left = BigInt(100 - percentOf(is_after_a_year, commission))
  return Number(divideHalfEven(BigInt(milli) * left, 100n))
}

function percentOf(
  is_after_a_year: boolean,
  { commission_percent, commission_after_a_year_percent, small_business }: Commission,
): number {
  const percent = is_after_a_year ? commission_after_a_year_percent : commission_percent
  return small_business ? Math.min(SMALL_BUSINESS_PERCENT, percent) : percent
}

/** Apple's Small Business Program. */
const SMALL_BUSINESS_PERCENT = 15
