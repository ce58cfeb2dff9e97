/** Corrects losses for churn: excludes what returned within a period or began within it. */
import { type Calendar, monthOf, weekOf } from './calendar.ts'
import { fiscalMonthOf } from './fiscal.ts'
import type { Movement, SegmentLevel, ValuedSegment } from './movements.ts'
import type { Ending } from './timeline.ts'

/** The periods of churn. Days, weeks and months are the organization’s, fiscal months Apple’s. */
export type LossUnit = 'day' | 'week' | 'month' | 'fiscal_month'

/**
 * A part of a loss that a period does not count. returned: it was paid again within the period; known from then on.
 * passing: it was not active at the period’s start, or had another price or product then; the amount is the difference
 * between the loss and its value at the start. `transaction_id`: the transaction that it belongs to.
 */
export type LossAdjustment = Omit<Movement, 'kind'> & {
  measure: `returned.${LossUnit}` | `passing.${LossUnit}.${Ending}`
  known_at: number
}

type Calendars = { calendar: Calendar; pacific: Calendar }

/** The number of the period that contains an instant; null without one. */
type UnitOf = (at: number) => number | null

const unitsOf = ({ calendar, pacific }: Calendars): readonly (readonly [LossUnit, UnitOf])[] => [
  ['day', (at) => calendar.dayOf(at)],
  ['week', (at) => weekOf(calendar.dayOf(at))],
  ['month', (at) => monthOf(calendar.dayOf(at))],
  ['fiscal_month', (at) => fiscalMonthOf(pacific.dayOf(at))],
]

/**
 * The corrections of one lineage’s losses. The remaining losses of a period are those of subscriptions active at its
 * start and not at its end, each valued at its start at most. `movements` and `segments` are in order.
 */
export function lossAdjustments(
  movements: readonly Movement[],
  segments: readonly ValuedSegment[],
  calendars: Calendars,
): LossAdjustment[] {
  const units = unitsOf(calendars)
  const places = new Map(segments.map(({ transaction_id }, index) => [transaction_id, index]))
  return movements.flatMap((loss, index) => {
    const ending = endingOf(loss)
    if (ending === null) return []
    const nextMovement = movements[index + 1]
    return units.flatMap(([unit, unitOf]): LossAdjustment[] => {
      const period = unitOf(loss.at)
      if (period === null) return []
      if (nextMovement !== undefined && unitOf(nextMovement.at) === period)
        return [{ ...loss, measure: `returned.${unit}`, known_at: nextMovement.at }]
      const place = places.get(loss.transaction_id) ?? -1
      const measure = `passing.${unit}.${ending}` as const
      return passing(loss, place, segments, (at) => (unitOf(at) ?? -1) < period).map((row) => ({
        ...row,
        measure,
        known_at: loss.at,
      }))
    })
  })
}

const CHURN = 'churn_'
const endingOf = ({ kind }: Movement): Ending | null =>
  kind.startsWith(CHURN) ? (kind.slice(CHURN.length) as Ending) : null

type Row = Omit<Movement, 'kind'>

/**
 * The correction of the loss of the segment at `place`: removes it, and adds back what was active before the period.
 */
function passing(
  loss: Movement,
  place: number,
  segments: readonly ValuedSegment[],
  isBefore: (at: number) => boolean,
): Row[] {
  let first = place
  while (first >= 0 && !isBefore(segments[first]?.from ?? 0)) first -= 1
  if (first === place) return []
  const [start, last] = [segments[first], segments[place]]
  if (!last || !start?.level.alive || isBefore(start.to)) return [loss]
  const { at } = loss
  return [
    loss,
    { at, transaction_id: start.transaction_id, ...lossAmounts(start.level, last.level), count: 1 },
  ]
}

/** The lost part of the value at the start, at most the value at the end. */
function lossAmounts(
  start: SegmentLevel,
  last: SegmentLevel,
): Pick<Movement, 'currency' | 'milli' | 'base_milli'> {
  const isSameCurrency = start.currency === last.currency
  const isComparable = last.isConverted && !last.isUnknown
  const base_milli = isComparable ? Math.min(start.base_milli, last.base_milli) : start.base_milli
  return {
    currency: start.currency,
    milli: isSameCurrency ? Math.min(start.milli, last.milli) : start.milli,
    base_milli: start.isConverted ? base_milli : null,
  }
}
