/** The oracle’s calendar: finds days in steps of a quarter of an hour, because every zone changes on one. */

const QUARTER = 15 * 60_000
const UTC_DAY = 86_400_000

export type Days = ReturnType<typeof openDays>

/** All days from one to another, both included, 'YYYY-MM-DD'. */
export type Span = { from_on: string; until_on: string }

export const nextDay = (on: string): string =>
  new Date(Date.parse(`${on}T00:00:00Z`) + UTC_DAY).toISOString().slice(0, 10)

export function daysOf({ from_on, until_on }: Span): string[] {
  const days: string[] = []
  for (let on = from_on; on <= until_on; on = nextDay(on)) days.push(on)
  return days
}

/** The Monday of a day’s week. */
export function mondayOf(on: string): string {
  const at = Date.parse(`${on}T00:00:00Z`)
  const daysSinceMonday = (new Date(at).getUTCDay() + 6) % 7
  return new Date(at - daysSinceMonday * UTC_DAY).toISOString().slice(0, 10)
}

/** The calendar of an IANA time zone. */
export function openDays(time_zone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: time_zone, dateStyle: 'short' })
  const names = new Map<number, string>()
  const starts = new Map<string, number>()

  /** The day of an instant, 'YYYY-MM-DD'. */
  function dayOf(at: number): string {
    const quarter = Math.floor(at / QUARTER)
    const name = names.get(quarter) ?? format.format(quarter * QUARTER)
    names.set(quarter, name)
    return name
  }

  /** The first instant of a day. */
  function startOf(on: string): number {
    const known = starts.get(on)
    if (known !== undefined) return known
    let at = Date.parse(`${on}T00:00:00Z`) - UTC_DAY
    while (dayOf(at) < on) at += QUARTER
    starts.set(on, at)
    return at
  }

  /** The first instant of the day after it. */
  const endOf = (on: string): number => startOf(nextDay(on))

  return { dayOf, startOf, endOf }
}
