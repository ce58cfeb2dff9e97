/** Recomputes the rows of a lineage in one generation from its facts, and updates sums, customer and cohorts. */
import type { Clock } from '../../clock.ts'
import type { LineageKey } from '../../ledger/ledger.ts'
import { bound, type Store } from '../../store/store.ts'
import type { CohortSums, Contributions } from '../cohorts/contributions.ts'
import { type LineageProceeds, lineageProceeds } from '../customers/charges.ts'
import type { CustomerValues } from '../customers/values.ts'
import { type MetricRow, metricRowsOf } from '../lineage/rows.ts'
import type { AppSettings, CountingSettings } from '../lineage/settings.ts'
import type { RenewalFact, TransactionFact } from '../lineage/timeline.ts'
import type { Cube } from '../sums/cube.ts'
import type { Generation } from './generations.ts'
import type { Numbered } from './marks.ts'

/** A row of metric_rows. */
type StoredRow = MetricRow & { generation: number; lineage_id: number; position: number }

/** A row of metric_counted. `proceeds_milli` is null if the proceeds of no charge are known. */
export type CountedLineage = {
  generation: number
  lineage_id: number
  counted_at: number
  due_at: number | null
  is_provisional: number
  proceeds_milli: number | null
  proceeds_estimated: number
  last_charge_day: number
}

/** The columns of metric_counted that are a pure function of the lineage’s facts. */
type Totals = LineageProceeds & Pick<CountedLineage, 'is_provisional'>

/** The columns of a TransactionFact. */
export const FACT_COLUMNS = [
  'environment',
  'transaction_id',
  'product_id',
  'kind',
  'group_id',
  'reason',
  'ownership',
  'quantity',
  'price_milli',
  'currency',
  'storefront',
  'purchased_at',
  'expires_at',
  'earliest_expires_at',
  'offer_type',
  'offer_discount',
  'offer_period',
  'is_upgraded',
  'revoked_at',
  'revocation_type',
  'revocation_percentage',
  'reversed_refunds',
  'billing_plan',
  'commitment',
].join(', ')
/** The columns of metric_rows that hold a row’s own values. */
export const ROW_COLUMNS = [
  'on_at',
  'known_at',
  'measure',
  'product_id',
  'storefront',
  'period',
  'offer',
  'currency',
  'milli',
  'base_milli',
  'count',
] as const

/** The rows computed from the facts of a lineage. */
export type LineageFigures = { rows: MetricRow[]; settings: AppSettings; is_provisional: boolean }

type Deps = {
  store: Store
  clock: Clock
  settings: CountingSettings
  cube: Cube
  values: CustomerValues
  contributions: Contributions
}

export type Counting = ReturnType<typeof openCounting>

export function openCounting({ store, clock, settings, cube, values, contributions }: Deps) {
  const lineage =
    'app_id = :app_id and environment = :environment and original_transaction_id = :original_transaction_id'
  // The same condition with the parameters hidden from SQLite’s planner, for ordered queries (see `bound`).
  const boundLineage = lineage.replace(/:\w+/g, '(select $&)')
  const transactions = store.prepare<LineageKey, TransactionFact>(
    `select ${FACT_COLUMNS} from transactions where ${lineage}`,
  )
  const renewals = store.prepare<LineageKey, RenewalFact>(`
    select signed_at, grace_until_at, expiration_intent, in_billing_retry, auto_renew_status
    from renewals where ${boundLineage} order by signed_at, sha256`)
  const counted = store.prepare<[number, number], CountedLineage>(
    'select * from metric_counted where generation = ? and lineage_id = ?',
  )
  const putCounted = store.prepare<CountedLineage>(`
    insert or replace into metric_counted ( generation,  lineage_id,  counted_at,  due_at,  is_provisional,  proceeds_milli,  proceeds_estimated,  last_charge_day)
    values                                (:generation, :lineage_id, :counted_at, :due_at, :is_provisional, :proceeds_milli, :proceeds_estimated, :last_charge_day)`)
  const rowsOf = store.prepare<[number, number], StoredRow>(
    `select * from metric_rows where generation = ${bound} and lineage_id = ${bound} order by position`,
  )
  const put = store.prepare<StoredRow>(`
    insert or replace into metric_rows (generation, lineage_id, position, ${ROW_COLUMNS.join(', ')})
    values (:generation, :lineage_id, :position, ${ROW_COLUMNS.map((name) => `:${name}`).join(', ')})`)
  const dropFrom = store.prepare<[number, number, number]>(
    'delete from metric_rows where generation = ? and lineage_id = ? and position >= ?',
  )

  /**
   * Computes the rows and flows of a lineage in a generation from its facts; null if its app does not exist.
   *
   * @throws RangeError if an amount exceeds the safe integers, because it would make every sum wrong.
   */
  function figuresOf(generation: Generation, key: LineageKey): LineageFigures | null {
    const own = settings.settingsIn(generation, key.app_id)
    if (own === null) return null
    own.wasProvisional()
    const facts = transactions.all(key)
    const hasFirstTransaction = facts.some(
      ({ transaction_id }) => transaction_id === key.original_transaction_id,
    )
    const rows = metricRowsOf({ transactions: facts, renewals: renewals.all(key), hasFirstTransaction }, own)
    if (!rows.every(isExact)) throw new RangeError('an amount exceeds the range of exact integers')
    return { rows, settings: own, is_provisional: own.wasProvisional() }
  }

  /** Collects the changed sums of many lineages. `write` stores them inside the unit of work that recomputes them. */
  function openSums() {
    const days = cube.openSumBuffer()
    const cohorts: CohortSums = contributions.openSums()
    return {
      days,
      cohorts,
      write(): void {
        days.write()
        cohorts.write()
      },
    }
  }

  /**
   * Recomputes a lineage in a generation: its rows, its customer, and the customer’s contribution to cohorts. Returns a
   * function that applies the changes to sums. Call that function only if these writes were not rolled back. Runs inside
   * a unit of work.
   */
  function count(generation: Generation, key: Numbered): (sums: CountedSums) => void {
    const figures = figuresOf(generation, key)
    if (figures === null) return () => {}
    const now = clock()
    const last = counted.get(generation.id, key.id)
    const changes = replaceRows(generation.id, key.id, last?.counted_at ?? null, { next: figures.rows, now })
    const totals = totalsOf(figures, now)
    const updated = values.update(generation, key, { rows: figures.rows, proceeds: totals, now })
    const own = { generation: generation.id, lineage_id: key.id, counted_at: now, ...totals }
    putCounted.run({ ...own, due_at: nextDueAt(figures.rows, updated.due_at, now) })
    const contribution = contributions.update(generation, updated, now)
    return ({ days, cohorts }) => {
      const { app_id, environment } = key
      const scope = { app_id, environment, generation: generation.id }
      days.add({ scope, calendars: figures.settings.calendars, changes })
      cohorts.add(key, contribution)
    }
  }

  /**
   * Computes the totals of a lineage up to `now`. Apple signs renewals up to a day ahead, and they are no payments until
   * then.
   */
  const totalsOf = ({ rows, is_provisional }: LineageFigures, now: number): Totals => ({
    ...lineageProceeds(rows, now),
    is_provisional: is_provisional ? 1 : 0,
  })

  type Next = { next: readonly MetricRow[]; now: number }

  /** Replaces the rows of a lineage and returns the changes of sums. `before_at`: when the lineage was last recomputed. */
  function replaceRows(
    generation: number,
    lineage_id: number,
    before_at: number | null,
    { next, now }: Next,
  ): Change[] {
    const before = before_at === null ? [] : rowsOf.all(generation, lineage_id)
    const { rowsToWrite, changes } = rowChanges(before, next, { before_at: before_at ?? now, now })
    for (const [position, row] of rowsToWrite) put.run({ ...row, generation, lineage_id, position })
    if (before.length > next.length) dropFrom.run(generation, lineage_id, next.length)
    return changes
  }

  /** The stored rows of a lineage, in order. */
  const storedRows = (generation: number, lineage_id: number): MetricRow[] =>
    rowsOf.all(generation, lineage_id)

  return { count, openSums, figuresOf, totalsOf, storedRows }
}

export type CountedSums = ReturnType<Counting['openSums']>

/**
 * When the figures of a lineage change without new facts: at the next future row, or at `due_at` if that is earlier.
 * `due_at`: when the customer’s figures change. null if never.
 */
export function nextDueAt(rows: readonly MetricRow[], due_at: number | null, now: number): number | null {
  let earliest = due_at ?? Number.POSITIVE_INFINITY
  for (const { known_at } of rows) if (known_at > now && known_at < earliest) earliest = known_at
  return earliest === Number.POSITIVE_INFINITY ? null : earliest
}

type Change = readonly [MetricRow, sign: 1 | -1]
/** `before_at`: when the lineage was last recomputed. The sums contain the rows whose `known_at` was not later. */
type Times = { before_at: number; now: number }

/** The writes that replace `before` with `next`, by position, and the changes of the sums. */
function rowChanges(before: readonly MetricRow[], next: readonly MetricRow[], { before_at, now }: Times) {
  const rowsToWrite: [number, MetricRow][] = []
  const changes: Change[] = []
  const most = Math.max(before.length, next.length)
  for (let position = 0; position < most; position += 1) {
    const [old, row] = [before[position], next[position]]
    const isUnchanged = old !== undefined && row !== undefined && isSame(old, row)
    if (!isUnchanged && row !== undefined) rowsToWrite.push([position, row])
    const wasSummed = old !== undefined && old.known_at <= before_at
    const isSummed = row !== undefined && row.known_at <= now
    if (isUnchanged && wasSummed === isSummed) continue
    if (wasSummed) changes.push([old, -1])
    if (isSummed) changes.push([row, 1])
  }
  return { rowsToWrite, changes }
}

const isExact = ({ milli, base_milli }: MetricRow): boolean =>
  Number.isSafeInteger(milli) && (base_milli === null || Number.isSafeInteger(base_milli))

const isSame = (a: MetricRow, b: MetricRow): boolean => ROW_COLUMNS.every((name) => a[name] === b[name])
