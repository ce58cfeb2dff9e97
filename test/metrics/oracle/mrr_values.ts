/** The oracle’s monthly values of a lineage, and its movements. */
import { aMonth, type Factors } from './arithmetic.ts'
import type { Bought, Lineage } from './facts.ts'
import { type Ending, type Kind, periodOf, type Stretch, stretchesOf } from './segments.ts'

/** Converts an amount to the base currency at the rate of the day of `at`; null where there is none. */
type ToBase = (milli: number, currency: string, at: number) => number | null

export type Terms = {
  environment: string
  factors: Factors
  toBase: ToBase
  declaredPeriodOf: (app_id: string, product_id: string) => string | undefined
}

/**
 * A span with its monthly value. `is_paid`: it counts as a subscription. `milli` is null for an unknown price,
 * `base_milli` also without a rate.
 */
export type Worth = Stretch & {
  is_paid: boolean
  period: string | null
  currency: string | null
  milli: number | null
  base_milli: number | null
}

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
 * `currency` is '' and `milli` 0 where only the base value changed; `base_milli` is null without a rate. `by`: the
 * transaction of the movement.
 */
export type Movement = {
  at: number
  kind: MovementKind
  by: Bought
  currency: string
  milli: number
  base_milli: number | null
  count: number
}

const FREE: readonly Kind[] = ['trial', 'free_offer']

export function worthsOf(
  lineage: Lineage,
  { environment, factors, toBase, declaredPeriodOf }: Terms,
): Worth[] {
  return stretchesOf(lineage).map((stretch) => {
    const { by, kind, from } = stretch
    const period = periodOf(by, environment, declaredPeriodOf(by.app_id, by.product_id))
    if (FREE.includes(kind)) {
      return { ...stretch, is_paid: false, period, currency: null, milli: 0, base_milli: 0 }
    }
    const isKnown = by.price_milli !== null && by.currency !== null && period !== null
    const milli = isKnown ? aMonth(by.price_milli ?? 0, period, factors) : null
    const currency = milli === null ? null : by.currency
    const base_milli = milli === null || currency === null ? null : toBase(milli, currency, from)
    return { ...stretch, is_paid: true, period, currency, milli, base_milli }
  })
}

/** The span that applies at an instant. */
export const worthAt = (worths: readonly Worth[], at: number): Worth | undefined =>
  worths.find(({ from, to }) => from <= at && at < to)

/** Compares the instant before each change with the change. */
export function movementsOf(worths: readonly Worth[], is_whole: boolean, toBase: ToBase): Movement[] {
  const instants = [...new Set(worths.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b)
  return instants.flatMap((at) => {
    const [before, after] = [worthAt(worths, at - 1), worthAt(worths, at)]
    if (!before?.is_paid && !after?.is_paid) return []
    if (before?.is_paid && after?.is_paid) return repriced(at, before, after, toBase)
    if (after?.is_paid) return [{ ...amounts(after, 1), at, kind: beginning(worths, at, is_whole) }]
    if (before === undefined) return []
    // A change to something free belongs to the free transaction.
    if (after) return [{ ...amounts(before, -1), by: after.by, at, kind: 'contraction' }]
    return [{ ...amounts(before, -1), at, kind: `churn_${before.ending}` }]
  })
}

function amounts({ by, currency, milli, base_milli }: Worth, sign: 1 | -1) {
  const signed = (amount: number | null) => (amount === null || amount === 0 ? 0 : sign * amount)
  const base = isUnrated({ milli, base_milli }) ? null : signed(base_milli)
  return { by, currency: currency ?? '', milli: signed(milli), base_milli: base, count: sign }
}

const isUnrated = ({ milli, base_milli }: Pick<Worth, 'milli' | 'base_milli'>): boolean =>
  milli !== null && base_milli === null

/** Paid time begins at `at`: for the first time, again, or directly after a free segment that followed paid time. */
function beginning(worths: readonly Worth[], at: number, is_whole: boolean): MovementKind {
  if (!worths.some(({ is_paid, from }) => is_paid && from < at)) return is_whole ? 'new' : 'opening'
  for (let before = worthAt(worths, at - 1); before; before = worthAt(worths, before.from - 1)) {
    if (before.is_paid) return 'expansion'
  }
  return 'resubscribe'
}

/** Paid before and after. The old price at the new day’s rate separates price and rate. */
function repriced(at: number, before: Worth, after: Worth, toBase: ToBase): Movement[] {
  const worthNow = before.currency === null ? 0 : (toBase(before.milli ?? 0, before.currency, at) ?? 0)
  const common = { at, by: after.by, currency: '', milli: 0, base_milli: 0, count: 0 }
  const byPrice = (after.base_milli ?? 0) - worthNow
  const byRate: Movement = { ...common, kind: 'fx', base_milli: worthNow - (before.base_milli ?? 0) }
  const moved = [...priceMoved(before, after, { ...common, base_milli: byPrice }), byRate]
  return moved.filter(({ milli, base_milli }) => milli !== 0 || (base_milli ?? 0) !== 0)
}

/** `change`: in the base currency; null without a rate. */
function priceMoved(before: Worth, after: Worth, change: Omit<Movement, 'kind'>): Movement[] {
  const [old, now] = [before.milli ?? 0, after.milli ?? 0]
  const [out, into] = [before.currency ?? '', after.currency ?? '']
  const rated = (worth: Worth, base_milli: number | null) => ({
    base_milli: isUnrated(worth) ? null : base_milli,
  })
  if ((before.milli === null) !== (after.milli === null)) {
    const known = before.milli === null ? after : before
    return [
      {
        ...change,
        kind: 'repriced',
        currency: into || out,
        milli: now - old,
        ...rated(known, change.base_milli),
      },
    ]
  }
  if (out === into) {
    const kind = now < old ? 'contraction' : 'expansion'
    return [{ ...change, kind, currency: into, milli: now - old, ...rated(after, change.base_milli) }]
  }
  return [
    { ...change, kind: 'switched_out', currency: out, milli: -old, ...rated(before, 0) },
    { ...change, kind: 'switched_in', currency: into, milli: now, ...rated(after, 0) },
    { ...change, kind: (change.base_milli ?? 0) < 0 ? 'contraction' : 'expansion' },
  ]
}
