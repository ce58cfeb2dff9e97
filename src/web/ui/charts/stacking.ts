/** Transforms values for drawing: stacking, and splitting into complete and incomplete points. */

export type Values = (number | null)[]

/** Stacks each line on the lines before it. Negative values stack below zero. */
export function stacked(lines: readonly Values[]): Values[] {
  const above: number[] = []
  const below: number[] = []
  return lines.map((values) =>
    values.map((value, index) => {
      if (value === null) return null
      const sums = value < 0 ? below : above
      sums[index] = (sums[index] ?? 0) + value
      return sums[index]
    }),
  )
}

/** The values of complete points; null for incomplete points. */
export const completeValues = (values: Values, complete: readonly boolean[]): Values =>
  values.map((value, index) => (complete[index] ? value : null))

/**
 * The values of incomplete points; null for complete points. For a line, neighbors are included so that the segments
 * connect.
 */
export function incompleteValues(values: Values, complete: readonly boolean[], isLine: boolean): Values {
  const isIncomplete = (index: number): boolean => complete[index] === false
  return values.map((value, index) =>
    isIncomplete(index) || (isLine && (isIncomplete(index + 1) || isIncomplete(index - 1))) ? value : null,
  )
}

/** Indexes of values whose neighbors are null, so that no line segment shows them. */
export const isolatedPoints = (values: Values): number[] =>
  values.flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
      ? [index]
      : [],
  )
