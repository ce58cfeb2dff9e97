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
 * `milli` is the monthly value in `currency`, `base_milli` in the base currency, null without a rate; `count` is the
 * change in active paid subscriptions. A change of the base value alone has neither currency nor `milli`.
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

/** Converts an amount to the base currency at the rate of a day; null where there is none. */
export type ToBase = (milli: number, currency: string, at: number) => number | null

/** A segment’s monthly value. `isUnknown`: it has a price that Apple has not sent. `isConverted`: there was a rate. */
export type SegmentLevel = {
  currency: string | null
  milli: number
  base_milli: number
  alive: 0 | 1
  isUnknown: boolean
  isConverted: boolean
}

export type ValuedSegment = Segment & { level: SegmentLevel }

const NOTHING: SegmentLevel = {
  currency: null,
  milli: 0,
  base_milli: 0,
  alive: 0,
  isUnknown: false,
  isConverted: true,
}

/** Adds the monthly value to each segment. Rounds twice for each segment: to a month, and to the base currency. */
export function withLevels(segments: readonly Segment[], factors: Factors, toBase: ToBase): ValuedSegment[] {
  return segments.map((segment) => ({ ...segment, level: levelOf(segment, factors, toBase) }))
}

function levelOf(segment: Segment, factors: Factors, toBase: ToBase): SegmentLevel {
  const { kind, price_milli, currency, period, from } = segment
  if (kind === 'trial' || kind === 'free_offer') return NOTHING
  const milli = price_milli === null || period === null ? null : monthlyMilli(price_milli, period, factors)
  if (milli === null || currency === null) return { ...NOTHING, alive: 1, isUnknown: true }
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
  /** Whether it was ever paid, and whether without a gap since. */
  let paid = { ever: false, unbroken: false }
  for (const segment of segments) {
    const isJoined = before?.to === segment.from
    if (!isJoined) {
      movements.push(...churn(before))
      paid = { ...paid, unbroken: false }
    }
    const level = (isJoined && before?.level) || NOTHING
    movements.push(...change(segment, level, openingKind(paid, hasFirstTransaction), toBase))
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

/** The movements between two levels at the start of a segment. `beginning`: the kind when paid time begins with it. */
function change(
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

type Common = Pick<Movement, 'at' | 'transaction_id'>

/**
 * Paid before and after without a gap. Where price and rate change together, the price change counts at the new rate.
 */
function repricing(common: Common, before: SegmentLevel, after: SegmentLevel, toBase: ToBase): Movement[] {
  const now = before.currency === null ? 0 : (toBase(before.milli, before.currency, common.at) ?? 0)
  const none: Change = { ...common, currency: null, milli: 0, base_milli: 0, count: 0 }
  const byPrice = after.base_milli - now
  const fx: Movement = { ...none, kind: 'fx', base_milli: now - before.base_milli }
  return [...priceMovements(none, before, after, byPrice), fx].filter(
    (one) => one.milli !== 0 || one.base_milli,
  )
}

type Change = Omit<Movement, 'kind'>

/** `byPrice`: the change of the base value by the price. */
function priceMovements(
  none: Change,
  before: SegmentLevel,
  after: SegmentLevel,
  byPrice: number,
): Movement[] {
  const [milli, base_milli] = [after.milli - before.milli, after.isConverted ? byPrice : null]
  if (before.isUnknown !== after.isUnknown) {
    const baseChange = before.isUnknown ? { base_milli } : { base_milli: before.isConverted ? byPrice : null }
    return [{ ...none, kind: 'repriced', currency: after.currency ?? before.currency, milli, ...baseChange }]
  }
  if (before.currency === after.currency) {
    const kind = milli < 0 ? 'contraction' : 'expansion'
    return [{ ...none, kind, currency: after.currency, milli, base_milli }]
  }
  const unconverted = ({ isConverted }: SegmentLevel) => ({ base_milli: isConverted ? 0 : null })
  return [
    {
      ...none,
      kind: 'switched_out',
      currency: before.currency,
      milli: -before.milli,
      ...unconverted(before),
    },
    { ...none, kind: 'switched_in', currency: after.currency, milli: after.milli, ...unconverted(after) },
    { ...none, kind: byPrice < 0 ? 'contraction' : 'expansion', base_milli: byPrice },
  ]
}
