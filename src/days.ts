/** What we compute: calendar days as 'YYYY-MM-DD', and the instants of those that Apple's reports are about. */

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** Apple's reports of worldwide agreements are of days in Pacific time, winter or summer. */
const PACIFIC_OFFSET_FORMAT = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  timeZoneName: 'longOffset',
})

/** An instant for people: UTC, to the minute, as in `2026-01-31 09:44Z`. */
export const utcMinuteText = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}Z`

/** Whether a text is a day of the calendar, written YYYY-MM-DD. */
export const isDay = (text: string): boolean => text === parseIsoDay(text)

/** A day as Apple writes it, YYYY-MM-DD or MM/DD/YYYY, as 'YYYY-MM-DD'; null when it is neither, or no day there is. */
export function parseDay(text: string): string | null {
  const slashed = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(text)
  return parseIsoDay(slashed ? `${slashed[3]}-${slashed[1]}-${slashed[2]}` : text)
}

function parseIsoDay(text: string): string | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null
  const at = Date.parse(`${text}T00:00:00Z`)
  // The 30th of February would be the 2nd of March.
  return Number.isNaN(at) || dayOfUtc(at) !== text ? null : text
}

/** The day `count` days after `day`, before it when negative. */
export const addDays = (day: string, count: number): string => dayOfUtc(midnightUtc(day) + count * DAY_MS)

/** How many days `until` is after `from`. */
export const daysBetween = (from: string, until: string): number =>
  (midnightUtc(until) - midnightUtc(from)) / DAY_MS

/** The Pacific day at an instant. */
export function pacificDayOf(at: number): string {
  // Right in winter; in summer it may be the day before.
  const day = dayOfUtc(at - 8 * HOUR_MS)
  const next = addDays(day, 1)
  return at < pacificMidnight(next) ? day : next
}

/** The instant a Pacific day begins. */
export function pacificMidnight(day: string): number {
  const utc = midnightUtc(day)
  // Seven in the morning of Greenwich is never after the two at night when Pacific clocks change.
  return utc - pacificOffset(utc + 7 * HOUR_MS)
}

/** The instants of a Pacific day: `from` inclusive, `until` exclusive. It has 23, 24 or 25 hours. */
export const pacificDay = (day: string): { from: number; until: number } => ({
  from: pacificMidnight(day),
  until: pacificMidnight(addDays(day, 1)),
})

function pacificOffset(at: number): number {
  const name =
    PACIFIC_OFFSET_FORMAT.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)$/.exec(name) ?? []
  if (hours === undefined) throw new Error(`this machine does not know Pacific time: ${name}`)
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * 60_000)
}

/** @throws RangeError for what is no day. */
function midnightUtc(day: string): number {
  if (parseIsoDay(day) === null) throw new RangeError(`${JSON.stringify(day)} is no day; write YYYY-MM-DD`)
  return Date.parse(`${day}T00:00:00Z`)
}

/** The day of an instant in UTC. */
export const dayOfUtc = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The last instant that a JavaScript date can show, in milliseconds. */
export const MAX_TIMESTAMP_MS = 8_640_000_000_000_000
