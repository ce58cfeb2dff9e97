/** Defines report cells: the amounts that one row of a report adds to sums, before conversion. */
import type { SegmentKind } from '../lineage/timeline.ts'
import type { Interval } from '../series/buckets.ts'

/**
 * Levels at the end of a Pacific day. mrr.proceeds: the proceeds of mrr. mrr.unshared: the mrr of rows without proceeds.
 * grace: customers in a grace period, who are also included in mrr or trials.
 */
type LevelMeasure = 'mrr' | 'mrr.proceeds' | 'mrr.unshared' | 'trials' | 'billing_retry' | 'grace'
/**
 * Amounts on a Pacific day; refunds are positive. `proration` contains all partial refunds, because Apple does not
 * distinguish refunds at upgrades from partial refunds. `revenue`: what customers paid. `proceeds`: the developer’s
 * proceeds. `unshared`: the revenue of rows without proceeds.
 */
export type MoneyMeasure =
  `${'revenue' | 'proceeds' | 'unshared'}.${'new' | 'renewal' | 'one_time' | 'refund' | 'proration'}`
/** The periods of churn. A return within the period of the loss cancels the loss. */
export type LossWindow = Interval | 'fiscal_month'
/** The reason that Apple reports for the end of a subscription. */
export type CancellationReason = 'voluntary' | 'billing' | 'other'
/**
 * Counts of a Pacific day. `trial.lost`: trials that ended without a payment. `paid.direct`, `paid.after_trial`: first
 * payments without and with a trial directly before. `churned`: paid subscriptions that ended. `passing`: churned
 * subscriptions that had begun within the same period. `returned`: reactivations of subscriptions that ended within the
 * period and had begun before it.
 */
export type EventMeasure =
  | 'trial.began'
  | 'trial.won'
  | 'trial.lost'
  | `paid.${'direct' | 'after_trial'}`
  | `churned.${CancellationReason}`
  | `passing.${LossWindow}.${CancellationReason}`
  | `returned.${LossWindow}`
export type ReportedMeasure = LevelMeasure | MoneyMeasure | EventMeasure | 'downloads'

/** The kinds of reports that are summed. */
export type SummedKind = 'subscription' | 'sales' | 'subscription_event'
export const SUMMED_KINDS: readonly SummedKind[] = ['sales', 'subscription', 'subscription_event']

const LEVELS: readonly string[] = ['mrr', 'mrr.proceeds', 'mrr.unshared', 'trials', 'billing_retry', 'grace']

export function kindOfMeasure(measure: string): SummedKind {
  if (LEVELS.includes(measure)) return 'subscription'
  return /^(trial|churned|passing|returned|paid|mrr\.churn_)/.test(measure) ? 'subscription_event' : 'sales'
}

/**
 * `number`: Apple’s number of the product; '' for the app itself. `storefront`: alpha-3. `period`: an ISO 8601 duration;
 * '' if there is none. `milli`: thousandths of `currency`.
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

/** The cells of an app by key. Cells with the same key are summed. */
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
