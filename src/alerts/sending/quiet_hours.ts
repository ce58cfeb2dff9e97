/** Quiet hours: the wall time of each day in which nothing is sent. */
import type { Calendar } from '../../metrics/lineage/calendar.ts'

/** Wall times as minutes after midnight. If `until` is not after `from`, the hours end on the next day. */
export type QuietHours = Readonly<{ from: number; until: number }>

const MINUTES_OF_DAY = 1_440

/**
 * The instant at which the quiet hours that contain `at` end; null if `at` is outside them. Equal times are no quiet hours.
 * A wall time that the clocks skip is the next valid instant, and of a doubled one the first counts.
 */
export function quietUntil({ from, until }: QuietHours, calendar: Calendar, at: number): number | null {
  if (from === until) return null
  const today = calendar.dayOf(at)
  for (const day of [today - 1, today]) {
    const begin = calendar.instantOf(day, from)
    const end = calendar.instantOf(until > from ? day : day + 1, until)
    if (begin <= at && at < end) return end
  }
  return null
}

/** The most quiet hours in a row that are waited for, in milliseconds. */
const LONGEST_MS = 48 * 3_600_000

/**
 * The first instant after `at` that is outside of all these quiet hours; null if `at` is, and if they leave no time of the
 * day: no message waits without end.
 */
export function allQuietUntil(all: readonly QuietHours[], calendar: Calendar, at: number): number | null {
  let end = at
  while (end - at <= LONGEST_MS) {
    const ends = all.flatMap((hours) => quietUntil(hours, calendar, end) ?? [])
    if (ends.length === 0) return end === at ? null : end
    end = Math.max(...ends)
  }
  return null
}

/** Parses a wall time such as `22:30` to minutes after midnight; null if it is not one. */
export function minutesOf(text: string): number | null {
  const [, hours = '', minutes = ''] = /^(\d{2}):(\d{2})$/.exec(text) ?? []
  const all = Number(hours) * 60 + Number(minutes)
  return hours === '' || Number(minutes) > 59 || all >= MINUTES_OF_DAY ? null : all
}

/** The quiet hours of a setting, whose wall times are valid. */
export const quietHoursOf = ({ from, until }: { from: string; until: string }): QuietHours => ({
  from: minutesOf(from) ?? 0,
  until: minutesOf(until) ?? 0,
})
