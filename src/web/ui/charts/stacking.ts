/** Transforms values for drawing: stacking, and splitting into complete and incomplete points. */

export type Values = (number | null)[]

/** Stacks each line on those before it. Negative values stack below zero. */
export function stacked(lines: readonly Values[]): Values[] {
  const above: number[] = []
  const below: number[] = []
  return lines.map((values) =>
    values.map((value, index) => {
      if (value === null) return null
      const piles = value < 0 ? below : above
      piles[index] = (piles[index] ?? 0) + value
      return piles[index]
    }),
  )
}

/** The complete points; null for the others. */
export const completeValues = (values: Values, complete: readonly boolean[]): Values =>
  values.map((value, index) => (complete[index] ? value : null))

/** The incomplete points. For a line, their neighbors are included so that the segments connect. */
export function incompleteValues(values: Values, complete: readonly boolean[], isLine: boolean): Values {
  const isUnsure = (index: number): boolean => complete[index] === false
  return values.map((value, index) =>
    isUnsure(index) || (isLine && (isUnsure(index + 1) || isUnsure(index - 1))) ? value : null,
  )
}

/** Indexes of values without neighbors, to which no line leads. */
export const isolatedPoints = (values: Values): number[] =>
  values.flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
      ? [index]
      : [],
  )
