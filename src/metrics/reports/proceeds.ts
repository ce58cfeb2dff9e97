/** Computes the proceeds of a charge and their certainty. */
import { divideHalfEven } from '../../money.ts'
import type { Rates } from '../../rates/rates.ts'
import { type Calendar, dayText, openCalendar } from '../lineage/calendar.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { PriceRow, ReportedPrices } from './prices.ts'

/**
 * How the proceeds of a charge are known. exact: the report of the charge’s Pacific day contains the price. ratio: only an
 * earlier report contains the price, or proceeds differ within the day and are averaged. estimated: no report contains
 * the price, so that the configured commission is subtracted.
 */
export type ProceedsCertainty = 'exact' | 'ratio' | 'estimated'

/** Proceeds in thousandths of `currency`, which may differ from the currency of the charge. */
type Proceeds = { milli: number; currency: string; basis: ProceedsCertainty }

/** Apple’s commission in percent, from the settings `[metrics]`. A small business pays at most 15 %. */
export type Commission = Readonly<{
  commission_percent: number
  commission_after_a_year_percent: number
  small_business: boolean
}>

/**
 * An amount of a charge: all of it, or a refunded part. `price_milli`: the price of the whole charge. `quantity`: the
 * number of units (1 by default). `is_after_a_year`: the subscription had been paid for a year; null if unknown.
 * `storefront`: alpha-3. `at`: the instant of the charge, also for a later refund.
 */
type PricedCharge = {
  app_id: string
  product_id: string
  storefront: string
  currency: string
  price_milli: number
  milli: number
  at: number
  quantity?: number
  is_after_a_year: boolean | null
}

export type ProceedsCalculator = ReturnType<typeof openProceedsCalculator>

/** `prices`: the prices in reports. `commission` is read on each use, so that a reload of the configuration applies. */
export function openProceedsCalculator(prices: ReportedPrices, commission: Commission) {
  const pacific: Calendar = openCalendar(PACIFIC)

  /** The proceeds of a charge. */
  function ofCharge(charge: PricedCharge): Proceeds {
    const quantity = charge.quantity ?? 1
    const isWhole = quantity > 0 && charge.price_milli % quantity === 0
    const price_milli = isWhole ? charge.price_milli / quantity : charge.price_milli
    const day = pacific.dayOf(charge.at)
    const { first, later } = prices.newestPrices({ ...charge, price_milli, day })
    return applyPrice(charge, choosePrice(first, later, charge.is_after_a_year, day), commission)
  }

  /**
   * The proceeds of a day’s sum of `count` charges or refunds of a product in a country. Whether they follow a year of
   * paid service is unknown. If no report contains the mean price, the newest price of the product in the country
   * applies, and the proceeds are estimated.
   */
  function ofSum(
    sum: Omit<PricedCharge, 'price_milli' | 'at' | 'is_after_a_year'> & { day: number; count: number },
  ) {
    const { milli, count, day } = sum
    const charge = { ...sum, is_after_a_year: null }
    const price_milli = count > 0 && milli % count === 0 ? milli / count : 0
    const { first, later } = prices.newestPrices({ ...sum, price_milli })
    const price = choosePrice(first, later, null, day)
    if (price !== null) return applyPrice(charge, price, commission)
    const newestPrice = prices.newestOf(sum)
    const estimate = applyPrice(charge, newestPrice && { ...newestPrice, isSure: false }, commission)
    return { ...estimate, basis: 'estimated' as const }
  }

  return { ofCharge, ofSum }
}

/** A whole charge of one unit. */
type ChargeInBase = Pick<PricedCharge, 'app_id' | 'product_id' | 'currency' | 'milli' | 'at'> & {
  storefront: string | null
}

/** `base_milli` in thousandths of the base currency. */
type ProceedsInBase = { base_milli: number; basis: ProceedsCertainty; is_final: boolean }

const DAY_MS = 86_400_000

/**
 * Computes the proceeds of a charge in a base currency at the rate of the charge’s day; null if there is no rate.
 * `is_final`: the rate cannot change. Whether the charge follows a year of paid service is unknown, so that the average of
 * both prices applies.
 */
export const proceedsInBase =
  (proceeds: ProceedsCalculator, rates: Pick<Rates, 'convert'>) =>
  ({ storefront, ...charge }: ChargeInBase, base: string): ProceedsInBase | null => {
    const pricedCharge = {
      ...charge,
      storefront: storefront ?? '',
      price_milli: charge.milli,
      is_after_a_year: null,
    }
    const { milli, currency, basis } = proceeds.ofCharge(pricedCharge)
    if (milli === 0) return { base_milli: 0, basis, is_final: true }
    const converted = rates.convert(milli, currency, base, dayText(Math.floor(charge.at / DAY_MS)))
    return converted && { base_milli: converted.milli, basis, is_final: converted.is_final }
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

/**
 * Computes milli × proceeds ÷ price, rounded once, half to even. If no report contains the price, subtracts the
 * commission; the tax in the price is then unknown and not subtracted.
 */
function applyPrice(
  { milli, currency, is_after_a_year }: Pick<PricedCharge, 'milli' | 'currency' | 'is_after_a_year'>,
  price: ReportedPrice | null,
  commission: Commission,
): Proceeds {
  if (price === null) {
    const left = BigInt(100 - percentOf(is_after_a_year ?? false, commission))
    return { milli: Number(divideHalfEven(BigInt(milli) * left, 100n)), currency, basis: 'estimated' }
  }
  const { price_milli, units, proceeds_milli, proceeds_currency, isSure } = price
  const proceeds = divideHalfEven(BigInt(milli) * BigInt(proceeds_milli), BigInt(units) * BigInt(price_milli))
  return { milli: Number(proceeds), currency: proceeds_currency, basis: isSure ? 'exact' : 'ratio' }
}

/** Estimates the proceeds of an amount by subtracting Apple’s commission. */
export const afterCommission = (milli: number, commission: Commission): number =>
  applyPrice({ milli, currency: '', is_after_a_year: null }, null, commission).milli

function percentOf(
  is_after_a_year: boolean,
  { commission_percent, commission_after_a_year_percent, small_business }: Commission,
): number {
  const percent = is_after_a_year ? commission_after_a_year_percent : commission_percent
  return small_business ? Math.min(SMALL_BUSINESS_PERCENT, percent) : percent
}

/** Apple's Small Business Program. */
const SMALL_BUSINESS_PERCENT = 15
