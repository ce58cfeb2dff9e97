/** Quiet hours against a search minute by minute, in random zones, at random times and around clock changes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minutesOf, type QuietHours, quietUntil } from '../../src/alerts/sending/quiet_hours.ts'
import { openCalendar } from '../../src/metrics/lineage/calendar.ts'
import { runs } from '../random.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const night = { from: minutesOf('22:00') ?? 0, until: minutesOf('08:00') ?? 0 }
const at = (text: string): number => Date.parse(text)

test('quiet hours cross midnight', () => {
  const berlin = openCalendar('Europe/Berlin')
  expect(quietUntil(night, berlin, at('2026-01-10T20:59:59Z'))).toBeNull()
  expect(quietUntil(night, berlin, at('2026-01-10T21:00:00Z'))).toBe(at('2026-01-11T07:00:00Z'))
  expect(quietUntil(night, berlin, at('2026-01-11T06:59:59Z'))).toBe(at('2026-01-11T07:00:00Z'))
  expect(quietUntil(night, berlin, at('2026-01-11T07:00:00Z'))).toBeNull()
})

test('a wall time that the clocks skip is the next valid instant', () => {
  const berlin = openCalendar('Europe/Berlin')
  const hours = { from: 60, until: 150 }
  // At 02:00 the clocks go forward to 03:00, so 02:30 does not exist.
  expect(quietUntil(hours, berlin, at('2026-03-29T00:30:00Z'))).toBe(at('2026-03-29T01:00:00Z'))
  expect(quietUntil(hours, berlin, at('2026-03-29T01:00:00Z'))).toBeNull()
})

test('of a doubled hour only the first counts', () => {
  const berlin = openCalendar('Europe/Berlin')
  const hours = { from: 60, until: 150 }
  // At 03:00 the clocks go back to 02:00: 02:30 is at 00:30 and at 01:30 UTC.
  expect(quietUntil(hours, berlin, at('2026-10-25T00:29:00Z'))).toBe(at('2026-10-25T00:30:00Z'))
  expect(quietUntil(hours, berlin, at('2026-10-25T01:10:00Z'))).toBeNull()
})

test('equal times are no quiet hours, and wall times are parsed', () => {
  expect(quietUntil({ from: 60, until: 60 }, openCalendar('UTC'), 0)).toBeNull()
  expect(['00:00', '23:59', '24:00', '7:00', '08:60', ''].map(minutesOf)).toEqual([
    0,
    1439,
    null,
    null,
    null,
    null,
  ])
})

/** A second implementation: the wall time of each minute, as the operating system formats it. */
function isQuiet(hours: QuietHours, zone: string, instant: number): boolean {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const minutes = minutesOf(format.format(instant)) ?? 0
  const { from, until } = hours
  return from < until ? minutes >= from && minutes < until : minutes >= from || minutes < until
}

test('equals the wall time of every instant away from clock changes, in random zones', () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const minutes = fc.integer({ min: 0, max: 1_439 })
  const instants = fc.integer({
    min: at('2024-01-01T00:00:00Z') / MINUTE,
    max: at('2027-01-01T00:00:00Z') / MINUTE,
  })
  const property = fc.property(zone, minutes, minutes, instants, (name, from, until, minute) => {
    const [calendar, hours, instant] = [openCalendar(name), { from, until }, minute * MINUTE]
    const end = quietUntil(hours, calendar, instant)
    if (from !== until && !changesNear(name, instant))
      expect(end !== null).toBe(isQuiet(hours, name, instant))
    if (end === null) return
    expect(end).toBeGreaterThan(instant)
    expect(end - instant).toBeLessThanOrEqual(26 * HOUR)
    expect(quietUntil(hours, calendar, end)).toBeNull()
  })
  fc.assert(property, runs(150, 1_000))
})

/** Whether the offset of the zone changes within two days of an instant. */
function changesNear(zone: string, instant: number): boolean {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    timeZoneName: 'longOffset',
    hour: 'numeric',
  })
  const offset = (shift: number) =>
    format.formatToParts(instant + shift * HOUR).find(({ type }) => type === 'timeZoneName')?.value
  return new Set([-48, -24, 0, 24, 48].map(offset)).size > 1
}
