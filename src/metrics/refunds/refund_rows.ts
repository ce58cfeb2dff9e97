/** Computes the refunds of one lineage: what Apple gave back, why, and what it changed in MRR. */
import type { LineageFacts, RefundableFact } from '../effects/lineage_facts.ts'
import { type Flow, flowInBase, flowsOf, isRefundOrReversal, isUnpaidRevocation } from '../lineage/flows.ts'
import { type Movement, movementsOf, withLevels } from '../lineage/movements.ts'
import { proceedsOfFlow } from '../lineage/proceeds.ts'
import type { AppSettings } from '../lineage/settings.ts'
import { type Segment, timelineOf } from '../lineage/timeline.ts'

/** Apple’s reasons: those of the customer’s request, then those of the refund. not_given: Apple sent none. */
export const REFUND_REASONS = [
  'unintended_purchase',
  'fulfillment_issue',
  'unsatisfied_with_purchase',
  'legal',
  'app_issue',
  'other',
  'not_given',
] as const
export type RefundReason = (typeof REFUND_REASONS)[number]

/**
 * Why a refund of a subscription changes nothing in MRR. had_ended: no paid time was left. earlier_period: the subscription
 * goes on with a later purchase.
 */
export const NO_MRR_REASONS = ['had_ended', 'earlier_period'] as const

/**
 * A refund, or its reversal with negative amounts. Amounts are in thousandths: `milli` of `currency`, the others of the base
 * currency; null if a price or rate is unknown. `mrr_milli`: the change of MRR. `percentage`: of the price, in percent.
 */
export type RefundRow = {
  at: number
  kind: 'refund' | 'reversal'
  app_id: string
  original_transaction_id: string
  transaction_id: string
  product_id: string
  country: string | null
  purchased_at: number
  milli: number | null
  currency: string | null
  base_milli: number | null
  proceeds_milli: number | null
  mrr_milli: number | null
  no_mrr_reason: (typeof NO_MRR_REASONS)[number] | null
  reason: RefundReason
  revocation_type: string | null
  percentage: number | null
}

type Context = {
  app_id: string
  original_transaction_id: string
  settings: AppSettings
  /** The reason of the customer’s request, by transaction id. */
  requestReasons: ReadonlyMap<string, string>
}

/** Apple’s unit is a thousandth of a percent. */
const PER_PERCENT = 1_000

/** All refunds of a lineage and their reversals. */
export function refundRowsOf({ transactions, renewals }: LineageFacts, context: Context): RefundRow[] {
  const { settings, original_transaction_id } = context
  const { periodOf, factors, toBase } = settings
  const hasFirst = transactions.some(({ transaction_id }) => transaction_id === original_transaction_id)
  const segments = withLevels(timelineOf(transactions, renewals, periodOf), factors, toBase)
  const losses = movementsOf(segments, hasFirst, toBase).filter(({ kind }) => kind === 'churn_refund')
  const course = { segments, losses }
  const flows = flowsOf(transactions, hasFirst).filter(({ kind }) => isRefundOrReversal(kind))
  const factById = new Map(transactions.map((fact) => [fact.transaction_id, fact]))
  const priced = flows.flatMap((flow) => {
    const fact = factById.get(flow.transaction_id)
    return fact ? [{ ...rowOf(fact, flow.at, context, course), ...amountsOf(flow, settings) }] : []
  })
  const unpriced = transactions.flatMap((fact) =>
    fact.revoked_at !== null && isUnpriced(fact) ? [rowOf(fact, fact.revoked_at, context, course)] : [],
  )
  return [...priced, ...unpriced]
}

/** Whether Apple refunded a purchase whose price it has not sent. */
const isUnpriced = (fact: RefundableFact): boolean =>
  (fact.price_milli === null || fact.currency === null) &&
  (fact.ownership === null || fact.ownership === 'PURCHASED') &&
  !isUnpaidRevocation(fact)

/** The row without amounts. */
function rowOf(
  fact: RefundableFact,
  at: number,
  context: Context,
  { segments, losses }: { segments: readonly Segment[]; losses: readonly Movement[] },
): RefundRow {
  const { app_id, original_transaction_id, requestReasons } = context
  const { transaction_id, product_id, storefront, purchased_at, revocation_reason } = fact
  const isNewest = at === fact.revoked_at
  const { revocation_type, revocation_percentage } = isNewest ? fact : NO_REVOCATION
  const loss = losses.find((one) => one.transaction_id === transaction_id && one.at === at)
  return {
    at,
    kind: 'refund',
    app_id,
    original_transaction_id,
    transaction_id,
    product_id,
    country: storefront,
    purchased_at,
    milli: null,
    currency: fact.currency,
    base_milli: null,
    proceeds_milli: null,
    mrr_milli: loss ? lossMilli(loss) : 0,
    no_mrr_reason: loss ? null : noMrrReason(fact, at, segments),
    reason: reasonOf(requestReasons.get(transaction_id), isNewest ? revocation_reason : null),
    revocation_type,
    percentage: revocation_percentage === null ? null : revocation_percentage / PER_PERCENT,
  }
}

/** null for a purchase that is not a subscription. */
function noMrrReason(
  { expires_at }: RefundableFact,
  at: number,
  segments: readonly Segment[],
): RefundRow['no_mrr_reason'] {
  if (expires_at === null) return null
  if (segments.some(({ from, to }) => from <= at && at < to)) return 'earlier_period'
  return expires_at <= at ? 'had_ended' : null
}

const NO_REVOCATION = { revocation_type: null, revocation_percentage: null }

/** An unknown price has no currency. */
const lossMilli = ({ currency, base_milli }: Movement): number | null =>
  currency === null ? null : base_milli

const amountsOf = (flow: Flow, settings: AppSettings) => ({
  kind: flow.milli < 0 ? ('reversal' as const) : ('refund' as const),
  milli: flow.milli,
  base_milli: flowInBase(flow, settings.toBase),
  proceeds_milli: proceedsOfFlow(flow, settings)?.base_milli ?? null,
})

/** The reason of the request is more exact than that of the refund. */
export function reasonOf(requested: string | undefined, revocation_reason: number | null): RefundReason {
  const named = REFUND_REASONS.find((one) => one === requested?.toLowerCase())
  if (named !== undefined) return named
  if (revocation_reason === 1) return 'app_issue'
  return revocation_reason === null && requested === undefined ? 'not_given' : 'other'
}
