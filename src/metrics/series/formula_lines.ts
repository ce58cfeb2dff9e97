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
export type Of = (measure: Measure) => Tally

/**
 * A metric, or with a name a part of it, and which measures it is made of. `known_by`: of which of them it is known, where
 * that is not all; `whole_by`: by which it is whole, where those are others. `pendingOf`: which buckets may yet change; of those of which
 * `pending_by` is known, where it is said.
 */
export type Line = {
  part: string | null
  measures: readonly Measure[]
  known_by?: readonly Measure[]
  whole_by?: readonly Measure[]
  pending_by?: readonly Measure[]
  figuresOf: (of: Of, buckets: number) => Figure[]
  pendingOf?: (of: Of, buckets: number) => boolean[]
}

/**
 * `levels`: measures of which everything before the first bucket is needed, too. The first line is the metric itself.
 * `of_ledger`: of single transactions alone, even where reports know a measure better. `of_shared_days`: of the days of
 * which every measure is known, so that a ratio never divides by fewer days than it counts.
 */
export type Formula = {
  levels: readonly Measure[]
  lines: readonly Line[]
  of_ledger?: true
  of_shared_days?: true
}

/** All that some lines are made of. */
export const measuresOf = (lines: readonly Line[]): Measure[] => [
  ...new Set(lines.flatMap(({ measures }) => measures)),
]

export type Column = 'milli' | 'count'

export type Making = (milli: number, count: number) => Figure

export const level = (measure: Measure, figureOf: Making): Formula => ({
  levels: [measure],
  lines: [levelLine(null, [[measure, 1]], figureOf)],
})

/** Sums of levels, as they stand at the end of each bucket. */
export function levelLine(part: string | null, signed: Signed, figureOf: Making): Line {
  const standingIn = (of: Of, column: Column, buckets: number): number[] => {
    const sums = new Array<number>(buckets).fill(0)
    for (const [measure, sign] of signed) {
      const own = standing(of(measure), column)
      for (let index = 0; index < buckets; index += 1)
        sums[index] = (sums[index] ?? 0) + sign * (own[index] ?? 0)
    }
    return sums
  }
  return {
    part,
    measures: signed.map(([measure]) => measure),
    figuresOf: (of, buckets) => {
      const count = standingIn(of, 'count', buckets)
      return standingIn(of, 'milli', buckets).map((milli, index) => figureOf(milli, count[index] ?? 0))
    },
  }
}

export const flow = (measure: Measure, figureOf: Making): Formula => ({
  levels: [],
  lines: [sumLine(null, [[measure, 1]], figureOf)],
})

/** What a level is at the end of each bucket. */
export function standing({ before, ...added }: Tally, column: Column): number[] {
  const changes = added[column]
  const standings = new Array<number>(changes.length)
  let sum = before[column]
  for (let index = 0; index < changes.length; index += 1) {
    sum += changes[index] ?? 0
    standings[index] = sum
  }
  return standings
}

export type Signed = readonly (readonly [Measure, 1 | -1])[]

/** Sums of measures, bucket by bucket. They begin with 0, so that nothing is never -0. */
export function summed(of: Of, signed: Signed, column: Column, buckets: number): number[] {
  const sums = new Array<number>(buckets).fill(0)
  for (const [measure, sign] of signed) {
    const added = of(measure)[column]
    for (let index = 0; index < buckets; index += 1)
      sums[index] = (sums[index] ?? 0) + sign * (added[index] ?? 0)
  }
  return sums
}

export function sumLine(part: string | null, signed: Signed, figureOf: Making = both): Line {
  return {
    part,
    measures: signed.map(([measure]) => measure),
    figuresOf: (of, buckets) => {
      const [milli, count] = [summed(of, signed, 'milli', buckets), summed(of, signed, 'count', buckets)]
      return milli.map((value, index) => figureOf(value, count[index] ?? 0))
    },
  }
}

export const both: Making = (milli, count) => ({ milli, count })
export const signedAll = (measures: readonly Measure[], sign: 1 | -1): Signed =>
  measures.map((measure) => [measure, sign] as const)

/** Six digits after the point; null where there is nothing to divide by. */
export const ratioOf = (numerator: number, denominator: number): number | null =>
  denominator === 0 ? null : Math.round((numerator / denominator) * 1e6) / 1e6

export const divided = (numerator: number, denominator: number): Figure => ({
  ratio: ratioOf(numerator, denominator),
  numerator,
  denominator,
})

/** Sums of measures, one divided by the other. */
export function ratioLine(part: string | null, above: Signed, below: Signed, column: Column): Line {
  return {
    part,
    measures: [...above, ...below].map(([measure]) => measure),
    figuresOf: (of, buckets) => {
      const under = summed(of, below, column, buckets)
      return summed(of, above, column, buckets).map((one, index) => divided(one, under[index] ?? 0))
    },
  }
}
