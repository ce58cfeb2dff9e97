/** The calendar of a time zone, with days, weeks and months as consecutive integers. */

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** 1970 began on a Thursday; weeks begin on Monday (ISO 8601). */
const DAYS_BEFORE_MONDAY = 3
const MAX_CACHED_DAYS = 20_000

const FIELDS = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const

/** Days since 1970-01-01 in the zone. */
export type DayNumber = number

export type Calendar = ReturnType<typeof openCalendar>

/**
 * The calendar of an IANA time zone. Its functions throw a RangeError for a zone that this system does not know. The
 * format is made when it is first used: the first format of a process takes 10 ms.
 */
export function openCalendar(zone: string) {
  let formatter: Intl.DateTimeFormat | null = null
  /** The zone’s offset in milliseconds for each UTC day, or null if the offset changes within the day. */
  const offsets = new Map<number, number | null>()

  function offsetAt(at: number): number {
    formatter ??= new Intl.DateTimeFormat('en-US', { ...FIELDS, timeZone: zone })
    const fields = Object.fromEntries(
      formatter.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
  }

  function offsetOn(utcDay: number): number | null {
    const cached = offsets.get(utcDay)
    if (cached !== undefined) return cached
    const [first, last] = [offsetAt(utcDay * DAY_MS), offsetAt((utcDay + 1) * DAY_MS - 1)]
    const offset = first === last ? first : null
    if (offsets.size >= MAX_CACHED_DAYS) offsets.clear()
    offsets.set(utcDay, offset)
    return offset
  }

  /** The day of an instant in milliseconds since the epoch. */
  function dayOf(at: number): DayNumber {
    const offset = offsetOn(Math.floor(at / DAY_MS)) ?? offsetAt(at)
    return Math.floor((at + offset) / DAY_MS)
  }

  /** The instant at which a day begins: midnight, or the first instant after it where the clocks skip midnight. */
  function startOf(day: DayNumber): number {
    let [low, high] = [(day - 1) * DAY_MS, (day + 2) * DAY_MS]
    while (low + 1 < high) {
      const middle = Math.floor((low + high) / 2)
      if (dayOf(middle) < day) low = middle
      else high = middle
    }
    return high
  }

  /**
   * The first instant of a day whose wall time is at least `minutes` after midnight. A time that the clocks skip is the
   * first instant after the gap; of a time that occurs twice it is the first.
   */
  function instantOf(day: DayNumber, minutes: number): number {
    const wall = day * DAY_MS + minutes * MINUTE_MS
    const [start, end] = [startOf(day), startOf(day + 1)]
    const instants = [offsetAt(start), offsetAt(end - 1)].map((offset) => wall - offset)
    const found = instants.filter((at) => at + offsetAt(at) === wall && at >= start)
    return found.length > 0 ? Math.min(...found) : changeIn(offsetAt, start, end)
  }

  return { zone, dayOf, startOf, instantOf }
}

/** The instant at which the offset changes between two instants. */
function changeIn(offsetAt: (at: number) => number, from: number, until: number): number {
  let [low, high] = [from, until]
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === offsetAt(from)) low = middle
    else high = middle
  }
  return high
}

export const weekOf = (day: DayNumber): number => Math.floor((day + DAYS_BEFORE_MONDAY) / 7)

/** Months since January 1970. */
export function monthOf(day: DayNumber): number {
  const date = new Date(day * DAY_MS)
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
}

const textByDay = new Map<DayNumber, string>()

/** Formats a day as 'YYYY-MM-DD'. Cached, because a chart formats thousands of days, and the next chart the same days. */
export function dayText(day: DayNumber): string {
  const cached = textByDay.get(day)
  if (cached !== undefined) return cached
  const text = new Date(day * DAY_MS).toISOString().slice(0, 10)
  if (textByDay.size >= MAX_CACHED_DAYS) textByDay.clear()
  textByDay.set(day, text)
  return text
}

export const dayNumber = (text: string): DayNumber => Date.parse(`${text}T00:00:00Z`) / DAY_MS
