/** Divides a range into days, weeks, months or fiscal months. */
import { type DayNumber, dayNumber, dayText, monthOf, weekOf } from '../lineage/calendar.ts'
import { fiscalMonthDays, fiscalMonthOf } from '../lineage/fiscal.ts'
import type { Bucket } from '../sums/tallies.ts'

/** The interval of a series’ points. fiscal_month: Apple’s fiscal months, in Pacific days. */
export const INTERVALS = ['day', 'week', 'month', 'fiscal_month'] as const
export type Interval = (typeof INTERVALS)[number]

const DAYS_BEFORE_MONDAY = 3

/** The first day of a month; months are numbered since January 1970. */
const monthStart = (month: number): DayNumber => Date.UTC(1970, month, 1) / 86_400_000

const weekStart = (week: number): DayNumber => week * 7 - DAYS_BEFORE_MONDAY

/** Returns the days of a numbered day, week (from Monday), month or fiscal month. */
const bucketOf: Record<Interval, (number: number) => Bucket> = {
  day: (number) => ({ from: number, until: number }),
  week: (number) => ({ from: weekStart(number), until: weekStart(number + 1) - 1 }),
  month: (number) => ({ from: monthStart(number), until: monthStart(number + 1) - 1 }),
  fiscal_month: (number) => fiscalMonthDays(number) ?? unknownFiscalMonth(),
}
const numberOf: Record<Interval, (day: DayNumber) => number> = {
  day: (day) => day,
  week: weekOf,
  month: monthOf,
  fiscal_month: (day) => fiscalMonthOf(day) ?? unknownFiscalMonth(),
}

/** Unreachable, because `rangeErrors` refuses days without a known fiscal month. */
function unknownFiscalMonth(): never {
  throw new RangeError('no fiscal month of that day is known')
}

/** All whole days, weeks, months or fiscal months that overlap the days `from` to `until`. */
export function bucketsOf(from: DayNumber, until: DayNumber, interval: Interval): Bucket[] {
  const [first, last] = [numberOf[interval](from), numberOf[interval](until)]
  return Array.from({ length: last - first + 1 }, (_, index) => bucketOf[interval](first + index))
}

/** What a range is compared with. previous: directly before. year: the same period of the year before. */
export const COMPARISONS = ['previous', 'year'] as const
export type Comparison = (typeof COMPARISONS)[number]

/** Whole weeks, months or fiscal months of a year. Weeks keep their weekdays, so a year of weeks has 364 days. */
const PER_YEAR: Record<Exclude<Interval, 'day'>, number> = { week: 52, month: 12, fiscal_month: 12 }

/** How many buckets before `first` the compared range begins. */
export function bucketsBack(
  first: DayNumber,
  count: number,
  interval: Interval,
  comparison: Comparison,
): number {
  if (comparison === 'previous') return count
  return interval === 'day' ? first - sameDateLastYear(first) : PER_YEAR[interval]
}

/** The same date of the year before; February 28 for February 29. */
function sameDateLastYear(day: DayNumber): DayNumber {
  const [year = '', ...monthAndDay] = dayText(day).split('-')
  const text = `${Number(year) - 1}-${monthAndDay.join('-')}`
  return dayNumber(text.endsWith('-02-29') ? text.replace('-29', '-28') : text)
}

/** The same number of days, weeks, months or fiscal months that `buckets` are compared with. */
export function comparedBuckets(
  buckets: readonly Bucket[],
  interval: Interval,
  comparison: Comparison,
): Bucket[] {
  const { from } = buckets[0] ?? { from: 0 }
  const first = numberOf[interval](from) - bucketsBack(from, buckets.length, interval, comparison)
  return buckets.map((_, index) => bucketOf[interval](first + index))
}

/** The current month through `today`, and the previous month through the same day of the month or its last day. */
export function monthToDate(today: DayNumber): { now: Bucket; before: Bucket } {
  const month = monthOf(today)
  const [from, previousFrom] = [monthStart(month), monthStart(month - 1)]
  return {
    now: { from, until: today },
    before: { from: previousFrom, until: Math.min(previousFrom + today - from, from - 1) },
  }
}

/** The number of buckets of a range without `from`. */
export const DEFAULT_BUCKETS: Record<Interval, number> = { day: 30, week: 26, month: 12, fiscal_month: 12 }

/** The first day of the default range that ends with `until`. */
export const defaultStart = (until: DayNumber, interval: Interval): DayNumber =>
  bucketOf[interval](numberOf[interval](until) - DEFAULT_BUCKETS[interval] + 1).from

/** Both ends of a bucket as 'YYYY-MM-DD'. */
export const daysOfBucket = ({ from, until }: Bucket) => ({
  from_on: dayText(from),
  until_on: dayText(until),
})

/** Formats a fiscal month as in Apple’s finance reports. `2026-02` is the second month of fiscal year 2026. */
export const fiscalMonthText = (month: number): string =>
  `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`

/** The number of the last fiscal month that the calendar contains. */
function lastFiscalMonth(): number {
  let month = numberOf.fiscal_month(dayNumber('2025-10-01'))
  while (fiscalMonthDays(month + 1) !== null) month += 1
  return month
}

/** A message that says where the fiscal calendar ends. */
export function fiscalCalendarEnd(): string {
  const last = lastFiscalMonth()
  const until = dayText(bucketOf.fiscal_month(last).until)
  return `the last fiscal month known is ${fiscalMonthText(last)}, which ends on ${until}`
}
