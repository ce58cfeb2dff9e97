/** Labels of a time axis. Prefers whole weeks, months and years. */
import { fiscalMonth, type Interval, monthName, monthOfYear, shortDay } from '../words.ts'

export type Tick = { index: number; words: string }

const DAY_MS = 86_400_000
const dayNumber = (on: string): number => Date.parse(`${on}T00:00:00Z`) / DAY_MS
const monthNumber = (on: string): number => Number(on.slice(0, 4)) * 12 + Number(on.slice(5, 7)) - 1
/** 1970 began on a Thursday. */
const isMonday = (on: string): boolean => (dayNumber(on) + 3) % 7 === 0
const isEvenWeek = (on: string): boolean => Math.floor((dayNumber(on) + 3) / 7) % 2 === 0

type Step = { isMonths: boolean; has: (on: string) => boolean }
const MONTHS_APART = [1, 2, 3, 6, 12, 24, 60]

function stepsOf(interval: Interval): Step[] {
  const isFirst: Record<Interval, (on: string) => boolean> = {
    day: (on) => on.endsWith('-01'),
    week: (on) => Number(on.slice(8)) <= 7,
    month: () => true,
    fiscal_month: () => true,
  }
  const months = MONTHS_APART.map((apart) => ({
    isMonths: true,
    has: (on: string) => isFirst[interval](on) && monthNumber(on) % apart === 0,
  }))
  if (interval === 'month') return months
  const days: Step[] = [
    { isMonths: false, has: () => true },
    { isMonths: false, has: (on) => (interval === 'day' ? dayNumber(on) % 2 === 0 : isEvenWeek(on)) },
  ]
  if (interval === 'week') return [...days, ...months]
  return [
    ...days,
    { isMonths: false, has: isMonday },
    { isMonths: false, has: (on) => isMonday(on) && isEvenWeek(on) },
    ...months,
  ]
}

/** Labels fiscal months: every month, second, third … of a fiscal year. */
function fiscalTicks(on: readonly string[], most: number): Tick[] {
  const months = on.map((day) => fiscalMonth(day))
  for (const apart of MONTHS_APART) {
    const ticks = months.flatMap(({ number }, index) => (number % apart === 1 % apart ? [index] : []))
    if (ticks.length > most) continue
    if (ticks.length < 2 && on.length > 2) break
    return ticks.map((index, place) => ({ index, words: fiscalWords(on[index] ?? '', place === 0) }))
  }
  return evenTicks(on, most, (day) => fiscalWords(day, true))
}

function fiscalWords(on: string, isFirst: boolean): string {
  const { year, number } = fiscalMonth(on)
  return isFirst || number === 1 ? `FY${String(year % 100).padStart(2, '0')} P${number}` : `P${number}`
}

/** The densest labels that number at most `most`. A month label has the year on the first label and in January. */
export function timeTicks(on: readonly string[], interval: Interval, most: number): Tick[] {
  if (interval === 'fiscal_month') return fiscalTicks(on, most)
  for (const { isMonths, has } of stepsOf(interval)) {
    const places = on.flatMap((day, index) => (has(day) ? [index] : []))
    if (places.length > most) continue
    if (places.length < 2 && on.length > 2) break
    return places.map((index, place) => ({
      index,
      words: isMonths ? monthWords(on[index] ?? '', place === 0) : shortDay(on[index] ?? ''),
    }))
  }
  return evenTicks(on, most, shortDay)
}

const monthWords = (on: string, isFirst: boolean): string =>
  isFirst || on.slice(5, 7) === '01' ? monthOfYear(on) : monthName(on)

/** At most `most` evenly spaced labels. */
export function evenTicks(on: readonly string[], most: number, words: (on: string) => string): Tick[] {
  const apart = Math.max(1, Math.ceil(on.length / Math.max(1, most)))
  return on.flatMap((day, index) => (index % apart === 0 ? [{ index, words: words(day) }] : []))
}
