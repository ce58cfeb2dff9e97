/** What we compute: which kept sums answer a question that filters and splits, and what each of them counts for. */
import type { Split } from '../definition.ts'
import type { Filters } from '../tallies.ts'

/** What is asked of one measure of one app. `currency`: null for everything in the base currency. */
export type Cut = { filters: Filters; split: Split | null; currency: string | null }

/** `keyOf`: the value of the split that a series counts for; null where it does not count. */
type Plan = { dimension: string; keyOf: (value: string) => string | null }

const PLACES = ['product', 'country', 'period', 'offer', 'currency'] as const
type Named = (typeof PLACES)[number]

/**
 * `hasDimensions`: each dimension has sums of its own, which those of another zone have not. `nameOf` gives the id of a
 * product as the sums name it.
 */
export function planOf(
  { filters, split, currency }: Cut,
  hasDimensions: boolean,
  nameOf: (product: string) => string,
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
  if (hasDimensions && only === undefined) return { dimension: 'all', keyOf: () => '' }
  const counts = (name: Named, value: string): boolean => allowed.get(name)?.has(value) ?? true
  if (hasDimensions && only !== undefined && names.length === 1) {
    return {
      dimension: only,
      keyOf(value) {
        const name = told(only, value)
        return counts(only, name) ? (asked ? name : '') : null
      },
    }
  }
  return {
    dimension: 'fine',
    keyOf(text) {
      const values: readonly string[] = JSON.parse(text)
      const of = (name: Named): string => told(name, values[PLACES.indexOf(name)] ?? '')
      return names.every((name) => counts(name, of(name))) ? (asked ? of(asked) : '') : null
    },
  }
}
