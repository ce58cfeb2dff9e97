/** Summarizes the money, paid months and status of a lineage or a customer as of an instant. */

import type { SubscriptionRow } from '../../ledger/subscription.ts'
import { stateAt } from '../../ledger/subscription.ts'
import { divideHalfEven } from '../../money.ts'
import type { MetricRow } from '../lineage/rows.ts'

/**
 * Statuses from best to worst. `renewing`, `committed` and `will_cancel` are paid. A `committed` customer turned the
 * renewal off and keeps paying until the commitment ends. A trial is `trial` whether it will renew or not. Family access
 * that ended is `expired`.
 */
export const STATUSES = [
  'renewing',
  'committed',
  'trial',
  'will_cancel',
  'grace',
  'billing_retry',
  'expired',
  'refunded',
] as const
export type CustomerStatus = (typeof STATUSES)[number]
/** What a list can be limited to: a status, or customers who never subscribed. */
export const STATUS_FILTERS = [...STATUSES, 'one_time'] as const
export type StatusFilter = (typeof STATUS_FILTERS)[number]
/** The stored status that a filter selects. */
export const filteredStatus = (filter: StatusFilter): CustomerStatus | null =>
  filter === 'one_time' ? null : filter

export type Row = Pick<
  MetricRow,
  'on_at' | 'measure' | 'product_id' | 'storefront' | 'period' | 'currency' | 'milli' | 'base_milli' | 'count'
>

/** The facts of a subscription from which its status is computed. */
export type SubscriptionFacts = Pick<
  SubscriptionRow,
  | 'product_id'
  | 'storefront'
  | 'ownership'
  | 'offer_type'
  | 'offer_discount'
  | 'expires_at'
  | 'committed_until_at'
  | 'grace_until_at'
  | 'in_billing_retry'
  | 'auto_renew_status'
  | 'revoked_at'
  | 'apple_status_at'
  | 'started_at'
  | 'period_started_at'
>

/**
 * Amounts are in thousandths of the base currency; refunds are positive. `unconverted`: charges less refunds without a
 * known rate, as JSON by currency. `payments` includes charges with an unknown price. `months_milli`: the paid time in
 * thousandths of a month. `status` is null without a subscription. `risk_milli`: the monthly value that will not renew or
 * awaits a payment.
 */
export type CustomerSummary = {
  status: CustomerStatus | null
  product_id: string | null
  storefront: string | null
  next_renewal_at: number | null
  payments: number
  unpriced: number
  months_milli: number
  charged_milli: number
  refunded_milli: number
  prorated_milli: number
  unconverted: string | null
  mrr_milli: number
  risk_milli: number
  first_paid_at: number | null
  last_paid_at: number | null
  last_seen_at: number
}

const CHARGE_MEASURES: ReadonlySet<string> = new Set(['revenue.new', 'revenue.renewal', 'revenue.one_time'])
const RISK_STATUSES: ReadonlySet<string | null> = new Set(['will_cancel', 'grace', 'billing_retry'])

/** The status of a subscription. */
function statusAt(row: SubscriptionFacts, at: number): CustomerStatus {
  const state = stateAt(row, at)
  if (state === 'active') {
    if (row.auto_renew_status !== 0) return 'renewing'
    return row.committed_until_at === null ? 'will_cancel' : 'committed'
  }
  if (state === 'retry') return 'billing_retry'
  if (state !== 'revoked') return state
  return row.ownership === 'FAMILY_SHARED' ? 'expired' : 'refunded'
}

/** The next instant after `now` at which the figures change without new facts; null if never. */
export function nextChange(
  rows: readonly Row[],
  subscription: SubscriptionFacts | null,
  now: number,
): number | null {
  // Apple may report a period before it begins. Without a charge, no row has its start.
  const { period_started_at, expires_at, grace_until_at, revoked_at } = subscription ?? NO_CHANGES
  const instants = [
    ...rows.map(({ on_at }) => on_at),
    period_started_at,
    expires_at,
    grace_until_at,
    revoked_at,
  ]
  const ahead = instants.filter((at) => at !== null).filter((at) => at > now)
  return ahead.length === 0 ? null : ahead.reduce((least, at) => Math.min(least, at))
}

/** Summarizes one lineage. `rows`: all rows of the lineage, in order. Rows after `now` are ignored. */
export function lineageSummary(
  rows: readonly Row[],
  subscription: SubscriptionFacts | null,
  now: number,
): CustomerSummary {
  const pastRows = rows.filter(({ on_at }) => on_at <= now)
  const money = moneyOf(pastRows)
  const { level, last } = levelOf(pastRows)
  const status = subscription && statusAt(subscription, now)
  const risk = status === 'billing_retry' ? level || last : level
  const lastCharge = pastRows.findLast(({ measure }) => CHARGE_MEASURES.has(measure))
  return {
    ...money,
    status,
    product_id: subscription?.product_id ?? lastCharge?.product_id ?? null,
    storefront: subscription?.storefront ?? lastCharge?.storefront ?? null,
    next_renewal_at: subscription && willRenew(status, subscription) ? subscription.expires_at : null,
    mrr_milli: level,
    risk_milli: RISK_STATUSES.has(status) ? risk : 0,
    last_seen_at: lastSeen(pastRows, subscription, now),
  }
}

/**
 * When a subscription will be lost unless it renews: at the end of its period (`will_cancel`), commitment (`committed`)
 * or grace period (`grace`). null for any other status.
 */
export function endsAt(subscription: SubscriptionFacts, now: number): number | null {
  const status = statusAt(subscription, now)
  if (status === 'will_cancel') return subscription.expires_at
  if (status === 'committed') return subscription.committed_until_at
  return status === 'grace' ? subscription.grace_until_at : null
}

/** The instant of the last payment, period start or change that Apple sent. */
function lastSeen(pastRows: readonly Row[], subscription: SubscriptionFacts | null, now: number): number {
  const { apple_status_at, period_started_at, started_at } = subscription ?? NO_INSTANTS
  const started = period_started_at <= now ? period_started_at : started_at
  const paid = pastRows.findLast(({ measure }) => measure.startsWith('revenue.'))
  return Math.max(apple_status_at ?? 0, started, paid?.on_at ?? 0)
}

const NO_CHANGES = { period_started_at: null, expires_at: null, grace_until_at: null, revoked_at: null }
const NO_INSTANTS = { apple_status_at: 0, period_started_at: 0, started_at: 0 }

const willRenew = (status: CustomerStatus | null, { auto_renew_status }: SubscriptionFacts): boolean =>
  status === 'renewing' || status === 'committed' || (status === 'trial' && auto_renew_status !== 0)

function moneyOf(rows: readonly Row[]) {
  const paid = rows.filter(({ measure }) => CHARGE_MEASURES.has(measure) || measure === UNPRICED)
  const rowsOf = (measure: string) => rows.filter((row) => row.measure === measure)
  const refunds = [...rowsOf('revenue.refund'), ...rowsOf('revenue.refund_reversed')]
  const prorations = rowsOf('revenue.proration')
  const sixteenths_paid = paid.reduce((sum, { count, period }) => sum + count * sixteenthsOf(period), 0)
  return {
    payments: countOf(paid),
    unpriced: countOf(rowsOf(UNPRICED)),
    months_milli: Number(divideHalfEven(BigInt(sixteenths_paid) * 1000n, BigInt(MONTH_SIXTEENTHS))),
    charged_milli: inBase(paid),
    refunded_milli: inBase(refunds),
    prorated_milli: inBase(prorations),
    unconverted: textOf(unconvertedSums(paid, [...refunds, ...prorations])),
    first_paid_at: paid[0]?.on_at ?? null,
    last_paid_at: paid.at(-1)?.on_at ?? null,
  }
}

const UNPRICED = 'revenue.unpriced'
const countOf = (rows: readonly Row[]): number => rows.reduce((sum, { count }) => sum + count, 0)
const inBase = (rows: readonly Row[]): number =>
  rows.reduce((sum, { base_milli }) => sum + (base_milli ?? 0), 0)

/** Charges less refunds without a known rate, by currency. */
function unconvertedSums(paid: readonly Row[], rowsOf: readonly Row[]): Map<string, number> {
  const unconvertedByCurrency = new Map<string, number>()
  for (const [rows, sign] of [[paid, 1] as const, [rowsOf, -1] as const]) {
    for (const { base_milli, currency, milli } of rows) {
      if (base_milli === null)
        unconvertedByCurrency.set(currency, (unconvertedByCurrency.get(currency) ?? 0) + sign * milli)
    }
  }
  return unconvertedByCurrency
}

/** A month has 30.4375 days: 487 sixteenths of a day. */
const MONTH_SIXTEENTHS = 487
const UNIT_SIXTEENTHS: Record<string, number> = {
  D: 16,
  W: 112,
  M: MONTH_SIXTEENTHS,
  Y: 12 * MONTH_SIXTEENTHS,
}

function sixteenthsOf(period: string): number {
  const [, count, unit = ''] = /^P(\d+)([DWMY])$/.exec(period) ?? []
  return Number(count ?? 0) * (UNIT_SIXTEENTHS[unit] ?? 0)
}

const textOf = (sums: ReadonlyMap<string, number>): string | null => {
  const entries = [...sums].filter(([, milli]) => milli !== 0).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries))
}

/** `level`: the monthly value after all rows. `last`: the monthly value before it last changed. */
function levelOf(rows: readonly Row[]): { level: number; last: number } {
  let [level, last, active_count] = [0, 0, 0]
  for (const { measure, base_milli, count } of rows) {
    if (measure !== 'mrr') continue
    if (active_count > 0) last = level
    level += base_milli ?? 0
    active_count += count
  }
  return { level, last }
}

/** Combines the lineages of one customer. Product and country come from the lineage with the best status. */
export function combineSummaries(summaries: readonly CustomerSummary[]): CustomerSummary {
  const best = summaries.reduce((a, b) => (ranksHigher(b, a) ? b : a))
  const unconvertedByCurrency = new Map<string, number>()
  for (const { unconverted } of summaries) {
    for (const [currency, milli] of Object.entries<number>(JSON.parse(unconverted ?? '{}')))
      unconvertedByCurrency.set(currency, (unconvertedByCurrency.get(currency) ?? 0) + milli)
  }
  const sum = (name: NumericField): number => summaries.reduce((total, one) => total + one[name], 0)
  return {
    status: best.status,
    product_id: best.product_id,
    storefront: best.storefront,
    next_renewal_at: least(summaries.map((one) => one.next_renewal_at)),
    payments: sum('payments'),
    unpriced: sum('unpriced'),
    months_milli: sum('months_milli'),
    charged_milli: sum('charged_milli'),
    refunded_milli: sum('refunded_milli'),
    prorated_milli: sum('prorated_milli'),
    unconverted: textOf(unconvertedByCurrency),
    mrr_milli: sum('mrr_milli'),
    risk_milli: sum('risk_milli'),
    first_paid_at: least(summaries.map((one) => one.first_paid_at)),
    last_paid_at: greatest(summaries.map((one) => one.last_paid_at)),
    last_seen_at: Math.max(...summaries.map((one) => one.last_seen_at)),
  }
}

type NumericField = {
  [Name in keyof CustomerSummary]-?: CustomerSummary[Name] extends number ? Name : never
}[Exclude<keyof CustomerSummary, 'last_seen_at'>]

/** Compares by status, then by last activity, then by product and storefront, so that the result is deterministic. */
function ranksHigher(a: CustomerSummary, b: CustomerSummary): boolean {
  const rank = ({ status }: CustomerSummary) => (status === null ? STATUSES.length : STATUSES.indexOf(status))
  if (rank(a) !== rank(b)) return rank(a) < rank(b)
  if (a.last_seen_at !== b.last_seen_at) return a.last_seen_at > b.last_seen_at
  return `${a.product_id} ${a.storefront}` < `${b.product_id} ${b.storefront}`
}

const notNull = (all: readonly (number | null)[]): number[] => all.filter((one) => one !== null)
/** The least value that is not null; null if all are null. */
export const least = (all: readonly (number | null)[]): number | null =>
  notNull(all).reduce<number | null>((a, b) => (a === null ? b : Math.min(a, b)), null)
const greatest = (all: readonly (number | null)[]): number | null =>
  notNull(all).reduce<number | null>((a, b) => (a === null ? b : Math.max(a, b)), null)
