/** Decides which points are unknown and which are partial, from the sources of their measures. */
import type { Kind } from '../definitions/definition.ts'
import { type DayReason, isLevel } from '../joined/days.ts'
import type { JoinedMeasureDays } from '../joined/tallies.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import type { Bucket } from '../sums/tallies.ts'

/** How much of a figure is known. none: shown as a gap, not as zero. some: the sum is partial. */
type Knowledge = 'all' | 'some' | 'none'

/** The sum of some measures over some apps (null: all apps). */
type Summed = [measures: readonly Measure[], apps: readonly string[] | null]

export type SeriesKnowledge = {
  /** How much of a sum is known in each bucket; null if all of it is in all buckets. */
  knownOf: (...sum: Summed) => readonly Knowledge[] | null
  /** Why a sum is unknown or partial in a bucket. */
  reasonsOf: (sum: Summed, bucket: number) => DayReason[]
}

/** Returns what is known in some buckets, which need not be consecutive. */
export type KnowledgeIn = (buckets: readonly Bucket[]) => SeriesKnowledge

/** How much of one app’s measure is known in each bucket. */
type MeasureKnowledge = Pick<JoinedMeasureDays, 'app_id' | 'measure' | 'is_optional'> & {
  known: readonly Knowledge[]
  days: PrefixCounts
}

/**
 * A figure of one app is known if each of its measures is. A sum over several apps is unknown if one of them is, because
 * one app is not the sum of two. It is partial if that app may be inactive, because an app without activity may never
 * appear. A flow is partial if only some of its days are known. The change of a level is known if its starting value is
 * known, and fully known if the ending value is known too. A ratio is fully known if numerator and denominator are.
 */
export function knowledgeOf(from: readonly JoinedMeasureDays[], kind: Kind): KnowledgeIn {
  if (from.every(({ days }) => days.every((day) => day.reason === null)))
    return () => ({ knownOf: () => null, reasonsOf: () => [] })
  const countsByDays = new Map<JoinedMeasureDays['days'], PrefixCounts>()
  const counted = from.map((one) => {
    const dayCounts = countsByDays.get(one.days) ?? prefixCountsOf(one)
    countsByDays.set(one.days, dayCounts)
    return { ...one, days: dayCounts }
  })
  return (buckets) => knowledgeIn(counted, kind, buckets)
}

function knowledgeIn(
  counted: readonly Omit<MeasureKnowledge, 'known'>[],
  kind: Kind,
  buckets: readonly Bucket[],
): SeriesKnowledge {
  const knowledge = counted.map((one): MeasureKnowledge => {
    const dayCounts = one.days
    const known = buckets.map((bucket) =>
      kind === 'level' ? levelKnowledge(dayCounts, bucket) : flowKnowledge(dayCounts, bucket, one.measure),
    )
    return { ...one, known }
  })
  const cachedKnowledge = new WeakMap<readonly Measure[], readonly Knowledge[]>()

  const partsOf = (...[measures, apps]: Summed): MeasureKnowledge[] =>
    knowledge.filter((one) => measures.includes(one.measure) && (apps?.includes(one.app_id) ?? true))

  function read(...sum: Summed): Knowledge[] {
    const byApp = [...Map.groupBy(partsOf(...sum), ({ app_id }) => app_id).values()]
    return buckets.map((_, at) => combineApps(byApp.map((ofApp) => appKnowledge(ofApp, at))))
  }

  function knownOf(...[measures, apps]: Summed): readonly Knowledge[] {
    if (apps !== null) return read(measures, apps)
    const known = cachedKnowledge.get(measures) ?? read(measures, apps)
    cachedKnowledge.set(measures, known)
    return known
  }

  function reasonsOf(sum: Summed, at: number): DayReason[] {
    const bucket = buckets[at]
    if (bucket === undefined) return []
    const parts = partsOf(...sum).filter(({ known }) => known[at] !== 'all')
    return [...new Set(parts.flatMap(({ measure, days }) => reasonsIn(days, bucket, kind, measure)))]
  }

  return { knownOf, reasonsOf }
}

/** Why a measure is unknown or partial on the days of a bucket that decide it: of a level its ends, of a flow all. */
function reasonsIn(counts: PrefixCounts, { from, until }: Bucket, kind: Kind, measure: Measure): DayReason[] {
  const last = Math.min(until, counts.last)
  const levelDays = kind === 'level' ? [last] : isLevel(measure) ? [from - 1, last] : []
  const deciding =
    levelDays.length > 0 ? levelDays.map((day) => [day, day] as const) : [[from, last] as const]
  return counts.ranges
    .filter((range) => deciding.some(([begin, end]) => range.until >= begin && range.from <= end))
    .map(({ reason }) => reason)
}

const leastKnown = (all: readonly Knowledge[]): Knowledge =>
  all.includes('none') ? 'none' : all.includes('some') ? 'some' : 'all'

/** How much of an app’s measures is known, together and without the optional ones. */
type AppKnowledge = { all: Knowledge; required: Knowledge }

function appKnowledge(measures: readonly MeasureKnowledge[], at: number): AppKnowledge {
  const leastOf = (some: readonly MeasureKnowledge[]) =>
    leastKnown(some.map(({ known }) => known[at] ?? 'all'))
  return { all: leastOf(measures), required: leastOf(measures.filter(({ is_optional }) => !is_optional)) }
}

function combineApps(apps: readonly AppKnowledge[]): Knowledge {
  if (apps.some(({ required }) => required === 'none')) return 'none'
  const all = apps.map((one) => one.all)
  const least = leastKnown(all)
  return least === 'none' && all.some((one) => one !== 'none') ? 'some' : least
}

/**
 * Prefix counts: how many days from `first` up to each day are known, and how many are known and complete. `ranges`: the days
 * that are not, by reason.
 */
type PrefixCounts = {
  first: DayNumber
  last: DayNumber
  known: Uint32Array
  whole: Uint32Array
  ranges: (Bucket & { reason: DayReason })[]
}

function prefixCountsOf({ days }: JoinedMeasureDays): PrefixCounts {
  const known = new Uint32Array(days.length + 1)
  const whole = new Uint32Array(days.length + 1)
  const ranges: PrefixCounts['ranges'] = []
  for (const [at, { day, is_known, is_complete, reason }] of days.entries()) {
    const open = ranges.at(-1)
    if (reason !== null && open?.reason === reason && open.until === day - 1) open.until = day
    else if (reason !== null) ranges.push({ from: day, until: day, reason })
    known[at + 1] = (known[at] ?? 0) + (is_known ? 1 : 0)
    whole[at + 1] = (whole[at] ?? 0) + (is_known && is_complete ? 1 : 0)
  }
  const first = days[0]?.day ?? 0
  return { first, last: first + days.length - 1, known, whole, ranges }
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
