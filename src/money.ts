/** Money as whole thousandths (milli) of a currency unit, always exact. */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * Parses a decimal amount to thousandths (`-85.43` is -85430); null if the text is blank.
 *
 * @throws RangeError when the text is not a decimal number, has more than three significant decimals, or exceeds
 * 2^53 thousandths.
 */
export function parseMilli(text: string): number | null {
  const trimmed = text.trim()
  if (trimmed === '') return null
  const [, sign, whole, decimals = ''] = DECIMAL.exec(trimmed) ?? []
  if (whole === undefined) throw new RangeError('is not a decimal number')
  if (decimals.length > 3 && /[^0]/.test(decimals.slice(3)))
    throw new RangeError('has more than three decimals')
  const milli = Number(`${whole}${decimals.slice(0, 3).padEnd(3, '0')}`)
  if (!Number.isSafeInteger(milli)) throw new RangeError('is too great to be exact')
  return sign === '-' && milli !== 0 ? -milli : milli
}

/** `count` times an amount, in thousandths. @throws RangeError if the product is not a safe integer. */
export const multiplyMilli = (count: number, amount: number): number => assertSafeMilli(count * amount)

function assertSafeMilli(milli: number): number {
  if (!Number.isSafeInteger(milli)) throw new RangeError('is too great to be exact')
  // Returns 0 for -0.
  return milli === 0 ? 0 : milli
}

/** `a ÷ b` for whole numbers, `b` above zero, rounded half to even. */
export function divideHalfEven(a: bigint, b: bigint): bigint {
  const quotient = a / b
  const twiceRemainder = 2n * (a - quotient * b)
  const magnitude = twiceRemainder < 0n ? -twiceRemainder : twiceRemainder
  const isRoundedUp = magnitude > b || (magnitude === b && quotient % 2n !== 0n)
  if (!isRoundedUp) return quotient
  return a < 0n ? quotient - 1n : quotient + 1n
}

/** `gross` is what customers paid; `proceeds` is what the developer receives. */
export type Basis = 'gross' | 'proceeds'
