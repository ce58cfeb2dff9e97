/** Finds when a paid subscription had renewal turned off or awaited a payment, and the value of the subscription then. */
import { committedUntil } from '../../ledger/subscription.ts'
import type { ValuedSegment } from './movements.ts'
import { countSignedBefore } from './signing.ts'
import type { RenewalFact, TransactionFact } from './timeline.ts'

/**
 * will_cancel: will not renew. committed: will not renew after the remaining periods of a commitment. grace: the customer
 * keeps access while Apple retries the payment. billing_retry: the customer has no access while Apple retries the payment.
 */
export type Risk = 'will_cancel' | 'committed' | 'grace' | 'billing_retry'

/** An interval `[from, to)` in milliseconds since the epoch. `to` is Infinity for a retry that has not ended. */
export type RiskSpan = { risk: Risk; from: number; to: number; segment: ValuedSegment }

type Facts = { transactions: readonly TransactionFact[]; renewals: readonly RenewalFact[] }
type Span = { from: number; to: number }

/**
 * The risk spans of one lineage. Spans do not overlap. Paid time without a span is set to renew. At each instant the newest
 * renewal info signed by that instant decides. Infos signed before the latest purchase are ignored, because they describe
 * the previous subscription. `renewals` are ordered by signing time.
 */
export function risksOf(segments: readonly ValuedSegment[], { transactions, renewals }: Facts): RiskSpan[] {
  if (!renewals.some(hasRisk)) return []
  const factById = new Map(transactions.map((fact) => [fact.transaction_id, fact]))
  const purchases = transactions.filter(({ reason }) => reason === 'PURCHASE')
  const purchaseDates = purchases.map(({ purchased_at }) => purchased_at).sort((a, b) => a - b)
  let begun_count = 0
  return segments.flatMap((segment, index) => {
    const fact = factById.get(segment.transaction_id)
    if (!fact) return []
    // Segments are in order of purchase.
    while ((purchaseDates[begun_count] ?? Infinity) <= fact.purchased_at) begun_count += 1
    if (!segment.level.alive) return []
    const until = segments[index + 1]?.from ?? Infinity
    const since = purchaseDates[begun_count - 1] ?? -Infinity
    return spansOf(segment, fact, { renewals, since, until }).filter(({ from, to }) => from < to)
  })
}

const hasRisk = ({ auto_renew_status, in_billing_retry, grace_until_at }: RenewalFact): boolean =>
  auto_renew_status === 0 || in_billing_retry === 1 || grace_until_at !== null

/** `since`: the instant of the last purchase. `until`: the start of the next segment. */
type RiskContext = { renewals: readonly RenewalFact[]; since: number; until: number }

function spansOf(
  segment: ValuedSegment,
  fact: TransactionFact,
  { renewals, since, until }: RiskContext,
): RiskSpan[] {
  const { from, to, ending } = segment
  const { purchased_at, expires_at } = fact
  const paid_to = Math.min(Math.max(from, expires_at ?? purchased_at), to)
  const toRiskSpan =
    (risk: Risk) =>
    ({ from, to }: Span): RiskSpan => ({ risk, from, to, segment })
  const turnedOff = spansWhere(renewals, { since, from, to: paid_to }, isTurnedOff)
  // A refunded purchase does not await a payment.
  const retried =
    ending === 'refund' ? [] : spansWhere(renewals, { since: purchased_at, from: to, to: until }, isRetried)
  return [
    ...turnedOff.map(toRiskSpan(committedUntil(fact) === null ? 'will_cancel' : 'committed')),
    toRiskSpan('grace')({ from: paid_to, to }),
    ...retried.map(toRiskSpan('billing_retry')),
  ]
}

const isTurnedOff = ({ auto_renew_status }: RenewalFact): boolean => auto_renew_status === 0
const isRetried = ({ in_billing_retry }: RenewalFact): boolean => in_billing_retry === 1

/** The spans within an interval during which the newest info matches. Infos signed before `since` are ignored. */
function spansWhere(
  renewals: readonly RenewalFact[],
  { since, from, to }: Span & { since: number },
  matches: (info: RenewalFact) => boolean,
): Span[] {
  const spans: Span[] = []
  // Begins with the newest info before the interval, then reads the infos signed within the interval.
  const first = Math.max(countSignedBefore(renewals, since), countSignedBefore(renewals, from) - 1)
  for (let index = first; index < renewals.length; index += 1) {
    const info = renewals[index]
    if (info === undefined || info.signed_at >= to) break
    const begin = Math.max(from, info.signed_at)
    const end = Math.min(to, renewals[index + 1]?.signed_at ?? Infinity)
    if (begin >= end || !matches(info)) continue
    const last = spans.at(-1)
    if (last?.to === begin) last.to = end
    else spans.push({ from: begin, to: end })
  }
  return spans
}
