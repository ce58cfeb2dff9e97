/** Divides a range into days, weeks, months or fiscal months. */
import { type DayNumber, dayNumber, dayText, monthOf, weekOf } from '../lineage/calendar.ts'
import { fiscalMonthDays, fiscalMonthOf } from '../lineage/fiscal.ts'
import type { Bucket, Span } from '../sums/tallies.ts'

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

/** All whole days, weeks, months or fiscal months that overlap a range. */
export function bucketsOf({ from, until }: Bucket, interval: Interval): Bucket[] {
  const [first, last] = [numberOf[interval](from), numberOf[interval](until)]
  return Array.from({ length: last - first + 1 }, (_, index) => bucketOf[interval](first + index))
}

/**
 * Buckets, cut where a range begins and ends, so that one read gives whole buckets and exactly the days of the range.
 * `parts`: the days to sum. `wholes`: the parts of each bucket. `range`: those of the range. `clipped`: the part in the
 * range of each bucket that is not whole in it, with that bucket.
 */
export type Cuts = { parts: Bucket[]; wholes: Span[]; range: Span; clipped: (Span & { whole: Bucket })[] }

/** Cuts consecutive buckets, each of which overlaps the range. A range that ends today has all of its last bucket. */
export function cutsOf(buckets: readonly Bucket[], range: Bucket, today: DayNumber): Cuts {
  const end = range.until < today ? range.until : Infinity
  const cuts: Cuts = { parts: [], wholes: [], range: { days: range, first: 0, last: 0 }, clipped: [] }
  for (const bucket of buckets) {
    const first = cuts.parts.length
    const days = { from: Math.max(bucket.from, range.from), until: Math.min(bucket.until, end) }
    if (bucket.from < days.from) cuts.parts.push({ from: bucket.from, until: days.from - 1 })
    const inner = cuts.parts.push(days) - 1
    if (days.until < bucket.until) cuts.parts.push({ from: days.until + 1, until: bucket.until })
    const last = cuts.parts.length - 1
    cuts.wholes.push({ days: bucket, first, last })
    const clipped = { from: days.from, until: Math.min(days.until, range.until) }
    if (first !== last) cuts.clipped.push({ whole: bucket, days: clipped, first: inner, last: inner })
    cuts.range = { ...cuts.range, first: cuts.wholes.length === 1 ? inner : cuts.range.first, last: inner }
  }
  return cuts
}

/**
 * What a range is compared with. days: as many days directly before. start: the day before, at whose end levels are those
 * at the start of the range. previous: as many days or intervals directly before. The others: the same days of the week,
 * month, quarter, fiscal month or year before.
 */
export const COMPARISONS = [
  'days',
  'start',
  'previous',
  'week',
  'month',
  'quarter',
  'fiscal_month',
  'year',
] as const
export type Comparison = (typeof COMPARISONS)[number]

/** How many months before the range the compared days are. */
const MONTHS_BACK = { month: 1, quarter: 3, year: 12 } as const

/**
 * How many units before a range the compared days are. If the range begins with an interval, the previous days are as many
 * intervals before; otherwise as many days.
 */
export function comparisonUnit(
  { from, until }: Bucket,
  interval: Interval,
  comparison: Comparison,
): { unit: Interval; back: number } {
  if (comparison === 'week' || comparison === 'fiscal_month') return { unit: comparison, back: 1 }
  if (comparison === 'year' && interval === 'fiscal_month') return { unit: interval, back: 12 }
  const days = { unit: 'day', back: until - from + 1 } as const
  if (comparison === 'days' || comparison === 'start') return days
  if (comparison !== 'previous') return { unit: 'month', back: MONTHS_BACK[comparison] }
  const first = numberOf[interval](from)
  if (bucketOf[interval](first).from !== from) return days
  return { unit: interval, back: numberOf[interval](until) - first + 1 }
}

/**
 * The days that a range is compared with: the same days some units before, or the day before. A day that a unit does not
 * have is its last, and whole units are compared with whole units.
 */
export function comparedDays({ from, until }: Bucket, interval: Interval, comparison: Comparison): Bucket {
  if (comparison === 'start') return { from: from - 1, until: from - 1 }
  const { unit, back } = comparisonUnit({ from, until }, interval, comparison)
  const ofDay = (day: DayNumber) => bucketOf[unit](numberOf[unit](day))
  const before = (day: DayNumber) => bucketOf[unit](numberOf[unit](day) - back)
  const sameDay = (day: DayNumber) => Math.min(before(day).from + day - ofDay(day).from, before(day).until)
  const isWhole = ofDay(from).from === from && ofDay(until).until === until
  return { from: sameDay(from), until: isWhole ? before(until).until : sameDay(until) }
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

/** All days of consecutive buckets. */
export const daysIn = (buckets: readonly Bucket[]): Bucket => ({
  from: buckets[0]?.from ?? 0,
  until: buckets.at(-1)?.until ?? 0,
})

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
