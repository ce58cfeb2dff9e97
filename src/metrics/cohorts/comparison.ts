/** What we compute: whether the sums of cohorts are those that the customers give; the first difference otherwise. */
import { setImmediate } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { CustomerValues } from '../customers/values.ts'
import { type CohortCell, type CohortKind, gathering } from './changes.ts'
import { NOTHING, type Spread, type Spreads } from './spreads.ts'

type Deps = { store: Store; values: CustomerValues }
type Kept = CohortCell & { app_id: string; environment: string }

const AT_ONCE = 200
/** One after the other, so that no more than one is held at once. */
const KINDS: readonly CohortKind[] = [
  ...(['ltv', 'ltv.parts', 'payers.day', 'payers.week', 'payers.month', 'retention', 'recovery'] as const),
]

/** Compares what each customer adds, and then the sums, in slices, between which others get their turn. */
export async function compareCohorts(
  { store, values }: Deps,
  { verifying: { countedAfter, spreadNow, change } }: Spreads,
): Promise<string | null> {
  const ofKind = store.prepare<[string], Kept>(`
    select s.*, c.cohort, c.position, c.count, c.charged_milli, c.refunded_milli, c.prorated_milli
    from cohort_series s join cohort_cells c on c.series_id = s.id where s.kind = ?`)

  /** Calls `take` with what each customer adds; what is kept of it may be none. */
  async function each(take: (lineage_id: number, spread: Spread) => string | null): Promise<string | null> {
    for (let some = countedAfter.all(0, AT_ONCE); some.length > 0; await setImmediate()) {
      for (const { lineage_id, spread } of some) {
        const found = take(lineage_id, JSON.parse(spread))
        if (found !== null) return found
      }
      some = countedAfter.all(some.at(-1)?.lineage_id ?? 0, AT_ONCE)
    }
    return null
  }

  const stale = await each((lineage_id, spread) => {
    const key = values.kept.keyOf.get(lineage_id)
    const isSame = key && JSON.stringify(spreadNow(key)) === JSON.stringify(spread)
    return isSame ? null : `what the customer of ${key?.original_transaction_id} adds to cohorts`
  })
  if (stale !== null) return stale
  for (const kind of KINDS) {
    const scopes = new Map<string, ReturnType<typeof gathering>>()
    await each((lineage_id, spread) => {
      const { app_id, environment } = values.kept.keyOf.get(lineage_id) ?? NOBODY
      const name = `${app_id} ${environment}`
      const cells = scopes.get(name) ?? gathering(kind)
      scopes.set(name, cells)
      change(cells, NOTHING, spread)
      return null
    })
    const difference = firstDifference(scopes, ofKind.all(kind))
    if (difference !== null) return difference
  }
  return null
}

const NOBODY = { app_id: '', environment: '' }

function firstDifference(
  scopes: ReadonlyMap<string, ReturnType<typeof gathering>>,
  kept: readonly Kept[],
): string | null {
  const told = new Map<string, string>()
  for (const [scope, cells] of scopes) for (const cell of cells.list()) told.set(...textOf(scope, cell))
  for (const { app_id, environment, ...cell } of kept) {
    const [name, sums] = textOf(`${app_id} ${environment}`, cell)
    const should = told.get(name) ?? '0 0 0 0'
    told.delete(name)
    if (sums !== should) return `the cohort sum ${name}: ${sums} is kept, the customers give ${should}`
  }
  const [missing] = told.keys()
  return missing === undefined ? null : `the cohort sum ${missing} is not kept`
}

const textOf = (scope: string, cell: CohortCell): [name: string, sums: string] => {
  const { kind, product_id, storefront, period, cohort, position } = cell
  const { count, charged_milli, refunded_milli, prorated_milli } = cell
  return [
    [scope, kind, product_id, storefront, period, cohort, position].join(' '),
    [count, charged_milli, refunded_milli, prorated_milli].join(' '),
  ]
}
