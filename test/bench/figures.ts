/** Results of the benchmark: each figure with its baseline and its target, printed as one table. */

/** One line of the table. `ratio` is the median of the rounds' ratios to the baseline. */
export type Figure = {
  name: string
  value: string
  baseline?: string
  ratio?: number
  target?: string
  /** Null without a target. */
  isReached: boolean | null
}

/** The median of `values`; for an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? Number.NaN)) / 2
}

/** The 99th percentile of `values`. */
export const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? Number.NaN

/** The median of the ratios of `values` to `baselines`, round by round. */
function medianRatio(values: readonly number[], baselines: readonly number[]): number {
  return median(values.map((value, round) => value / (baselines[round] ?? Number.NaN)))
}

/** Compares a speed with the baseline's speed, in `unit`s per second. `at_least` is the target of the ratio. */
export function speedAgainst(
  name: string,
  values: readonly number[],
  baseline: { name: string; values: readonly number[] },
  at_least: number | null,
  unit = '',
): Figure {
  const ratio = medianRatio(values, baseline.values)
  return {
    name,
    value: `${formatWhole(median(values))}${unit}/s`,
    baseline: `${baseline.name}: ${formatWhole(median(baseline.values))}${unit}/s`,
    ratio,
    ...(at_least !== null && { target: `≥ ${at_least} ×` }),
    isReached: at_least === null ? null : ratio >= at_least,
  }
}

/** A number with an upper limit, in `unit`. */
export function atMost(name: string, value: number, unit: string, at_most: number | null): Figure {
  return {
    name,
    value: `${formatShort(value)} ${unit}`,
    ...(at_most !== null && { target: `≤ ${formatShort(at_most)} ${unit}` }),
    isReached: at_most === null ? null : value <= at_most,
  }
}

/** A number with a lower limit, in `unit`. */
export function atLeast(name: string, value: number, unit: string, at_least: number | null): Figure {
  return {
    name,
    value: `${formatShort(value)} ${unit}`,
    ...(at_least !== null && { target: `≥ ${formatShort(at_least)} ${unit}` }),
    isReached: at_least === null ? null : value >= at_least,
  }
}

/** Compares a cost in `unit` with the baseline's cost. `at_most` is the target of the ratio. */
export function costAgainst(
  name: string,
  unit: string,
  values: readonly number[],
  baseline: { name: string; values: readonly number[] },
  at_most: number | null,
): Figure {
  const ratio = medianRatio(values, baseline.values)
  return {
    name,
    value: `${formatShort(median(values))} ${unit}`,
    baseline: `${baseline.name}: ${formatShort(median(baseline.values))} ${unit}`,
    ratio,
    ...(at_most !== null && { target: `≤ ${at_most} ×` }),
    isReached: at_most === null ? null : ratio <= at_most,
  }
}

export const formatWhole = (value: number): string => Math.round(value).toLocaleString('en-US')

/** Formats with two or three significant digits, and from 100 as a whole number. */
export const formatShort = (value: number): string =>
  Math.abs(value) >= 100
    ? formatWhole(value)
    : String(Number(value.toPrecision(Math.abs(value) >= 10 ? 3 : 2)))

/** Pads each cell to the width of its column. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}

/** The table of all figures. The last column says whether the target is reached. */
export function tableOf(figures: readonly Figure[]): string {
  const verdict = (isReached: boolean | null): string =>
    isReached === null ? '' : isReached ? 'reached' : 'NOT REACHED'
  const rows = figures.map(({ name, value, baseline, ratio, target, isReached }) => [
    name,
    value,
    baseline ?? '',
    ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
    target ?? '',
    verdict(isReached),
  ])
  return alignColumns([['figure', 'value', 'measured against', 'ratio', 'target', ''], ...rows])
}
