/** Decides which points are unknown and which are partial, from the sources of their measures. */
import type { Kind } from '../definitions/definition.ts'
import { isLevel } from '../joined/days.ts'
import type { JoinedMeasureDays } from '../joined/tallies.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import type { Bucket } from '../sums/tallies.ts'

/** none: unknown, shown as a gap rather than zero. some: a part is missing. */
type Knowledge = 'all' | 'some' | 'none'

/**
 * How much of a figure made of some measures and apps (null: all apps) is known, for each bucket; null where all of
 * every bucket is known.
 */
export type KnownOf = (
  measures: readonly Measure[],
  apps: readonly string[] | null,
) => readonly Knowledge[] | null

/** How much of one app’s measure is known in each bucket. */
type MeasureKnowledge = { app_id: string; measure: Measure; of_ledger: boolean; known: readonly Knowledge[] }

/**
 * A figure is known where each of its measures is known for every app: one app’s value is no sum of two. For a measure
 * that only the ledger has, one app is enough, and the sum is partial: an app without activity may never appear. For a
 * flow some days are enough, and it is partial. A change is known where its starting value is, and whole where both its
 * ends are. A ratio is whole where both its parts are.
 */
export function knowledgeOf(
  from: readonly JoinedMeasureDays[],
  kind: Kind,
  buckets: readonly Bucket[],
): KnownOf {
  if (from.every(({ days }) => days.every((day) => day.is_known && day.is_complete))) return () => null
  const knowledge: MeasureKnowledge[] = from.map((one) => {
    const { app_id, measure, of_ledger = false } = one
    const dayCounts = countsOf(one)
    const known = buckets.map((bucket) =>
      kind === 'level' ? ofLevel(dayCounts, bucket) : ofFlow(dayCounts, bucket, measure),
    )
    return { app_id, measure, of_ledger, known }
  })
  const kept = new WeakMap<readonly Measure[], readonly Knowledge[]>()

  function read(measures: readonly Measure[], apps: readonly string[] | null): Knowledge[] {
    const own = knowledge.filter(
      (one) => measures.includes(one.measure) && (apps?.includes(one.app_id) ?? true),
    )
    const joined = own.filter((one) => !one.of_ledger)
    const ledgerOnly = [
      ...Map.groupBy(
        own.filter((one) => one.of_ledger),
        ({ app_id }) => app_id,
      ).values(),
    ]
    return buckets.map((_, at) => {
      const combined = (some: readonly MeasureKnowledge[]) =>
        leastOf(some.map(({ known }) => known[at] ?? 'all'))
      return leastOf([combined(joined), ofApps(ledgerOnly.map(combined))])
    })
  }

  return (measures, apps) => {
    if (apps !== null) return read(measures, apps)
    const known = kept.get(measures) ?? read(measures, apps)
    kept.set(measures, known)
    return known
  }
}

const leastOf = (all: readonly Knowledge[]): Knowledge =>
  all.includes('none') ? 'none' : all.includes('some') ? 'some' : 'all'

/** Combines what each app alone is known to have. */
function ofApps(all: readonly Knowledge[]): Knowledge {
  const least = leastOf(all)
  return least === 'none' && all.some((one) => one !== 'none') ? 'some' : least
}

/** Prefix counts: how many days from `first` up to each day are known and whole. */
type Counts = { first: DayNumber; last: DayNumber; known: Uint32Array; whole: Uint32Array }

function countsOf({ days }: JoinedMeasureDays): Counts {
  const known = new Uint32Array(days.length + 1)
  const whole = new Uint32Array(days.length + 1)
  for (const [at, { is_known, is_complete }] of days.entries()) {
    known[at + 1] = (known[at] ?? 0) + (is_known ? 1 : 0)
    whole[at + 1] = (whole[at] ?? 0) + (is_known && is_complete ? 1 : 0)
  }
  const first = days[0]?.day ?? 0
  return { first, last: first + days.length - 1, known, whole }
}

/** How much of the days `from` to `until` is known. */
function within({ first, last, known, whole }: Counts, from: DayNumber, until: DayNumber): Knowledge {
  const [begin, end] = [Math.max(from, first) - first, Math.min(until, last) - first + 1]
  const countBetween = (sums: Uint32Array): number => (sums[end] ?? 0) - (sums[begin] ?? 0)
  if (countBetween(known) === 0) return 'none'
  return countBetween(whole) === end - begin ? 'all' : 'some'
}

const ofLevel = (counts: Counts, { until }: Bucket): Knowledge => {
  const day = Math.min(until, counts.last)
  return within(counts, day, day)
}

function ofFlow(counts: Counts, { from, until }: Bucket, measure: Measure): Knowledge {
  if (!isLevel(measure)) return within(counts, from, until)
  const before = within(counts, from - 1, from - 1)
  return before === 'none' || ofLevel(counts, { from, until }) === 'all' ? before : 'some'
}
