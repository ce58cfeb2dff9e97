/** What we compute: what the developer gets of a charge, and how surely that is known. */
import { divideHalfEven } from '../../money.ts'
import type { Rates } from '../../rates/rates.ts'
import { type Calendar, dayText, openCalendar } from '../lineage/calendar.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { PriceRow, ReportedPrices } from './prices.ts'

/**
 * exact: a report of the charge's own Pacific day tells what was got of this price. ratio: the nearest one before does,
 * or several of the day on average. estimated: no report has this price; Apple's commission, as configured, is taken off.
 */
export type ProceedsCertainty = 'exact' | 'ratio' | 'estimated'

/** Thousandths of `currency`, which need not be the one that was charged. */
type Proceeds = { milli: number; currency: string; basis: ProceedsCertainty }

/** Apple's commission in hundredths, as [metrics] says it; a small business pays 15 % of everything. */
export type Commission = Readonly<{
  commission_percent: number
  commission_after_a_year_percent: number
  small_business: boolean
}>

/**
 * An amount of a charge: all of it, or a part that is given back. `price_milli` is what the whole charge cost, `quantity`
 * how many units that was for (1 unless said). `is_after_a_year`: the subscription had been paid for a year; null where
 * that is not known. `storefront` is alpha-3; `at` the instant of the charge, also of one given back later.
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

/** `of` looks up what reports tell; `commission` is read anew each time, so that a reload reaches it. */
export function openProceedsCalculator(prices: ReportedPrices, commission: Commission) {
  const pacific: Calendar = openCalendar(PACIFIC)

  /** What the developer gets of a charge. */
  function of(charge: PricedCharge): Proceeds {
    const quantity = charge.quantity ?? 1
    const isWhole = quantity > 0 && charge.price_milli % quantity === 0
    const price_milli = isWhole ? charge.price_milli / quantity : charge.price_milli
    const day = pacific.dayOf(charge.at)
    const { first, later } = prices.at({ ...charge, price_milli, day })
    return applyPrice(charge, choosePrice(first, later, charge.is_after_a_year, day), commission)
  }

  /**
   * What is left of what was charged, or given back, on a day, for a product in a country: `count` times, of which the
   * years are not known. Where it is no whole number of prices, the product's newest price there says what is left; that
   * is an estimate, too.
   */
  function ofSum(
    sum: Omit<PricedCharge, 'price_milli' | 'at' | 'is_after_a_year'> & { day: number; count: number },
  ) {
    const { milli, count, day } = sum
    const charge = { ...sum, is_after_a_year: null }
    const price_milli = count > 0 && milli % count === 0 ? milli / count : 0
    const { first, later } = prices.at({ ...sum, price_milli })
    const price = choosePrice(first, later, null, day)
    if (price !== null) return applyPrice(charge, price, commission)
    const newestPrice = prices.newestOf(sum)
    const estimate = applyPrice(charge, newestPrice && { ...newestPrice, isSure: false }, commission)
    return { ...estimate, basis: 'estimated' as const }
  }

  return { of, ofSum }
}

/** A whole charge, of one unit. */
type ChargeInBase = Pick<PricedCharge, 'app_id' | 'product_id' | 'currency' | 'milli' | 'at'> & {
  storefront: string | null
}

/** `base_milli` in thousandths of the base currency. */
type ProceedsInBase = { base_milli: number; basis: ProceedsCertainty; is_final: boolean }

const DAY_MS = 86_400_000

/**
 * Gives what is left of a charge in a base currency, by the rate of its day, and how surely that is known; null where
 * there is no rate. `is_final`: the rate will never be another. Whether the charge was after a year of paid service is not
 * asked: where that matters, the average counts.
 */
export const proceedsInBase =
  (proceeds: ProceedsCalculator, rates: Pick<Rates, 'convert'>) =>
  ({ storefront, ...charge }: ChargeInBase, base: string): ProceedsInBase | null => {
    const of = { ...charge, storefront: storefront ?? '', price_milli: charge.milli, is_after_a_year: null }
    const { milli, currency, basis } = proceeds.of(of)
    if (milli === 0) return { base_milli: 0, basis, is_final: true }
    const converted = rates.convert(milli, currency, base, dayText(Math.floor(charge.at / DAY_MS)))
    return converted && { base_milli: converted.milli, basis, is_final: converted.is_final }
  }

/** A price that reports told of. `is_sure`: told on the charge's own day, of charges like it, all alike. */
type ReportedPrice = Pick<PriceRow, 'price_milli' | 'units' | 'proceeds_milli' | 'proceeds_currency'> & {
  isSure: boolean
}

/** Which of the prices told of is the charge's: that of its year; where its year is not known, all of the newest day. */
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
 * milli × what was got of the price ÷ the price, rounded once, half to even. Where no report tells the price, Apple's
 * commission is taken off; the tax that may be in the price is not known then, and not taken off.
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
  const got = divideHalfEven(BigInt(milli) * BigInt(proceeds_milli), BigInt(units) * BigInt(price_milli))
  return { milli: Number(got), currency: proceeds_currency, basis: isSure ? 'exact' : 'ratio' }
}

/** What is left of an amount where nothing is known of it but Apple's commission. */
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
