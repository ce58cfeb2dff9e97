/** Computes when a period ends: by the calendar in production, after minutes in the sandbox. */
import type { Environment } from '../../apple/payloads.ts'

/** The ISO 8601 durations that the App Store uses. */
export type Period = 'P3D' | 'P1W' | 'P2W' | 'P1M' | 'P2M' | 'P3M' | 'P6M' | 'P1Y'

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const DAYS: Partial<Record<Period, number>> = { P3D: 3, P1W: 7, P2W: 14 }
const MONTHS: Partial<Record<Period, number>> = { P1M: 1, P2M: 2, P3M: 3, P6M: 6, P1Y: 12 }
const SANDBOX_MINUTES: Record<Period, number> = {
  P3D: 2,
  P1W: 3,
  P2W: 3,
  P1M: 5,
  P2M: 10,
  P3M: 15,
  P6M: 30,
  P1Y: 60,
}

/** The same day of a later month; the last day of that month if the month is shorter. */
function addMonths(at: number, months: number): number {
  const date = new Date(at)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, last))
  return date.getTime()
}

/** The instant one `period` after `at`, both in milliseconds since the epoch. */
export function endOf(at: number, period: Period, environment: Environment): number {
  if (environment === 'sandbox') return at + SANDBOX_MINUTES[period] * MINUTE_MS
  const days = DAYS[period]
  return days === undefined ? addMonths(at, MONTHS[period] ?? 1) : at + days * DAY_MS
}

/** The approximate number of months in a period, for probabilities that grow with its length. */
export function monthsIn(period: Period): number {
  return MONTHS[period] ?? (DAYS[period] ?? 30) / 30.4375
}

/** Rounds an instant (ms) down to a whole second, because purchase dates are whole seconds. */
export function wholeSecond(at: number): number {
  return Math.floor(at / SECOND_MS) * SECOND_MS
}
