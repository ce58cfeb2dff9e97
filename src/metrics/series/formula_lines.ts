/** What we compute: lines of figures, each made of the sums of some measures. */
import type { Measure } from '../lineage/rows.ts'
import type { Tally } from '../sums/tallies.ts'

/**
 * What stands in one point. Money in thousandths; numerator and denominator as the metric's definition says. null: nobody
 * knows, or of a ratio: there is nothing to divide by.
 */
export type Figure = {
  milli?: number | null
  count?: number | null
  ratio?: number | null
  numerator?: number | null
  denominator?: number | null
}

/** Gives a measure's sums. */
export type TallyOf = (measure: Measure) => Tally

/**
 * A metric, or with a name a part of it, and which measures it is made of. `known_by`: of which of them it is known, where
 * that is not all; `whole_by`: by which it is whole, where those are others. `pendingOf`: which buckets may yet change; of those of which
 * `pending_by` is known, where it is said.
 */
export type FormulaLine = {
  part: string | null
  measures: readonly Measure[]
  known_by?: readonly Measure[]
  whole_by?: readonly Measure[]
  pending_by?: readonly Measure[]
  figuresOf: (of: TallyOf, buckets: number) => Figure[]
  pendingOf?: (of: TallyOf, buckets: number) => boolean[]
}

/**
 * `levels`: measures of which everything before the first bucket is needed, too. The first line is the metric itself.
 * `of_ledger`: of single transactions alone, even where reports know a measure better. `of_shared_days`: of the days of
 * which every measure is known, so that a ratio never divides by fewer days than it counts.
 */
export type Formula = {
  levels: readonly Measure[]
  lines: readonly FormulaLine[]
  of_ledger?: true
  of_shared_days?: true
}

/** All that some lines are made of. */
export const measuresOf = (lines: readonly FormulaLine[]): Measure[] => [
  ...new Set(lines.flatMap(({ measures }) => measures)),
]

export type Column = 'milli' | 'count'

export type MakeFigure = (milli: number, count: number) => Figure

export const levelFormula = (measure: Measure, figureOf: MakeFigure): Formula => ({
  levels: [measure],
  lines: [levelLine(null, [[measure, 1]], figureOf)],
})

/** Sums of levels, as they stand at the end of each bucket. */
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

/** What a level is at the end of each bucket. */
export function runningTotal({ before, ...added }: Tally, column: Column): number[] {
  const changes = added[column]
  const totals = new Array<number>(changes.length)
  let sum = before[column]
  for (let index = 0; index < changes.length; index += 1) {
    sum += changes[index] ?? 0
    totals[index] = sum
  }
  return totals
}

export type SignedMeasures = readonly (readonly [Measure, 1 | -1])[]

/** Sums of measures, bucket by bucket. They begin with 0, so that nothing is never -0. */
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

/** Six digits after the point; null where there is nothing to divide by. */
export const ratioOf = (numerator: number, denominator: number): number | null =>
  denominator === 0 ? null : Math.round((numerator / denominator) * 1e6) / 1e6

export const ratioFigure = (numerator: number, denominator: number): Figure => ({
  ratio: ratioOf(numerator, denominator),
  numerator,
  denominator,
})

/** Sums of measures, one divided by the other. */
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
