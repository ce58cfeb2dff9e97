/** Results of the bench: each figure with its baseline and target, printed as one table. */

/** One line of the table. `ratio` is the median of the rounds' ratios; what has no floor has none. */
export type Figure = {
  figure: string
  value: string
  floor?: string
  ratio?: number
  target?: string
  /** Null where nothing was promised. */
  reached: boolean | null
}

/** The middle of `values`; of an even number of them the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? Number.NaN)) / 2
}

/** The median of what `values` are to `floors`, round by round. */
function ratioOf(values: readonly number[], floors: readonly number[]): number {
  return median(values.map((value, round) => value / (floors[round] ?? Number.NaN)))
}

/** A speed against a floor's speed, in `unit`s a second. `at_least` is the target; without one the ratio is only told. */
export function faster(
  figure: string,
  values: readonly number[],
  floor: { name: string; values: readonly number[] },
  at_least: number | null,
  unit = '',
): Figure {
  const ratio = ratioOf(values, floor.values)
  return {
    figure,
    value: `${whole(median(values))}${unit}/s`,
    floor: `${floor.name}: ${whole(median(floor.values))}${unit}/s`,
    ratio,
    ...(at_least !== null && { target: `≥ ${at_least} ×` }),
    reached: at_least === null ? null : ratio >= at_least,
  }
}

/** A number that should stay below a bound, in its own unit. */
export function below(figure: string, value: number, unit: string, at_most: number | null): Figure {
  return {
    figure,
    value: `${short(value)} ${unit}`,
    ...(at_most !== null && { target: `≤ ${short(at_most)} ${unit}` }),
    reached: at_most === null ? null : value <= at_most,
  }
}

/** A number that should be a bound at least, in its own unit. */
export function above(figure: string, value: number, unit: string, at_least: number | null): Figure {
  return {
    figure,
    value: `${short(value)} ${unit}`,
    ...(at_least !== null && { target: `≥ ${short(at_least)} ${unit}` }),
    reached: at_least === null ? null : value >= at_least,
  }
}

/** A number that should not grow beyond `at_most` times the floor's. */
export function within(
  figure: string,
  unit: string,
  values: readonly number[],
  floor: { name: string; values: readonly number[] },
  at_most: number | null,
): Figure {
  const ratio = ratioOf(values, floor.values)
  return {
    figure,
    value: `${short(median(values))} ${unit}`,
    floor: `${floor.name}: ${short(median(floor.values))} ${unit}`,
    ratio,
    ...(at_most !== null && { target: `≤ ${at_most} ×` }),
    reached: at_most === null ? null : ratio <= at_most,
  }
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

/** Two digits that matter, or all before the point. */
export const short = (value: number): string =>
  Math.abs(value) >= 100 ? whole(value) : String(Number(value.toPrecision(Math.abs(value) >= 10 ? 3 : 2)))

/** Rows under their headings, each column as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}

/** Every figure with its verdict. */
export function tableOf(figures: readonly Figure[]): string {
  const verdict = (reached: boolean | null): string =>
    reached === null ? '' : reached ? 'reached' : 'NOT REACHED'
  const rows = figures.map(({ figure, value, floor, ratio, target, reached }) => [
    figure,
    value,
    floor ?? '',
    ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
    target ?? '',
    verdict(reached),
  ])
  return columns([['figure', 'value', 'measured against', 'ratio', 'target', ''], ...rows])
}
