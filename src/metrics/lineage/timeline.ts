/**
 * Computes the timeline of a subscription from all of its transactions and renewal infos: Apple sends grace dates and
 * expiration reasons only while they apply, so the newest info alone would rewrite the past.
 */
import type { TransactionRow } from '../../ledger/transactions.ts'
import { signedBefore, signedWithin } from './signing.ts'

/** trial: a free introductory offer. free_offer: any other free offer. intro, offer: paid offers. */
export type SegmentKind = 'trial' | 'free_offer' | 'intro' | 'offer' | 'paid'

/** Why paid time ended, where no segment follows. */
export type Ending = 'voluntary' | 'billing' | 'refund' | 'other'

/** An interval `[from, to)` of one right, in milliseconds since the epoch. `period` is an ISO 8601 duration. */
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
  /** Why it ended; applies if no segment follows. */
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

/** The subscription period of a product; null where Apple has not sent it. */
export type PeriodOf = (product_id: string) => string | null

const DAY_MS = 86_400_000
const VOLUNTARY = 1
const BILLING = 2

/** Apple's standard durations, in days. */
const STANDARD: readonly (readonly [period: string, days: number])[] = [
  ['P1W', 7],
  ['P1M', 30.4],
  ['P2M', 60.9],
  ['P3M', 91.3],
  ['P6M', 182.6],
  ['P1Y', 365.3],
]

/**
 * A transaction before it becomes a segment. `until`: the instant of the lineage’s next purchase. `isRetried`: Apple
 * retried the payment of the next period.
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
 * The segments of one lineage, in order and without overlap. Only for paying customers: family members and assigned
 * seats have none. Of renewal infos signed at the same instant the last one applies. Costs no more than sorting: it
 * runs for each fact of a lineage, which may have thousands.
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
    append(drafts, draft)
  }
  return drafts.map((draft) => segmentOf(draft, infos, periodOf))
}

/** Whether a transaction is of a subscription that the customer pays for. */
export const isPaidSubscription = ({ kind, group_id, ownership }: TransactionFact): boolean =>
  (kind === 'Auto-Renewable Subscription' || (kind === null && group_id !== null)) &&
  (ownership === null || ownership === 'PURCHASED')

/** Orders by purchase date, then by id. Ids are numeric strings: a longer one is greater. */
export function byPurchaseDate(a: TransactionFact, b: TransactionFact): number {
  const byId = () =>
    a.transaction_id.length - b.transaction_id.length || (a.transaction_id < b.transaction_id ? -1 : 1)
  return a.purchased_at - b.purchased_at || byId()
}

function draftOf(fact: TransactionFact, until: number, infos: readonly RenewalFact[]): Draft {
  const { purchased_at } = fact
  const expires_at = fact.expires_at ?? purchased_at
  // A renewal cannot fail, nor a grace period begin, before the purchase of the period that it follows.
  const infosInPeriod = signedWithin(infos, purchased_at, until)
  const grace_until = infosInPeriod.reduce(
    (most, { grace_until_at }) => Math.max(most, grace_until_at ?? 0),
    0,
  )
  const revoked_at = fact.revoked_at ?? Infinity
  const to = Math.min(Math.max(expires_at, grace_until), revoked_at)
  const isRetried = infosInPeriod.some(({ in_billing_retry }) => in_billing_retry === 1)
  return { fact, from: purchased_at, to, paid_to: Math.min(expires_at, revoked_at), until, isRetried }
}

/** Appends a transaction. Drops a previous one that had no duration. */
function append(drafts: Draft[], draft: Draft): void {
  for (let before = drafts.at(-1); before; before = drafts.at(-1)) {
    trimToNext(before, draft)
    if (before.to > before.from) break
    drafts.pop()
  }
  if (draft.to > draft.from) drafts.push(draft)
}

/** A renewal charged early begins where the previous paid time ends. It also ends a grace period. */
function trimToNext(before: Draft, draft: Draft): void {
  if (!replaces(draft.fact, before.fact)) draft.from = Math.max(draft.from, before.paid_to)
  before.to = Math.min(before.to, draft.from)
}

/** Whether a purchase replaces an unfinished one: any purchase that is not its renewal. */
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

/** The newest info about a transaction. Apple may sign renewals, but no purchases, up to a day before their date. */
function newestOf(
  infos: readonly RenewalFact[],
  { purchased_at, reason }: TransactionFact,
  until: number,
): RenewalFact | undefined {
  const newest = infos[signedBefore(infos, until) - 1]
  const from = reason === 'PURCHASE' ? purchased_at : purchased_at - DAY_MS
  return newest !== undefined && newest.signed_at >= from ? newest : undefined
}

/**
 * A loss that began with a failed payment stays `billing`, whatever Apple says when it stops retrying after 60 days.
 * Otherwise the newest info with a reason decides; without one, whether renewal was on.
 */
function endingOf({ fact, until, isRetried }: Draft, infos: readonly RenewalFact[]): Ending {
  if (isRetried) return 'billing'
  const newest = newestOf(infos, fact, until)
  if (newest === undefined) return 'other'
  const { expiration_intent, auto_renew_status } = newest
  if (expiration_intent === BILLING) return 'billing'
  if (expiration_intent === VOLUNTARY) return 'voluntary'
  return expiration_intent === null && auto_renew_status === 0 ? 'voluntary' : 'other'
}

/** The kind of segment: free, at an offer price or at the regular price. */
export function kindOf({ offer_type, offer_discount }: TransactionFact): SegmentKind {
  if (offer_type === null) return 'paid'
  if (offer_discount === 'FREE_TRIAL') return offer_type === 1 ? 'trial' : 'free_offer'
  return offer_type === 1 ? 'intro' : 'offer'
}

/**
 * The period that one price covers. An offer’s own period covers all of the offer, and applies only if it is paid
 * upfront; a commitment is paid monthly whatever its product. An extended period never defines one, nor does the
 * sandbox, where a month takes minutes.
 */
export function periodFor(fact: TransactionFact, periodOf: PeriodOf): string | null {
  if (fact.offer_discount === 'PAY_UP_FRONT' && fact.offer_period !== null) return fact.offer_period
  if (fact.billing_plan === 'MONTHLY') return 'P1M'
  return periodOf(fact.product_id) ?? nearestStandard(fact)
}

function nearestStandard({ environment, earliest_expires_at, purchased_at }: TransactionFact): string | null {
  if (environment !== 'production' || earliest_expires_at === null) return null
  const days = (earliest_expires_at - purchased_at) / DAY_MS
  const distance = ([, standard]: (typeof STANDARD)[number]) => Math.abs(Math.log(days / standard))
  if (!(days > 0)) return null
  return STANDARD.reduce((best, one) => (distance(one) < distance(best) ? one : best))[0]
}
