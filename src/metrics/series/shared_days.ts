/** Sums flows over the days on which all measures are known, for each app separately. */
import type { JoinedMeasureDays } from '../joined/tallies.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import {
  dayIndexOf,
  type SumQuery,
  type Tallies,
  type Tally,
  tallyOf,
  type Unconverted,
} from '../sums/tallies.ts'

type JoinedSums = { tallies: Tallies; unconverted: Unconverted; from: JoinedMeasureDays[] }

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

/** The days on which any measure is unknown. */
const unknownIn = (from: readonly JoinedMeasureDays[]): ReadonlySet<DayNumber> =>
  new Set(
    from
      .filter(({ of_ledger }) => !of_ledger)
      .flatMap(({ days }) => days.filter(({ is_known }) => !is_known).map(({ day }) => day)),
  )

const sharedDay = (day: JoinedMeasureDays['days'][number], unknown: ReadonlySet<DayNumber>) =>
  unknown.has(day.day) ? { ...day, is_known: false } : day
