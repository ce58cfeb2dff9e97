/** Corrects losses for churn: excludes subscriptions that returned, or began, within the same period. */
import { type Calendar, monthOf, weekOf } from './calendar.ts'
import { fiscalMonthOf } from './fiscal.ts'
import type { Movement, SegmentLevel, ValuedSegment } from './movements.ts'
import type { Ending } from './timeline.ts'

/** The periods of churn. Days, weeks and months are in the organization’s time zone, fiscal months in Pacific days. */
export type LossUnit = 'day' | 'week' | 'month' | 'fiscal_month'

/**
 * An amount that a period’s churn subtracts from a loss. returned: the subscription was paid again within the period; the
 * adjustment is known from that payment on. passing: at the period’s start the subscription was not active or had another
 * price or product; the amount is the difference between the loss and the value at the start. `transaction_id`: the
 * transaction whose dimensions apply.
 */
export type LossAdjustment = Omit<Movement, 'kind'> & {
  measure: `returned.${LossUnit}` | `passing.${LossUnit}.${Ending}`
  known_at: number
}

type Calendars = { calendar: Calendar; pacific: Calendar }

/** The number of the period that contains an instant; null if there is no such period. */
type PeriodNumberOf = (at: number) => number | null

const periodNumberings = ({
  calendar,
  pacific,
}: Calendars): readonly (readonly [LossUnit, PeriodNumberOf])[] => [
  ['day', (at) => calendar.dayOf(at)],
  ['week', (at) => weekOf(calendar.dayOf(at))],
  ['month', (at) => monthOf(calendar.dayOf(at))],
  ['fiscal_month', (at) => fiscalMonthOf(pacific.dayOf(at))],
]

/**
 * The adjustments of one lineage’s losses. Losses minus adjustments are the losses of subscriptions that were active at a
 * period’s start and not at its end, each at most at its value at the start. `movements` and `segments` are in order.
 */
export function lossAdjustments(
  movements: readonly Movement[],
  segments: readonly ValuedSegment[],
  calendars: Calendars,
): LossAdjustment[] {
  const numberings = periodNumberings(calendars)
  const indexById = new Map(segments.map(({ transaction_id }, index) => [transaction_id, index]))
  return movements.flatMap((loss, index) => {
    const ending = endingOf(loss)
    if (ending === null) return []
    const nextMovement = movements[index + 1]
    return numberings.flatMap(([unit, periodNumberOf]): LossAdjustment[] => {
      const period = periodNumberOf(loss.at)
      if (period === null) return []
      if (nextMovement !== undefined && periodNumberOf(nextMovement.at) === period)
        return [{ ...loss, measure: `returned.${unit}`, known_at: nextMovement.at }]
      const lastIndex = indexById.get(loss.transaction_id) ?? -1
      const measure = `passing.${unit}.${ending}` as const
      return passingAmounts(loss, lastIndex, segments, (at) => (periodNumberOf(at) ?? -1) < period).map(
        (row) => ({ ...row, measure, known_at: loss.at }),
      )
    })
  })
}

const CHURN = 'churn_'
const endingOf = ({ kind }: Movement): Ending | null =>
  kind.startsWith(CHURN) ? (kind.slice(CHURN.length) as Ending) : null

type AdjustmentAmounts = Omit<Movement, 'kind'>

/**
 * The adjustment of the loss of the segment at `lastIndex`: subtracts the loss, and adds the value at the period’s start.
 */
function passingAmounts(
  loss: Movement,
  lastIndex: number,
  segments: readonly ValuedSegment[],
  isBefore: (at: number) => boolean,
): AdjustmentAmounts[] {
  let first = lastIndex
  while (first >= 0 && !isBefore(segments[first]?.from ?? 0)) first -= 1
  if (first === lastIndex) return []
  const [start, last] = [segments[first], segments[lastIndex]]
  if (!last || !start?.level.alive || isBefore(start.to)) return [loss]
  const { at } = loss
  return [
    loss,
    { at, transaction_id: start.transaction_id, ...lossAmounts(start.level, last.level), count: 1 },
  ]
}

/** The value at the period’s start, or the value at the loss if that is lower. */
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
