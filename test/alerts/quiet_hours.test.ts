/** Quiet hours against the wall times that the operating system shows, in random zones around their clock changes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  allQuietUntil,
  minutesOf,
  type QuietHours,
  quietUntil,
} from '../../src/alerts/sending/quiet_hours.ts'
import { type Calendar, openCalendar } from '../../src/metrics/lineage/calendar.ts'
import { handClock } from '../helpers.ts'
import { isLong, runs, seed } from '../random.ts'
import { openAlertingApp, purchase } from './alerting.ts'
import { isQuietAt, nearClockChanges } from './wall_time.ts'

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

const quietOf = ({ from, until }: { from: string; until: string }): QuietHours => ({
  from: minutesOf(from) ?? 0,
  until: minutesOf(until) ?? 0,
})

const calendars = new Map<string, Calendar>()
function calendarOf(zone: string): Calendar {
  const calendar = calendars.get(zone) ?? openCalendar(zone)
  calendars.set(zone, calendar)
  return calendar
}

test('equals the wall time of every instant, in random zones around their clock changes', () => {
  const property = fc.property(nearClockChanges, ({ zone, hours, at: instant }) => {
    const [calendar, quiet] = [calendarOf(zone), quietOf(hours)]
    const end = quietUntil(quiet, calendar, instant)
    expect(end !== null).toBe(isQuietAt(hours, zone, instant))
    if (end === null) return
    expect(end).toBeGreaterThan(instant)
    expect(end - instant).toBeLessThanOrEqual(26 * HOUR)
    expect(quietUntil(quiet, calendar, end)).toBeNull()
  })
  fc.assert(property, runs(1_000, 20_000))
})

test('several quiet hours end where none of them is left, and never where they leave no time of the day', () => {
  const utc = openCalendar('UTC')
  const hours = (...texts: readonly [string, string][]) =>
    texts.map(([from, until]) => quietOf({ from, until }))
  const noon = at('2026-06-01T12:00:00Z')
  expect(allQuietUntil(hours(['13:00', '14:00']), utc, noon)).toBeNull()
  expect(allQuietUntil(hours(['11:00', '13:00'], ['12:30', '15:00']), utc, noon)).toBe(
    at('2026-06-01T15:00:00Z'),
  )
  expect(allQuietUntil(hours(['06:00', '18:00'], ['18:00', '06:00']), utc, noon)).toBeNull()
})

test(`nothing is sent in quiet hours and nothing is lost, in random zones around their clock changes (seed ${seed})`, async () => {
  const cases = fc.sample(nearClockChanges, { numRuns: isLong ? 100 : 2, seed })
  for (const { zone, hours, at: begin } of cases) {
    const env = { WINDFALL_ORGANIZATIONS: `[{ slug = "default", time_zone = "${zone}" }]` }
    const app = await openAlertingApp({ env, clock: handClock(begin) })
    await app.windfall.store.commit(() =>
      app.alerts.settings.change(app.organization.id, { quiet: hours.from === hours.until ? null : hours }),
    )
    await app.rule('sale')
    const inside: string[] = []
    for (let step = 1; step <= 80; step += 1) {
      const before = app.got().length
      if (step % 3 === 0 && step <= 60) await purchase({ app })
      await app.settle(((step * 7) % 31) * MINUTE)
      if (app.got().length > before && isQuietAt(hours, zone, app.clock()))
        inside.push(`${zone} ${hours.from}-${hours.until} ${new Date(app.clock()).toISOString()}`)
    }
    expect(inside).toEqual([])
    await app.settle(26 * HOUR)
    await app.settle(26 * HOUR)
    const states = app.windfall.store.prepare<[], { state: string }>('select state from alert_sends').all()
    expect([...new Set(states.map(({ state }) => state))].toSorted()).toEqual(
      expect.not.arrayContaining(['held', 'waiting', 'dropped', 'failed']),
    )
    const quoted = app.got().reduce((sum, { title }) => sum + Number(/📬 (\d+)/u.exec(title)?.[1] ?? 1), 0)
    expect(quoted).toBe(20)
    await app.windfall.close()
  }
}, 600_000)
