/** What we compute: why a month of the reports and of the ledger differ, from their days. */
import type { DayNumber } from '../lineage/calendar.ts'

/** How much less the ledger has than the reports, by cause; below zero where it has more. */
export type DifferenceCauses = {
  /** Nothing had been heard then, or of that. */
  before_first_notification: number
  /** Parts given back at upgrades: Apple tells nobody, the ledger estimates them; refunds in part, which it writes alike. */
  upgrade_proration: number
  /** Refunds that the two count on other days or convert at the rates of other days, or one of them not. */
  refund_timing: number
  /** What the other has in the day before the month's first, or after its last. */
  day_boundary: number
  /** The same money by the rate of another day. */
  exchange_rate: number
  /** Neither source counts what a family shares: always nothing. */
  family_sharing: number
  unknown: number
}

export const NO_CAUSES: DifferenceCauses = {
  before_first_notification: 0,
  upgrade_proration: 0,
  refund_timing: 0,
  day_boundary: 0,
  exchange_rate: 0,
  family_sharing: 0,
  unknown: 0,
}

/**
 * Of a Pacific day how much more the reports have than the ledger: of charges, and with the sign they have in the figure
 * of refunds and of parts given back. `exchange_rate` is the part of `charges` that is the rate's. `reports`: Apple's figure.
 */
export type DayDifference = {
  day: DayNumber
  charges: number
  refunds: number
  prorations: number
  exchange_rate: number
  reports: number
}

/** The causes of a month's difference, out of `all` the days there are; from the day `heard` on the ledger hears all. */
export function differenceCauses(
  month: readonly DayDifference[],
  all: readonly DayDifference[],
  completeFrom: DayNumber,
): DifferenceCauses {
  const causes = { ...NO_CAUSES }
  for (const one of month) {
    if (one.day < completeFrom) causes.before_first_notification += one.charges + one.refunds + one.prorations
    else {
      causes.upgrade_proration += one.prorations
      causes.refund_timing += one.refunds
      causes.exchange_rate += one.exchange_rate
      causes.unknown += one.charges - one.exchange_rate
    }
  }
  causes.day_boundary = dayBoundaryDifference(month, all, completeFrom)
  causes.unknown -= causes.day_boundary
  return causes
}

/** What one day has too much and the next too little was counted on the other side of midnight. */
function dayBoundaryDifference(
  month: readonly DayDifference[],
  all: readonly DayDifference[],
  completeFrom: DayNumber,
): number {
  const byDay = new Map(all.map((one) => [one.day, one]))
  const restOf = (day: DayNumber | undefined): number => {
    const one = day === undefined || day < completeFrom ? undefined : byDay.get(day)
    return one ? one.charges - one.exchange_rate : 0
  }
  const [first, last] = [month[0]?.day, month.at(-1)?.day]
  const moved = (inside: number, outside: number): number =>
    inside * outside < 0 ? Math.sign(inside) * Math.min(Math.abs(inside), Math.abs(outside)) : 0
  const begin = first === undefined ? 0 : moved(restOf(first), restOf(first - 1))
  const end = last === undefined || last === first ? 0 : moved(restOf(last), restOf(last + 1))
  return begin + end
}
