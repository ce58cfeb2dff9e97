import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays, daysBetween } from '../../src/days.ts'
import {
  comparisonOf,
  hasFinished,
  isFiscalRange,
  RANGE_GROUPS,
  RANGE_TITLES,
  RANGES,
  rangeDays,
} from '../../src/web/ui/ranges.ts'
import { seed } from '../random.ts'

const of = (range: Exclude<(typeof RANGES)[number], 'custom'>, today: string) => {
  const { from, to } = rangeDays(range, today, null)
  return `${from} ${to}`
}

test.each([
  ['today', '2026-11-23', '2026-11-23 2026-11-23'],
  ['yesterday', '2026-03-01', '2026-02-28 2026-02-28'],
  ['7d', '2026-11-23', '2026-11-17 2026-11-23'],
  ['28d', '2026-11-23', '2026-10-27 2026-11-23'],
  ['90d', '2026-11-23', '2026-08-26 2026-11-23'],
  ['12m', '2026-11-23', '2025-11-24 2026-11-23'],
  // 2026-11-23 is a Monday.
  ['week', '2026-11-23', '2026-11-23 2026-11-23'],
  ['week', '2026-11-29', '2026-11-23 2026-11-29'],
  ['last_week', '2026-11-23', '2026-11-16 2026-11-22'],
  ['last_week', '2026-11-29', '2026-11-16 2026-11-22'],
  ['month', '2026-11-23', '2026-11-01 2026-11-23'],
  ['last_month', '2026-03-31', '2026-02-01 2026-02-28'],
  ['last_month', '2026-01-01', '2025-12-01 2025-12-31'],
  ['quarter', '2026-11-23', '2026-10-01 2026-11-23'],
  ['last_quarter', '2026-02-28', '2025-10-01 2025-12-31'],
  ['year', '2026-11-23', '2026-01-01 2026-11-23'],
  ['last_year', '2026-01-01', '2025-01-01 2025-12-31'],
  // Apple's fiscal November 2026 (2027-02) began on November 1, after a December-like month of five weeks.
  ['fiscal_month', '2026-11-23', '2026-11-01 2026-11-23'],
  ['last_fiscal_month', '2026-11-23', '2026-09-27 2026-10-31'],
] as const)('%s on %s is %s', (range, today, days) => {
  expect(of(range, today)).toBe(days)
})

test('all time begins with the first day with data', () => {
  expect(rangeDays('all', '2026-11-23', '2024-02-29')).toEqual({ from: '2024-02-29', to: '2026-11-23' })
})

test('every range of any day is in order, ends by today, and the last one ends where the current one begins', () => {
  const day = fc.integer({ min: 0, max: 1_400 }).map((days) => addDays('2024-10-01', days))
  const pairs = ['week', 'month', 'quarter', 'year', 'fiscal_month'] as const
  fc.assert(
    fc.property(day, (today) => {
      for (const range of RANGE_GROUPS.flat()) {
        const { from, to } = rangeDays(range, today, null)
        expect([range, from <= to, to <= today]).toEqual([range, true, true])
      }
      for (const range of pairs) {
        const now = rangeDays(range, today, null)
        const before = rangeDays(`last_${range}`, today, null)
        expect([range, now.to, daysBetween(before.to, now.from)]).toEqual([range, today, 1])
      }
    }),
    { seed },
  )
})

test('every range but the custom one is in the menu once, with a title of its own', () => {
  expect(RANGE_GROUPS.flat().toSorted()).toEqual(RANGES.filter((range) => range !== 'custom').toSorted())
  expect(new Set(Object.values(RANGE_TITLES)).size).toBe(RANGES.length)
  expect(RANGES.filter(isFiscalRange)).toEqual(['fiscal_month', 'last_fiscal_month'])
})

test('calendar ranges are compared with the one before, others with as many days before', () => {
  expect(comparisonOf('previous', 'month')).toBe('month')
  expect(comparisonOf('previous', '12m')).toBe('year')
  for (const range of ['today', '7d', '28d', '90d', 'custom'] as const)
    expect([range, comparisonOf('previous', range)]).toEqual([range, 'days'])
  expect(comparisonOf('year', '28d')).toBe('year')
})

test('four rolling weeks have a week that is whole and over, a last month has its month', () => {
  const has = (
    range: '7d' | '28d' | 'week' | 'last_week' | 'last_month',
    today: string,
    unit: 'week' | 'month',
  ) => hasFinished(rangeDays(range, today, null), today, unit)
  for (const today of ['2026-11-22', '2026-11-23', '2026-11-27', '2026-11-30', '2026-12-01'])
    expect([today, has('28d', today, 'month'), has('28d', today, 'week')]).toEqual([today, false, true])
  expect(has('last_month', '2026-11-27', 'month')).toBe(true)
  expect(has('last_week', '2026-11-27', 'week')).toBe(true)
  // A Sunday: its week is whole, and not over.
  expect(has('week', '2026-11-29', 'week')).toBe(false)
  expect(has('7d', '2026-11-29', 'week')).toBe(false)
})
