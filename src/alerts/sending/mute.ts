/** The end of a mute: after a duration, or tomorrow morning. */
import { Refusal } from '../../errors.ts'
import type { Calendar } from '../../metrics/lineage/calendar.ts'

/** 08:00, when the default quiet hours end. */
const MORNING_MINUTES = 480
const HOUR_MS = 3_600_000
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS }
const LONGEST_MS = 30 * 24 * HOUR_MS

/** 08:00 of the next day in the time zone of a calendar, in milliseconds since the epoch. */
export const tomorrowAt = (calendar: Calendar, now: number): number =>
  calendar.instantOf(calendar.dayOf(now) + 1, MORNING_MINUTES)

/**
 * When a mute ends that a person asked for in words: a duration such as `90m`, `1h` or `2d`, or `tomorrow`. Null for
 * `off`.
 *
 * @throws Refusal 400 `invalid_request` for other words, and for more than 30 days
 */
export function muteEnd(words: string, calendar: Calendar, now: number): number | null {
  if (words === 'off') return null
  if (words === 'tomorrow') return tomorrowAt(calendar, now)
  const [, count, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(words) ?? []
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN)
  if (ms <= LONGEST_MS) return now + ms
  const detail = `“${words.slice(0, 40)}” must be a duration of at most 30 days such as 90m, 1h or 2d, or tomorrow, or off`
  throw new Refusal(400, 'invalid_request', detail)
}
