/** Formula lines: how each line of a metric is computed from the sums of measures. */
import type { Measure } from '../lineage/rows.ts'
import type { Tally } from '../sums/tallies.ts'

/**
 * The figure of a point. Money is in thousandths. null: unknown, or a ratio whose denominator is zero. The metric’s
 * definition says what numerator and denominator are.
 */
export type Figure = {
  milli?: number | null
  count?: number | null
  ratio?: number | null
  numerator?: number | null
  denominator?: number | null
}

/** Returns the sums of a measure. */
export type TallyOf = (measure: Measure) => Tally

/**
 * A metric (part null) or one of its parts, and the measures that it reads. `known_by`: the measures that decide whether
 * the line is known; by default `measures`. `whole_by`: the measures that decide whether the line is fully known; by default
 * `known_by`. `of_interval`: whether the figure exists only of days that are one interval. `pendingOf`: whether each bucket may still change; applies only where `pending_by` is known.
 */
export type FormulaLine = {
  part: string | null
  measures: readonly Measure[]
  known_by?: readonly Measure[]
  whole_by?: readonly Measure[]
  pending_by?: readonly Measure[]
  of_interval?: true
  figuresOf: (of: TallyOf, buckets: number) => Figure[]
  pendingOf?: (of: TallyOf, buckets: number) => boolean[]
}

/**
 * `levels`: the measures for which the sum before the first bucket is needed too. The first line is the metric itself.
 * `of_ledger`: reads the ledger only, even if reports have the measure. `of_shared_days`: reads only days on which all
 * measures are known, so that numerator and denominator of a ratio cover the same days.
 */
export type Formula = {
  levels: readonly Measure[]
  lines: readonly FormulaLine[]
  of_ledger?: true
  of_shared_days?: true
}

/** The distinct measures of some lines. */
export const measuresOf = (lines: readonly FormulaLine[]): Measure[] => [
  ...new Set(lines.flatMap(({ measures }) => measures)),
]

/** A line that reads `storedOf(measure)` in place of each measure. */
export function lineOfStored(line: FormulaLine, storedOf: (measure: Measure) => Measure): FormulaLine {
  const { pendingOf } = line
  const read =
    (of: TallyOf): TallyOf =>
    (measure) =>
      of(storedOf(measure))
  const named = (['measures', 'known_by', 'whole_by', 'pending_by'] as const).flatMap((name) => {
    const measures = line[name]
    return measures ? [[name, measures.map(storedOf)]] : []
  })
  return {
    ...line,
    ...Object.fromEntries(named),
    figuresOf: (of, buckets) => line.figuresOf(read(of), buckets),
    ...(pendingOf && { pendingOf: (of, buckets) => pendingOf(read(of), buckets) }),
  }
}

export type Column = 'milli' | 'count'

export type MakeFigure = (milli: number, count: number) => Figure

export const levelFormula = (measure: Measure, figureOf: MakeFigure): Formula => ({
  levels: [measure],
  lines: [levelLine(null, [[measure, 1]], figureOf)],
})

/** A line of level sums at the end of each bucket. */
export function levelLine(part: string | null, signed: SignedMeasures, figureOf: MakeFigure): FormulaLine {
  const runningTotals = (of: TallyOf, column: Column, buckets: number): number[] => {
    const sums = new Array<number>(buckets).fill(0)
    for (const [measure, sign] of signed) {
      const own = runningTotal(of(measure), column)
      for (let index = 0; index < buckets; index += 1)
        sums[index] = (sums[index] ?? 0) + sign * (own[index] ?? 0)
    }
    return sums
  }
  return {
    part,
    measures: signed.map(([measure]) => measure),
    figuresOf: (of, buckets) => {
      const count = runningTotals(of, 'count', buckets)
      return runningTotals(of, 'milli', buckets).map((milli, index) => figureOf(milli, count[index] ?? 0))
    },
  }
}

export const flowFormula = (measure: Measure, figureOf: MakeFigure): Formula => ({
  levels: [],
  lines: [sumLine(null, [[measure, 1]], figureOf)],
})

/** The value of a level at the end of each bucket. */
export function runningTotal({ sumBefore, ...added }: Tally, column: Column): number[] {
  const changes = added[column]
  const totals = new Array<number>(changes.length)
  let sum = sumBefore[column]
  for (let index = 0; index < changes.length; index += 1) {
    sum += changes[index] ?? 0
    totals[index] = sum
  }
  return totals
}

export type SignedMeasures = readonly (readonly [Measure, 1 | -1])[]

/** Signed sums of measures for each bucket. They start at 0, so zero is never -0. */
export function signedSum(of: TallyOf, signed: SignedMeasures, column: Column, buckets: number): number[] {
  const sums = new Array<number>(buckets).fill(0)
  for (const [measure, sign] of signed) {
    const added = of(measure)[column]
    for (let index = 0; index < buckets; index += 1)
      sums[index] = (sums[index] ?? 0) + sign * (added[index] ?? 0)
  }
  return sums
}

export function sumLine(
  part: string | null,
  signed: SignedMeasures,
  figureOf: MakeFigure = moneyAndCount,
): FormulaLine {
  return {
    part,
    measures: signed.map(([measure]) => measure),
    figuresOf: (of, buckets) => {
      const [milli, count] = [
        signedSum(of, signed, 'milli', buckets),
        signedSum(of, signed, 'count', buckets),
      ]
      return milli.map((value, index) => figureOf(value, count[index] ?? 0))
    },
  }
}

export const moneyAndCount: MakeFigure = (milli, count) => ({ milli, count })
export const withSign = (measures: readonly Measure[], sign: 1 | -1): SignedMeasures =>
  measures.map((measure) => [measure, sign] as const)

/** A ratio rounded to six decimals; null where the denominator is zero. */
export const ratioOf = (numerator: number, denominator: number): number | null =>
  denominator === 0 ? null : Math.round((numerator / denominator) * 1e6) / 1e6

export const ratioFigure = (numerator: number, denominator: number): Figure => ({
  ratio: ratioOf(numerator, denominator),
  numerator,
  denominator,
})

/** A line that divides one sum of measures by another. */
export function ratioLine(
  part: string | null,
  numerators: SignedMeasures,
  denominatorMeasures: SignedMeasures,
  column: Column,
): FormulaLine {
  return {
    part,
    measures: [...numerators, ...denominatorMeasures].map(([measure]) => measure),
    figuresOf: (of, buckets) => {
      const denominators = signedSum(of, denominatorMeasures, column, buckets)
      return signedSum(of, numerators, column, buckets).map((one, index) =>
        ratioFigure(one, denominators[index] ?? 0),
      )
    },
  }
}
