/** What we compute: the day on which a subscription is due to be renewed for the k-th time. */
import type { DayNumber } from '../lineage/calendar.ts'

const DAY_MS = 86_400_000

/**
 * `k` periods (ISO 8601, of one unit) after a day; months are those of the calendar, and the 31st is the last day of a
 * shorter one. A period that nobody knows counts as a month.
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
