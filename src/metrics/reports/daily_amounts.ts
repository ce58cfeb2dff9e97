/** Daily amounts by value of a split, and their cumulative sums. */
import type { DayNumber } from '../lineage/calendar.ts'

/** An amount and a count. `milli`: thousandths of the requested currency. */
export type Amount = { milli: number; count: number }

/** Amounts of non-empty days, by value of a split ('' for the total), then by day. */
export type DailyAmounts = Map<string, Map<DayNumber, Amount>>

export const NO_AMOUNT: Amount = { milli: 0, count: 0 }

/** Adds an amount to a day of one value of the split. */
export function addTo(lines: DailyAmounts, value: string, day: DayNumber, { milli, count }: Amount): void {
  const line = lines.get(value) ?? new Map<DayNumber, Amount>()
  lines.set(value, line)
  const sum = line.get(day) ?? NO_AMOUNT
  line.set(day, { milli: sum.milli + milli, count: sum.count + count })
}

/** Returns a function that sums the amounts of all days through a day. */
export function cumulativeOf(line: ReadonlyMap<DayNumber, Amount> | undefined): (day: DayNumber) => Amount {
  const days = [...(line ?? [])].sort(([a], [b]) => a - b)
  let sum = NO_AMOUNT
  const cumulative = days.map(([day, { milli, count }]) => {
    sum = { milli: sum.milli + milli, count: sum.count + count }
    return { day, sum }
  })
  return (day) => {
    let [low, high] = [0, cumulative.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle]?.day ?? 0) <= day) low = middle + 1
      else high = middle
    }
    return cumulative[low - 1]?.sum ?? NO_AMOUNT
  }
}

export const minus = (a: Amount, b: Amount): Amount => ({
  milli: a.milli - b.milli,
  count: a.count - b.count,
})
export const plus = (a: Amount, b: Amount): Amount => ({ milli: a.milli + b.milli, count: a.count + b.count })
