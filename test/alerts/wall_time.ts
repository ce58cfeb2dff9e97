/** Quiet hours again, from the wall times that the operating system shows, and the instants at which clocks change. */
import fc from 'fast-check'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const FROM = Date.UTC(2024, 0, 1)
const UNTIL = Date.UTC(2027, 0, 1)

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  formats.set(timeZone, format)
  return format
}

/** A date and a wall time such as `2026-06-01 22:30` as if it were UTC. */
const asUtc = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`)

/** How far the wall time is ahead of UTC. */
const offsetAt = (format: Intl.DateTimeFormat, at: number): number => asUtc(format.format(at)) - at

/** The first instant, to the minute, at which the date and wall time of a zone are at least `target`. */
function firstAt(format: Intl.DateTimeFormat, target: string): number {
  const near = asUtc(target)
  const isReached = (at: number): boolean => format.format(at) >= target
  let at = near - Math.max(...[-1, 0, 1].map((shift) => offsetAt(format, near + shift * DAY)))
  while (!isReached(at)) at += 15 * MINUTE
  while (isReached(at - MINUTE)) at -= MINUTE
  return at
}

/** Whether an instant is in the quiet hours between two wall times such as `22:30`. */
export function isQuietAt(hours: { from: string; until: string }, zone: string, at: number): boolean {
  const { from, until } = hours
  if (from === until) return false
  const format = formatOf(zone)
  const dateOf = (shift: number): string =>
    new Date(Date.parse(`${format.format(at).slice(0, 10)}T00:00Z`) + shift * DAY).toISOString().slice(0, 10)
  return [-1, 0].some((shift) => {
    const begin = firstAt(format, `${dateOf(shift)} ${from}`)
    const end = firstAt(format, `${dateOf(until > from ? shift : shift + 1)} ${until}`)
    return begin <= at && at < end
  })
}

/** The instants at which the clocks of a zone change, to the minute. */
function clockChanges(zone: string): number[] {
  const format = formatOf(zone)
  const found: number[] = []
  let before = offsetAt(format, FROM)
  for (let from = FROM; from < UNTIL; from += 14 * DAY) {
    let [low, high] = [from, from + 14 * DAY]
    const after = offsetAt(format, high)
    while (before !== after && high - low > MINUTE) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE
      if (offsetAt(format, middle) === before) low = middle
      else high = middle
    }
    if (before !== after) found.push(high)
    before = after
  }
  return found
}

const changesByZone = new Map<string, number[]>()
const minutes = fc.integer({ min: 0, max: 1_439 })
const twoDigits = (number: number): string => String(number).padStart(2, '0')
const wall = (one: number): string => `${twoDigits(Math.floor(one / 60))}:${twoDigits(one % 60)}`

/** A zone, quiet hours, and an instant within a day and a half of a clock change if the zone has any. */
export const nearClockChanges = fc
  .record({
    zone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
    from: minutes.map(wall),
    until: minutes.map(wall),
    which: fc.nat(),
    shift: fc.integer({ min: -36 * 60, max: 36 * 60 }),
  })
  .map(({ zone, from, until, which, shift }) => {
    const changes = changesByZone.get(zone) ?? clockChanges(zone)
    changesByZone.set(zone, changes)
    const change = changes[which % Math.max(1, changes.length)] ?? FROM + (which % 1_000) * DAY
    return { zone, hours: { from, until }, at: change + shift * MINUTE }
  })
