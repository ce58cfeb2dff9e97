/** Computes billing recovery: how many failed payments of a cohort Apple collected, and how soon. */
import type { DayNumber } from '../lineage/calendar.ts'
import { ratioOf } from '../series/formula_lines.ts'
import type { PeriodSum } from './cells.ts'
import { RETRY_DAYS } from './failures.ts'

/** The figures of one cohort. `parts`: its sums by outcome. `isWhole`: whether all of it was observed. */
export function recoveryStats(parts: readonly PeriodSum[], today: DayNumber, isWhole: boolean) {
  const sum = (
    matches: (part: PeriodSum) => boolean,
    countOf: (part: PeriodSum) => number = ({ count }) => count,
  ) => parts.filter(matches).reduce((total, part) => total + countOf(part), 0)
  const failed = sum(({ position }) => position === 0)
  const recovered = sum(({ position }) => position > 0)
  const isOver = ({ cohort }: PeriodSum): boolean => cohort + RETRY_DAYS < today
  const ended = sum(({ position }) => position === -1)
  const settled = sum(isOver, ({ position, count }) => (position === 0 ? count : -count))
  const days = sum(
    ({ position }) => position > 0,
    ({ position, count }) => position * count,
  )
  return {
    failed,
    recovered,
    lost: ended + settled,
    pending: failed - recovered - ended - settled,
    recovery_rate: ratioOf(recovered, failed),
    days_to_recover: ratioOf(days, recovered),
    complete: isWhole && failed === recovered + ended + settled,
  }
}
