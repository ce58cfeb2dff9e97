/** Decides which points are unknown and which are partial, from the sources of their measures. */
import type { Kind } from '../definitions/definition.ts'
import { isLevel } from '../joined/days.ts'
import type { JoinedMeasureDays } from '../joined/tallies.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import type { Bucket } from '../sums/tallies.ts'

/** How much of a figure is known. none: shown as a gap, not as zero. some: the sum is partial. */
type Knowledge = 'all' | 'some' | 'none'

/**
 * Returns, for each bucket, how much is known of the sum of some measures over some apps (null: all apps). Returns null
 * if all buckets are fully known.
 */
export type KnownOf = (
  measures: readonly Measure[],
  apps: readonly string[] | null,
) => readonly Knowledge[] | null

/** How much of one app’s measure is known in each bucket. */
type MeasureKnowledge = { app_id: string; measure: Measure; of_ledger: boolean; known: readonly Knowledge[] }

/**
 * A figure is known if each of its measures is known for every app, because one app is not the sum of two. If only
 * the ledger has a measure, one known app is enough and the sum is partial, because an app without activity may never
 * appear. A flow is partial if only some of its days are known. The change of a level is known if its starting value is
 * known, and fully known if the ending value is known too. A ratio is fully known if numerator and denominator are.
 */
export function knowledgeOf(
  from: readonly JoinedMeasureDays[],
  kind: Kind,
  buckets: readonly Bucket[],
): KnownOf {
  if (from.every(({ days }) => days.every((day) => day.is_known && day.is_complete))) return () => null
  const knowledge: MeasureKnowledge[] = from.map((one) => {
    const { app_id, measure, of_ledger = false } = one
    const dayCounts = prefixCountsOf(one)
    const known = buckets.map((bucket) =>
      kind === 'level' ? levelKnowledge(dayCounts, bucket) : flowKnowledge(dayCounts, bucket, measure),
    )
    return { app_id, measure, of_ledger, known }
  })
  const cachedKnowledge = new WeakMap<readonly Measure[], readonly Knowledge[]>()

  function read(measures: readonly Measure[], apps: readonly string[] | null): Knowledge[] {
    const selected = knowledge.filter(
      (one) => measures.includes(one.measure) && (apps?.includes(one.app_id) ?? true),
    )
    const joined = selected.filter((one) => !one.of_ledger)
    const ledgerOnly = [
      ...Map.groupBy(
        selected.filter((one) => one.of_ledger),
        ({ app_id }) => app_id,
      ).values(),
    ]
    return buckets.map((_, at) => {
      const combined = (some: readonly MeasureKnowledge[]) =>
        leastKnown(some.map(({ known }) => known[at] ?? 'all'))
      return leastKnown([combined(joined), combineApps(ledgerOnly.map(combined))])
    })
  }

  return (measures, apps) => {
    if (apps !== null) return read(measures, apps)
    const known = cachedKnowledge.get(measures) ?? read(measures, apps)
    cachedKnowledge.set(measures, known)
    return known
  }
}

const leastKnown = (all: readonly Knowledge[]): Knowledge =>
  all.includes('none') ? 'none' : all.includes('some') ? 'some' : 'all'

/** Combines the knowledge of several apps for a measure that only the ledger has. */
function combineApps(all: readonly Knowledge[]): Knowledge {
  const least = leastKnown(all)
  return least === 'none' && all.some((one) => one !== 'none') ? 'some' : least
}

/** Prefix counts: how many days from `first` up to each day are known, and how many are known and complete. */
type PrefixCounts = { first: DayNumber; last: DayNumber; known: Uint32Array; whole: Uint32Array }

function prefixCountsOf({ days }: JoinedMeasureDays): PrefixCounts {
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
function knownWithin(
  { first, last, known, whole }: PrefixCounts,
  from: DayNumber,
  until: DayNumber,
): Knowledge {
  const [begin, end] = [Math.max(from, first) - first, Math.min(until, last) - first + 1]
  const countBetween = (sums: Uint32Array): number => (sums[end] ?? 0) - (sums[begin] ?? 0)
  if (countBetween(known) === 0) return 'none'
  return countBetween(whole) === end - begin ? 'all' : 'some'
}

const levelKnowledge = (counts: PrefixCounts, { until }: Bucket): Knowledge => {
  const day = Math.min(until, counts.last)
  return knownWithin(counts, day, day)
}

function flowKnowledge(counts: PrefixCounts, { from, until }: Bucket, measure: Measure): Knowledge {
  if (!isLevel(measure)) return knownWithin(counts, from, until)
  const before = knownWithin(counts, from - 1, from - 1)
  return before === 'none' || levelKnowledge(counts, { from, until }) === 'all' ? before : 'some'
}
