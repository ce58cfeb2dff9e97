import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayAfter, pacificDay, pacificInstant } from '../../../src/demo/world/pacific.ts'
import { runs } from '../../random.ts'

const calendar = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Los_Angeles' })
const instants = fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2040, 0, 1) })

test('the day in California is the one that the time zone database says', () => {
  fc.assert(
    fc.property(instants, (at) => {
      expect(pacificDay(at)).toBe(calendar.format(at))
    }),
    runs(2000, 50_000),
  )
})

test('a day begins at the instant that is its first', () => {
  fc.assert(
    fc.property(instants, (at) => {
      const begins = pacificInstant(pacificDay(at))
      expect([calendar.format(begins), calendar.format(begins - 1)]).toEqual([
        pacificDay(at),
        dayAfter(pacificDay(at), -1),
      ])
    }),
    runs(500, 20_000),
  )
})

test('the days on which the clocks are changed have 23 and 25 hours', () => {
  const hours = (day: string) => (pacificInstant(dayAfter(day)) - pacificInstant(day)) / 3_600_000
  expect([hours('2026-03-08'), hours('2026-11-01'), hours('2026-07-01')]).toEqual([23, 25, 24])
  // Eight in the morning, in daylight saving time on the first day and in standard time on the second.
  expect(new Date(pacificInstant('2026-03-08', 8)).toISOString()).toBe('2026-03-08T15:00:00.000Z')
  expect(new Date(pacificInstant('2026-11-01', 8)).toISOString()).toBe('2026-11-01T16:00:00.000Z')
})
