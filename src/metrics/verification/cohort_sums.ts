/** Verifies that the stored sums of cohorts equal the sums of the customers’ contributions. */
import type { Store } from '../../store/store.ts'
import { type CellChanges, type CohortCell, type CohortKind, collectCellChanges } from '../cohorts/changes.ts'
import { addStored } from '../cohorts/contributions.ts'
import type { Marks } from '../upkeep/marks.ts'
import { passesOf } from './passes.ts'

type Deps = {
  store: Pick<Store, 'prepare'>
  marks: Marks
  /** The approximate number of sums held in memory. */
  cells_at_once: number
  /** Called with the number of customers summed and their total. */
  onProgress: (done: number, of: number) => void
}

type StoredCell = CohortCell & { app_id: string; environment: string }
/** The cohorts of a kind whose number modulo `of` equals `rest`. */
type Part = { kind: CohortKind; rest: number; of: number; cells: number }

const CUSTOMERS_AT_ONCE = 500
const KINDS: Record<CohortKind, true> = {
  ltv: true,
  'ltv.exact': true,
  'ltv.ratio': true,
  'ltv.estimated': true,
  retention: true,
  recovery: true,
  'payers.day': true,
  'payers.week': true,
  'payers.month': true,
}

/** Describes the first cohort sum that differs from the customers’ contributions; null if there is none. */
export function differenceOfCohorts(
  { store, marks, cells_at_once, onProgress }: Deps,
  generation: number,
): string | null {
  const counts = store.prepare<[number], { kind: CohortKind; cells: number }>(`
    select kind, count(*) as cells from cohort_series join cohort_cells on series_id = id
    where generation = ? group by kind`)
  const customers = store
    .prepare<[number], number>('select count(*) from cohort_customers where generation = ?')
    .pluck()
  const following = store.prepare<[number, number, number], { lineage_id: number; spread: string }>(`
    select lineage_id, spread from cohort_customers where generation = ? and lineage_id > ?
    order by lineage_id limit ?`)
  const ofKind = store.prepare<[number, string], StoredCell>(`
    select s.*, cohort, position, count, charged_milli, refunded_milli, prorated_milli
    from cohort_series s join cohort_cells on series_id = s.id where generation = ? and kind = ?`)
  const cells = new Map(counts.all(generation).map((one) => [one.kind, one.cells]))
  const parts = (Object.keys(KINDS) as CohortKind[]).flatMap((kind) =>
    partsOf(kind, cells.get(kind) ?? 0, cells_at_once),
  )
  const passes = passesOf(parts, cells_at_once)
  const of = (customers.get(generation) ?? 0) * passes.length
  let done = 0

  /** Sums the contributions of all customers to the selected cohorts, by app and environment. */
  function sumContributions(
    isSelected: (kind: CohortKind, cohort: number) => boolean,
  ): Map<string, CellChanges> {
    const scopes = new Map<string, CellChanges>()
    for (let some = following.all(generation, 0, CUSTOMERS_AT_ONCE); some.length > 0; ) {
      for (const { lineage_id, spread } of some) {
        const key = marks.byId(lineage_id)
        const name = `${key?.app_id} ${key?.environment}`
        const known = scopes.get(name) ?? collectCellChanges(isSelected)
        scopes.set(name, known)
        addStored(known, spread)
      }
      done += some.length
      onProgress(done, of)
      some = following.all(generation, some.at(-1)?.lineage_id ?? 0, CUSTOMERS_AT_ONCE)
    }
    return scopes
  }

  for (const pass of passes) {
    const isSelected = (kind: CohortKind, cohort: number): boolean =>
      pass.some((part) => part.kind === kind && cohort % part.of === part.rest)
    const expected = new Map<string, string>()
    for (const [scope, own] of sumContributions(isSelected))
      for (const cell of own.list()) expected.set(cellKey(scope, cell), sumsText(cell))
    for (const kind of new Set(pass.map((part) => part.kind))) {
      const difference = firstDifference(expected, ofKind.iterate(generation, kind), isSelected)
      if (difference !== null) return difference
    }
    const [missing] = expected.keys()
    if (missing !== undefined) return `the cohort sum ${missing} is not stored`
  }
  return null
}

/** Divides the cells of a kind into parts of at most about `most` cells. */
function partsOf(kind: CohortKind, cells: number, most: number): Part[] {
  const of = Math.max(1, Math.ceil(cells / most))
  return Array.from({ length: of }, (_, rest) => ({ kind, rest, of, cells: Math.ceil(cells / of) }))
}

/** Describes the first stored sum that differs from the expected sum. Deletes compared sums from `expected`. */
function firstDifference(
  expected: Map<string, string>,
  stored: Iterable<StoredCell>,
  isSelected: (kind: CohortKind, cohort: number) => boolean,
): string | null {
  for (const { app_id, environment, ...cell } of stored) {
    if (!isSelected(cell.kind, cell.cohort)) continue
    const name = cellKey(`${app_id} ${environment}`, cell)
    const expectedSums = expected.get(name) ?? '0 0 0 0'
    expected.delete(name)
    const storedSums = sumsText(cell)
    if (storedSums !== expectedSums)
      return `the cohort sum ${name}: stored ${storedSums}, expected ${expectedSums} from the customers`
  }
  return null
}

const cellKey = (
  scope: string,
  { kind, product_id, storefront, period, cohort, position }: CohortCell,
): string => [scope, kind, product_id, storefront, period, cohort, position].join(' ')

const sumsText = ({ count, charged_milli, refunded_milli, prorated_milli }: CohortCell): string =>
  [count, charged_milli, refunded_milli, prorated_milli].join(' ')
