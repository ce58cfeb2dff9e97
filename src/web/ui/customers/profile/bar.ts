/** Layout of a subscription's timeline bar: its sections, gaps and axis positions. */
import type { Segment, Transaction } from './profile_answer.ts'

export type BarSectionKind = Segment['kind'] | 'grace' | 'gap'
export type BarSection = {
  kind: BarSectionKind
  from: number
  to: number
  product_id: string | null
  price_milli: number | null
  currency: string | null
  /** Start of each billing period in the section. */
  period_starts: number[]
  /** For a gap: why the previous segment ended. */
  ending: Segment['ending'] | null
}

/** Shorter distances between segments are not gaps, because clocks differ and renewals are signed early. */
const MIN_GAP_MS = 36 * 3_600_000

const empty = { product_id: null, price_milli: null, currency: null, period_starts: [], ending: null }

/** Splits a segment at the expiry of its transaction. The time after the expiry is the grace period. */
function sectionsOf(segment: Segment, expires_at: number | null): BarSection[] {
  const { kind, from, to, product_id, price_milli, currency } = segment
  const paid_until = expires_at !== null && expires_at > from && expires_at < to ? expires_at : to
  const section: BarSection = {
    kind,
    from,
    to: paid_until,
    product_id,
    price_milli,
    currency,
    period_starts: [from],
    ending: null,
  }
  if (paid_until === to) return [section]
  return [section, { ...empty, kind: 'grace', from: paid_until, to, product_id }]
}

const canMerge = (one: BarSection, other: BarSection): boolean =>
  one.kind === other.kind &&
  one.product_id === other.product_id &&
  one.price_milli === other.price_milli &&
  one.currency === other.currency &&
  other.from - one.to < MIN_GAP_MS

/** The sections of one lineage in order, with gaps between them. Equal successive segments are one section. */
export function barSections(
  timeline: readonly Segment[],
  transactions: readonly Transaction[],
): BarSection[] {
  const expiries = new Map(transactions.map((one) => [one.transaction_id, one.expires_at]))
  const sections: BarSection[] = []
  let before: Segment | undefined
  for (const segment of timeline) {
    if (before && segment.from - before.to >= MIN_GAP_MS)
      sections.push({ ...empty, kind: 'gap', from: before.to, to: segment.from, ending: before.ending })
    for (const section of sectionsOf(segment, expiries.get(segment.transaction_id) ?? null)) {
      const last = sections.at(-1)
      if (last && canMerge(last, section))
        Object.assign(last, {
          to: section.to,
          period_starts: [...last.period_starts, ...section.period_starts],
        })
      else sections.push(section)
    }
    before = segment
  }
  return sections
}

const MONTH_MS = 30.44 * 86_400_000

export type Axis = { from: number; to: number; ticks: number[] }

/** The shared axis of several bars, with a margin and ticks by month or year. */
export function axisOf(instants: readonly number[], now: number): Axis {
  const from = Math.min(...instants)
  const to = Math.max(...instants, now)
  const span = Math.max(to - from, MONTH_MS)
  const margin = span * 0.015
  const months = span / MONTH_MS
  const step = [1, 2, 3, 6, 12, 24, 36, 60].find((one) => months / one <= 7) ?? 120
  const begin = new Date(from)
  const ticks: number[] = []
  const first = step >= 12 ? 0 : Math.floor(begin.getUTCMonth() / step) * step
  for (let index = 0; ; index += 1) {
    const tick = Date.UTC(begin.getUTCFullYear(), first + index * step)
    if (tick > from + span) break
    if (tick >= from) ticks.push(tick)
  }
  return { from: from - margin, to: from + span + margin, ticks }
}

/** The position of an instant on the axis, in percent from the left. */
export const positionOn = ({ from, to }: Axis, at: number): number => ((at - from) / (to - from)) * 100
