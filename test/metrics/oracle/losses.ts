/**
 * The oracle’s losses of a period. It checks whether a subscription was paid in the instant before the period, and
 * whether it was paid again after the last loss within it.
 */
import { type Days, mondayOf, nextDay, openDays } from './days.ts'
import { type Worth, worthAt } from './mrr_values.ts'
import type { Mark } from './oracle.ts'
import type { Part } from './sums.ts'

export const CHURNS = ['mrr.churn_voluntary', 'mrr.churn_billing', 'mrr.churn_refund', 'mrr.churn_other']

type PartOf = (worth: Worth, amount: Partial<Part>) => Part
type Period = { unit: string; from: number; until: number }

const UTC_DAY = 86_400_000
const plusDays = (on: string, count: number): string =>
  new Date(Date.parse(`${on}T00:00:00Z`) + count * UTC_DAY).toISOString().slice(0, 10)

/** The last Saturday of September. */
function yearEnd(year: number): string {
  let on = `${year}-09-30`
  while (new Date(`${on}T00:00:00Z`).getUTCDay() !== 6) on = plusDays(on, -1)
  return on
}

/** The fiscal month of a Pacific day, counted in quarters from the end of the previous fiscal year. */
export function fiscalMonth(on: string): { from: string; next: string } {
  const calendar_year = Number(on.slice(0, 4))
  const year = on > yearEnd(calendar_year) ? calendar_year + 1 : calendar_year
  let from = plusDays(yearEnd(year - 1), 1)
  const days = (Date.parse(yearEnd(year)) - Date.parse(from)) / UTC_DAY + 1
  const weeks = [5, 4, days === 371 ? 5 : 4, 5, 4, 4, 5, 4, 4, 5, 4, 4]
  for (const count of weeks) {
    const next = plusDays(from, 7 * count)
    if (on < next) return { from, next }
    from = next
  }
  throw new Error(`${on} is in no month of ${year}`)
}

/** The day, week, month and fiscal month of an instant. */
function periodsOf(at: number, days: Days, pacific: Days): Period[] {
  const on = days.dayOf(at)
  const monday = mondayOf(on)
  const first = `${on.slice(0, 7)}-01`
  const next = `${plusDays(first, 31).slice(0, 7)}-01`
  const fiscal = fiscalMonth(pacific.dayOf(at))
  return [
    { unit: 'day', from: days.startOf(on), until: days.startOf(nextDay(on)) },
    { unit: 'week', from: days.startOf(monday), until: days.startOf(plusDays(monday, 7)) },
    { unit: 'month', from: days.startOf(first), until: days.startOf(next) },
    { unit: 'fiscal_month', from: pacific.startOf(fiscal.from), until: pacific.startOf(fiscal.next) },
  ]
}

const pacific = openDays('America/Los_Angeles')

/**
 * The corrections of each loss for each period that contains it: `returned`, at the return, or `passing`, the part that
 * did not exist at the period’s start.
 */
export function uncountedMarks(moved: readonly Mark[], worths: readonly Worth[], days: Days, partOf: PartOf) {
  return moved
    .filter(({ measure }) => CHURNS.includes(measure))
    .flatMap((lost) =>
      periodsOf(lost.at, days, pacific).flatMap(({ unit, from, until }): Mark[] => {
        const back = backAfter(lost.at, worths)
        if (back !== null && back < until) return [{ ...lost, measure: `returned.${unit}`, known_at: back }]
        const measure = `passing.${unit}.${lost.measure.slice('mrr.churn_'.length)}`
        const there = lossOfStart(lost.at, from, worths, partOf)
        return [{ ...lost, measure }, ...(there === null ? [] : [{ ...lost, ...there, measure }])]
      }),
    )
}

/** When it was next paid after an instant; null if never. */
export function backAfter(at: number, worths: readonly Worth[]): number | null {
  const back = worths.filter((one) => one.is_paid && one.from > at).map((one) => one.from)
  return back.length === 0 ? null : Math.min(...back)
}

/** The part of a loss that existed directly before `from`; null where nothing did. */
export function lossOfStart(at: number, from: number, worths: readonly Worth[], partOf: PartOf): Part | null {
  const start = worthAt(worths, from - 1)
  const last = worthAt(worths, at - 1)
  if (!start?.is_paid || !last) return null
  const isAlike = start.currency === last.currency
  const milli = isAlike ? Math.min(start.milli ?? 0, last.milli ?? 0) : (start.milli ?? 0)
  // A loss of unknown value takes away everything that there was.
  const end = last.base_milli ?? Infinity
  const base = start.base_milli === null ? null : Math.min(start.base_milli, end)
  return partOf(start, { currency: start.currency ?? '', milli, base_milli: start.milli === null ? 0 : base })
}
