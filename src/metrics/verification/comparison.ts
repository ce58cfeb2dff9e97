/** Verifies on a worker thread that the figures in a database file equal those computed from its facts. */
import { openApps } from '../../apps/apps.ts'
import { openOrganizations } from '../../apps/organizations.ts'
import { openProducts } from '../../apps/products.ts'
import { openRates } from '../../rates/rates.ts'
import { openReader } from '../../store/reader.ts'
import { openSnapshot } from '../../store/snapshot.ts'
import type { Store } from '../../store/store.ts'
import { onThread, runOnThread } from '../../store/thread.ts'
import { openContributions } from '../cohorts/contributions.ts'
import { openCustomerValues } from '../customers/values.ts'
import { openCountingSettings } from '../lineage/settings.ts'
import { openReportedPrices } from '../reports/prices.ts'
import { type Commission, openProceedsCalculator } from '../reports/proceeds.ts'
import { openCube } from '../sums/cube.ts'
import { openCounting } from '../upkeep/counting.ts'
import { openGenerations } from '../upkeep/generations.ts'
import { type Numbered, openMarks } from '../upkeep/marks.ts'
import { differenceOfCohorts } from './cohort_sums.ts'
import { differenceOfDays } from './day_sums.ts'
import { openLineageComparison } from './lineages.ts'
import { PASS_CELLS, slicesOf } from './passes.ts'
import { openStaleness } from './staleness.ts'

/**
 * `lineages`: how many lineages were compared. `due`: how many were skipped because they are due. `difference` describes
 * the first difference; null if there is none.
 */
export type VerifyResult = { lineages: number; due: number; difference: string | null }

/** The progress of a comparison’s current part. */
export type VerifyProgress = { part: 'facts' | 'sums' | 'cohorts'; done: number; of: number }

type CompareRequest = {
  file: string
  /** The instant as of which the figures were computed; null: the instant at which the newest figures were computed. */
  at: number | null
  /** The version of this program’s formulas. */
  formula: number
  signal: AbortSignal
  onProgress: (progress: VerifyProgress) => void
}

const VERIFY = 'verify metrics'
/** `cells_at_once`: the approximate number of sums held in memory. */
type Task = { windfall: typeof VERIFY; cells_at_once?: number } & Pick<
  CompareRequest,
  'file' | 'at' | 'formula'
>
type OnProgress = (progress: VerifyProgress) => void

const LINEAGES_AT_ONCE = 200

/**
 * Compares the figures in `file` in one snapshot: rows of lineages that are not due with the facts, and all sums with the
 * rows. Writes nothing.
 *
 * @throws Error that explains why the file is not a database of this version; the reason of `signal` if that aborts the
 * comparison.
 */
export function compareFile({
  file,
  at,
  formula,
  signal,
  onProgress,
}: CompareRequest): Promise<VerifyResult> {
  const task: Task = { windfall: VERIFY, file, at, formula }
  return runOnThread<VerifyResult, VerifyProgress>(import.meta.url, task, signal, onProgress)
}

/**
 * Compares on the calling thread, synchronously.
 *
 * @throws Error that explains why the file is not a database of this version.
 */
export function compareAtOnce(
  { file, cells_at_once = PASS_CELLS, ...request }: Omit<Task, 'windfall'>,
  onProgress: OnProgress = () => {},
): VerifyResult {
  const reader = openReader(file)
  if (reader === null) throw new Error(`${file} is gone`)
  try {
    return reader.atOnce(() => {
      const store = openSnapshot(reader)
      const last = store.prepare<[], number | null>('select max(counted_at) from metric_counted').pluck()
      const at = request.at ?? last.get() ?? 0
      return compareAll(openModules(store, { at, formula: request.formula, cells_at_once }), onProgress)
    })
  } finally {
    reader.close()
  }
}

type Modules = ReturnType<typeof openModules>

type ModuleOptions = { at: number; formula: number; cells_at_once: number }

/** Opens the modules that compute figures on a read-only store. */
function openModules(store: Store, { at, formula, cells_at_once }: ModuleOptions) {
  const clock = () => at
  const apps = openApps(store, clock)
  const products = openProducts(store, clock)
  const rates = openRates({ store, clock, settings: { fetch: false } })
  const generations = openGenerations({
    store,
    clock,
    apps,
    organizations: openOrganizations(store, clock),
    formula,
    // Each generation has a month length. This value would apply only to a new generation.
    factors: 'calendar',
  })
  const selectCommission = store.prepare<[], string>('select counted_by from metric_commission').pluck()
  const commission: Commission = JSON.parse(selectCommission.get() ?? '{}')
  const proceedsOf = openProceedsCalculator(openReportedPrices(store), commission)
  const settings = openCountingSettings({ store, apps, generations, products, rates, proceedsOf })
  const cube = openCube(store)
  const values = openCustomerValues({ store, clock, generations })
  const contributions = openContributions({ store, settings })
  const counting = openCounting({ store, clock, settings, cube, values, contributions })
  const staleness = openStaleness({ store, generations, at })
  const selectContribution = store
    .prepare<[number, number], string>(
      'select spread from cohort_customers where generation = ? and lineage_id = ?',
    )
    .pluck()
  const lineages = openLineageComparison({
    counting,
    values,
    contributions,
    staleness,
    at,
    contributionOf: (generation, lineage_id) => selectContribution.get(generation, lineage_id) ?? null,
  })
  const marks = openMarks(store)
  return { store, apps, generations, settings, cube, marks, staleness, lineages, formula, cells_at_once }
}

function compareAll(modules: Modules, onProgress: OnProgress): VerifyResult {
  const compared = compareFacts(modules, onProgress)
  return compared.difference === null
    ? { ...compared, difference: differenceOfSums(modules, onProgress) }
    : compared
}

/** Compares the rows, customers and cohort contributions of all lineages that are not due. */
function compareFacts(modules: Modules, onProgress: OnProgress): VerifyResult {
  const { marks } = modules
  const result: VerifyResult = { lineages: 0, due: 0, difference: uncountedLineage(modules) }
  const of = marks.count()
  let done = 0
  for (const some of slicesOf(marks, LINEAGES_AT_ONCE)) {
    for (const key of some) {
      if (result.difference !== null) return result
      compareLineage(modules, key, result)
    }
    done += some.length
    onProgress({ part: 'facts', done, of })
  }
  return result
}

/** Compares a lineage in each generation, and updates `result`. */
function compareLineage(
  { apps, generations, staleness, lineages }: Modules,
  key: Numbered,
  result: VerifyResult,
): void {
  for (const generation of generations.ofOrganization(apps.get(key.app_id)?.organization_id ?? '')) {
    const counted = staleness.countedIn(generation, key)
    if (generation.state === 'shown') result[counted === 'due' ? 'due' : 'lineages'] += 1
    if (counted === 'due') continue
    result.difference ??=
      lineages.compareLineage(generation, key, counted) ?? lineages.compareCustomer(generation, key)
  }
}

/** Describes a lineage with facts but without a number, unless a rebuild will number it; null if there is none. */
function uncountedLineage({ store, apps, generations }: Modules): string | null {
  const all = store.prepare<[], { app_id: string; original_transaction_id: string }>(`
    select app_id, original_transaction_id from transactions t
    where not exists (select 1 from metric_lineages m where m.app_id = t.app_id and m.environment = t.environment
      and m.original_transaction_id = t.original_transaction_id)`)
  for (const { app_id, original_transaction_id } of all.iterate()) {
    const app = apps.get(app_id)
    if (app && generations.making(app.organization_id) === null)
      return `${original_transaction_id} has not been counted`
  }
  return null
}

/** Compares the sums of all generations, including due lineages, because rows and sums change together. */
function differenceOfSums(
  { generations, formula, ...modules }: Modules,
  onProgress: OnProgress,
): string | null {
  for (const generation of generations.all()) {
    // Other formulas may sum the rows differently.
    if (generation.formula !== formula) continue
    const progressFor = (part: VerifyProgress['part']) => (done: number, of: number) =>
      onProgress({ part, done, of })
    const difference =
      differenceOfDays({ ...modules, onProgress: progressFor('sums') }, generation) ??
      differenceOfCohorts({ ...modules, onProgress: progressFor('cohorts') }, generation.id)
    if (difference !== null) return difference
  }
  return null
}

onThread<Task, VerifyProgress>(VERIFY, compareAtOnce)
