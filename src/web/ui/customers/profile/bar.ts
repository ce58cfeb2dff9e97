/** Layout of a subscription's timeline bar: runs of equal segments, gaps and axis positions. */
import type { Segment, Transaction } from './profile_answer.ts'

export type PieceKind = Segment['kind'] | 'grace' | 'gap'
export type Piece = {
  kind: PieceKind
  from: number
  to: number
  product_id: string | null
  price_milli: number | null
  currency: string | null
  /** Start of each billing period in the run. */
  starts: number[]
  /** For a gap: why the previous segment ended. */
  why: Segment['ending'] | null
}

/** Shorter distances are not gaps, because clocks differ and renewals are signed early. */
const TOUCHING_MS = 36 * 3_600_000

const empty = { product_id: null, price_milli: null, currency: null, starts: [], why: null }

/** A segment, split at the expiry of its transaction: the rest is grace period. */
function piecesOf(segment: Segment, expires_at: number | null): Piece[] {
  const { kind, from, to, product_id, price_milli, currency } = segment
  const paid_to = expires_at !== null && expires_at > from && expires_at < to ? expires_at : to
  const piece: Piece = {
    kind,
    from,
    to: paid_to,
    product_id,
    price_milli,
    currency,
    starts: [from],
    why: null,
  }
  if (paid_to === to) return [piece]
  return [piece, { ...empty, kind: 'grace', from: paid_to, to, product_id }]
}

const isSame = (one: Piece, other: Piece): boolean =>
  one.kind === other.kind &&
  one.product_id === other.product_id &&
  one.price_milli === other.price_milli &&
  one.currency === other.currency &&
  other.from - one.to < TOUCHING_MS

/** The runs of one lineage in order, with gaps between them. */
export function barPieces(timeline: readonly Segment[], transactions: readonly Transaction[]): Piece[] {
  const expiries = new Map(transactions.map((one) => [one.transaction_id, one.expires_at]))
  const runs: Piece[] = []
  let before: Segment | undefined
  for (const segment of timeline) {
    if (before && segment.from - before.to >= TOUCHING_MS)
      runs.push({ ...empty, kind: 'gap', from: before.to, to: segment.from, why: before.ending })
    for (const piece of piecesOf(segment, expiries.get(segment.transaction_id) ?? null)) {
      const last = runs.at(-1)
      if (last && isSame(last, piece))
        Object.assign(last, { to: piece.to, starts: [...last.starts, ...piece.starts] })
      else runs.push(piece)
    }
    before = segment
  }
  return runs
}

const MONTH_MS = 30.44 * 86_400_000

export type Axis = { from: number; to: number; ticks: number[] }

/** The shared axis of several bars, with a margin and ticks by month or year. */
export function axisOf(instants: readonly number[], now: number): Axis {
  const from = Math.min(...instants)
  const to = Math.max(...instants, now)
  const span = Math.max(to - from, MONTH_MS)
  const room = span * 0.015
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
  return { from: from - room, to: from + span + room, ticks }
}

/** The position of an instant on the axis, in percent from the left. */
export const positionOn = ({ from, to }: Axis, at: number): number => ((at - from) / (to - from)) * 100
