/** What lines become before they are drawn: laid on one another, and taken apart into what is sure and what is not. */

export type Values = (number | null)[]

/** Each line on top of those before it; what is below zero hangs below what is below zero. */
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

/** The points that all data is there for. */
export const completeValues = (values: Values, complete: readonly boolean[]): Values =>
  values.map((value, index) => (complete[index] ? value : null))

/** The others; of a line with the point before and after, so that it hangs together. */
export function incompleteValues(values: Values, complete: readonly boolean[], isLine: boolean): Values {
  const isUnsure = (index: number): boolean => complete[index] === false
  return values.map((value, index) =>
    isUnsure(index) || (isLine && (isUnsure(index + 1) || isUnsure(index - 1))) ? value : null,
  )
}

/** Where a value has none beside it, so that no line leads to it. */
export const isolatedPoints = (values: Values): number[] =>
  values.flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
      ? [index]
      : [],
  )
