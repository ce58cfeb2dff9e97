/** What we compute: which kept sums answer a question that filters and splits, and what each of them counts for. */
import type { Split } from '../definitions/definition.ts'
import type { Dimension } from './cube.ts'
import type { Filters } from './tallies.ts'

/** What is asked of one measure of one app. `currency`: null for everything in the base currency. */
export type Cut = { filters: Filters; split: Split | null; currency: string | null }

/**
 * `keyOf`: the value of the split that a series counts for, '' for the whole; null where it does not count. `name` stands
 * for it.
 */
type Plan = { name: string; dimension: Dimension; keyOf: (value: string) => string | null }

const PLACES = ['product', 'country', 'period', 'offer', 'currency'] as const
type Named = (typeof PLACES)[number]

/**
 * One dimension has sums of its own (`hasDimensions`), which the days of another zone have not; several have those of
 * every combination. `nameOf` gives the id of a product as the sums name it.
 */
export function planOf(
  { filters, split, currency }: Cut,
  hasDimensions: boolean,
  nameOf: (product: string) => string = (product) => product,
): Plan {
  const allowed = new Map<Named, ReadonlySet<string>>()
  for (const name of ['product', 'country', 'period', 'offer'] as const) {
    const values = filters[name]
    if (values) allowed.set(name, new Set(values))
  }
  if (currency !== null) allowed.set('currency', new Set([currency]))
  const asked = PLACES.find((name) => name === split) ?? null
  const told = (name: Named, value: string): string => (name === 'product' ? nameOf(value) : value)
  const names = [...new Set([...allowed.keys(), ...(asked ? [asked] : [])])]
  const [only] = names
  const name = JSON.stringify([asked, ...[...allowed].map(([one, values]) => [one, ...values])])
  if (hasDimensions && only === undefined) return { name, dimension: 'all', keyOf: () => '' }
  const counts = (name: Named, value: string): boolean => allowed.get(name)?.has(value) ?? true
  if (hasDimensions && only !== undefined && names.length === 1) {
    return {
      name,
      dimension: only,
      keyOf(value) {
        const own = told(only, value)
        return counts(only, own) ? (asked ? own : '') : null
      },
    }
  }
  return {
    name,
    dimension: 'fine',
    keyOf(text) {
      const values: readonly string[] = JSON.parse(text)
      const of = (name: Named): string => told(name, values[PLACES.indexOf(name)] ?? '')
      return names.every((one) => counts(one, of(one))) ? (asked ? of(asked) : '') : null
    },
  }
}
