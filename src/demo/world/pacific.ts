/** Pacific days, which App Store Connect uses: midnight to midnight in California, with daylight saving time. */
import { DAY_MS, HOUR_MS } from './periods.ts'

/** The first Sunday on or after a day of a month (1 is January), at midnight UTC. */
function sundayFrom(year: number, month: number, day: number): number {
  const at = Date.UTC(year, month - 1, day)
  return at + ((7 - new Date(at).getUTCDay()) % 7) * DAY_MS
}

type Summer = { from: number; until: number }
const summerByYear = new Map<number, Summer>()

/**
 * Daylight saving time of a year: from the second Sunday of March to the first Sunday of November, at two o'clock
 * (Energy Policy Act of 2005, §110).
 */
function summerOf(year: number): Summer {
  const known = summerByYear.get(year)
  if (known !== undefined) return known
  const summer = { from: sundayFrom(year, 3, 8) + 10 * HOUR_MS, until: sundayFrom(year, 11, 1) + 9 * HOUR_MS }
  summerByYear.set(year, summer)
  return summer
}

function offsetAt(at: number): number {
  const { from, until } = summerOf(new Date(at - 8 * HOUR_MS).getUTCFullYear())
  return (at >= from && at < until ? -7 : -8) * HOUR_MS
}

const textByDay = new Map<number, string>()

function dayText(epochDay: number): string {
  const known = textByDay.get(epochDay)
  if (known !== undefined) return known
  const text = new Date(epochDay * DAY_MS).toISOString().slice(0, 10)
  textByDay.set(epochDay, text)
  return text
}

/** The Pacific day ('YYYY-MM-DD') of an instant (milliseconds since the epoch). */
export function pacificDay(at: number): string {
  return dayText(Math.floor((at + offsetAt(at)) / DAY_MS))
}

/** The instant at which an hour of a Pacific day begins. `hour` is 0 or 3 to 23: clocks change between 1 and 3. */
export function pacificInstant(day: string, hour = 0): number {
  const local = Date.parse(`${day}T00:00:00Z`) + hour * HOUR_MS
  const summer = local + 7 * HOUR_MS
  return offsetAt(summer) === -7 * HOUR_MS ? summer : local + 8 * HOUR_MS
}

/** The day that is `days` days later; earlier if `days` is negative. */
export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}
