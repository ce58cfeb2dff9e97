import { expect, test } from 'vitest'
import { evenTicks, timeTicks } from '../../../src/web/ui/charts/ticks.ts'
import { plusDays, stepsBetween } from '../../../src/web/ui/words.ts'

const daysFrom = (first: string, many: number, apart = 1): string[] =>
  Array.from({ length: many }, (_, index) => plusDays(first, index * apart))
const monthsFrom = (year: number, many: number): string[] =>
  Array.from({ length: many }, (_, index) => new Date(Date.UTC(year, index, 1)).toISOString().slice(0, 10))
const named = (on: string[], ticks: { index: number }[]): (string | undefined)[] =>
  ticks.map(({ index }) => on[index])

test('labels few days each, more days by week, many by month', () => {
  const week = daysFrom('2026-11-15', 7)
  expect(named(week, timeTicks(week, 'day', 8))).toEqual(week)
  // 2026-11-02 is a Monday.
  const four = daysFrom('2026-10-25', 28)
  expect(named(four, timeTicks(four, 'day', 5))).toEqual([
    '2026-10-26',
    '2026-11-02',
    '2026-11-09',
    '2026-11-16',
  ])
  const ninety = daysFrom('2026-08-24', 90)
  expect(named(ninety, timeTicks(ninety, 'day', 4))).toEqual(['2026-09-01', '2026-10-01', '2026-11-01'])
})

test('labels a year of weeks by month, and the year at its start', () => {
  const weeks = daysFrom('2025-11-24', 53, 7)
  const ticks = timeTicks(weeks, 'week', 8)
  expect(named(weeks, ticks)).toEqual([
    '2026-01-05',
    '2026-03-02',
    '2026-05-04',
    '2026-07-06',
    '2026-09-07',
    '2026-11-02',
  ])
  expect(ticks.map(({ label }) => label).slice(0, 2)).toEqual(['Jan 2026', 'Mar'])
})

test('labels many months by quarter and year', () => {
  const months = monthsFrom(2024, 24)
  expect(named(months, timeTicks(months, 'month', 9))).toHaveLength(8)
  const years = monthsFrom(2021, 60)
  expect(named(years, timeTicks(years, 'month', 6))).toEqual([
    '2021-01-01',
    '2022-01-01',
    '2023-01-01',
    '2024-01-01',
    '2025-01-01',
  ])
})

test('labels many fiscal months by quarter of the fiscal year', () => {
  const months = stepsBetween('2025-06-29', '2026-05-31', 'fiscal_month')
  expect(timeTicks(months, 'fiscal_month', 12)).toHaveLength(12)
  expect(timeTicks(months, 'fiscal_month', 5).map(({ label }) => label)).toEqual([
    'FY25 P10',
    'FY26 P1',
    'P4',
    'P7',
  ])
  expect(timeTicks(months.slice(0, 3), 'fiscal_month', 1)).toHaveLength(1)
})

test('never returns more labels than fit', () => {
  for (const many of [1, 2, 3, 9, 31, 100, 366]) {
    const on = daysFrom('2026-01-02', many)
    for (const most of [2, 3, 5, 12]) {
      const ticks = timeTicks(on, 'day', most)
      expect(ticks.length).toBeLessThanOrEqual(most)
      expect(ticks.length).toBeGreaterThan(0)
    }
  }
  expect(evenTicks(['0', '7', '14', '21'], 2, (on) => `${on} d`)).toEqual([
    { index: 0, label: '0 d' },
    { index: 2, label: '14 d' },
  ])
})
