/** Sums flows over the days on which all measures are known, for each app separately. */
import { type DayReason, isJoined, type JoinedDay, unknownDay } from '../joined/days.ts'
import type { JoinedMeasureDays, JoinedSums } from '../joined/tallies.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import { dayIndexOf, type SumQuery, type Tally, tallyOf } from '../sums/tallies.ts'

/**
 * Calls `read` by day and sums only the days on which all measures are known. In `from` all other days are marked unknown.
 * Only for flows without money, which have no sum before the first bucket and no unconverted amounts.
 */
export async function readSharedDays(
  query: SumQuery,
  read: (one: SumQuery) => Promise<JoinedSums>,
): Promise<JoinedSums> {
  const joined: JoinedSums = { tallies: new Map(), unconverted: new Map(), from: [] }
  const { from: firstDay, until, bucketIndexes } = dayIndexOf(query.buckets)
  const days = Array.from({ length: until - firstDay + 1 }, (_, index) => firstDay + index)
  const buckets = days.map((day) => ({ from: day, until: day }))
  for (const app_id of query.apps) {
    const { tallies, from } = await read({ ...query, apps: [app_id], buckets })
    const unknown = unknownIn(from)
    const bucketOf = days.map((day, index) => (unknown.has(day) ? null : (bucketIndexes[index] ?? null)))
    joined.from.push(...from.map((one) => ({ ...one, days: one.days.map((day) => sharedDay(day, unknown)) })))
    for (const [value, measures] of tallies)
      for (const [measure, tally] of measures)
        addDays(tallyOf(joined.tallies, value, measure, query.buckets.length), tally, bucketOf)
  }
  return joined
}

/** Adds each day of a tally to its bucket; days whose bucket is null are excluded. */
function addDays(sum: Tally, { milli, count }: Tally, bucketOf: readonly (number | null)[]): void {
  for (const [index, bucket] of bucketOf.entries()) {
    if (bucket === null) continue
    sum.milli[bucket] = (sum.milli[bucket] ?? 0) + (milli[index] ?? 0)
    sum.count[bucket] = (sum.count[bucket] ?? 0) + (count[index] ?? 0)
  }
}

/** Why days are unknown on which any measure is that reports may have. Others only mark figures that may change. */
const unknownIn = (from: readonly JoinedMeasureDays[]): ReadonlyMap<DayNumber, DayReason> =>
  new Map(
    from
      .filter(({ measure }) => isJoined(measure, false))
      .flatMap(({ days }) =>
        days.flatMap(({ day, is_known, reason }) => (is_known || reason === null ? [] : [[day, reason]])),
      ),
  )

function sharedDay(day: JoinedDay, unknown: ReadonlyMap<DayNumber, DayReason>): JoinedDay {
  const reason = unknown.get(day.day)
  return reason === undefined ? day : unknownDay(day.day, day.source, reason)
}
