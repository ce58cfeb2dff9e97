/** Exact arithmetic on rates and amounts, in integers only. */
import { divideHalfEven } from '../money.ts'

/** Rates are stored in billionths: one US dollar costs this many billionths of a currency. */
export const NANO_PER_UNIT = 1_000_000_000n

/** An exact decimal number: `digits` × 10^-`scale`. */
type Decimal = { digits: bigint; scale: number }

/** More digits than any rate has, and few enough to compute with quickly. */
const MAX_DIGITS = 40

/** Parses a decimal number (`0.8612`, `1.5e-3`); null if the text is not a number above zero. */
function decimalOf(text: string): Decimal | null {
  const [, whole = '', decimals = '', exponent = '0'] =
    /^(\d{1,20})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text) ?? []
  if (whole === '') return null
  const digits = BigInt(whole + decimals)
  const scale = decimals.length - Number(exponent)
  if (digits === 0n || Math.abs(scale) > MAX_DIGITS) return null
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

/** A rate in billionths as a number; null if it rounds to zero or exceeds the safe integers. */
function nanoWithin(nano: bigint): number | null {
  return nano > 0n && nano <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(nano) : null
}

/** Parses a rate to billionths; null if it is not a number above zero, or is above nine million. */
export function nanoOf(text: string): number | null {
  return quotientNano(text, '1')
}

/**
 * The quotient of two rates, in billionths. It converts a rate against another currency to a rate against the dollar:
 * the price of a euro in yen ÷ the price of a euro in dollars. Null if a text is no rate or the result is out of range.
 */
export function quotientNano(dividend: string, divisor: string): number | null {
  const [numerator, denominator] = [decimalOf(dividend), decimalOf(divisor)]
  if (numerator === null || denominator === null) return null
  const scaled = numerator.digits * NANO_PER_UNIT * 10n ** BigInt(denominator.scale)
  return nanoWithin(divideHalfEven(scaled, denominator.digits * 10n ** BigInt(numerator.scale)))
}

/** The product of a rate as text and one in billionths, in billionths. */
export function productNano(text: string, nano: number): number | null {
  const factor = decimalOf(text)
  if (factor === null) return null
  return nanoWithin(divideHalfEven(factor.digits * BigInt(nano), 10n ** BigInt(factor.scale)))
}

/**
 * Converts an amount between currencies, with both rates in billionths for one dollar. Rounds once, half to even.
 *
 * @throws RangeError if the amount is not a safe integer, or the result is not.
 */
export function convertMilli(amount_milli: number, from_nano: number, to_nano: number): number {
  if (!Number.isSafeInteger(amount_milli)) throw new RangeError(`${amount_milli} is not an exact amount`)
  const converted = Number(divideHalfEven(BigInt(amount_milli) * BigInt(to_nano), BigInt(from_nano)))
  if (!Number.isSafeInteger(converted)) throw new RangeError(`${amount_milli} cannot be converted exactly`)
  return converted
}

/** A rate in billionths as a decimal number: `0.861234`. */
export function rateText(nano: number): string {
  const text = String(nano).padStart(10, '0')
  return `${text.slice(0, -9)}.${text.slice(-9)}`.replace(/\.?0+$/, '')
}

/** The quotient of two rates in billionths as a decimal number with at least six significant digits. */
export function quotientText(dividend: number, divisor: number): string {
  const scale = Math.max(9, 6 + String(divisor).length - String(dividend).length)
  const digits = divideHalfEven(BigInt(dividend) * 10n ** BigInt(scale), BigInt(divisor))
  const text = String(digits).padStart(scale + 1, '0')
  return `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '')
}

/** Parses JSON and returns every number as its source text, because a float would lose digits. */
export function parseExactly(text: string): unknown {
  const keepSource = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value
  return JSON.parse(text, keepSource)
}
