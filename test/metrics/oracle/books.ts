/** The books of the simulated customers in the oracle’s terms. No code of the product computes them. */
import type { Simulation } from '../../../src/demo/simulation.ts'
import { endOfSegment, type Segment } from '../../../src/demo/world/books.ts'
import { aMonth } from './arithmetic.ts'

export type Sums = Record<string, number>

export const plus = (sums: Sums, key: string, amount: number): void => {
  sums[key] = (sums[key] ?? 0) + amount
}
export const nonZero = (sums: Sums): Sums =>
  Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0))

const PAID: readonly Segment['kind'][] = ['intro', 'offer', 'paid']

/** Apple’s numbers of expiration reasons. */
const WHY: Record<number, string> = { 1: 'voluntary', 2: 'billing' }

/** A paid span that nothing directly followed. `back_at`: when it was paid again. */
type Loss = { at: number; why: string; segment: Segment; back_at: number | null }

export function openBooksOf(simulation: Simulation, now: number) {
  const { entries, segments } = simulation.books
  const own = segments.filter(
    ({ environment, shared, from }) => environment === 'production' && !shared && from <= now,
  )
  const lineages = Map.groupBy(own, ({ original_transaction_id }) => original_transaction_id)
  for (const all of lineages.values()) all.sort((a, b) => a.from - b.from)
  /** The last refund of each refunded transaction: one can be reversed and granted again. */
  const refunds = new Map(
    entries
      .filter(({ kind, at }) => (kind === 'refund' || kind === 'refund_reversed') && at <= now)
      .sort((a, b) => a.at - b.at)
      .map((one) => [one.transaction_id, one]),
  )
  const intents = new Map(
    entries.filter(({ kind }) => kind === 'expired').map((one) => [one.transaction_id, one.intent]),
  )
  const isPaid = ({ kind }: Segment): boolean => PAID.includes(kind)
  const lasts = (segment: Segment): boolean => segment.from < endOfSegment(segment)

  const aliveAt = (at: number): Segment[] => own.filter((one) => one.from <= at && at < endOfSegment(one))

  /** Every paid span that nothing followed. */
  function losses(): Loss[] {
    return [...lineages.values()].flatMap((all) =>
      all
        .filter(isPaid)
        .filter(lasts)
        .flatMap((segment) => {
          const at = endOfSegment(segment)
          const isFollowed = all.some((next) => next !== segment && next.from === at && lasts(next))
          if (at > now || isFollowed) return []
          const back = all.find((next) => isPaid(next) && lasts(next) && next.from > at)
          return [{ at, why: whyOf(segment), segment, back_at: back?.from ?? null }]
        }),
    )
  }

  /** Whether a lineage was paid in the instant before. */
  const wasPaidBefore = (original_transaction_id: string, at: number): boolean =>
    (lineages.get(original_transaction_id) ?? []).some(
      (one) => isPaid(one) && lasts(one) && one.from < at && endOfSegment(one) >= at,
    )

  function whyOf({ revoked_at, replaced_at, expires, retry_from, transaction_id }: Segment): string {
    if (revoked_at !== null && revoked_at <= Math.min(expires, replaced_at ?? Infinity)) return 'refund'
    if (retry_from !== null) return 'billing'
    const intent = intents.get(transaction_id)
    if (intent !== undefined) return WHY[intent ?? 0] ?? 'other'
    // A refund turned the renewal off, and was reversed after the period ended.
    return refunds.get(transaction_id)?.kind === 'refund_reversed' ? 'voluntary' : 'other'
  }

  /** Amounts that the ledger can know: the price is known and the refund not reversed. */
  const money = (kind: 'charge' | 'refund' | 'proration') =>
    entries.filter(
      (one) =>
        one.kind === kind &&
        one.environment === 'production' &&
        one.has_price &&
        one.at <= now &&
        (kind !== 'refund' || refunds.get(one.transaction_id) === one),
    )

  /** All refunds, and negative amounts for reversals. */
  const refunded = () =>
    entries
      .filter(({ environment, has_price, at }) => environment === 'production' && has_price && at <= now)
      .flatMap((one) => {
        if (one.kind === 'refund') return [one]
        return one.kind === 'refund_reversed' ? [{ ...one, refunded_milli: -one.refunded_milli }] : []
      })

  /** How many of those first paid in a span were due for a k-th renewal by now, and how many were active then. */
  function retained(from: number, until: number, k: number): { due: number; held: number } {
    const firsts = [...lineages.values()].flatMap((all) => {
      const first = all.find((one) => isPaid(one) && lasts(one))
      return first && first.from >= from && first.from < until ? [{ first, all }] : []
    })
    const due = firsts.flatMap(({ first, all }) => {
      const at = later(first, k)
      return at <= now ? [all.some((one) => isPaid(one) && one.from <= at && at < endOfSegment(one))] : []
    })
    return { due: due.length, held: due.filter(Boolean).length }
  }

  /**
   * The number of active ones by segment kind, trials separate; `priced`: also by period, with their monthly values.
   */
  function aliveBy(at: number, priced: boolean): Sums {
    const sums: Sums = {}
    const alive = aliveAt(at)
    plus(sums, 'trials', alive.filter(({ kind }) => kind === 'trial').length)
    for (const { product_id, storefront, period, kind, price_milli, currency, has_price } of alive.filter(
      isPaid,
    )) {
      const name = [product_id, storefront, kind, priced ? period : ''].join(' ')
      plus(sums, `count ${name}`, 1)
      if (has_price && priced) plus(sums, `${currency} ${name}`, aMonth(price_milli, period, 'calendar') ?? 0)
    }
    return sums
  }

  return {
    own,
    lineages,
    losses,
    wasPaidBefore,
    aliveBy,
    money,
    refunded,
    retained,
    isPaid,
    endOf: endOfSegment,
  }
}

/** Whole periods after the first day, so that the 31st returns after February. */
function later({ from, period }: Segment, k: number): number {
  const [, count = '1', unit = 'M'] = /(\d+)([DWMY])/.exec(period) ?? []
  const months = Number(count) * k * (unit === 'Y' ? 12 : 1)
  if (unit === 'D' || unit === 'W') return from + Number(count) * k * (unit === 'W' ? 7 : 1) * 86_400_000
  const at = new Date(from)
  at.setUTCDate(1)
  at.setUTCMonth(at.getUTCMonth() + months)
  const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
  return at.setUTCDate(Math.min(new Date(from).getUTCDate(), last))
}
