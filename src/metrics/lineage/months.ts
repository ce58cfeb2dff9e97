/** Converts the price of any period to a monthly value. */
import { divideHalfEven } from '../../money.ts'

/** How long a month is. calendar: 30.4375 days. revenuecat: 30 days or four weeks. */
export const FACTORS = ['calendar', 'revenuecat'] as const
export type Factors = (typeof FACTORS)[number]

/** An ISO 8601 duration of one unit: P1W, P3D, P6M, P1Y. */
type Duration = { count: number; unit: 'D' | 'W' | 'M' | 'Y' }

/** A month of 30.4375 days is 487 sixteenths of a day. */
const CALENDAR = { numerator: 487n, sixteenths: 16n }

function durationOf(period: string): Duration | null {
  const [, count, unit] = /^P([1-9]\d{0,3})([DWMY])$/.exec(period) ?? []
  if (count === undefined || unit === undefined) return null
  return { count: Number(count), unit: unit as Duration['unit'] }
}

/** The factor from a price per period to a price per month, as numerator and denominator. */
function fractionOf({ count, unit }: Duration, factors: Factors): readonly [bigint, bigint] {
  if (unit === 'Y') return [1n, BigInt(count) * 12n]
  if (unit === 'M') return [1n, BigInt(count)]
  if (factors === 'calendar') {
    const days = BigInt(unit === 'W' ? count * 7 : count)
    return [CALENDAR.numerator, CALENDAR.sixteenths * days]
  }
  return unit === 'W' ? [4n, BigInt(count)] : [30n, BigInt(count)]
}

/**
 * The monthly value in thousandths of a price per `period` (ISO 8601, one unit), rounded once, half to even. null for
 * an invalid period.
 */
export function monthlyMilli(price_milli: number, period: string, factors: Factors): number | null {
  const duration = durationOf(period)
  if (duration === null) return null
  const [numerator, denominator] = fractionOf(duration, factors)
  return Number(divideHalfEven(BigInt(price_milli) * numerator, denominator))
}
