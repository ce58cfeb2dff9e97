import { expect, test } from 'vitest'
import { dayNumber, dayText } from '../../../src/metrics/lineage/calendar.ts'
import { fiscalMonthDays, fiscalMonthOf } from '../../../src/metrics/lineage/fiscal.ts'

/** The first days of the twelve months, and the last day of the year, as developers keep them by hand. */
const YEARS: Record<number, readonly [starts: string, last: string]> = {
  2024: [
    '2023-10-01 2023-11-05 2023-12-03 2023-12-31 2024-02-04 2024-03-03 2024-03-31 2024-05-05 2024-06-02 2024-06-30 2024-08-04 2024-09-01',
    '2024-09-28',
  ],
  2025: [
    '2024-09-29 2024-11-03 2024-12-01 2024-12-29 2025-02-02 2025-03-02 2025-03-30 2025-05-04 2025-06-01 2025-06-29 2025-08-03 2025-08-31',
    '2025-09-27',
  ],
  2026: [
    '2025-09-28 2025-11-02 2025-11-30 2025-12-28 2026-02-01 2026-03-01 2026-03-29 2026-05-03 2026-05-31 2026-06-28 2026-08-02 2026-08-30',
    '2026-09-26',
  ],
  2027: [
    '2026-09-27 2026-11-01 2026-11-29 2026-12-27 2027-01-31 2027-02-28 2027-03-28 2027-05-02 2027-05-30 2027-06-27 2027-08-01 2027-08-29',
    '2027-09-25',
  ],
  2028: [
    '2027-09-26 2027-10-31 2027-11-28 2028-01-02 2028-02-06 2028-03-05 2028-04-02 2028-05-07 2028-06-04 2028-07-02 2028-08-06 2028-09-03',
    '2028-09-30',
  ],
}

test.each(Object.keys(YEARS).map(Number))('fiscal year %i has the months that Apple pays by', (year) => {
  const [starts, last] = YEARS[year] ?? ['', '']
  const found = Array.from({ length: 12 }, (_, index) => fiscalMonthDays(12 * year + index))
  expect(found.map((days) => dayText(days?.from ?? 0)).join(' ')).toBe(starts)
  expect(dayText(found.at(-1)?.until ?? 0)).toBe(last)
})

test('the additional week of fiscal years 2017 and 2023 is in their first quarter', () => {
  for (const [year, end] of [
    [2017, '2016-12-31'],
    [2023, '2022-12-31'],
  ] as const) {
    expect(dayText(fiscalMonthDays(12 * year + 2)?.until ?? 0)).toBe(end)
  }
  // The second month of fiscal year 2023 ended before that.
  expect(dayText(fiscalMonthDays(12 * 2023 + 1)?.until ?? 0)).toBe('2022-11-26')
})

test('every day of the table is in exactly one month, and no other day is in any', () => {
  const [first, last] = [dayNumber('2010-09-26'), dayNumber('2028-09-30')]
  let expected = 12 * 2011
  for (let day = first; day <= last; day += 1) {
    const month = fiscalMonthOf(day)
    const days = fiscalMonthDays(month ?? 0)
    expect(days?.from).toBeLessThanOrEqual(day)
    expect(days?.until).toBeGreaterThanOrEqual(day)
    expect([expected, expected + 1]).toContain(month)
    expected = month ?? 0
  }
  expect(expected).toBe(12 * 2028 + 11)
  expect([fiscalMonthOf(first - 1), fiscalMonthOf(last + 1)]).toEqual([null, null])
  expect([fiscalMonthDays(12 * 2011 - 1), fiscalMonthDays(12 * 2029)]).toEqual([null, null])
})
