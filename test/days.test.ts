import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addDays,
  daysBetween,
  isDay,
  pacificDay,
  pacificDayOf,
  pacificMidnight,
  parseDay,
} from '../src/days.ts'
import { runs } from './random.ts'

const HOUR = 3_600_000

test('a Pacific day begins at 08:00 UTC in winter and 07:00 UTC in summer', () => {
  expect(new Date(pacificMidnight('2026-01-15')).toISOString()).toBe('2026-01-15T08:00:00.000Z')
  expect(new Date(pacificMidnight('2026-07-15')).toISOString()).toBe('2026-07-15T07:00:00.000Z')
})

// Clocks go forward on the second Sunday of March, back on the first of November (15 U.S.C. § 260a).
test.each([
  ['2026-03-07', 24],
  ['2026-03-08', 23],
  ['2026-03-09', 24],
  ['2026-10-31', 24],
  ['2026-11-01', 25],
  ['2026-11-02', 24],
])('the Pacific day %s has %i hours', (day, hours) => {
  const { from, until } = pacificDay(day)
  expect((until - from) / HOUR).toBe(hours)
  expect([from, until - 1].map(pacificDayOf)).toEqual([day, day])
  expect(pacificDayOf(from - 1)).toBe(addDays(day, -1))
  expect(pacificDayOf(until)).toBe(addDays(day, 1))
})

test('every instant is in its Pacific day', () => {
  const years = fc.integer({ min: Date.UTC(2007, 10, 5), max: Date.UTC(2035, 0) })
  fc.assert(
    fc.property(years, (at) => {
      const { from, until } = pacificDay(pacificDayOf(at))
      expect(from <= at && at < until).toBe(true)
    }),
    runs(300, 20_000),
  )
})

test('counts days across months, years and leap days', () => {
  expect(addDays('2024-02-28', 1)).toBe('2024-02-29')
  expect(addDays('2025-02-28', 1)).toBe('2025-03-01')
  expect(addDays('2026-01-01', -1)).toBe('2025-12-31')
  expect(daysBetween('2024-01-01', '2025-01-01')).toBe(366)
  expect(daysBetween('2026-03-09', '2026-03-07')).toBe(-2)
})

test('parses both date formats of Apple', () => {
  expect(parseDay('10/05/2020')).toBe('2020-10-05')
  expect(parseDay('2020-10-05')).toBe('2020-10-05')
})

test.each([
  '',
  '2020-10-5',
  '5/10/2020',
  '13/01/2020',
  '2023-02-29',
  '2020-10-05T00:00',
  '20201005',
  ' 2020-10-05',
  'x',
])('%j is no day', (text) => {
  expect(parseDay(text)).toBeNull()
  expect(isDay(text)).toBe(false)
  expect(() => addDays(text, 1)).toThrow(RangeError)
})
