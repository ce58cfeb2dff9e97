/** Builds the points of series, with the amounts that they exclude and whether they may still change. */
import type { Definition } from '../definitions/definition.ts'
import { type DayNumber, dayText } from '../lineage/calendar.ts'
import { fiscalMonthOf } from '../lineage/fiscal.ts'
import type { Measure } from '../lineage/rows.ts'
import { type Bucket, emptyTally, type Span, type Tally, tallyOver } from '../sums/tallies.ts'
import { type Cuts, fiscalMonthText, type Interval } from './buckets.ts'
import type { IsProvisional } from './finality.ts'
import type { Figure, FormulaLine, TallyOf } from './formula_lines.ts'
import type { KnowledgeIn, SeriesKnowledge } from './knowledge.ts'
import { type Reason, type ReasonRange, reasonRanges } from './reasons.ts'
import type { Measures, SplitSlice } from './slices.ts'

/**
 * Amounts without a known rate, in their own currency; the point’s figure excludes them. It is null if nothing of it could
 * be converted.
 */
export type NotConverted = { currency: string; milli?: number; numerator?: number; denominator?: number }

/** A fiscal month as Apple's finance reports name it, `2026-02`, and its last day. */
type FiscalMonth = { fiscal_month: string; until_on: string }

/** The first day of a point; for a fiscal month also its name and last day. */
type PointLabel = { on: string } & Partial<FiscalMonth>

/** A figure. `complete`: its days are over, all its rates are final and all its sources are known. */
export type CompleteFigure = Figure & { complete: boolean; not_converted?: NotConverted[] }

/** A null figure is unknown and shown as a gap. `on`: the first day of the interval. */
export type Point = CompleteFigure & PointLabel

/** The first and the last day of a clipped point. `of`: the `on` of the point. */
type ClippedLabel = { of: string; on: string; until_on: string }

/** The part of a point’s interval that lies in the requested days. */
type ClippedPoint = CompleteFigure & ClippedLabel & { reasons: Reason[] }

/** The figure of exactly the requested days. `clipped`: the points whose interval is not whole in them. */
type ExactFigure = CompleteFigure & { reasons: Reason[]; clipped: ClippedPoint[] }

/**
 * `value`: the value of the split; null for the total. `others`: the number of values that the series combines; 0 for a
 * single value. `part`: the part of the metric; null for the total.
 */
export type Series = {
  value: string | null
  others: number
  part: string | null
  range: ExactFigure
  /** Why points are null or incomplete, as ranges of their days. */
  reasons: ReasonRange[]
  points: Point[]
}

/**
 * Consecutive spans of the summed days. `are_intervals`: whether each is one interval, so far as it has begun. `days`: the
 * days of each, its label, and why its figures may still change. `knowledge`: how much of a figure is known, given the
 * measures that it is computed from, and why.
 */
type View = {
  spans: readonly Span[]
  are_intervals: boolean
  days: readonly { days: Bucket; label: PointLabel; open: readonly Reason[] }[]
  knowledge: SeriesKnowledge
}

export type SeriesContext = {
  definition: Definition
  lines: readonly FormulaLine[]
  levels: readonly Measure[]
  /** The points, the exact range, and the points that the range clips. */
  views: { wholes: View; range: View; clipped: readonly { view: View; label: ClippedLabel }[] }
  /** Whether the values of slices are apps. */
  isByApp: boolean
  /** Whether to include parts that are zero throughout. */
  with_empty_parts: boolean
}

/** `isBehind`: whether some subscriptions could not be computed. */
type BucketOptions = { today: DayNumber; isProvisional: IsProvisional; isBehind: boolean; interval: Interval }

/** How points, the exact range and clipped points are read from the parts of a request. */
export function viewsOf(
  cuts: Cuts,
  knowledgeIn: KnowledgeIn,
  options: BucketOptions,
): SeriesContext['views'] {
  const viewOf = (spans: readonly Span[], are_intervals: boolean): View => {
    const days = spans.map((one) => one.days)
    return { spans, are_intervals, days: labelled(days, options), knowledge: knowledgeIn(days) }
  }
  const clipped = cuts.clipped.map(({ whole, days, ...parts }) => ({
    view: viewOf([{ days, ...parts }], false),
    label: { of: dayText(whole.from), on: dayText(days.from), until_on: dayText(days.until) },
  }))
  const isOneInterval = cuts.wholes.length === 1 && clipped.length === 0
  return { wholes: viewOf(cuts.wholes, true), range: viewOf([cuts.range], isOneInterval), clipped }
}

/** The label of each bucket, and why its figures may still change: it is not over, or a rate is not final. */
const labelled = (
  buckets: readonly Bucket[],
  { today, isProvisional, isBehind, interval }: BucketOptions,
): View['days'] =>
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

/** Computes one series for each formula line of a slice. */
export function seriesOf(slice: SplitSlice, context: SeriesContext): Series[] {
  const { lines, views, with_empty_parts, isByApp } = context
  const { value, values, others } = slice
  const apps = isByApp ? values : null
  return lines.flatMap((line) => {
    const pointsIn = (view: View) => pointsOf(line, slice, view, apps)
    const whole = pointsIn(views.wholes)
    const exact = pointsIn(views.range)
    const clippedPoints = views.clipped.map(({ view, label }) => ({ label, ...pointsIn(view) }))
    const isEmpty = [whole, exact, ...clippedPoints].every((one) => one.isEmpty)
    if (isEmpty && line.part !== null && !with_empty_parts) return []
    const ranges = reasonRanges(
      views.wholes.days.map(({ days }) => days),
      whole.reasons,
    )
    const clipped = clippedPoints.map(({ label, ...one }) => ({ ...label, ...onlyFigure(one) }))
    const range = { ...onlyFigure(exact), clipped }
    return [{ value, others, part: line.part, range, reasons: ranges, points: whole.points }]
  })
}

type PointsOfLine = { points: Point[]; reasons: Reason[][]; isEmpty: boolean }

/** The figure of a view of one span, without its label. */
function onlyFigure({ points: [point], reasons: [reasons] }: PointsOfLine) {
  const { on: _, fiscal_month: __, until_on: ___, complete = false, ...figure } = point ?? {}
  return { ...figure, complete, reasons: reasons ?? [] }
}

function pointsOf(
  line: FormulaLine,
  { tallies, unconverted }: SplitSlice,
  view: View,
  apps: readonly string[] | null,
): PointsOfLine {
  const { spans, days } = view
  const of = sumsIn(tallies, spans)
  const figures = line.figuresOf(of, spans.length)
  const unconvertedFigures = [...unconverted].map(([currency, own]) => ({
    currency,
    figures: line.figuresOf(sumsIn(own, spans), spans.length),
  }))
  const isEmpty = [figures, ...unconvertedFigures.map((one) => one.figures)].every((some) =>
    some.every(isZero),
  )
  const stateOf = lineStates(line, of, view, apps)
  const reasons: Reason[][] = []
  const points = days.map(({ label }, at) => {
    const figure = figures[at] ?? {}
    const { isKnown, reasons: own } = stateOf(at)
    const notConvertedAmounts = isKnown ? notConvertedAt(unconvertedFigures, at) : []
    reasons.push(notConvertedAmounts.length > 0 ? [...own, 'not_converted'] : own)
    if (!isKnown) return unknownPoint(figure, label)
    return pointOf(figure, label, { complete: own.length === 0, notConvertedAmounts })
  })
  return { points, reasons, isEmpty }
}

/** Whether a line is known in a bucket, and why not or why it may still change. */
type StateOf = (at: number) => { isKnown: boolean; reasons: Reason[] }

function lineStates(line: FormulaLine, of: TallyOf, view: View, apps: readonly string[] | null): StateOf {
  const stateOf = observedStates(line, of, view, apps)
  if (!line.of_interval || view.are_intervals) return stateOf
  return (at) => ({ isKnown: false, reasons: ['not_one_interval', ...stateOf(at).reasons] })
}

/** The states by what was observed in the days of a view. */
function observedStates(
  line: FormulaLine,
  of: TallyOf,
  { days, knowledge: { knownOf, reasonsOf } }: View,
  apps: readonly string[] | null,
): StateOf {
  const knownBy = line.known_by ?? line.measures
  const wholeBy = line.whole_by ?? knownBy
  const [known, fullyKnown] = [knownOf(knownBy, apps), knownOf(wholeBy, apps)]
  const pending = line.pendingOf?.(of, days.length)
  const pendingKnown = line.pending_by ? knownOf(line.pending_by, apps) : null
  return (at) => {
    if (known?.[at] === 'none') return { isKnown: false, reasons: reasonsOf([knownBy, apps], at) }
    const isPartial = (known?.[at] ?? 'all') !== 'all' || (fullyKnown?.[at] ?? 'all') !== 'all'
    const isPending = pending?.[at] === true && pendingKnown?.[at] !== 'none'
    const partial = isPartial ? [...reasonsOf([knownBy, apps], at), ...reasonsOf([wholeBy, apps], at)] : []
    const open = days[at]?.open ?? []
    return {
      isKnown: true,
      reasons: [...new Set([...partial, ...(isPending ? ['pending' as const] : []), ...open])],
    }
  }
}

type UnconvertedFigures = { currency: string; figures: readonly Figure[] }

function sumsIn(tallies: Measures, spans: readonly Span[]): TallyOf {
  const empty = emptyTally(spans.length)
  const over = new Map<Measure, Tally>()
  return (measure) => {
    const own = tallies.get(measure)
    if (own === undefined) return empty
    const found = over.get(measure) ?? tallyOver(own, spans)
    over.set(measure, found)
    return found
  }
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
