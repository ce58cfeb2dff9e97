/** Chooses which stored sums answer a request with filters and a split, and the key each counts for. */
import type { Split } from '../definitions/definition.ts'
import type { Dimension } from './cube.ts'
import type { Filters } from './tallies.ts'

/** The filters and the split of a request. `currency`: null for everything in the base currency. */
export type Breakdown = { filters: Filters; split: Split | null; currency: string | null }

/**
 * `keyOf`: the value of the split that a series counts for, '' for the total; null where it does not count. `name`
 * identifies the function.
 */
type DimensionPlan = { name: string; dimension: Dimension; keyOf: (value: string) => string | null }

const DIMENSION_ORDER = ['product', 'country', 'period', 'offer', 'currency'] as const
type DimensionName = (typeof DIMENSION_ORDER)[number]

/**
 * A single dimension has its own sums (`hasDimensions`; days of another zone do not); several use the sums of every
 * combination. `nameOf` maps the id of a product to its name in the sums.
 */
export function dimensionPlan(
  { filters, split, currency }: Breakdown,
  hasDimensions: boolean,
  nameOf: (product: string) => string = (product) => product,
): DimensionPlan {
  const allowed = new Map<DimensionName, ReadonlySet<string>>()
  for (const name of ['product', 'country', 'period', 'offer'] as const) {
    const values = filters[name]
    if (values) allowed.set(name, new Set(values))
  }
  if (currency !== null) allowed.set('currency', new Set([currency]))
  const splitDimension = DIMENSION_ORDER.find((name) => name === split) ?? null
  const resolved = (name: DimensionName, value: string): string =>
    name === 'product' ? nameOf(value) : value
  const names = [...new Set([...allowed.keys(), ...(splitDimension ? [splitDimension] : [])])]
  const [only] = names
  const name = JSON.stringify([splitDimension, ...[...allowed].map(([one, values]) => [one, ...values])])
  if (hasDimensions && only === undefined) return { name, dimension: 'all', keyOf: () => '' }
  const isIncluded = (name: DimensionName, value: string): boolean => allowed.get(name)?.has(value) ?? true
  if (hasDimensions && only !== undefined && names.length === 1) {
    return {
      name,
      dimension: only,
      keyOf(value) {
        const own = resolved(only, value)
        return isIncluded(only, own) ? (splitDimension ? own : '') : null
      },
    }
  }
  return {
    name,
    dimension: 'fine',
    keyOf(text) {
      const values: readonly string[] = JSON.parse(text)
      const valueAt = (name: DimensionName): string =>
        resolved(name, values[DIMENSION_ORDER.indexOf(name)] ?? '')
      return names.every((one) => isIncluded(one, valueAt(one)))
        ? splitDimension
          ? valueAt(splitDimension)
          : ''
        : null
    },
  }
}
