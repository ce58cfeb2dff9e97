/** Computes the day of a subscription’s k-th renewal. */
import type { DayNumber } from '../lineage/calendar.ts'

const DAY_MS = 86_400_000

/**
 * The day `k` periods (ISO 8601, one unit) after a day. Months are calendar months; the 31st becomes the last day of a
 * shorter month. An unknown period counts as a month.
 */
export function renewalDay(day: DayNumber, period: string, k: number): DayNumber {
  const [, count = '1', unit = 'M'] = /^P(\d+)([DWMY])$/.exec(period) ?? []
  const periods = k * Number(count)
  if (unit === 'D') return day + periods
  if (unit === 'W') return day + 7 * periods
  const date = new Date(day * DAY_MS)
  const month = date.getUTCMonth() + (unit === 'Y' ? 12 * periods : periods)
  const last = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0))
  return (
    Math.floor(last.getTime() / DAY_MS) - last.getUTCDate() + Math.min(date.getUTCDate(), last.getUTCDate())
  )
}
