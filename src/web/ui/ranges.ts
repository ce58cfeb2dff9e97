/** The ranges of days that a viewer can choose. All but the custom one move with the current day. */
import { dayNumber, dayText, monthOf, weekOf } from '../../metrics/lineage/calendar.ts'
import { fiscalMonthDays, fiscalMonthOf } from '../../metrics/lineage/fiscal.ts'
import type { Comparison } from '../../metrics/series/buckets.ts'

export const RANGES = [
  'today',
  'yesterday',
  '7d',
  '28d',
  '90d',
  '12m',
  'week',
  'last_week',
  'month',
  'last_month',
  'quarter',
  'last_quarter',
  'year',
  'last_year',
  'fiscal_month',
  'last_fiscal_month',
  'all',
  'custom',
] as const
export type Range = (typeof RANGES)[number]

export const RANGE_TITLES: Record<Range, string> = {
  today: 'Today',
  yesterday: 'Yesterday',
  '7d': 'Last 7 days',
  '28d': 'Last 28 days',
  '90d': 'Last 90 days',
  '12m': 'Last 12 months',
  week: 'This week',
  last_week: 'Last week',
  month: 'This month',
  last_month: 'Last month',
  quarter: 'This quarter',
  last_quarter: 'Last quarter',
  year: 'This year',
  last_year: 'Last year',
  fiscal_month: 'This fiscal month',
  last_fiscal_month: 'Last fiscal month',
  all: 'All time',
  custom: 'Custom range',
}

/** The ranges in the groups of the menu. */
export const RANGE_GROUPS: readonly (readonly Exclude<Range, 'custom'>[])[] = [
  ['today', 'yesterday', '7d', '28d', '90d', '12m'],
  ['week', 'last_week', 'month', 'last_month', 'quarter', 'last_quarter', 'year', 'last_year'],
  ['fiscal_month', 'last_fiscal_month'],
  ['all'],
]

/** The first and the last day, as 'YYYY-MM-DD'. */
export type Days = { from: string; to: string }

/** The days before today that a range can begin with: the API's limit of five years. */
export const MAX_DAYS_BACK = 1825

const DAYS_BEFORE_MONDAY = 3

/** The numbers of the first and the last day. Weeks begin on Monday; months are numbered since January 1970. */
type Span = { first: number; last: number }

const monthStart = (month: number): number => Date.UTC(1970, month, 1) / 86_400_000
const monthsFrom = (month: number, count: number): Span => ({
  first: monthStart(month),
  last: monthStart(month + count) - 1,
})
const weekSpan = (week: number): Span => ({
  first: week * 7 - DAYS_BEFORE_MONDAY,
  last: week * 7 - DAYS_BEFORE_MONDAY + 6,
})
/** Beyond Apple's fiscal calendar, the calendar month of the day. */
function fiscalSpan(today: number, back: number): Span {
  const number = fiscalMonthOf(today)
  const days = number === null ? null : fiscalMonthDays(number - back)
  return days === null ? monthsFrom(monthOf(today) - back, 1) : { first: days.from, last: days.until }
}
/** The same date of the year before, plus one day. */
function yearBack(today: number): number {
  const [year = '', month = '', day = ''] = dayText(today).split('-')
  return Date.UTC(Number(year) - 1, Number(month) - 1, Number(day) + 1) / 86_400_000
}
const quarterOf = (today: number): number => Math.floor(monthOf(today) / 3) * 3
const yearOf = (today: number): number => Math.floor(monthOf(today) / 12) * 12

const SPANS: Record<Exclude<Range, 'all' | 'custom'>, (today: number) => Span> = {
  today: (today) => ({ first: today, last: today }),
  yesterday: (today) => ({ first: today - 1, last: today - 1 }),
  '7d': (today) => ({ first: today - 6, last: today }),
  '28d': (today) => ({ first: today - 27, last: today }),
  '90d': (today) => ({ first: today - 89, last: today }),
  '12m': (today) => ({ first: yearBack(today), last: today }),
  week: (today) => weekSpan(weekOf(today)),
  last_week: (today) => weekSpan(weekOf(today) - 1),
  month: (today) => monthsFrom(monthOf(today), 1),
  last_month: (today) => monthsFrom(monthOf(today) - 1, 1),
  quarter: (today) => monthsFrom(quarterOf(today), 3),
  last_quarter: (today) => monthsFrom(quarterOf(today) - 3, 3),
  year: (today) => monthsFrom(yearOf(today), 12),
  last_year: (today) => monthsFrom(yearOf(today) - 12, 12),
  fiscal_month: (today) => fiscalSpan(today, 0),
  last_fiscal_month: (today) => fiscalSpan(today, 1),
}

/** The days of a range that have begun. `today` is the organization's current day; `first` the first day with data. */
export function rangeDays(range: Exclude<Range, 'custom'>, today: string, first: string | null): Days {
  const end = dayNumber(today)
  if (range === 'all') return { from: first ?? dayText(end - MAX_DAYS_BACK), to: today }
  const span = SPANS[range](end)
  return { from: dayText(span.first), to: dayText(Math.min(span.last, end)) }
}

/** What calendar ranges are compared with, to the same day; other ranges are compared with as many days before. */
const CALENDAR_UNITS: Partial<Record<Range, Comparison>> = {
  '12m': 'year',
  week: 'week',
  last_week: 'week',
  month: 'month',
  last_month: 'month',
  quarter: 'quarter',
  last_quarter: 'quarter',
  year: 'year',
  last_year: 'year',
  fiscal_month: 'fiscal_month',
  last_fiscal_month: 'fiscal_month',
}

/** The API’s parameter for a chosen comparison of a range. The compared days do not depend on the interval. */
export const comparisonOf = (chosen: 'previous' | 'year', range: Range): Comparison =>
  chosen === 'year' ? chosen : (CALENDAR_UNITS[range] ?? 'days')

/** Whether a whole week or month lies in some days and is over. */
export function hasFinished({ from, to }: Days, today: string, unit: 'week' | 'month'): boolean {
  const first = dayNumber(from)
  const { last } = unit === 'week' ? weekSpan(weekOf(first + 6)) : monthsFrom(monthOf(first - 1) + 1, 1)
  return last <= Math.min(dayNumber(to), dayNumber(today) - 1)
}

/** Whether the days of a range are Pacific days. */
export const isFiscalRange = (range: Range): boolean =>
  range === 'fiscal_month' || range === 'last_fiscal_month'
