/** The values of a split whose sums are one series each: the largest ones, and all others together. */
import { type Definition, isMoney } from '../definitions/definition.ts'
import type { Measure } from '../lineage/rows.ts'
import {
  addTallies,
  type Span,
  type Tallies,
  type Tally,
  tallyOver,
  type Unconverted,
} from '../sums/tallies.ts'
import { type FormulaLine, measuresOf } from './formula_lines.ts'

export type Measures = ReadonlyMap<Measure, Tally>

/** The sums of one value of a split, or of several combined values. `values`: these values; null for the total. */
export type SplitSlice = {
  value: string | null
  values: readonly string[] | null
  others: number
  tallies: Measures
  unconverted: Map<string, Measures>
}

/** What orders the values of a split: the sums of a metric over the days `range`. */
type Ranked = {
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

/** The largest `limit` values of a split, largest first, and one slice that combines the others. */
export function slicesOf(
  tallies: Tallies,
  unconverted: Unconverted,
  { definition, lines, levels, range, limit, find }: Ranked & { limit: number; find?: string | null },
): SplitSlice[] {
  const values = new Set([...tallies.keys(), ...[...unconverted.values()].flatMap((one) => [...one.keys()])])
  const wanted = lettersOf(find ?? '')
  const ranked = [...values]
    .filter((value) => lettersOf(value).includes(wanted))
    .filter((value) => isNonZero(tallies.get(value)) || unconvertedOf(unconverted, value).size > 0)
    .map((value) => {
      const own = tallies.get(value) ?? new Map<Measure, Tally>()
      const size = magnitudeOf(own, { definition, lines, levels, range })
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

/** The size that orders a split’s values: a level at the end of the range, a flow by its total. */
function magnitudeOf(tallies: Measures, { definition, lines, levels, range }: Ranked): number {
  const column = isMoney(definition) ? 'milli' : 'count'
  const isLevel = levels.length > 0
  const totalOf = (measure: Measure): number => {
    const tally = tallies.get(measure)
    if (tally === undefined) return 0
    const { sumBefore, ...over } = tallyOver(tally, [range])
    return (over[column][0] ?? 0) + (isLevel ? sumBefore[column] : 0)
  }
  const measures = isLevel ? levels : measuresOf(lines)
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
