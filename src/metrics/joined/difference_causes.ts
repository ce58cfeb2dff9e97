/** Attributes the difference between reports and ledger in a month to causes, day by day. */
import type { DayNumber } from '../lineage/calendar.ts'

/** Reports − ledger by cause; negative if the ledger has more. */
export type DifferenceCauses = {
  /** From a time or from subscriptions without any received notification. */
  before_first_notification: number
  /**
   * Refunds at upgrades, which the ledger estimates, and partial refunds, which the reports do not distinguish from
   * refunds at upgrades.
   */
  upgrade_proration: number
  /** Refunds that ledger and reports count on different days or at different rates, or that only one of them has. */
  refund_timing: number
  /** Amounts that the other source has on the day before the month, or on the day after it. */
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
 * Reports − ledger on a Pacific day, by charges, refunds and refunds at upgrades. `refunds` and `prorations` have the sign
 * with which the figure contains them. `exchange_rate`: the part of `charges` that rates cause. `reports`: Apple’s figure.
 */
export type DayDifference = {
  day: DayNumber
  charges: number
  refunds: number
  prorations: number
  exchange_rate: number
  reports: number
}

/** The causes of a month’s difference. `all`: all days with reports. From `completeFrom` the ledger has all facts. */
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

/** The amounts that ledger and reports count on different sides of midnight at the month’s start or end. */
function dayBoundaryDifference(
  month: readonly DayDifference[],
  all: readonly DayDifference[],
  completeFrom: DayNumber,
): number {
  const byDay = new Map(all.map((one) => [one.day, one]))
  const unexplainedOn = (day: DayNumber | undefined): number => {
    const one = day === undefined || day < completeFrom ? undefined : byDay.get(day)
    return one ? one.charges - one.exchange_rate : 0
  }
  const [first, last] = [month[0]?.day, month.at(-1)?.day]
  const movedAcross = (inside: number, outside: number): number =>
    inside * outside < 0 ? Math.sign(inside) * Math.min(Math.abs(inside), Math.abs(outside)) : 0
  const begin = first === undefined ? 0 : movedAcross(unexplainedOn(first), unexplainedOn(first - 1))
  const end =
    last === undefined || last === first ? 0 : movedAcross(unexplainedOn(last), unexplainedOn(last + 1))
  return begin + end
}
