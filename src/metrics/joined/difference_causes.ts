/** Attributes the difference between reports and ledger in a month to causes, day by day. */
import type { DayNumber } from '../lineage/calendar.ts'

/** How much less the ledger has than the reports, by cause; negative where it has more. */
export type DifferenceCauses = {
  /** From a time or subscriptions without any notification. */
  before_first_notification: number
  /**
   * Amounts returned at upgrades, which the ledger estimates, and partial refunds, which the reports do not
   * distinguish.
   */
  upgrade_proration: number
  /** Refunds that the two count on different days or at different rates, or that only one counts. */
  refund_timing: number
  /** What the other source has on the day before the month, or after it. */
  day_boundary: number
  /** The same amount at the rate of another day. */
  exchange_rate: number
  /** Always zero: neither source counts family sharing. */
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
 * How much more the reports have than the ledger on a Pacific day: charges, refunds and returned amounts, the latter
 * two signed as in the figure. `exchange_rate` is the part of `charges` due to rates. `reports`: Apple’s figure.
 */
export type DayDifference = {
  day: DayNumber
  charges: number
  refunds: number
  prorations: number
  exchange_rate: number
  reports: number
}

/** The causes of a month’s difference, from `all` available days; from `completeFrom` the ledger has everything. */
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

/** An excess on one day and a shortfall on the next were counted across midnight. */
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
