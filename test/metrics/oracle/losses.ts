/**
 * Which losses are a period's, as the oracle sees it: it looks at the instant before the period begins, and whether it
 * was paid for then; and at the last loss in it, and whether it was paid for again before it ended.
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

/** Apple's month of a Pacific day, walked to from the end of the fiscal year before, as the weeks of its quarters are. */
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
 * Of each loss and each period that it is in: `returned`, told when it came back, or what it has that was not there when
 * the period began, `passing`.
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

/** When it was first paid for after an instant; null where it never was. */
export function backAfter(at: number, worths: readonly Worth[]): number | null {
  const back = worths.filter((one) => one.is_paid && one.from > at).map((one) => one.from)
  return back.length === 0 ? null : Math.min(...back)
}

/** What a loss takes of what was there right before `from`, of which it is no more than a part; null where nothing was. */
export function lossOfStart(at: number, from: number, worths: readonly Worth[], partOf: PartOf): Part | null {
  const start = worthAt(worths, from - 1)
  const last = worthAt(worths, at - 1)
  if (!start?.is_paid || !last) return null
  const isAlike = start.currency === last.currency
  const milli = isAlike ? Math.min(start.milli ?? 0, last.milli ?? 0) : (start.milli ?? 0)
  // What is not known of the end takes away all that there was.
  const end = last.base_milli ?? Infinity
  const base = start.base_milli === null ? null : Math.min(start.base_milli, end)
  return partOf(start, { currency: start.currency ?? '', milli, base_milli: start.milli === null ? 0 : base })
}
