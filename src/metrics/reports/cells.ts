/** What we compute: what one row of a report adds to which sums, before it is converted. */
import type { SegmentKind } from '../lineage/timeline.ts'
import type { Interval } from '../series/buckets.ts'

/**
 * Levels at the end of a Pacific day. mrr.proceeds is the developer's part of mrr, but for mrr.unshared, of which no
 * report names that part. grace is within mrr (or
 * trials), too: who is in it still has what was paid for.
 */
type LevelMeasure = 'mrr' | 'mrr.proceeds' | 'mrr.unshared' | 'trials' | 'billing_retry' | 'grace'
/**
 * Money that moved on a Pacific day, what was given back above zero. `proration` is every part given back: Apple writes
 * upgrades and refunds in part alike. `revenue` is what customers paid, `proceeds` what the developer gets of it, but
 * for `unshared`, which is what customers paid where no report names that part.
 */
export type MoneyMeasure =
  `${'revenue' | 'proceeds' | 'unshared'}.${'new' | 'renewal' | 'one_time' | 'refund' | 'proration'}`
/** The stretches of days within which a loss may be taken back. */
export type LossWindow = Interval | 'fiscal_month'
/** Why Apple says that a subscription ended. */
export type CancellationReason = 'voluntary' | 'billing' | 'other'
/**
 * Counts of a Pacific day. `trial.lost`: a trial that ended and was not paid for. `paid.direct`: began with a payment.
 * `churned`: paid subscriptions that ended; `passing`: those of them that began within the same unit of time;
 * `returned`: reactivations of what ended within it and began before it.
 */
export type EventMeasure =
  | 'trial.began'
  | 'trial.won'
  | 'trial.lost'
  | 'paid.direct'
  | `churned.${CancellationReason}`
  | `passing.${LossWindow}.${CancellationReason}`
  | `returned.${LossWindow}`
export type ReportedMeasure = LevelMeasure | MoneyMeasure | EventMeasure | 'downloads'

/** The reports that measures come from. */
export type SummedKind = 'subscription' | 'sales' | 'subscription_event'
export const SUMMED_KINDS: readonly SummedKind[] = ['sales', 'subscription', 'subscription_event']

const LEVELS: readonly string[] = ['mrr', 'mrr.proceeds', 'mrr.unshared', 'trials', 'billing_retry', 'grace']

export function kindOfMeasure(measure: string): SummedKind {
  if (LEVELS.includes(measure)) return 'subscription'
  return /^(trial|churned|passing|returned|paid|mrr\.churn_)/.test(measure) ? 'subscription_event' : 'sales'
}

/**
 * `number` is Apple's number of the product, '' for the app itself; `storefront` alpha-3; `period` an ISO 8601 duration,
 * '' where there is none. `milli` is in `currency`.
 */
export type ReportCell = {
  measure: ReportedMeasure
  number: string
  storefront: string
  period: string
  offer: SegmentKind | 'none'
  currency: string
  milli: number
  count: number
}

/** Cells of an app, those of the same kind summed. */
export type ReportCells = Map<string, ReportCell>

export function addCell(cells: ReportCells, cell: ReportCell): void {
  if (cell.milli === 0 && cell.count === 0) return
  const { measure, number, storefront, period, offer, currency } = cell
  const key = `${measure}\t${number}\t${storefront}\t${period}\t${offer}\t${currency}`
  const sum = cells.get(key)
  if (sum === undefined) return void cells.set(key, { ...cell })
  sum.milli += cell.milli
  sum.count += cell.count
}
