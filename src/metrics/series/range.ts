/** Resolves and checks the range of a request: the first day, the last day and the time zone. */
import type { FieldError } from '../../errors.ts'
import { type DayNumber, dayNumber, dayText } from '../lineage/calendar.ts'
import { fiscalMonthDays, fiscalMonthOf } from '../lineage/fiscal.ts'
import type { Bucket, SumQuery } from '../sums/tallies.ts'
import {
  type Comparison,
  comparedDays,
  comparisonUnit,
  DEFAULT_BUCKETS,
  defaultStart,
  fiscalCalendarEnd,
  type Interval,
} from './buckets.ts'

const MAX_YEARS = 5

/** The parameters that select days. */
type RangeInput = {
  from?: string | undefined
  to?: string | undefined
  interval: Interval
  compare?: Comparison | undefined
}

/** The time zone of a request. Fiscal months consist of Pacific days, whatever `zone` is. */
export const zoneOf = ({
  interval,
  zone,
}: {
  interval: Interval
  zone: SumQuery['zone']
}): SumQuery['zone'] => (interval === 'fiscal_month' ? 'pacific' : zone)

const lastDayOf = ({ to }: RangeInput, today: DayNumber): DayNumber =>
  to === undefined ? today : Math.min(dayNumber(to), today)

/** The requested days, through `today` at most. Call it only if `rangeErrors` returns none. */
export function rangeOf(query: RangeInput, today: DayNumber): Bucket {
  const { from, interval } = query
  const until = lastDayOf(query, today)
  return { from: from === undefined ? defaultStart(until, interval) : dayNumber(from), until }
}

/** The errors in the requested days; empty if there are none. */
export function rangeErrors(query: RangeInput, today: DayNumber): FieldError[] {
  const { from, to } = query
  if (from !== undefined && to !== undefined && from > to)
    return [{ path: 'to', message: `must not be before ${from}, the first day` }]
  if (from !== undefined && dayNumber(from) > today)
    return [{ path: 'from', message: `must not be in the future; today is ${dayText(today)}` }]
  const unknown = fiscalErrors(query, today)
  if (unknown.length > 0) return unknown
  const range = rangeOf(query, today)
  const earliest = new Date(range.until * 86_400_000)
  earliest.setUTCFullYear(earliest.getUTCFullYear() - MAX_YEARS)
  const isLong = range.from * 86_400_000 < earliest.getTime()
  return isLong ? [{ path: 'from', message: `must be at most ${MAX_YEARS} years before the last day` }] : []
}

/** Apple publishes its fiscal calendar year by year; days beyond it have no known fiscal month. */
function fiscalErrors(query: RangeInput, today: DayNumber): FieldError[] {
  const { interval, compare } = query
  if (interval !== 'fiscal_month' && compare !== 'fiscal_month') return []
  const last = fiscalMonthOf(lastDayOf(query, today))
  if (last === null) return [{ path: 'to', message: fiscalCalendarEnd() }]
  return isKnown(query, last, today)
    ? []
    : [{ path: 'from', message: 'must not be before the first known fiscal month' }]
}

/** Whether the fiscal months of a range through the month `last` are known, and those that it is compared with. */
function isKnown(query: RangeInput, last: number, today: DayNumber): boolean {
  const { from, interval, compare } = query
  const isDefault = from === undefined && interval === 'fiscal_month'
  if (isDefault && fiscalMonthDays(last - DEFAULT_BUCKETS.fiscal_month + 1) === null) return false
  const range = rangeOf(query, today)
  const first = fiscalMonthOf(range.from)
  return first !== null && (compare === undefined || isComparable(range, first, { interval, compare }))
}

function isComparable(
  range: Bucket,
  first: number,
  { interval, compare }: { interval: Interval; compare: Comparison },
): boolean {
  const { unit, back } = comparisonUnit(range, interval, compare)
  if (unit === 'fiscal_month') return fiscalMonthDays(first - back) !== null
  return fiscalMonthOf(comparedDays(range, interval, compare).from) !== null
}
