/** Computes the MRR movements of a subscription from the segments of its timeline. */
import type { Factors } from './months.ts'
import { monthlyMilli } from './months.ts'
import type { Ending, Segment } from './timeline.ts'

export type MovementKind =
  | 'new'
  | 'opening'
  | 'resubscribe'
  | 'expansion'
  | 'contraction'
  | 'switched_out'
  | 'switched_in'
  | 'fx'
  | 'repriced'
  | `churn_${Ending}`

/**
 * A change of the monthly value at `at`: `milli` in `currency`, `base_milli` in the base currency (null if there is no
 * rate). `count` is the change in active paid subscriptions. If only the base value changes, `currency` is null and
 * `milli` is 0.
 */
export type Movement = {
  at: number
  kind: MovementKind
  transaction_id: string
  currency: string | null
  milli: number
  base_milli: number | null
  count: -1 | 0 | 1
}

/** Converts an amount to the base currency at the rate of the day of `at`; null if there is no rate. */
export type ToBase = (milli: number, currency: string, at: number) => number | null

/** A segment’s monthly value. `isUnknown`: Apple has not sent the price. `isConverted`: there is a rate. */
export type SegmentLevel = {
  currency: string | null
  milli: number
  base_milli: number
  alive: 0 | 1
  isUnknown: boolean
  isConverted: boolean
}

export type ValuedSegment = Segment & { level: SegmentLevel }

const NO_LEVEL: SegmentLevel = {
  currency: null,
  milli: 0,
  base_milli: 0,
  alive: 0,
  isUnknown: false,
  isConverted: true,
}

/** Adds the monthly value to each segment. The value is rounded twice: per month, and in the base currency. */
export function withLevels(segments: readonly Segment[], factors: Factors, toBase: ToBase): ValuedSegment[] {
  return segments.map((segment) => ({ ...segment, level: levelOf(segment, factors, toBase) }))
}

function levelOf(segment: Segment, factors: Factors, toBase: ToBase): SegmentLevel {
  const { kind, price_milli, currency, period, from } = segment
  if (kind === 'trial' || kind === 'free_offer') return NO_LEVEL
  const milli = price_milli === null || period === null ? null : monthlyMilli(price_milli, period, factors)
  if (milli === null || currency === null) return { ...NO_LEVEL, alive: 1, isUnknown: true }
  const base_milli = toBase(milli, currency, from)
  const isConverted = base_milli !== null
  return { currency, milli, base_milli: base_milli ?? 0, alive: 1, isUnknown: false, isConverted }
}

/**
 * The movements of one lineage, in order. At every instant they sum exactly to the levels of the active segments, in
 * each currency and in the base currency. `hasFirstTransaction`: the first transaction of the lineage is known.
 */
export function movementsOf(
  segments: readonly ValuedSegment[],
  hasFirstTransaction: boolean,
  toBase: ToBase,
): Movement[] {
  const movements: Movement[] = []
  let before: ValuedSegment | undefined
  /** Whether any earlier segment was paid, and whether the lineage has had no gap since then. */
  let paid = { ever: false, unbroken: false }
  for (const segment of segments) {
    const isJoined = before?.to === segment.from
    if (!isJoined) {
      movements.push(...churn(before))
      paid = { ...paid, unbroken: false }
    }
    const level = (isJoined && before?.level) || NO_LEVEL
    movements.push(...levelMovements(segment, level, openingKind(paid, hasFirstTransaction), toBase))
    if (segment.level.alive) paid = { ever: true, unbroken: true }
    before = segment
  }
  return [...movements, ...churn(before)]
}

/** The kind of movement when paid time begins, or resumes after a free segment. */
function openingKind(paid: { ever: boolean; unbroken: boolean }, hasFirstTransaction: boolean): MovementKind {
  if (paid.unbroken) return 'expansion'
  if (paid.ever) return 'resubscribe'
  return hasFirstTransaction ? 'new' : 'opening'
}

function churn(last: ValuedSegment | undefined): Movement[] {
  if (!last?.level.alive) return []
  const { level, to, ending, transaction_id } = last
  return [{ at: to, kind: `churn_${ending}`, transaction_id, ...amountsOf(level, -1), count: -1 }]
}

/** The amounts of a whole level that begins or ends. */
function amountsOf({ currency, milli, base_milli, isConverted }: SegmentLevel, sign: 1 | -1) {
  const signed = (amount: number) => (amount === 0 ? 0 : sign * amount)
  return { currency, milli: signed(milli), base_milli: isConverted ? signed(base_milli) : null }
}

/** The movements from the level `before` to the level of a segment. `beginning`: the kind if paid time begins there. */
function levelMovements(
  { level, from, transaction_id }: ValuedSegment,
  before: SegmentLevel,
  beginning: MovementKind,
  toBase: ToBase,
): Movement[] {
  const common = { at: from, transaction_id, count: (level.alive - before.alive) as Movement['count'] }
  if (level.alive && before.alive) return repricing({ at: from, transaction_id }, before, level, toBase)
  if (level.alive) return [{ ...common, kind: beginning, ...amountsOf(level, 1) }]
  return before.alive ? [{ ...common, kind: 'contraction', ...amountsOf(before, -1) }] : []
}

type MovementOrigin = Pick<Movement, 'at' | 'transaction_id'>

/**
 * The movements between two paid levels without a gap. If price and rate change together, the price change is converted
 * at the new rate.
 */
function repricing(
  common: MovementOrigin,
  before: SegmentLevel,
  after: SegmentLevel,
  toBase: ToBase,
): Movement[] {
  const before_at_new_rate =
    before.currency === null ? 0 : (toBase(before.milli, before.currency, common.at) ?? 0)
  const unchanged: MovementAmounts = { ...common, currency: null, milli: 0, base_milli: 0, count: 0 }
  const priceChange_milli = after.base_milli - before_at_new_rate
  const fx: Movement = { ...unchanged, kind: 'fx', base_milli: before_at_new_rate - before.base_milli }
  return [...priceMovements(unchanged, before, after, priceChange_milli), fx].filter(
    (one) => one.milli !== 0 || one.base_milli,
  )
}

type MovementAmounts = Omit<Movement, 'kind'>

/** The movements that a change of price, currency or product causes. `priceChange_milli`: the change of the base value. */
function priceMovements(
  unchanged: MovementAmounts,
  before: SegmentLevel,
  after: SegmentLevel,
  priceChange_milli: number,
): Movement[] {
  const [milli, base_milli] = [after.milli - before.milli, after.isConverted ? priceChange_milli : null]
  if (before.isUnknown !== after.isUnknown) {
    const baseChange = before.isUnknown
      ? { base_milli }
      : { base_milli: before.isConverted ? priceChange_milli : null }
    return [
      { ...unchanged, kind: 'repriced', currency: after.currency ?? before.currency, milli, ...baseChange },
    ]
  }
  if (before.currency === after.currency) {
    const kind = milli < 0 ? 'contraction' : 'expansion'
    return [{ ...unchanged, kind, currency: after.currency, milli, base_milli }]
  }
  const unconverted = ({ isConverted }: SegmentLevel) => ({ base_milli: isConverted ? 0 : null })
  return [
    {
      ...unchanged,
      kind: 'switched_out',
      currency: before.currency,
      milli: -before.milli,
      ...unconverted(before),
    },
    {
      ...unchanged,
      kind: 'switched_in',
      currency: after.currency,
      milli: after.milli,
      ...unconverted(after),
    },
    {
      ...unchanged,
      kind: priceChange_milli < 0 ? 'contraction' : 'expansion',
      base_milli: priceChange_milli,
    },
  ]
}
