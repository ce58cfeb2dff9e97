/** What we compute: when a paid subscription was not to be renewed, or waited for a payment, and what it was worth then. */
import type { Valued } from './movements.ts'
import type { RenewalFact, TransactionFact } from './timeline.ts'

/** grace: access goes on while Apple tries to collect. billing_retry: Apple tries, and there is no access. */
export type Risk = 'will_cancel' | 'grace' | 'billing_retry'

/** A stretch `[from, to)`, in milliseconds since the epoch; of a retry that nothing has ended, `to` is Infinity. */
export type RiskSpan = { risk: Risk; from: number; to: number; segment: Valued }

type Facts = { transactions: readonly TransactionFact[]; renewals: readonly RenewalFact[] }
type Span = { from: number; to: number }

/**
 * Of the segments of one lineage, each paid one told once at any instant; what is in none of the stretches is to be
 * renewed. At every instant the newest renewal info signed until then holds, but for those signed before the customer
 * bought again: they speak of the subscription that ended. `renewals` are ordered by their signing.
 */
export function risksOf(segments: readonly Valued[], { transactions, renewals }: Facts): RiskSpan[] {
  if (!renewals.some(saysRisk)) return []
  const facts = new Map(transactions.map((fact) => [fact.transaction_id, fact]))
  const purchases = transactions.filter(({ reason }) => reason === 'PURCHASE')
  return segments.flatMap((segment, index) => {
    const fact = facts.get(segment.transaction_id)
    if (!segment.level.alive || !fact) return []
    const until = segments[index + 1]?.from ?? Infinity
    const begun_at = Math.max(
      ...purchases.map(({ purchased_at }) => (purchased_at <= fact.purchased_at ? purchased_at : -Infinity)),
    )
    const since = renewals.filter(({ signed_at }) => signed_at >= begun_at)
    return spansOf(segment, fact, { renewals: since, until }).filter(({ from, to }) => from < to)
  })
}

const saysRisk = ({ auto_renew_status, in_billing_retry, grace_until_at }: RenewalFact): boolean =>
  auto_renew_status === 0 || in_billing_retry === 1 || grace_until_at !== null

type After = { renewals: readonly RenewalFact[]; until: number }

function spansOf(segment: Valued, fact: TransactionFact, { renewals, until }: After): RiskSpan[] {
  const { from, to, ending } = segment
  const { purchased_at, expires_at } = fact
  const paid_to = Math.min(Math.max(from, expires_at ?? purchased_at), to)
  const as =
    (risk: Risk) =>
    ({ from, to }: Span): RiskSpan => ({ risk, from, to, segment })
  const own = renewals.filter(({ signed_at }) => signed_at >= purchased_at)
  // What Apple took back waits for nothing.
  const retried = ending === 'refund' ? [] : whenever(own, { from: to, to: until }, isRetried)
  return [
    ...whenever(renewals, { from, to: paid_to }, isTurnedOff).map(as('will_cancel')),
    as('grace')({ from: paid_to, to }),
    ...retried.map(as('billing_retry')),
  ]
}

const isTurnedOff = ({ auto_renew_status }: RenewalFact): boolean => auto_renew_status === 0
const isRetried = ({ in_billing_retry }: RenewalFact): boolean => in_billing_retry === 1

/** The parts of a stretch in which the newest info signed until then says so. */
function whenever(
  renewals: readonly RenewalFact[],
  { from, to }: Span,
  says: (info: RenewalFact) => boolean,
): Span[] {
  const spans: Span[] = []
  for (const [index, info] of renewals.entries()) {
    const begin = Math.max(from, info.signed_at)
    const end = Math.min(to, renewals[index + 1]?.signed_at ?? Infinity)
    if (begin >= end || !says(info)) continue
    const last = spans.at(-1)
    if (last?.to === begin) last.to = end
    else spans.push({ from: begin, to: end })
  }
  return spans
}
