/** What we compute: what the days of one currency say about the days between them. */
import { addDays } from '../days.ts'

const DAY_MS = 86_400_000

/** How many days a rate is carried over and that is the end of it: weekends and the longest runs of holidays. */
export const CARRIED_DAYS = 7

/** The day in UTC at an instant. */
export const dayAt = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** How many days one day of the calendar is after another. Neither is checked: this is asked of every rate there is. */
export const daysApart = (earlier: string, later: string): number =>
  (Date.parse(later) - Date.parse(earlier)) / DAY_MS

/** Both days and all between them. */
export type Span = { from_on: string; until_on: string }

/** The days of a span, oldest first. */
export const daysOf = ({ from_on, until_on }: Span): string[] =>
  Array.from({ length: Math.max(0, daysApart(from_on, until_on) + 1) }, (_, day) => addDays(from_on, day))

/** Whether the days between two rates are a weekend or holidays, over which the first is carried for good. */
export const isCarried = (before_on: string, after_on: string): boolean =>
  daysApart(before_on, after_on) - 1 <= CARRIED_DAYS

/**
 * Spans of days with no rate that are longer than a rate is carried, within `whole`, among `days` in order. So many
 * days at the end of it may lack one, too: some central banks publish late.
 */
export function gapsOf(days: readonly string[], whole: Span): Span[] {
  const inside = days.filter((on) => on >= whole.from_on && on <= whole.until_on)
  const edges = [addDays(whole.from_on, -1), ...inside, addDays(whole.until_on, 1)]
  return edges.slice(1).flatMap((after, index) => {
    const before = edges[index] ?? after
    return isCarried(before, after) ? [] : [{ from_on: addDays(before, 1), until_on: addDays(after, -1) }]
  })
}
