/** Days and gaps of one currency's rates. */
import { addDays } from '../days.ts'

const DAY_MS = 86_400_000

/** The most days without a rate for which the rate before them is final: weekends and the longest holidays. */
export const CARRIED_DAYS = 7

/** The UTC day of an instant. */
export const dayAt = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The days between two dates. Does not validate them: this runs for every rate. */
export const daysApart = (earlier: string, later: string): number =>
  (Date.parse(later) - Date.parse(earlier)) / DAY_MS

/** A range of days, both inclusive. */
export type Span = { from_on: string; until_on: string }

/** The days of a span, oldest first. */
export const daysOf = ({ from_on, until_on }: Span): string[] =>
  Array.from({ length: Math.max(0, daysApart(from_on, until_on) + 1) }, (_, day) => addDays(from_on, day))

/** Whether the days between two rates are few enough (a weekend or holidays) that the first is final for them. */
export const isCarried = (before_on: string, after_on: string): boolean =>
  daysApart(before_on, after_on) - 1 <= CARRIED_DAYS

/**
 * The spans within `whole` that have no rate and are longer than `CARRIED_DAYS`. `days` are the days with a rate,
 * sorted. Up to `CARRIED_DAYS` days without a rate at the end of `whole` are no gap: some central banks publish late.
 */
export function gapsOf(days: readonly string[], whole: Span): Span[] {
  const inside = days.filter((on) => on >= whole.from_on && on <= whole.until_on)
  const boundaries = [addDays(whole.from_on, -1), ...inside, addDays(whole.until_on, 1)]
  return boundaries.slice(1).flatMap((after, index) => {
    const before = boundaries[index] ?? after
    return isCarried(before, after) ? [] : [{ from_on: addDays(before, 1), until_on: addDays(after, -1) }]
  })
}
