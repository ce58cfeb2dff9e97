/** Recomputes the rows of a lineage in one generation from its facts, and updates sums, customer and cohorts. */
import type { Clock } from '../../clock.ts'
import type { LineageKey } from '../../ledger/ledger.ts'
import { bound, type Store } from '../../store/store.ts'
import type { CohortSums, Contributions } from '../cohorts/contributions.ts'
import type { LineageProceeds } from '../customers/charges.ts'
import type { CustomerValues } from '../customers/values.ts'
import { type Flow, flowsOf } from '../lineage/flows.ts'
import { type MetricRow, metricRowsOf } from '../lineage/rows.ts'
import type { AppSettings, CountingSettings } from '../lineage/settings.ts'
import type { RenewalFact, TransactionFact } from '../lineage/timeline.ts'
import type { Cube } from '../sums/cube.ts'
import type { Generation } from './generations.ts'
import type { Numbered } from './marks.ts'

/** A stored row. */
type StoredRow = MetricRow & { generation: number; lineage_id: number; position: number }

/** The totals of a counted lineage. `proceeds_milli` is null where no charge’s proceeds are known. */
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

/** The totals of a lineage stored with its rows, a pure function of its facts. */
type Totals = Omit<LineageProceeds, 'is_final'> & Pick<CountedLineage, 'is_provisional'>

const FACTS = [
  'environment',
  'transaction_id',
  'product_id',
  'kind',
  'group_id',
  'reason',
  'ownership',
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
/** The columns of a row. */
export const ROW = [
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

/** The figures that follow from the facts of a lineage. */
export type FromFacts = { rows: MetricRow[]; flows: Flow[]; settings: AppSettings; is_provisional: boolean }

type Deps = {
  store: Store
  clock: Clock
  settings: CountingSettings
  cube: Cube
  values: CustomerValues
  contributions: Contributions
  proceedsOf: (flows: readonly Flow[], app_id: string, base: string) => LineageProceeds
}

export type Counting = ReturnType<typeof openCounting>

export function openCounting({ store, clock, settings, cube, values, contributions, proceedsOf }: Deps) {
  const lineage =
    'app_id = :app_id and environment = :environment and original_transaction_id = :original_transaction_id'
  // The same condition for ordered queries (see `bound`).
  const hidden = lineage.replace(/:\w+/g, '(select $&)')
  const transactions = store.prepare<LineageKey, TransactionFact>(
    `select ${FACTS} from transactions where ${lineage}`,
  )
  const renewals = store.prepare<LineageKey, RenewalFact>(`
    select signed_at, grace_until_at, expiration_intent, in_billing_retry, auto_renew_status
    from renewals where ${hidden} order by signed_at, sha256`)
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
    insert or replace into metric_rows (generation, lineage_id, position, ${ROW.join(', ')})
    values (:generation, :lineage_id, :position, ${ROW.map((name) => `:${name}`).join(', ')})`)
  const dropFrom = store.prepare<[number, number, number]>(
    'delete from metric_rows where generation = ? and lineage_id = ? and position >= ?',
  )

  /**
   * The figures that follow from the facts of a lineage in a generation; null where its app does not exist.
   *
   * @throws RangeError where an amount exceeds the safe integers: it would make every sum wrong.
   */
  function fromFacts(generation: Generation, key: LineageKey): FromFacts | null {
    const own = settings.settingsIn(generation, key.app_id)
    if (own === null) return null
    own.wasProvisional()
    const facts = transactions.all(key)
    const hasFirstTransaction = facts.some(
      ({ transaction_id }) => transaction_id === key.original_transaction_id,
    )
    const rows = metricRowsOf({ transactions: facts, renewals: renewals.all(key), hasFirstTransaction }, own)
    if (!rows.every(isExact)) throw new RangeError('an amount exceeds the range of exact integers')
    return {
      rows,
      flows: flowsOf(facts, hasFirstTransaction),
      settings: own,
      is_provisional: own.wasProvisional(),
    }
  }

  /** Collects sums of many lineages, written together inside the unit of work that counts them. */
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
   * Recomputes a lineage in a generation: its rows, its customer, and that customer’s contribution to cohorts. Returns
   * a function that applies the changes to sums; call it only if nothing of this was rolled back. Runs inside a unit of
   * work.
   */
  function count(generation: Generation, key: Numbered): (sums: CountedSums) => void {
    const found = fromFacts(generation, key)
    if (found === null) return () => {}
    const now = clock()
    const before = counted.get(generation.id, key.id)
    const changes = replaceRows(generation.id, key.id, before?.counted_at ?? null, { next: found.rows, now })
    const proceeds = totalsOf(generation, key, found)
    const updated = values.update(generation, key, { rows: found.rows, proceeds, now })
    const own = { generation: generation.id, lineage_id: key.id, counted_at: now, ...proceeds }
    putCounted.run({ ...own, due_at: nextDueAt(found.rows, updated.due_at, now) })
    const contribution = contributions.update(generation, updated, now)
    return ({ days, cohorts }) => {
      const { app_id, environment } = key
      const place = { app_id, environment, generation: generation.id }
      days.add({ place, calendars: found.settings.calendars, changes })
      cohorts.add(key, contribution)
    }
  }

  /** The totals of a lineage. */
  function totalsOf(
    generation: Generation,
    { app_id }: LineageKey,
    { flows, is_provisional }: FromFacts,
  ): Totals {
    const { is_final, ...proceeds } = proceedsOf(flows, app_id, generation.currency)
    return { ...proceeds, is_provisional: is_provisional || !is_final ? 1 : 0 }
  }

  type Next = { next: readonly MetricRow[]; now: number }

  /** Replaces the rows of a lineage and returns the changes of the sums. `before_at`: when it was last counted. */
  function replaceRows(
    generation: number,
    lineage_id: number,
    before_at: number | null,
    { next, now }: Next,
  ): Change[] {
    const before = before_at === null ? [] : rowsOf.all(generation, lineage_id)
    const { written, changes } = differences(before, next, { before_at: before_at ?? now, now })
    for (const [position, row] of written) put.run({ ...row, generation, lineage_id, position })
    if (before.length > next.length) dropFrom.run(generation, lineage_id, next.length)
    return changes
  }

  /** The stored rows of a lineage, in order. */
  const storedRows = (generation: number, lineage_id: number): MetricRow[] =>
    rowsOf.all(generation, lineage_id)

  return { count, openSums, fromFacts, totalsOf, storedRows }
}

export type CountedSums = ReturnType<Counting['openSums']>

/** When the same facts give other figures: at the next future row, or when the customer’s do; null if never. */
export function nextDueAt(rows: readonly MetricRow[], due_at: number | null, now: number): number | null {
  let least = due_at ?? Number.POSITIVE_INFINITY
  for (const { known_at } of rows) if (known_at > now && known_at < least) least = known_at
  return least === Number.POSITIVE_INFINITY ? null : least
}

type Change = readonly [MetricRow, sign: 1 | -1]
/** When the lineage was last counted, and now. The sums contain rows whose `known_at` is not later. */
type Times = { before_at: number; now: number }

/** The writes that replace `before` with `next`, by position, and the changes of the sums. */
function differences(before: readonly MetricRow[], next: readonly MetricRow[], { before_at, now }: Times) {
  const written: [number, MetricRow][] = []
  const changes: Change[] = []
  const most = Math.max(before.length, next.length)
  for (let position = 0; position < most; position += 1) {
    const [old, row] = [before[position], next[position]]
    const isKept = old !== undefined && row !== undefined && isSame(old, row)
    if (!isKept && row !== undefined) written.push([position, row])
    const was = old !== undefined && old.known_at <= before_at
    const is = row !== undefined && row.known_at <= now
    if (isKept && was === is) continue
    if (was) changes.push([old, -1])
    if (is) changes.push([row, 1])
  }
  return { written, changes }
}

const isExact = ({ milli, base_milli }: MetricRow): boolean =>
  Number.isSafeInteger(milli) && (base_milli === null || Number.isSafeInteger(base_milli))

const isSame = (a: MetricRow, b: MetricRow): boolean => ROW.every((name) => a[name] === b[name])
