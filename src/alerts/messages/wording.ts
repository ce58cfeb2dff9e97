/** Formats amounts, countries and counts for messages. */
import { alpha2Of } from '../../metrics/reports/countries.ts'
import type { Words } from './content.ts'

const regions = new Intl.DisplayNames('en', { type: 'region' })
const FLAG_OFFSET = 0x1f1e6 - 'A'.charCodeAt(0)

/** An amount with its currency, such as `$4.99`. `milli` is in thousandths. */
export function amountText(milli: number, currency: string): string {
  try {
    return new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(milli / 1000)
  } catch {
    // Apple can sell in a currency that this system does not know.
    return `${milli / 1000} ${currency}`
  }
}

/** The flag of a storefront; an empty text if its country is unknown. */
export function flagOf(storefront: string): string {
  const code = alpha2Of(storefront)
  if (code === null) return ''
  return String.fromCodePoint(...[...code].map((letter) => letter.charCodeAt(0) + FLAG_OFFSET))
}

/** The name of the country of a storefront. */
export function countryText(storefront: string): string {
  const code = alpha2Of(storefront)
  return code === null ? storefront : (regions.of(code) ?? storefront)
}

/** A count with its unit, such as `1 sale` or `2 sales`. */
export const countText = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`

/** The parts that are not empty, separated by dots. */
export const joined = (...parts: readonly (string | null | undefined | false)[]): string =>
  parts.filter((part) => typeof part === 'string' && part !== '').join(' · ')

/** The date of an instant, with the year if it is not that of `now`. Both are in ms since the epoch. */
export function dateText(at: number, now: number, timeZone: string): string {
  const yearOf = (instant: number): string =>
    new Date(instant).toLocaleDateString('en-US', { timeZone, year: 'numeric' })
  return new Date(at).toLocaleDateString('en-US', {
    timeZone,
    month: 'short',
    day: 'numeric',
    ...(yearOf(at) !== yearOf(now) && { year: 'numeric' }),
  })
}

/** Words without fields. */
export const plain = (title: string, body: string): Words => ({ title, body, fields: [] })
