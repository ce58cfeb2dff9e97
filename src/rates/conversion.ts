/** Converts amounts between currencies at the stored rates of a day. */
import { convertMilli, quotientText } from './exact.ts'

/**
 * The rate that applies on a day. `rated_on` is the day of the rate, which is earlier on weekends and holidays.
 * `is_final`: no later publication or import changes it.
 */
export type RateOn = { rated_on: string; per_usd_nano: number; source: string; is_final: boolean }

/** An amount in another currency. `rated_on` is the older day of the two rates. */
type Converted = { milli: number; rated_on: string; is_final: boolean }

/**
 * The conversion from one currency to another at the rates of a day. `rate`: one unit of the first in units of the second,
 * as a decimal number. `rated_on`: the older day of the two rates. `convert`: thousandths to thousandths, rounded once,
 * half to even; throws RangeError if the result is not a safe integer.
 */
type Conversion = { rate: string; rated_on: string; convert: (amount_milli: number) => number }

/** `rateOn` returns the rate that applies to a currency on a day; null if there is none. */
export function openConversion(rateOn: (currency: string, on: string) => RateOn | null) {
  /**
   * Converts an amount in thousandths of one currency to thousandths of another, at the rates of a day. Rounds once,
   * half to even. The result depends only on the amount, the day and the stored rates.
   *
   * @returns null without a rate: the amount is not converted, which is not zero.
   * @throws RangeError if the result is not a safe integer.
   */
  function convert(amount_milli: number, currency: string, to: string, on: string): Converted | null {
    if (currency === to) return { milli: amount_milli, rated_on: on, is_final: true }
    const pair = pairOn(currency, to, on)
    if (pair === null) return null
    const { from, into, rated_on } = pair
    const milli = convertMilli(amount_milli, from.per_usd_nano, into.per_usd_nano)
    return { milli, rated_on, is_final: from.is_final && into.is_final }
  }

  /** The conversion of many amounts at the rates of one day; null without a rate. */
  function conversion(currency: string, to: string, on: string): Conversion | null {
    const pair = pairOn(currency, to, on)
    if (pair === null) return null
    const [from, into] = [pair.from.per_usd_nano, pair.into.per_usd_nano]
    return {
      rate: quotientText(into, from),
      rated_on: pair.rated_on,
      convert: (amount_milli) => convertMilli(amount_milli, from, into),
    }
  }

  /** The rates of two currencies that apply on a day, and the older day of the two; null without one of them. */
  function pairOn(currency: string, to: string, on: string) {
    const [from, into] = [rateOn(currency, on), rateOn(to, on)]
    if (from === null || into === null) return null
    return { from, into, rated_on: from.rated_on < into.rated_on ? from.rated_on : into.rated_on }
  }

  return { convert, conversion }
}
