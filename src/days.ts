/** Calendar days as 'YYYY-MM-DD', and the instants of the Pacific days in Apple's reports. */

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/**
 * The days of Apple's sales reports are in Pacific time, with daylight saving time. The format is made when it is first
 * used: the first format of a process takes 10 ms.
 */
const pacificOffsetFormat = () => {
  offsetFormat ??= new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Los_Angeles',
    timeZoneName: 'longOffset',
  })
  return offsetFormat
}
let offsetFormat: Intl.DateTimeFormat | null = null

/** An instant as text in UTC, to the minute: `2026-01-31 09:44Z`. */
export const utcMinuteText = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}Z`

/** Whether a text is a calendar day in the form YYYY-MM-DD. */
export const isDay = (text: string): boolean => text === parseIsoDay(text)

/** Parses a day as Apple writes it, YYYY-MM-DD or MM/DD/YYYY, to 'YYYY-MM-DD'; null if it is not a calendar day. */
export function parseDay(text: string): string | null {
  const slashed = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(text)
  return parseIsoDay(slashed ? `${slashed[3]}-${slashed[1]}-${slashed[2]}` : text)
}

function parseIsoDay(text: string): string | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null
  const at = Date.parse(`${text}T00:00:00Z`)
  // Date.parse turns February 30 into March 2.
  return Number.isNaN(at) || dayOfUtc(at) !== text ? null : text
}

/** The day `count` days after `day`; a negative count is before it. */
export const addDays = (day: string, count: number): string => dayOfUtc(midnightUtc(day) + count * DAY_MS)

/** The number of days from `from` to `until`. */
export const daysBetween = (from: string, until: string): number =>
  (midnightUtc(until) - midnightUtc(from)) / DAY_MS

/** The Pacific day at an instant. */
export function pacificDayOf(at: number): string {
  // This day is correct in standard time. In daylight saving time it may be one day early.
  const day = dayOfUtc(at - 8 * HOUR_MS)
  const next = addDays(day, 1)
  return at < pacificMidnight(next) ? day : next
}

/** The instant at which a Pacific day begins. */
export function pacificMidnight(day: string): number {
  const utc = midnightUtc(day)
  // At 07:00 UTC it is never later than 02:00 Pacific time, when the clocks change.
  return utc - pacificOffset(utc + 7 * HOUR_MS)
}

/** The instants of a Pacific day: `from` inclusive, `until` exclusive. It has 23, 24 or 25 hours. */
export const pacificDay = (day: string): { from: number; until: number } => ({
  from: pacificMidnight(day),
  until: pacificMidnight(addDays(day, 1)),
})

function pacificOffset(at: number): number {
  const name =
    pacificOffsetFormat()
      .formatToParts(at)
      .find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)$/.exec(name) ?? []
  if (hours === undefined) throw new Error(`this machine has no data for Pacific time: ${name}`)
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * 60_000)
}

/** @throws RangeError if the text is not a calendar day. */
function midnightUtc(day: string): number {
  if (parseIsoDay(day) === null) throw new RangeError(`${JSON.stringify(day)} is not a day; write YYYY-MM-DD`)
  return Date.parse(`${day}T00:00:00Z`)
}

/** The UTC day of an instant. */
export const dayOfUtc = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The last instant of a JavaScript Date, in milliseconds since the epoch. */
export const MAX_TIMESTAMP_MS = 8_640_000_000_000_000
