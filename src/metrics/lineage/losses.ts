/** What we compute: which of the losses of a lineage are none of a period: what came back in it, what began in it. */
import { type Calendar, monthOf, weekOf } from './calendar.ts'
import { fiscalMonthOf } from './fiscal.ts'
import type { Movement, SegmentLevel, ValuedSegment } from './movements.ts'
import type { Ending } from './timeline.ts'

/** The periods by which churn is asked for. Days, weeks and months are the organization's, fiscal months Apple's. */
export type LossUnit = 'day' | 'week' | 'month' | 'fiscal_month'

/**
 * A loss, as its movement has it, that a period does not count. returned: it was paid for again within the period; known
 * once it was. passing: it was not alive when the period began; or it was, for another price or another product, and this
 * is the difference between what was lost and what of it was there at the start. `transaction_id`: whose it is.
 */
export type LossAdjustment = Omit<Movement, 'kind'> & {
  measure: `returned.${LossUnit}` | `passing.${LossUnit}.${Ending}`
  known_at: number
}

type Calendars = { calendar: Calendar; pacific: Calendar }

/** The number of the period that an instant is in; null for one that has none. */
type UnitOf = (at: number) => number | null

const unitsOf = ({ calendar, pacific }: Calendars): readonly (readonly [LossUnit, UnitOf])[] => [
  ['day', (at) => calendar.dayOf(at)],
  ['week', (at) => weekOf(calendar.dayOf(at))],
  ['month', (at) => monthOf(calendar.dayOf(at))],
  ['fiscal_month', (at) => fiscalMonthOf(pacific.dayOf(at))],
]

/**
 * What to take off the losses of one lineage so that of each period what is left are those of subscriptions that were
 * alive when it began and were not when it ended, each worth no more than it was at the start. `moved` and `segments` in
 * order.
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

/** Of a loss of the segment at `place`: all of it goes, and what of it was alive before the period comes again. */
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

/** What was lost of what was there at the start: no more than that, and no more than there was at the end. */
function lossAmounts(
  start: SegmentLevel,
  last: SegmentLevel,
): Pick<Movement, 'currency' | 'milli' | 'base_milli'> {
  const isSame = start.currency === last.currency
  const isComparable = last.isConverted && !last.isUnknown
  const base_milli = isComparable ? Math.min(start.base_milli, last.base_milli) : start.base_milli
  return {
    currency: start.currency,
    milli: isSame ? Math.min(start.milli, last.milli) : start.milli,
    base_milli: start.isConverted ? base_milli : null,
  }
}
