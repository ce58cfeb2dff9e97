/** Tallies: sums of measures by bucket of days. Every series is computed from tallies. */
import type { Environment } from '../../apple/payloads.ts'
import type { Filter, Split } from '../definitions/definition.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import type { Generation } from '../upkeep/generations.ts'

/** A range of days, both ends included. */
export type Bucket = { from: DayNumber; until: DayNumber }

/** The included values of each dimension; a dimension without an entry is not filtered. */
export type Filters = Partial<Record<Exclude<Filter, 'app' | 'currency' | 'attribute'>, readonly string[]>>

/** An attribute of users, with the JSON texts that its value can have. */
export type AttributeFilter = { key: string; json: readonly string[] }

/**
 * What to sum. `levels`: the measures for which the sum before the first bucket is needed too. `currency`: sums only
 * charges in this currency, unconverted; null for all charges in the base currency. `known_from`: the first day of each app
 * of which flows are summed; of other apps all days are. The buckets are consecutive.
 */
export type RowQuery = {
  /** The generation that is read. */
  shown: Pick<Generation, 'id' | 'time_zone'>
  apps: readonly string[]
  environment: Environment
  zone: 'own' | 'pacific'
  measures: readonly Measure[]
  levels: readonly Measure[]
  buckets: readonly Bucket[]
  filters: Filters
  attribute: AttributeFilter | null
  split: Split | null
  currency: string | null
  known_from?: ReadonlyMap<string, DayNumber>
}

/** What to sum, of a generation whose settings decide where sums come from. */
export type SumQuery = RowQuery & { shown: Generation }

/** The first day of an app of which a measure is summed. What is known of a level began before anything was heard. */
export const firstSummedDay = ({ known_from }: RowQuery, app_id: string, measure: Measure): DayNumber =>
  /^(mrr$|trials$|risk\.)/.test(measure) ? -Infinity : (known_from?.get(app_id) ?? -Infinity)

export type Sum = { milli: number; count: number }

/** The sum of a measure before the first bucket, and in each bucket. */
export type Tally = { sumBefore: Sum; milli: Float64Array; count: Float64Array }

/** Tallies by value of the split ('' for the total), then by measure. */
export type Tallies = Map<string, Map<Measure, Tally>>

/** Sums of amounts that could not be converted, by their currency and in that currency. */
export type Unconverted = Map<string, Tallies>

/** Runs a query. */
export type ReadTallies = (query: SumQuery) => Promise<Tallies>

export const emptyTally = (buckets: number): Tally => ({
  sumBefore: { milli: 0, count: 0 },
  milli: new Float64Array(buckets),
  count: new Float64Array(buckets),
})

/** Returns the tally of a measure for a value of the split. Creates it on first use. */
export function tallyOf(tallies: Tallies, value: string, measure: Measure, buckets: number): Tally {
  const measures = tallies.get(value) ?? new Map<Measure, Tally>()
  tallies.set(value, measures)
  const tally = measures.get(measure) ?? emptyTally(buckets)
  measures.set(measure, tally)
  return tally
}

/** Adds `added` to `sum`, measure by measure. */
export function addTallies(sum: Map<Measure, Tally>, added: ReadonlyMap<Measure, Tally>): void {
  for (const [measure, { sumBefore, milli, count }] of added) {
    const target = sum.get(measure) ?? emptyTally(milli.length)
    sum.set(measure, target)
    target.sumBefore.milli += sumBefore.milli
    target.sumBefore.count += sumBefore.count
    for (let index = 0; index < milli.length; index += 1) {
      target.milli[index] = (target.milli[index] ?? 0) + (milli[index] ?? 0)
      target.count[index] = (target.count[index] ?? 0) + (count[index] ?? 0)
    }
  }
}

/** Consecutive buckets from `first` to `last`, which together are the days `days`. */
export type Span = { days: Bucket; first: number; last: number }

/** The sums of consecutive spans of a tally’s buckets, and the sum before the first span. */
export function tallyOver(tally: Tally, spans: readonly Span[]): Tally {
  const { sumBefore, milli, count } = tally
  if (spans.length === milli.length) return tally
  const begin = spans[0]?.first ?? 0
  return {
    sumBefore: {
      milli: sumBefore.milli + sumBetween(milli, 0, begin),
      count: sumBefore.count + sumBetween(count, 0, begin),
    },
    milli: Float64Array.from(spans, ({ first, last }) => sumBetween(milli, first, last + 1)),
    count: Float64Array.from(spans, ({ first, last }) => sumBetween(count, first, last + 1)),
  }
}

function sumBetween(values: Float64Array, first: number, end: number): number {
  let sum = 0
  for (let index = first; index < end; index += 1) sum += values[index] ?? 0
  return sum
}

/** `bucketIndexes` has the index of the bucket for each day from `from` to `until`. */
export type DayIndex = { from: DayNumber; until: DayNumber; bucketIndexes: Int32Array }

/** Maps each day of the buckets to its bucket. */
export function dayIndexOf(buckets: readonly Bucket[]): DayIndex {
  const from = buckets[0]?.from ?? 0
  const until = buckets.at(-1)?.until ?? from - 1
  const bucketIndexes = new Int32Array(until - from + 1)
  for (const [index, bucket] of buckets.entries())
    bucketIndexes.fill(index, bucket.from - from, bucket.until - from + 1)
  return { from, until, bucketIndexes }
}
