/** Apple’s fiscal months in Pacific days. Apple pays once for each fiscal month. */
import { type DayNumber, dayNumber } from './calendar.ts'

/** The last day of each fiscal year, as Apple published it or as Apple’s rule determines it. */
const LAST_DAYS = [
  '2010-09-25',
  '2011-09-24',
  '2012-09-29',
  '2013-09-28',
  '2014-09-27',
  '2015-09-26',
  '2016-09-24',
  '2017-09-30',
  '2018-09-29',
  '2019-09-28',
  '2020-09-26',
  '2021-09-25',
  '2022-09-24',
  '2023-09-30',
  '2024-09-28',
  '2025-09-27',
  '2026-09-26',
  '2027-09-25',
  '2028-09-30',
].map(dayNumber)
/** The fiscal year of the first entry. */
const FIRST_YEAR = 2010

const WEEKS = [5, 4, 4, 5, 4, 4, 5, 4, 4, 5, 4, 4] as const
const SHORT_YEAR_DAYS = 7 * 52
/** The month, counted from 0, that has an additional week in a year of 53 weeks. */
const LONGER_MONTH = 2

/** The first day of each fiscal month of the table, and the day after the last. */
const STARTS: readonly DayNumber[] = LAST_DAYS.slice(1).flatMap(startsOf)

function startsOf(last: DayNumber, index: number): DayNumber[] {
  const before = LAST_DAYS[index] ?? last
  const isLong = last - before > SHORT_YEAR_DAYS
  let next = before + 1
  const starts = WEEKS.map((weeks, month) => {
    const start = next
    next += 7 * (weeks + (isLong && month === LONGER_MONTH ? 1 : 0))
    return start
  })
  return index === LAST_DAYS.length - 2 ? [...starts, next] : starts
}

const FIRST_MONTH = 12 * (FIRST_YEAR + 1)

/**
 * The fiscal month of a Pacific day as a consecutive number: fiscal year × 12 + month − 1, where month 1 is October. A
 * fiscal year ends on the last Saturday of September. Its quarters have 5, 4 and 4 weeks from Sunday; in a year of 53
 * weeks the third month has the additional week. null outside the table, which ends on 2028-09-30.
 */
export function fiscalMonthOf(day: DayNumber): number | null {
  let [low, high] = [0, STARTS.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((STARTS[middle] ?? 0) <= day) low = middle + 1
    else high = middle
  }
  return low === 0 || low === STARTS.length ? null : FIRST_MONTH + low - 1
}

/** The Pacific days of a fiscal month by its `fiscalMonthOf` number, both ends included; null outside the table. */
export function fiscalMonthDays(month: number): { from: DayNumber; until: DayNumber } | null {
  const [from, next] = [STARTS[month - FIRST_MONTH], STARTS[month - FIRST_MONTH + 1]]
  return from === undefined || next === undefined ? null : { from, until: next - 1 }
}
