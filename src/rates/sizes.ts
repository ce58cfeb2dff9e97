/** Rough ranges of exchange rates, to detect impossible ones. */

/**
 * The approximate lowest and highest price of one dollar since the App Store opened, for Apple's currencies.
 */
const PLAUSIBLE_RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  AED: [3.67, 3.67],
  AUD: [0.9, 1.8],
  BGN: [1.2, 2.1],
  BRL: [1.5, 6.3],
  CAD: [0.9, 1.5],
  CHF: [0.7, 1.2],
  CLP: [450, 1_050],
  CNY: [6, 7.4],
  COP: [1_700, 5_100],
  CZK: [15, 26],
  DKK: [4.7, 7.8],
  EGP: [5.3, 52],
  EUR: [0.62, 1.05],
  GBP: [0.5, 0.95],
  HKD: [7.7, 7.9],
  HUF: [145, 450],
  IDR: [8_300, 17_500],
  ILS: [2.8, 4.3],
  INR: [39, 95],
  JPY: [75, 165],
  KRW: [950, 1_600],
  KZT: [117, 560],
  MXN: [9.8, 25],
  MYR: [2.9, 4.8],
  NGN: [115, 1_700],
  NOK: [5, 12],
  NZD: [1.1, 2.1],
  PEN: [2.5, 4.2],
  PHP: [40, 62],
  PKR: [67, 310],
  PLN: [2, 5.1],
  QAR: [3.64, 3.64],
  RON: [2.2, 5.2],
  RUB: [23, 135],
  SAR: [3.75, 3.75],
  SEK: [5.8, 11.4],
  SGD: [1.2, 1.6],
  THB: [28, 40],
  TRY: [1.1, 60],
  TWD: [27, 36],
  TZS: [1_100, 2_800],
  VND: [16_500, 27_500],
  ZAR: [6.6, 20],
}

/** How far outside its range a rate is plausible. Currencies lose value faster than they gain it. */
const LOWER_FACTOR = 4
const UPPER_FACTOR = 10
const NANO_PER_UNIT = 1_000_000_000

/** Whether a rate in billionths for one dollar is plausible. Always true for currencies that Apple does not use. */
export function isPlausible(currency: string, per_usd_nano: number): boolean {
  const [min, max] = PLAUSIBLE_RANGES[currency] ?? [0, Number.POSITIVE_INFINITY]
  return (
    per_usd_nano >= (min / LOWER_FACTOR) * NANO_PER_UNIT && per_usd_nano <= max * UPPER_FACTOR * NANO_PER_UNIT
  )
}

/** The expected price of a dollar as text: `about 75 to 165`. */
export function expectedText(currency: string): string {
  const [min, max] = PLAUSIBLE_RANGES[currency] ?? []
  return min === max ? `about ${min}` : `about ${min} to ${max}`
}

/** Whether the inverse of a rate (dollars for one unit of the currency) would be plausible. */
export const isLikelyInverted = (currency: string, per_usd_nano: number): boolean =>
  Math.abs(Math.log10(per_usd_nano / NANO_PER_UNIT)) > 0.5 &&
  isPlausible(currency, (NANO_PER_UNIT * NANO_PER_UNIT) / per_usd_nano)
