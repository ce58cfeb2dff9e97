import { expect, test } from 'vitest'
import { bucket, span, stepsBetween } from '../../../src/web/ui/words.ts'

test('formats several weeks from the first day to the last', () => {
  expect(span('2026-08-31', '2026-11-09', 'week')).toBe('Aug 31, 2026 – Nov 15, 2026')
  expect(span('2026-11-09', '2026-11-09', 'week')).toBe('Nov 9 – Nov 15, 2026')
  expect(span('2025-11-01', '2026-10-01', 'month')).toBe('November 2025 – October 2026')
  expect(span('2026-11-01', '2026-11-03', 'day')).toBe('Nov 1, 2026 – Nov 3, 2026')
})

test('formats a fiscal month with its name and days', () => {
  expect(bucket('2025-11-02', 'fiscal_month')).toBe('FY2026 P2 (Nov 2 – Nov 29, 2025)')
  // The third of the year with 53 weeks has five.
  expect(bucket('2027-11-28', 'fiscal_month')).toBe('FY2028 P3 (Nov 28 – Jan 1, 2028)')
  expect(span('2025-08-31', '2025-11-02', 'fiscal_month')).toBe(
    'FY2025 P12 – FY2026 P2 (Aug 31, 2025 – Nov 29, 2025)',
  )
  expect(stepsBetween('2025-08-31', '2025-11-30', 'fiscal_month')).toEqual([
    '2025-08-31',
    '2025-09-28',
    '2025-11-02',
    '2025-11-30',
  ])
})

test('lists every step between two days', () => {
  expect(stepsBetween('2025-12-01', '2026-03-01', 'month')).toEqual([
    '2025-12-01',
    '2026-01-01',
    '2026-02-01',
    '2026-03-01',
  ])
  expect(stepsBetween('2026-02-23', '2026-03-02', 'week')).toEqual(['2026-02-23', '2026-03-02'])
  expect(stepsBetween('2026-02-28', '2026-03-01', 'day')).toEqual(['2026-02-28', '2026-03-01'])
  expect(stepsBetween('2026-03-01', '2026-02-01', 'month')).toEqual([])
})
