/** The values of a split whose sums are one series each: the largest ones, and all others together. */
import { type Definition, isMoney } from '../definitions/definition.ts'
import type { Measure } from '../lineage/rows.ts'
import {
  addTallies,
  emptyTally,
  type Span,
  type Tallies,
  type Tally,
  tallyOver,
  type Unconverted,
} from '../sums/tallies.ts'
import { type FormulaLine, runningTotal, type TallyOf } from './formula_lines.ts'

export type Measures = ReadonlyMap<Measure, Tally>

/** The sums of one value of a split, or of several combined values. `values`: these values; null for the total. */
export type SplitSlice = {
  value: string | null
  values: readonly string[] | null
  others: number
  tallies: Measures
  unconverted: Map<string, Measures>
}

/** What orders the values of a split: the metric’s first line over the days `range`. */
type Ranking = {
  definition: Definition
  lines: readonly FormulaLine[]
  levels: readonly Measure[]
  range: Span
}

/** The total as one slice. */
export const wholeOf = (tallies: Tallies, unconverted: Unconverted): SplitSlice => ({
  value: null,
  values: null,
  others: 0,
  tallies: tallies.get('') ?? new Map(),
  unconverted: unconvertedOf(unconverted, ''),
})

/**
 * The largest `limit` values of a split in the range, largest first, and one slice that combines the others. Those include
 * the values that only the days of points outside of the range have.
 */
export function slicesOf(
  tallies: Tallies,
  unconverted: Unconverted,
  { limit, find, ...ranking }: Ranking & { limit: number; find?: string | null },
): SplitSlice[] {
  const values = new Set([...tallies.keys(), ...[...unconverted.values()].flatMap((one) => [...one.keys()])])
  const wanted = lettersOf(find ?? '')
  const ranked = [...values]
    .filter((value) => lettersOf(value).includes(wanted))
    .filter((value) => isNonZero(tallies.get(value)) || unconvertedOf(unconverted, value).size > 0)
    .map((value) => {
      const own = tallies.get(value) ?? new Map<Measure, Tally>()
      const slice = { value, values: [value], others: 0, tallies: own }
      const ownUnconverted = unconvertedOf(unconverted, value)
      const isNamed = [own, ...ownUnconverted.values()].some((one) => isInRange(one, ranking))
      return { size: sizeOf(own, ranking), isNamed, slice: { ...slice, unconverted: ownUnconverted } }
    })
    .sort((a, b) => b.size - a.size || ((a.slice.value ?? '') < (b.slice.value ?? '') ? -1 : 1))
  const named = new Set(ranked.filter(({ isNamed }) => isNamed).slice(0, limit))
  const others = ranked.filter((one) => !named.has(one)).map(({ slice }) => slice)
  return [...[...named].map(({ slice }) => slice), ...(others.length === 0 ? [] : [mergeSlices(others)])]
}

/** The letters and digits of a text, so that “pro yearly” finds “pro_yearly”. */
const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

const isNonZero = (tallies: Measures = new Map()): boolean => [...tallies.values()].some(hasAmount)

const hasAmount = ({ sumBefore, milli, count }: Tally): boolean =>
  [sumBefore.milli, sumBefore.count].some((one) => one !== 0) ||
  [milli, count].some((some) => some.some((one) => one !== 0))

/** Whether there is an amount in the days `range`, or a level at their start. */
const isInRange = (tallies: Measures, { levels, range }: Ranking): boolean =>
  [...tallies].some(([measure, tally]) => {
    const { sumBefore } = levels.includes(measure) ? tallyOver(tally, [range]) : emptyTally(1)
    const within = (sums: Float64Array) => sums.subarray(range.first, range.last + 1)
    return hasAmount({ sumBefore, milli: within(tally.milli), count: within(tally.count) })
  })

/**
 * The size that orders a split’s values: the figure of the days `range`. A ratio has the size of what it is of: of its level
 * at their end, or of the sums that it is made from.
 */
function sizeOf(tallies: Measures, { definition, lines: [line], levels, range }: Ranking): number {
  if (line === undefined) return 0
  const of: TallyOf = (measure) => {
    const tally = tallies.get(measure)
    return tally ? tallyOver(tally, [range]) : emptyTally(1)
  }
  const [{ milli, count } = {}] = line.figuresOf(of, 1)
  const column = isMoney(definition) ? 'milli' : 'count'
  const measures = levels.length > 0 ? levels : line.measures
  const sums = [milli ?? count ?? measures.map((one) => runningTotal(of(one), column)[0] ?? 0)].flat()
  return sums.reduce((sum, one) => sum + Math.abs(one), 0)
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
