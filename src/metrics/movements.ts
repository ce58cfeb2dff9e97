/** What we compute: how a subscription moved the monthly recurring revenue, from the segments of its timeline. */
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
 * `milli` is a month's worth in `currency`, `base_milli` in the base currency; `count` is by how many the paid
 * subscriptions alive became more. What changes the base value alone has neither a currency nor an amount of its own.
 */
export type Movement = {
  at: number
  kind: MovementKind
  transaction_id: string
  currency: string | null
  milli: number
  base_milli: number
  count: -1 | 0 | 1
}

/** An amount in the base currency by the rate of a day; null where there is none. */
export type ToBase = (milli: number, currency: string, at: number) => number | null

/** A segment's worth a month. `is_unknown`: it costs something, and nobody has said what. `is_converted`: there was a rate. */
export type Level = {
  currency: string | null
  milli: number
  base_milli: number
  alive: 0 | 1
  is_unknown: boolean
  is_converted: boolean
}

export type Valued = Segment & { level: Level }

const NOTHING: Level = {
  currency: null,
  milli: 0,
  base_milli: 0,
  alive: 0,
  is_unknown: false,
  is_converted: true,
}

/** Each segment with its worth. Rounded twice, once for each segment: to a month, and to the base currency. */
export function valued(segments: readonly Segment[], factors: Factors, toBase: ToBase): Valued[] {
  return segments.map((segment) => ({ ...segment, level: levelOf(segment, factors, toBase) }))
}

function levelOf(segment: Segment, factors: Factors, toBase: ToBase): Level {
  const { kind, price_milli, currency, period, from } = segment
  if (kind === 'trial' || kind === 'free_offer') return NOTHING
  const milli = price_milli === null || period === null ? null : monthlyMilli(price_milli, period, factors)
  if (milli === null || currency === null) return { ...NOTHING, alive: 1, is_unknown: true }
  const base_milli = toBase(milli, currency, from)
  const is_converted = base_milli !== null
  return { currency, milli, base_milli: base_milli ?? 0, alive: 1, is_unknown: false, is_converted }
}

/**
 * The movements of one lineage, in order. At every instant their sums are the levels of the segments alive then,
 * exactly, in each currency and in the base currency. `is_whole`: the first transaction of the lineage is known.
 */
export function movementsOf(segments: readonly Valued[], is_whole: boolean, toBase: ToBase): Movement[] {
  const movements: Movement[] = []
  let before: Valued | undefined
  /** Paid for at some time; and without a gap since. */
  let paid = { ever: false, unbroken: false }
  for (const segment of segments) {
    const isJoined = before?.to === segment.from
    if (!isJoined) {
      movements.push(...churn(before))
      paid = { ...paid, unbroken: false }
    }
    const level = (isJoined && before?.level) || NOTHING
    movements.push(...change(segment, level, beginningOf(paid, is_whole), toBase))
    if (segment.level.alive) paid = { ever: true, unbroken: true }
    before = segment
  }
  return [...movements, ...churn(before)]
}

/** What it is when paid time begins, or goes on after something free. */
function beginningOf(paid: { ever: boolean; unbroken: boolean }, is_whole: boolean): MovementKind {
  if (paid.unbroken) return 'expansion'
  if (paid.ever) return 'resubscribe'
  return is_whole ? 'new' : 'opening'
}

function churn(last: Valued | undefined): Movement[] {
  if (!last?.level.alive) return []
  const { level, to, ending, transaction_id } = last
  const { currency, milli, base_milli } = level
  const lost = { milli: less(milli), base_milli: less(base_milli), count: -1 as const }
  return [{ at: to, kind: `churn_${ending}`, transaction_id, currency, ...lost }]
}

/** From one level to the next at the beginning of a segment. `beginning`: what it is when paid time begins with it. */
function change(
  { level, from, transaction_id }: Valued,
  before: Level,
  beginning: MovementKind,
  toBase: ToBase,
): Movement[] {
  const common = { at: from, transaction_id }
  const count = (level.alive - before.alive) as Movement['count']
  const { currency, milli, base_milli } = level
  if (level.alive && !before.alive) {
    return [{ ...common, kind: beginning, currency, milli, base_milli, count }]
  }
  if (!level.alive) {
    if (!before.alive) return []
    const gone = { milli: less(before.milli), base_milli: less(before.base_milli), count }
    return [{ ...common, kind: 'contraction', currency: before.currency, ...gone }]
  }
  return repricing(common, before, level, toBase)
}

type Common = Pick<Movement, 'at' | 'transaction_id'>

/** Paid before, paid after, no gap. Where price and rate change together, the price's part is taken at the new rate. */
function repricing(common: Common, before: Level, after: Level, toBase: ToBase): Movement[] {
  const now = before.currency === null ? 0 : (toBase(before.milli, before.currency, common.at) ?? 0)
  const price = { ...common, currency: null, milli: 0, base_milli: after.base_milli - now, count: 0 as const }
  const fx = { ...price, kind: 'fx' as const, base_milli: now - before.base_milli }
  const kind = price.base_milli < 0 ? 'contraction' : 'expansion'
  const said: Movement[] =
    before.is_unknown !== after.is_unknown
      ? [
          {
            ...price,
            kind: 'repriced',
            currency: after.currency ?? before.currency,
            milli: differenceOf(before, after),
          },
        ]
      : before.currency === after.currency
        ? priceChange(price, before, after)
        : [...switched(common, before, after), { ...price, kind }]
  return [...said, fx].filter((one) => one.milli !== 0 || one.base_milli !== 0)
}

const differenceOf = (before: Level, after: Level): number => after.milli - before.milli

function priceChange(price: Omit<Movement, 'kind'>, before: Level, after: Level): Movement[] {
  const milli = differenceOf(before, after)
  const kind = milli < 0 ? 'contraction' : 'expansion'
  return [{ ...price, kind, currency: after.currency, milli }]
}

function switched(common: Common, before: Level, after: Level): Movement[] {
  const none = { ...common, base_milli: 0, count: 0 as const }
  return [
    { ...none, kind: 'switched_out', currency: before.currency, milli: less(before.milli) },
    { ...none, kind: 'switched_in', currency: after.currency, milli: after.milli },
  ]
}

/** Zero has no sign. */
const less = (milli: number): number => (milli === 0 ? 0 : -milli)
