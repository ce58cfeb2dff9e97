/** Builds the points of series, with the amounts that they exclude and whether they may still change. */
import { type Definition, isMoney } from '../definitions/definition.ts'
import { type DayNumber, dayText } from '../lineage/calendar.ts'
import { fiscalMonthOf } from '../lineage/fiscal.ts'
import type { Measure } from '../lineage/rows.ts'
import {
  addTallies,
  type Bucket,
  emptyTally,
  type Tallies,
  type Tally,
  type Unconverted,
} from '../sums/tallies.ts'
import { fiscalMonthText, type Interval } from './buckets.ts'
import type { IsProvisional } from './finality.ts'
import { type Figure, type FormulaLine, measuresOf, type TallyOf } from './formula_lines.ts'
import type { SeriesKnowledge } from './knowledge.ts'
import { type Reason, type ReasonRange, reasonRanges } from './reasons.ts'

/**
 * Amounts without a known rate, in their own currency; the point’s figure excludes them. It is null if nothing of it could
 * be converted.
 */
export type NotConverted = { currency: string; milli?: number; numerator?: number; denominator?: number }

/** A fiscal month as Apple's finance reports name it, `2026-02`, and its last day. */
type FiscalMonth = { fiscal_month: string; until_on: string }

/** The first day of a point; for a fiscal month also its name and last day. */
type PointLabel = { on: string } & Partial<FiscalMonth>

/**
 * A null figure is unknown and shown as a gap. `on`: the first day of the interval. `complete`: the interval is over, all
 * its rates are final and all its sources are known.
 */
export type Point = Figure & PointLabel & { complete: boolean; not_converted?: NotConverted[] }

/**
 * `value`: the value of the split; null for the total. `others`: the number of values that the series combines; 0 for a
 * single value. `part`: the part of the metric; null for the total.
 */
export type Series = {
  value: string | null
  others: number
  part: string | null
  /** Why points are null or incomplete, as ranges of their days. */
  reasons: ReasonRange[]
  points: Point[]
}

type Measures = ReadonlyMap<Measure, Tally>

/** The sums of one value of a split, or of several combined values. `values`: these values; null for the total. */
type SplitSlice = {
  value: string | null
  values: readonly string[] | null
  others: number
  tallies: Measures
  unconverted: Map<string, Measures>
}

export type SeriesContext = {
  definition: Definition
  lines: readonly FormulaLine[]
  levels: readonly Measure[]
  /** The label of each bucket, and why its figures may still change. */
  buckets: readonly { days: Bucket; label: PointLabel; open: readonly Reason[] }[]
  /** How much of a figure is known, given the measures that it is computed from, and why. */
  knowledge: SeriesKnowledge
  /** Whether the values of slices are apps. */
  isByApp: boolean
  /** Whether to include parts that are zero throughout. */
  with_empty_parts: boolean
}

/** `isBehind`: whether some subscriptions could not be computed. */
type BucketOptions = { today: DayNumber; isProvisional: IsProvisional; isBehind: boolean; interval: Interval }

/** The label of each bucket, and why its figures may still change: it is not over, or a rate is not final. */
export const contextBuckets = (
  buckets: readonly Bucket[],
  { today, isProvisional, isBehind, interval }: BucketOptions,
): SeriesContext['buckets'] =>
  buckets.map((bucket) => ({
    days: bucket,
    label: { on: dayText(bucket.from), ...(interval === 'fiscal_month' && fiscalMonthIn(bucket)) },
    open: [
      ...(bucket.until < today ? [] : (['unfinished'] as const)),
      ...(isProvisional(bucket) ? (['provisional_rate'] as const) : []),
      ...(isBehind ? (['behind'] as const) : []),
    ],
  }))

const fiscalMonthIn = ({ from, until }: Bucket): FiscalMonth => ({
  fiscal_month: fiscalMonthText(fiscalMonthOf(from) ?? 0),
  until_on: dayText(until),
})

/** The total as one slice. */
export const wholeOf = (tallies: Tallies, unconverted: Unconverted): SplitSlice => ({
  value: null,
  values: null,
  others: 0,
  tallies: tallies.get('') ?? new Map(),
  unconverted: unconvertedOf(unconverted, ''),
})

/** The largest `limit` values of a split, largest first, and one slice that combines the others. */
export function slicesOf(
  tallies: Tallies,
  unconverted: Unconverted,
  {
    definition,
    lines,
    levels,
    limit,
    find,
  }: Pick<SeriesContext, 'definition' | 'lines' | 'levels'> & { limit: number; find?: string | null },
): SplitSlice[] {
  const values = new Set([...tallies.keys(), ...[...unconverted.values()].flatMap((one) => [...one.keys()])])
  const wanted = lettersOf(find ?? '')
  const ranked = [...values]
    .filter((value) => lettersOf(value).includes(wanted))
    .filter((value) => isNonZero(tallies.get(value)) || unconvertedOf(unconverted, value).size > 0)
    .map((value) => {
      const own = tallies.get(value) ?? new Map<Measure, Tally>()
      const size = magnitudeOf(
        own,
        levels.length > 0 ? levels : measuresOf(lines),
        isMoney(definition) ? 'milli' : 'count',
      )
      const slice = { value, values: [value], others: 0, tallies: own }
      return { size, slice: { ...slice, unconverted: unconvertedOf(unconverted, value) } }
    })
    .sort((a, b) => b.size - a.size || ((a.slice.value ?? '') < (b.slice.value ?? '') ? -1 : 1))
    .map(({ slice }) => slice)
  const otherSlices = ranked.slice(limit)
  return [...ranked.slice(0, limit), ...(otherSlices.length === 0 ? [] : [mergeSlices(otherSlices)])]
}

/** The letters and digits of a text, so that “pro yearly” finds “pro_yearly”. */
const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

const isNonZero = (tallies: Measures = new Map()): boolean =>
  [...tallies.values()].some(
    ({ sumBefore, milli, count }) =>
      [sumBefore.milli, sumBefore.count].some((one) => one !== 0) ||
      [milli, count].some((some) => some.some((one) => one !== 0)),
  )

/** The size that orders a split’s values: a level at its end, a flow by its total. */
function magnitudeOf(tallies: Measures, measures: readonly Measure[], column: 'milli' | 'count'): number {
  const totalOf = (measure: Measure): number => {
    const tally = tallies.get(measure)
    return tally ? tally[column].reduce((sum, one) => sum + one, tally.sumBefore[column]) : 0
  }
  return measures.reduce((sum, one) => sum + Math.abs(totalOf(one)), 0)
}

function unconvertedOf(unconverted: Unconverted, value: string): Map<string, Measures> {
  const own = [...unconverted].flatMap(([currency, tallies]) => {
    const measures = tallies.get(value)
    return measures ? [[currency, measures] as const] : []
  })
  return new Map(own)
}

function mergeSlices(slices: readonly SplitSlice[]): SplitSlice {
  const tallies = new Map<Measure, Tally>()
  const unconverted = new Map<string, Map<Measure, Tally>>()
  for (const slice of slices) {
    addTallies(tallies, slice.tallies)
    for (const [currency, measures] of slice.unconverted) {
      const own = unconverted.get(currency) ?? new Map()
      unconverted.set(currency, own)
      addTallies(own, measures)
    }
  }
  const values = slices.flatMap((slice) => slice.values ?? [])
  return { value: null, values, others: slices.length, tallies, unconverted }
}

/** Computes one series for each formula line of a slice. */
export function seriesOf(
  { value, values, others, tallies, unconverted }: SplitSlice,
  context: SeriesContext,
): Series[] {
  const { lines, buckets, with_empty_parts, isByApp } = context
  const apps = isByApp ? values : null
  return lines.flatMap((line) => {
    const of = sumsIn(tallies, buckets.length)
    const figures = line.figuresOf(of, buckets.length)
    const unconvertedFigures = [...unconverted].map(([currency, own]) => ({
      currency,
      figures: line.figuresOf(sumsIn(own, buckets.length), buckets.length),
    }))
    const isEmpty = [figures, ...unconvertedFigures.map((one) => one.figures)].every((some) =>
      some.every(isZero),
    )
    if (isEmpty && line.part !== null && !with_empty_parts) return []
    const stateOf = lineStates(line, of, context, apps)
    const reasons: Reason[][] = []
    const points = buckets.map(({ label }, at) => {
      const figure = figures[at] ?? {}
      const { isKnown, reasons: own } = stateOf(at)
      const notConvertedAmounts = isKnown ? notConvertedAt(unconvertedFigures, at) : []
      reasons.push(notConvertedAmounts.length > 0 ? [...own, 'not_converted'] : own)
      if (!isKnown) return unknownPoint(figure, label)
      return pointOf(figure, label, { complete: own.length === 0, notConvertedAmounts })
    })
    const ranges = reasonRanges(
      buckets.map(({ days }) => days),
      reasons,
    )
    return [{ value, others, part: line.part, reasons: ranges, points }]
  })
}

/** Returns a function that tells whether a line is known in a bucket, and why not or why it may still change. */
function lineStates(
  line: FormulaLine,
  of: TallyOf,
  { buckets, knowledge: { knownOf, reasonsOf } }: SeriesContext,
  apps: readonly string[] | null,
): (at: number) => { isKnown: boolean; reasons: Reason[] } {
  const knownBy = line.known_by ?? line.measures
  const wholeBy = line.whole_by ?? knownBy
  const [known, fullyKnown] = [knownOf(knownBy, apps), knownOf(wholeBy, apps)]
  const pending = line.pendingOf?.(of, buckets.length)
  const pendingKnown = line.pending_by ? knownOf(line.pending_by, apps) : null
  return (at) => {
    if (known?.[at] === 'none') return { isKnown: false, reasons: reasonsOf([knownBy, apps], at) }
    const isPartial = (known?.[at] ?? 'all') !== 'all' || (fullyKnown?.[at] ?? 'all') !== 'all'
    const isPending = pending?.[at] === true && pendingKnown?.[at] !== 'none'
    const partial = isPartial ? [...reasonsOf([knownBy, apps], at), ...reasonsOf([wholeBy, apps], at)] : []
    const open = buckets[at]?.open ?? []
    return {
      isKnown: true,
      reasons: [...new Set([...partial, ...(isPending ? ['pending' as const] : []), ...open])],
    }
  }
}

type UnconvertedFigures = { currency: string; figures: readonly Figure[] }

function sumsIn(tallies: Measures, buckets: number): (measure: Measure) => Tally {
  const empty = emptyTally(buckets)
  return (measure) => tallies.get(measure) ?? empty
}

/** Whether a figure is zero. A ratio is zero if its numerator is zero. */
const isZero = ({ milli = 0, count = 0, numerator = 0 }: Figure): boolean =>
  milli === 0 && count === 0 && numerator === 0

/** A point with the same fields as `figure`, all null. */
function unknownPoint(figure: Figure, label: PointLabel): Point {
  const names = Object.keys(figure) as (keyof Figure)[]
  return { ...Object.fromEntries(names.map((name) => [name, null])), ...label, complete: false }
}

/** Builds a point by changing `figure`, without copying it, because a chart has thousands of points. */
function pointOf(
  figure: Figure,
  label: PointLabel,
  { complete, notConvertedAmounts }: { complete: boolean; notConvertedAmounts: NotConverted[] },
): Point {
  assertExact(figure)
  const point: Point = Object.assign(figure, label, {
    complete: complete && notConvertedAmounts.length === 0,
  })
  if (notConvertedAmounts.length === 0) return point
  for (const name of ['milli', 'numerator', 'denominator'] as const)
    if (point[name] === 0 && notConvertedAmounts.some((one) => one[name])) point[name] = null
  if (point.numerator === null || point.denominator === null) point.ratio = null
  return Object.assign(point, { not_converted: notConvertedAmounts })
}

const notConvertedAt = (unconvertedFigures: readonly UnconvertedFigures[], at: number): NotConverted[] =>
  unconvertedFigures.length === 0
    ? []
    : unconvertedFigures.flatMap(({ currency, figures }) => notConverted(currency, figures[at]))

/** The amounts of a figure that could not be converted. */
function notConverted(currency: string, { milli, numerator, denominator }: Figure = {}): NotConverted[] {
  if (milli) return [{ currency, milli }]
  if (!numerator && !denominator) return []
  return [
    {
      currency,
      ...(typeof numerator === 'number' && { numerator }),
      ...(typeof denominator === 'number' && { denominator }),
    },
  ]
}

/** @throws RangeError if a sum exceeds the safe integers. */
function assertExact({ milli, numerator, denominator }: Figure): void {
  const isExact = [milli, numerator, denominator].every((one) => Number.isSafeInteger(one ?? 0))
  if (!isExact) throw new RangeError('a sum exceeds the range of exact integers')
}
