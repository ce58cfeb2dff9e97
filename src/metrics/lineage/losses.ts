/** What we compute: which of the losses of a lineage are none of a period: what came back in it, what began in it. */
import { type Calendar, monthOf, weekOf } from './calendar.ts'
import { fiscalMonthOf } from './fiscal.ts'
import type { Level, Movement, Valued } from './movements.ts'
import type { Ending } from './timeline.ts'

/** The periods by which churn is asked for. Days, weeks and months are the organization's, fiscal months Apple's. */
export type LossUnit = 'day' | 'week' | 'month' | 'fiscal_month'

/**
 * A loss, as its movement has it, that a period does not count. returned: it was paid for again within the period; known
 * once it was. passing: it was not alive when the period began; or it was, for another price or another product, and this
 * is the difference between what was lost and what of it was there at the start. `transaction_id`: whose it is.
 */
export type Uncounted = Omit<Movement, 'kind'> & {
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
export function uncountedOf(
  moved: readonly Movement[],
  segments: readonly Valued[],
  calendars: Calendars,
): Uncounted[] {
  const units = unitsOf(calendars)
  const places = new Map(segments.map(({ transaction_id }, index) => [transaction_id, index]))
  return moved.flatMap((lost, index) => {
    const ending = endingOf(lost)
    if (ending === null) return []
    const back = moved[index + 1]
    return units.flatMap(([unit, unitOf]): Uncounted[] => {
      const period = unitOf(lost.at)
      if (period === null) return []
      if (back !== undefined && unitOf(back.at) === period)
        return [{ ...lost, measure: `returned.${unit}`, known_at: back.at }]
      const place = places.get(lost.transaction_id) ?? -1
      const measure = `passing.${unit}.${ending}` as const
      return passing(lost, place, segments, (at) => (unitOf(at) ?? -1) < period).map((row) => ({
        ...row,
        measure,
        known_at: lost.at,
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
  lost: Movement,
  place: number,
  segments: readonly Valued[],
  isBefore: (at: number) => boolean,
): Row[] {
  let first = place
  while (first >= 0 && !isBefore(segments[first]?.from ?? 0)) first -= 1
  if (first === place) return []
  const [start, last] = [segments[first], segments[place]]
  if (!last || !start?.level.alive || isBefore(start.to)) return [lost]
  const { at } = lost
  return [lost, { at, transaction_id: start.transaction_id, ...countedOf(start.level, last.level), count: 1 }]
}

/** What was lost of what was there at the start: no more than that, and no more than there was at the end. */
function countedOf(start: Level, last: Level): Pick<Movement, 'currency' | 'milli' | 'base_milli'> {
  const isSame = start.currency === last.currency
  const isComparable = last.is_converted && !last.is_unknown
  const base_milli = isComparable ? Math.min(start.base_milli, last.base_milli) : start.base_milli
  return {
    currency: start.currency,
    milli: isSame ? Math.min(start.milli, last.milli) : start.milli,
    base_milli: start.is_converted ? base_milli : null,
  }
}
