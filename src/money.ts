/** What we compute: money as whole thousandths of a currency, never a fraction and never more than is exact. */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * Thousandths of an amount written in decimals (`-85.43` is -85430); null for a blank.
 *
 * @throws RangeError when it is no decimal number, has more than three decimals that say something, or is beyond what
 * a number holds exactly (2^53 thousandths).
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

/** `count` times an amount, in thousandths. @throws RangeError where it could not be exact. */
export const multiplyMilli = (count: number, amount: number): number => assertSafeMilli(count * amount)

function assertSafeMilli(milli: number): number {
  if (!Number.isSafeInteger(milli)) throw new RangeError('is too great to be exact')
  // -0 is no amount.
  return milli === 0 ? 0 : milli
}

/** `a ÷ b` for whole numbers, `b` above zero, rounded half to even. */
export function divideHalfEven(a: bigint, b: bigint): bigint {
  const quotient = a / b
  const twice = 2n * (a - quotient * b)
  const size = twice < 0n ? -twice : twice
  const isUp = size > b || (size === b && quotient % 2n !== 0n)
  if (!isUp) return quotient
  return a < 0n ? quotient - 1n : quotient + 1n
}

/** Money as customers paid it, or as the developer gets it. */
export type Basis = 'gross' | 'proceeds'
