/**
 * Computes the contribution of a lineage to cohorts: money by day, and the renewals at which the lineage was paid.
 * A pure function of the lineage’s rows up to an instant.
 */
import type { Row } from '../customers/customer_summary.ts'
import type { Calendar, DayNumber } from '../lineage/calendar.ts'
import { PROCEEDS_PARTS, type ProceedsCertainty } from '../lineage/proceeds.ts'
import { renewalDay } from './renewal_days.ts'

/** Charges and refunds of one product in one country on one day, in the base currency. `charges` is a count. */
export type DayMoney = readonly [
  day: DayNumber,
  product_id: string,
  storefront: string,
  charged_milli: number,
  refunded_milli: number,
  prorated_milli: number,
  charges: number,
]

/** The proceeds of charges and refunds of one product in one country on one day, in the base currency, by certainty. */
export type DayProceeds = readonly [
  day: DayNumber,
  product_id: string,
  storefront: string,
  charged_milli: number,
  refunded_milli: number,
  prorated_milli: number,
  basis: ProceedsCertainty,
]

/**
 * The first payment of a lineage. `turns`: the renewals `k` (from 1) from which the lineage was no longer paid (-1) or
 * paid again (1).
 */
export type RetentionFact = {
  day: DayNumber
  product_id: string
  storefront: string
  period: string
  turns: readonly (readonly [k: number, change: -1 | 1])[]
}

const DAY_MS = 86_400_000
/** A limit that no real subscription reaches. */
const MAX_RENEWALS = 2_000
const CHARGE_MEASURES: ReadonlySet<string> = new Set(['revenue.new', 'revenue.renewal', 'revenue.one_time'])
/** Amounts of reversals are negative. */
const REFUND_MEASURES: ReadonlySet<string> = new Set(['revenue.refund', 'revenue.refund_reversed'])

/** The contribution of a lineage. `rows`: all rows of the lineage, in order. Rows after `now` are ignored. */
export function contributionOf(
  rows: readonly Row[],
  calendar: Calendar,
  now: number,
): { money: DayMoney[]; proceeds: DayProceeds[]; retained: RetentionFact | null } {
  const pastRows = rows.filter(({ on_at }) => on_at <= now)
  return {
    money: moneyOf(pastRows, calendar),
    proceeds: proceedsOf(pastRows, calendar),
    retained: retentionOf(pastRows, rows, calendar),
  }
}

function moneyOf(rows: readonly Row[], { dayOf }: Calendar): DayMoney[] {
  const days = new Map<string, [DayNumber, string, string, number, number, number, number]>()
  for (const { measure, on_at, product_id, storefront, base_milli, count } of rows) {
    const isCharge = CHARGE_MEASURES.has(measure)
    const isRefund = REFUND_MEASURES.has(measure)
    if (!isCharge && !isRefund && measure !== 'revenue.proration') continue
    const day = dayOf(on_at)
    const key = `${day} ${product_id} ${storefront}`
    const sums = days.get(key) ?? [day, product_id, storefront, 0, 0, 0, 0]
    const sumIndex = isCharge ? 3 : isRefund ? 4 : 5
    sums[sumIndex] += base_milli ?? 0
    if (isCharge) sums[6] += count
    days.set(key, sums)
  }
  return [...days.values()]
}

const PART_INDEX = { charged: 3, refunded: 4, prorated: 5 } as const

function proceedsOf(rows: readonly Row[], { dayOf }: Calendar): DayProceeds[] {
  const days = new Map<string, [DayNumber, string, string, number, number, number, ProceedsCertainty]>()
  for (const { measure, on_at, product_id, storefront, base_milli } of rows) {
    const proceeds = PROCEEDS_PARTS.get(measure)
    if (proceeds === undefined || base_milli === null) continue
    const { part, basis } = proceeds
    const day = dayOf(on_at)
    const key = `${day} ${product_id} ${storefront} ${basis}`
    const sums = days.get(key) ?? [day, product_id, storefront, 0, 0, 0, basis]
    sums[PART_INDEX[part]] += base_milli
    days.set(key, sums)
  }
  return [...days.values()]
}

/** The retention of a lineage; null if the lineage’s start is unknown. */
function retentionOf(
  pastRows: readonly Row[],
  all: readonly Row[],
  { dayOf }: Calendar,
): RetentionFact | null {
  const first = pastRows.find(({ measure, count }) => measure === 'mrr.new' && count > 0)
  if (first === undefined) return null
  const { on_at, product_id, storefront, period } = first
  const turns = paidTransitions(first, paidIntervals(all))
  return { day: dayOf(on_at), product_id, storefront, period, turns }
}

type PaidInterval = { from: number; to: number }

/** The intervals in which a lineage was paid without a gap. */
function paidIntervals(rows: readonly Row[]): PaidInterval[] {
  const levels = rows.filter(({ measure }) => measure === 'mrr')
  const intervals: PaidInterval[] = []
  let [active_count, from] = [0, 0]
  for (const [at, changes] of Map.groupBy(levels, ({ on_at }) => on_at)) {
    const before = active_count
    for (const { count } of changes) active_count += count
    if (before <= 0 && active_count > 0) from = at
    if (before > 0 && active_count <= 0) intervals.push({ from, to: at })
  }
  return intervals
}

/**
 * The renewals at which the lineage stops or resumes being paid. Each is evaluated one day after the renewal was due,
 * because a payment may fail at first, and because Apple’s billing hour follows clock changes.
 */
function paidTransitions(
  { on_at, period }: Row,
  intervals: readonly PaidInterval[],
): (readonly [number, -1 | 1])[] {
  const turns: (readonly [number, -1 | 1])[] = []
  const end = intervals.at(-1)?.to ?? 0
  const start = Math.floor(on_at / DAY_MS)
  let wasPaid = true
  for (let k = 1; k < MAX_RENEWALS; k += 1) {
    const at = on_at + (renewalDay(start, period, k) - start + 1) * DAY_MS
    const isPaid = intervals.some(({ from, to }) => from <= at && at < to)
    if (isPaid !== wasPaid) turns.push([k, isPaid ? 1 : -1])
    wasPaid = isPaid
    if (at >= end) break
  }
  return turns
}
