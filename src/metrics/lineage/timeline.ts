/**
 * Computes the timeline of a subscription from all of its transactions and renewal infos. The newest info alone is not
 * enough, because Apple sends grace dates and expiration reasons only while they apply.
 */
import type { TransactionRow } from '../../ledger/transactions.ts'
import { isRetry, isRetryEnd } from './retries.ts'
import { countSignedBefore, signedWithin } from './signing.ts'

/** trial: a free introductory offer. free_offer: any other free offer. intro, offer: paid offers. */
export type SegmentKind = 'trial' | 'free_offer' | 'intro' | 'offer' | 'paid'

/** Why paid time ended without a following segment. */
export type Ending = 'voluntary' | 'billing' | 'refund' | 'other'

/** An interval `[from, to)` of one kind of access, in milliseconds since the epoch. `period`: an ISO 8601 duration. */
export type Segment = {
  transaction_id: string
  product_id: string
  kind: SegmentKind
  from: number
  to: number
  price_milli: number | null
  currency: string | null
  period: string | null
  storefront: string | null
  /** Why the segment ended. Ignored if another segment follows without a gap. */
  ending: Ending
}

export type TransactionFact = Pick<
  TransactionRow,
  | 'environment'
  | 'transaction_id'
  | 'product_id'
  | 'kind'
  | 'group_id'
  | 'reason'
  | 'ownership'
  | 'quantity'
  | 'price_milli'
  | 'currency'
  | 'storefront'
  | 'purchased_at'
  | 'expires_at'
  | 'earliest_expires_at'
  | 'offer_type'
  | 'offer_discount'
  | 'offer_period'
  | 'is_upgraded'
  | 'revoked_at'
  | 'revocation_type'
  | 'revocation_percentage'
  | 'reversed_refunds'
  | 'billing_plan'
  | 'commitment'
>

export type RenewalFact = {
  signed_at: number
  grace_until_at: number | null
  expiration_intent: number | null
  in_billing_retry: number | null
  auto_renew_status: number | null
}

/** The subscription period of a product; null if Apple has not sent it. */
export type PeriodOf = (product_id: string) => string | null

const DAY_MS = 86_400_000
const VOLUNTARY_INTENT = 1
const BILLING_INTENT = 2

/** Apple's standard durations, in days. */
const STANDARD_PERIODS: readonly (readonly [period: string, days: number])[] = [
  ['P1W', 7],
  ['P1M', 30.4],
  ['P2M', 60.9],
  ['P3M', 91.3],
  ['P6M', 182.6],
  ['P1Y', 365.3],
]

/**
 * A transaction from which a segment is computed. `paid_to`: the end of the paid time, without grace. `until`: the instant
 * of the lineage’s next purchase. `isRetried`: Apple retried the payment of the next period and did not collect it.
 */
type Draft = {
  fact: TransactionFact
  from: number
  to: number
  paid_to: number
  until: number
  isRetried: boolean
}

/**
 * The segments of one lineage, in order and without overlap. Family members and assigned seats have no segments, because
 * they do not pay. If several renewal infos were signed at the same instant, the last one in `renewals` applies. Takes
 * O(n log n), because it runs for each new fact of a lineage that may have thousands of facts.
 */
export function timelineOf(
  transactions: readonly TransactionFact[],
  renewals: readonly RenewalFact[],
  periodOf: PeriodOf,
): Segment[] {
  const purchases = transactions.filter(isPaidSubscription).sort(byPurchaseDate)
  const infos = [...renewals].sort((a, b) => a.signed_at - b.signed_at)
  const drafts: Draft[] = []
  for (const [index, fact] of purchases.entries()) {
    const draft = draftOf(fact, purchases[index + 1]?.purchased_at ?? Infinity, infos)
    appendDraft(drafts, draft)
  }
  return drafts.map((draft) => segmentOf(draft, infos, periodOf))
}

/** Whether a transaction is of a subscription that the customer pays for. */
export const isPaidSubscription = ({ kind, group_id, ownership }: TransactionFact): boolean =>
  (kind === 'Auto-Renewable Subscription' || (kind === null && group_id !== null)) &&
  (ownership === null || ownership === 'PURCHASED')

/** Orders by purchase date, then by id. Ids are numeric strings, so a longer id is greater. */
export function byPurchaseDate(a: TransactionFact, b: TransactionFact): number {
  const byId = () =>
    a.transaction_id.length - b.transaction_id.length || (a.transaction_id < b.transaction_id ? -1 : 1)
  return a.purchased_at - b.purchased_at || byId()
}

function draftOf(fact: TransactionFact, until: number, infos: readonly RenewalFact[]): Draft {
  const { purchased_at } = fact
  const expires_at = fact.expires_at ?? purchased_at
  // Infos signed before the purchase describe an earlier period, so their grace and retry are ignored.
  const infosInPeriod = signedWithin(infos, purchased_at, until)
  // A retry that ends within the paid time was about the payment of this period, so its grace does not extend it.
  const startPaid = infosInPeriod.findLastIndex((info) => isRetryEnd(info) && info.signed_at < expires_at)
  const grace_until = infosInPeriod
    .slice(startPaid + 1)
    .reduce((latest, { grace_until_at }) => Math.max(latest, grace_until_at ?? 0), 0)
  const revoked_at = fact.revoked_at ?? Infinity
  const to = Math.min(Math.max(expires_at, grace_until), revoked_at)
  const isRetried = infosInPeriod.findLastIndex(isRetry) > infosInPeriod.findLastIndex(isRetryEnd)
  return { fact, from: purchased_at, to, paid_to: Math.min(expires_at, revoked_at), until, isRetried }
}

/** Appends a draft after trimming the previous drafts. Drops drafts without duration. */
function appendDraft(drafts: Draft[], draft: Draft): void {
  for (let before = drafts.at(-1); before; before = drafts.at(-1)) {
    trimToNext(before, draft)
    if (before.to > before.from) break
    drafts.pop()
  }
  if (draft.to > draft.from) drafts.push(draft)
}

/** Removes the overlap of two drafts. A renewal ends a grace period, and begins after the paid time before it. */
function trimToNext(before: Draft, draft: Draft): void {
  if (!replaces(draft.fact, before.fact)) draft.from = Math.max(draft.from, before.paid_to)
  before.to = Math.min(before.to, draft.from)
}

/** Whether a purchase replaces the previous purchase before that expires. A renewal does not. */
export function replaces(fact: TransactionFact, before: TransactionFact): boolean {
  const isRenewal =
    fact.reason === 'RENEWAL' || (fact.reason === null && fact.product_id === before.product_id)
  return !isRenewal || before.is_upgraded === 1
}

function segmentOf(draft: Draft, infos: readonly RenewalFact[], periodOf: PeriodOf): Segment {
  const { fact, from, to } = draft
  const { transaction_id, product_id, price_milli, currency, storefront } = fact
  const ending = to === fact.revoked_at ? 'refund' : endingOf(draft, infos)
  return {
    transaction_id,
    product_id,
    kind: kindOf(fact),
    from,
    to,
    price_milli,
    currency,
    period: periodFor(fact, periodOf),
    storefront,
    ending,
  }
}

/**
 * The newest renewal info signed for a transaction before `until`. Apple may sign the info of a renewal up to a day before
 * its purchase date. The info of any other purchase is never signed before the purchase date.
 */
function newestInfoOf(
  infos: readonly RenewalFact[],
  { purchased_at, reason }: TransactionFact,
  until: number,
): RenewalFact | undefined {
  const newest = infos[countSignedBefore(infos, until) - 1]
  const from = reason === 'PURCHASE' ? purchased_at : purchased_at - DAY_MS
  return newest !== undefined && newest.signed_at >= from ? newest : undefined
}

/**
 * Why a draft ended. If a payment failed and was not collected, the ending stays `billing`, even if Apple reports another
 * reason when it stops retrying after 60 days. Otherwise the newest info decides: by its expiration reason or, without a
 * reason, by whether renewal was turned on.
 */
function endingOf({ fact, until, isRetried }: Draft, infos: readonly RenewalFact[]): Ending {
  if (isRetried) return 'billing'
  const newest = newestInfoOf(infos, fact, until)
  if (newest === undefined) return 'other'
  const { expiration_intent, auto_renew_status } = newest
  if (expiration_intent === BILLING_INTENT) return 'billing'
  if (expiration_intent === VOLUNTARY_INTENT) return 'voluntary'
  return expiration_intent === null && auto_renew_status === 0 ? 'voluntary' : 'other'
}

/** The kind of a transaction’s segment: free, at an offer price or at the regular price. */
export function kindOf({ offer_type, offer_discount }: TransactionFact): SegmentKind {
  if (offer_type === null) return 'paid'
  if (offer_discount === 'FREE_TRIAL') return offer_type === 1 ? 'trial' : 'free_offer'
  return offer_type === 1 ? 'intro' : 'offer'
}

/**
 * The period that one price covers. The offer’s period applies only to an offer paid upfront, whose price covers the whole
 * offer. A commitment is paid monthly, whatever the product’s period is. If the product’s period is unknown, it is
 * estimated from the dates. Extended expiry dates are not used, nor sandbox dates, where a month takes minutes.
 */
export function periodFor(fact: TransactionFact, periodOf: PeriodOf): string | null {
  if (fact.offer_discount === 'PAY_UP_FRONT' && fact.offer_period !== null) return fact.offer_period
  if (fact.billing_plan === 'MONTHLY') return 'P1M'
  return periodOf(fact.product_id) ?? nearestStandardPeriod(fact)
}

function nearestStandardPeriod({
  environment,
  earliest_expires_at,
  purchased_at,
}: TransactionFact): string | null {
  if (environment !== 'production' || earliest_expires_at === null) return null
  const days = (earliest_expires_at - purchased_at) / DAY_MS
  const distance = ([, standard]: (typeof STANDARD_PERIODS)[number]) => Math.abs(Math.log(days / standard))
  if (!(days > 0)) return null
  return STANDARD_PERIODS.reduce((best, one) => (distance(one) < distance(best) ? one : best))[0]
}
