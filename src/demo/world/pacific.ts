/** Pacific days as App Store Connect counts them: midnight to midnight, with daylight saving time. */
import { DAY, HOUR } from './periods.ts'

/** The first Sunday on or after a day of a month (1 is January), at midnight UTC. */
function sundayFrom(year: number, month: number, day: number): number {
  const at = Date.UTC(year, month - 1, day)
  return at + ((7 - new Date(at).getUTCDay()) % 7) * DAY
}

type Summer = { from: number; until: number }
const summers = new Map<number, Summer>()

/** From the second Sunday of March to the first of November, two in the morning (Energy Policy Act of 2005, §110). */
function summerOf(year: number): Summer {
  const known = summers.get(year)
  if (known !== undefined) return known
  const summer = { from: sundayFrom(year, 3, 8) + 10 * HOUR, until: sundayFrom(year, 11, 1) + 9 * HOUR }
  summers.set(year, summer)
  return summer
}

function offsetAt(at: number): number {
  const { from, until } = summerOf(new Date(at - 8 * HOUR).getUTCFullYear())
  return (at >= from && at < until ? -7 : -8) * HOUR
}

const texts = new Map<number, string>()

function textOf(number: number): string {
  const known = texts.get(number)
  if (known !== undefined) return known
  const text = new Date(number * DAY).toISOString().slice(0, 10)
  texts.set(number, text)
  return text
}

/** The day in California of an instant (milliseconds since the epoch), 'YYYY-MM-DD'. */
export function pacificDay(at: number): string {
  return textOf(Math.floor((at + offsetAt(at)) / DAY))
}

/** The instant at which that many whole hours (fewer than 24, none between one and three) of a day have begun. */
export function pacificInstant(day: string, hour = 0): number {
  const local = Date.parse(`${day}T00:00:00Z`) + hour * HOUR
  const summer = local + 7 * HOUR
  return offsetAt(summer) === -7 * HOUR ? summer : local + 8 * HOUR
}

/** The day so many days later, or earlier when negative. */
export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10)
}
