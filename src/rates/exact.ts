/** What we compute: rates and amounts, in whole numbers alone. */
import { divideHalfEven } from '../money.ts'

/** Rates are kept in billionths: how many billionths of a currency one US dollar costs. */
export const ONE = 1_000_000_000n

/** A decimal number written out, exactly: `digits` × 10^-`scale`. */
type Decimal = { digits: bigint; scale: number }

/** Room for every rate there is, and far from what takes long to compute with. */
const MAX_DIGITS = 40

/** The number that a text writes (`0.8612`, `1.5e-3`), or null where it writes none, or none above zero. */
function decimalOf(text: string): Decimal | null {
  const [, whole = '', part = '', exponent = '0'] =
    /^(\d{1,20})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text) ?? []
  if (whole === '') return null
  const digits = BigInt(whole + part)
  const scale = part.length - Number(exponent)
  if (digits === 0n || Math.abs(scale) > MAX_DIGITS) return null
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

/** A rate in billionths that fits a column and a number; null where it rounds to nothing or is too large for that. */
function nanoWithin(nano: bigint): number | null {
  return nano > 0n && nano <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(nano) : null
}

/** A rate as its source writes it, in billionths; null where that is no number above zero, or beyond nine millions. */
export function nanoOf(text: string): number | null {
  return quotientNano(text, '1')
}

/**
 * One rate divided by another, both as their source writes them, in billionths. How a rate against another currency
 * becomes one against the dollar: what a euro costs in yen ÷ what a euro costs in dollars.
 */
export function quotientNano(dividend: string, divisor: string): number | null {
  const [above, below] = [decimalOf(dividend), decimalOf(divisor)]
  if (above === null || below === null) return null
  const scaled = above.digits * ONE * 10n ** BigInt(below.scale)
  return nanoWithin(divideHalfEven(scaled, below.digits * 10n ** BigInt(above.scale)))
}

/** The product of a rate as written and one in billionths, in billionths. */
export function productNano(text: string, nano: number): number | null {
  const factor = decimalOf(text)
  if (factor === null) return null
  return nanoWithin(divideHalfEven(factor.digits * BigInt(nano), 10n ** BigInt(factor.scale)))
}

/**
 * An amount of one currency in another, both rates in billionths for one dollar, rounded once, half to even.
 *
 * @throws RangeError where an amount is no whole number, or the result is more than a number holds exactly.
 */
export function convertMilli(amount_milli: number, from_nano: number, to_nano: number): number {
  if (!Number.isSafeInteger(amount_milli)) throw new RangeError(`${amount_milli} is no exact amount`)
  const converted = Number(divideHalfEven(BigInt(amount_milli) * BigInt(to_nano), BigInt(from_nano)))
  if (!Number.isSafeInteger(converted)) throw new RangeError(`${amount_milli} cannot be converted exactly`)
  return converted
}

/** A rate in billionths as people write it: `0.861234`. */
export function rateText(nano: number): string {
  const text = String(nano).padStart(10, '0')
  return `${text.slice(0, -9)}.${text.slice(-9)}`.replace(/\.?0+$/, '')
}

/** JSON in which every number stays the text that it was written as, because reading it would make it a float. */
export function parseExactly(text: string): unknown {
  const keepSource = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value
  return JSON.parse(text, keepSource)
}
