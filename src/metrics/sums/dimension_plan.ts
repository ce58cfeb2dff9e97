/** Chooses the stored series that answer a request with filters and a split, and the key to add each series to. */
import type { Split } from '../definitions/definition.ts'
import type { Dimension } from './cube.ts'
import type { Filters } from './tallies.ts'

/** The filters and the split of a request. `currency`: null for all amounts in the base currency. */
export type Breakdown = { filters: Filters; split: Split | null; currency: string | null }

/**
 * `keyOf`: the value of the split to which a series of this value is added; '' for the total, null if the filters exclude
 * the series. `name` identifies `keyOf` in a cache.
 */
type DimensionPlan = { name: string; dimension: Dimension; keyOf: (value: string) => string | null }

const DIMENSION_ORDER = ['product', 'country', 'period', 'offer', 'currency'] as const
type DimensionName = (typeof DIMENSION_ORDER)[number]

/**
 * A request with one dimension reads the series of that dimension if `hasDimensions` (false for days of a zone other
 * than the organization’s). A request with several dimensions reads the series of all combinations. `nameOf` maps the
 * product in a series to the product id of the filters.
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
  const resolve = (name: DimensionName, value: string): string => (name === 'product' ? nameOf(value) : value)
  const names = [...new Set([...allowed.keys(), ...(splitDimension ? [splitDimension] : [])])]
  const [onlyName] = names
  const name = JSON.stringify([splitDimension, ...[...allowed].map(([one, values]) => [one, ...values])])
  if (hasDimensions && onlyName === undefined) return { name, dimension: 'all', keyOf: () => '' }
  const isIncluded = (name: DimensionName, value: string): boolean => allowed.get(name)?.has(value) ?? true
  if (hasDimensions && onlyName !== undefined && names.length === 1) {
    return {
      name,
      dimension: onlyName,
      keyOf(value) {
        const resolvedValue = resolve(onlyName, value)
        return isIncluded(onlyName, resolvedValue) ? (splitDimension ? resolvedValue : '') : null
      },
    }
  }
  return {
    name,
    dimension: 'fine',
    keyOf(text) {
      const values: readonly string[] = JSON.parse(text)
      const valueAt = (name: DimensionName): string =>
        resolve(name, values[DIMENSION_ORDER.indexOf(name)] ?? '')
      return names.every((one) => isIncluded(one, valueAt(one)))
        ? splitDimension
          ? valueAt(splitDimension)
          : ''
        : null
    },
  }
}
