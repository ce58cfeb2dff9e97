/** Labels of a time axis. Prefers whole weeks, months and years. */
import { fiscalMonth, type Interval, monthName, monthOfYear, shortDay } from '../words.ts'

export type Tick = { index: number; label: string }

const DAY_MS = 86_400_000
const dayNumber = (on: string): number => Date.parse(`${on}T00:00:00Z`) / DAY_MS
const monthNumber = (on: string): number => Number(on.slice(0, 4)) * 12 + Number(on.slice(5, 7)) - 1
/** 1970 began on a Thursday. */
const isMonday = (on: string): boolean => (dayNumber(on) + 3) % 7 === 0
const isEvenWeek = (on: string): boolean => Math.floor((dayNumber(on) + 3) / 7) % 2 === 0

type Step = { isMonths: boolean; hasTick: (on: string) => boolean }
const MONTH_DISTANCES = [1, 2, 3, 6, 12, 24, 60]

function stepsOf(interval: Interval): Step[] {
  const isFirst: Record<Interval, (on: string) => boolean> = {
    day: (on) => on.endsWith('-01'),
    week: (on) => Number(on.slice(8)) <= 7,
    month: () => true,
    fiscal_month: () => true,
  }
  const months = MONTH_DISTANCES.map((distance) => ({
    isMonths: true,
    hasTick: (on: string) => isFirst[interval](on) && monthNumber(on) % distance === 0,
  }))
  if (interval === 'month') return months
  const days: Step[] = [
    { isMonths: false, hasTick: () => true },
    { isMonths: false, hasTick: (on) => (interval === 'day' ? dayNumber(on) % 2 === 0 : isEvenWeek(on)) },
  ]
  if (interval === 'week') return [...days, ...months]
  return [
    ...days,
    { isMonths: false, hasTick: isMonday },
    { isMonths: false, hasTick: (on) => isMonday(on) && isEvenWeek(on) },
    ...months,
  ]
}

/** Labels every month of a fiscal year, or every second, third … month. */
function fiscalTicks(on: readonly string[], maxCount: number): Tick[] {
  const months = on.map((day) => fiscalMonth(day))
  for (const distance of MONTH_DISTANCES) {
    const ticks = months.flatMap(({ number }, index) => (number % distance === 1 % distance ? [index] : []))
    if (ticks.length > maxCount) continue
    if (ticks.length < 2 && on.length > 2) break
    return ticks.map((index, place) => ({ index, label: fiscalLabel(on[index] ?? '', place === 0) }))
  }
  return evenTicks(on, maxCount, (day) => fiscalLabel(day, true))
}

function fiscalLabel(on: string, isFirst: boolean): string {
  const { year, number } = fiscalMonth(on)
  return isFirst || number === 1 ? `FY${String(year % 100).padStart(2, '0')} P${number}` : `P${number}`
}

/**
 * Returns the densest labels of at most `maxCount`. A month label contains the year if it is the first label or
 * January.
 */
export function timeTicks(on: readonly string[], interval: Interval, maxCount: number): Tick[] {
  if (interval === 'fiscal_month') return fiscalTicks(on, maxCount)
  for (const { isMonths, hasTick } of stepsOf(interval)) {
    const indexes = on.flatMap((day, index) => (hasTick(day) ? [index] : []))
    if (indexes.length > maxCount) continue
    if (indexes.length < 2 && on.length > 2) break
    return indexes.map((index, place) => ({
      index,
      label: isMonths ? monthLabel(on[index] ?? '', place === 0) : shortDay(on[index] ?? ''),
    }))
  }
  return evenTicks(on, maxCount, shortDay)
}

const monthLabel = (on: string, isFirst: boolean): string =>
  isFirst || on.slice(5, 7) === '01' ? monthOfYear(on) : monthName(on)

/** Returns at most `maxCount` evenly spaced labels. */
export function evenTicks(on: readonly string[], maxCount: number, labelOf: (on: string) => string): Tick[] {
  const distance = Math.max(1, Math.ceil(on.length / Math.max(1, maxCount)))
  return on.flatMap((day, index) => (index % distance === 0 ? [{ index, label: labelOf(day) }] : []))
}
