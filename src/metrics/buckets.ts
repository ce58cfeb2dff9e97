/** What we compute: the days, weeks and months of a range, and those before them. */
import { type DayNumber, dayText, monthOf, weekOf } from './calendar.ts'
import type { Bucket } from './tallies.ts'

export type Interval = 'day' | 'week' | 'month'

const DAYS_BEFORE_MONDAY = 3

/** The first day of a month, counted since January 1970. */
const monthStart = (month: number): DayNumber => Date.UTC(1970, month, 1) / 86_400_000

const weekStart = (week: number): DayNumber => week * 7 - DAYS_BEFORE_MONDAY

/** The day, the week from Monday or the month of each number. */
const bucketOf: Record<Interval, (number: number) => Bucket> = {
  day: (number) => ({ from: number, until: number }),
  week: (number) => ({ from: weekStart(number), until: weekStart(number + 1) - 1 }),
  month: (number) => ({ from: monthStart(number), until: monthStart(number + 1) - 1 }),
}
const numberOf: Record<Interval, (day: DayNumber) => number> = {
  day: (day) => day,
  week: weekOf,
  month: monthOf,
}

/** Every whole day, week or month that has a day of `from` to `until`. */
export function bucketsOf(from: DayNumber, until: DayNumber, interval: Interval): Bucket[] {
  const [first, last] = [numberOf[interval](from), numberOf[interval](until)]
  return Array.from({ length: last - first + 1 }, (_, index) => bucketOf[interval](first + index))
}

/** As many days, weeks or months right before the first of `buckets`. */
export function bucketsBefore(buckets: readonly Bucket[], interval: Interval): Bucket[] {
  const first = numberOf[interval](buckets[0]?.from ?? 0)
  return buckets.map((_, index) => bucketOf[interval](first - buckets.length + index))
}

/** This month up to a day, and the month before up to the same day of it, or to its end where that is shorter. */
export function monthToDate(today: DayNumber): { now: Bucket; before: Bucket } {
  const month = monthOf(today)
  const [from, earlier] = [monthStart(month), monthStart(month - 1)]
  return {
    now: { from, until: today },
    before: { from: earlier, until: Math.min(earlier + today - from, from - 1) },
  }
}

/** How many buckets a range that nobody named has. */
const USUAL: Record<Interval, number> = { day: 30, week: 26, month: 12 }

/** The first day of the usual range that ends with `until`. */
export const usualStart = (until: DayNumber, interval: Interval): DayNumber =>
  bucketOf[interval](numberOf[interval](until) - USUAL[interval] + 1).from

/** 'YYYY-MM-DD' of both ends. */
export const daysOfBucket = ({ from, until }: Bucket) => ({
  from_on: dayText(from),
  until_on: dayText(until),
})
