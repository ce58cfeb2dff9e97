/** What we remember: what each lineage adds to the metrics, made anew whenever one of its facts changes. */
import type { Clock } from '../clock.ts'
import type { LineageKey } from '../ledger/ledger.ts'
import { bound, type Store } from '../store/store.ts'
import { openCube } from './cube.ts'
import { openGenerations } from './generations.ts'
import { type MetricRow, metricRowsOf } from './rows.ts'
import type { SettingsOf } from './settings.ts'
import type { RenewalFact, TransactionFact } from './timeline.ts'

/** A row as it is kept. `shown`: the days have it. */
type Kept = MetricRow & { position: number; shown: number }
type Due = Kept & LineageKey & { lineage_id: number }

/** Rows that became due are shown so many at a time. */
const DUE_AT_ONCE = 500

const FACTS = [
  ...[
    'environment',
    'transaction_id',
    'product_id',
    'kind',
    'group_id',
    'reason',
    'ownership',
    'price_milli',
  ],
  ...['currency', 'storefront', 'purchased_at', 'expires_at', 'earliest_expires_at', 'offer_type'],
  ...['offer_discount', 'offer_period', 'is_upgraded', 'revoked_at', 'revocation_type'],
  ...['revocation_percentage', 'reversed_refunds', 'billing_plan', 'commitment'],
].join(', ')
const ROW = [
  ...['on_at', 'known_at', 'measure', 'product_id', 'storefront', 'period', 'offer', 'currency', 'milli'],
  ...['base_milli', 'count'],
] as const

/** A lineage with its number in metric_lineages. */
export type Numbered = LineageKey & { id: number }

export type Upkeep = ReturnType<typeof openUpkeep>

export function openUpkeep(store: Store, clock: Clock, settingsOf: SettingsOf) {
  const cube = openCube(store)
  const listeners: ((lineage: Numbered, rows: readonly MetricRow[]) => void)[] = []
  const generations = openGenerations(store, clock)
  const lineage =
    'app_id = :app_id and environment = :environment and original_transaction_id = :original_transaction_id'
  // The same for what is ordered (see bound).
  const hidden = lineage.replace(/:\w+/g, '(select $&)')
  const transactions = store.prepare<LineageKey, TransactionFact>(
    `select ${FACTS} from transactions where ${lineage}`,
  )
  const renewals = store.prepare<LineageKey, RenewalFact>(`
    select signed_at, grace_until_at, expiration_intent, in_billing_retry, auto_renew_status
    from renewals where ${hidden} order by signed_at, sha256`)
  const find = store.prepare<LineageKey, { id: number; provisional: number }>(
    `select id, provisional from metric_lineages where ${lineage}`,
  )
  const insert = store.prepare<LineageKey>(`
    insert into metric_lineages ( app_id,  environment,  original_transaction_id, provisional)
    values                      (:app_id, :environment, :original_transaction_id, 0)`)
  const mark = store.prepare<[number, number]>('update metric_lineages set provisional = ? where id = ?')
  const ofApp = store.prepare<[string, number, number], LineageKey & { id: number }>(
    'select * from metric_lineages where app_id = ? and id > ? order by id limit ?',
  )
  const waiting = store.prepare<[number, number], LineageKey & { id: number }>(
    'select * from metric_lineages where provisional = 1 and id > ? order by id limit ?',
  )
  const rowsOf = store.prepare<[number], Kept>(
    `select * from metric_rows where lineage_id = ${bound} order by position`,
  )
  const put = store.prepare<Kept & { lineage_id: number }>(`
    insert or replace into metric_rows (lineage_id, position, ${ROW.join(', ')}, shown)
    values (:lineage_id, :position, ${ROW.map((name) => `:${name}`).join(', ')}, :shown)`)
  const dropFrom = store.prepare<[number, number]>(
    'delete from metric_rows where lineage_id = ? and position >= ?',
  )
  const due = store.prepare<[number, number], Due>(`
    select metric_rows.*, app_id, environment, original_transaction_id
    from metric_rows join metric_lineages on metric_lineages.id = lineage_id
    where shown = 0 and known_at <= ${bound} order by known_at limit ${bound}`)
  const show = store.prepare<[number, number]>(
    'update metric_rows set shown = 1 where lineage_id = ? and position = ?',
  )

  const following = store.prepare<[number, number], LineageKey & { id: number }>(
    'select * from metric_lineages where id > ? order by id limit ?',
  )
  // By the index of transactions, on from the one before: a search from the beginning would be long each time.
  const unknown = store.prepare<LineageKey & { limit: number }, LineageKey>(`
    select distinct app_id, environment, original_transaction_id from transactions t
    where (app_id, environment, original_transaction_id) > (:app_id, :environment, :original_transaction_id)
      and not exists (select 1 from metric_lineages m where m.app_id = t.app_id and m.environment = t.environment
      and m.original_transaction_id = t.original_transaction_id)
    order by app_id, environment, original_transaction_id limit :limit`)
  const count = store.prepare<[], { lineages: number }>('select count(*) as lineages from metric_lineages')

  /** The rows that the facts of a lineage give now; null where its app does not exist. */
  function rowsFromFacts(key: LineageKey): MetricRow[] | null {
    const settings = settingsOf(key.app_id)
    if (settings === null) return null
    settings.wasProvisional()
    const facts = transactions.all(key)
    const is_whole = facts.some(({ transaction_id }) => transaction_id === key.original_transaction_id)
    return metricRowsOf({ transactions: facts, renewals: renewals.all(key), is_whole }, settings)
  }

  /** Makes what a lineage adds anew, inside the caller's unit of work. Null where its app does not exist. */
  function recompute(key: LineageKey): { id: number; rows: readonly MetricRow[] } | null {
    const next = rowsFromFacts(key)
    if (next === null) return null
    const known = find.get(key)
    const lineage_id = known?.id ?? Number(insert.run(key).lastInsertRowid)
    markProvisional(key.app_id, lineage_id, known?.provisional ?? 0)
    const before = known ? rowsOf.all(lineage_id) : []
    const { written, changes } = differences(before, next, clock())
    for (const row of written) put.run({ ...row, lineage_id })
    if (before.length > next.length) dropFrom.run(lineage_id, next.length)
    addTo(key, lineage_id, changes)
    for (const listener of listeners) listener({ ...key, id: lineage_id }, next)
    return { id: lineage_id, rows: next }
  }

  /** Whether anything of what was just counted waits for a rate that is final. */
  function markProvisional(app_id: string, lineage_id: number, was: number): void {
    const is = settingsOf(app_id)?.wasProvisional() ? 1 : 0
    if (is !== was) mark.run(is, lineage_id)
  }

  /** To the sums that are shown, and to those being made where these have the lineage already. */
  function addTo({ app_id, environment }: LineageKey, lineage_id: number, changes: readonly Change[]): void {
    const calendars = settingsOf(app_id)?.calendars ?? []
    if (changes.length === 0) return
    cube.add({ place: { app_id, environment, generation: generations.shown() }, calendars, changes })
    const making = generations.making()
    if (making && lineage_id <= making.made_up_to) {
      cube.add({ place: { app_id, environment, generation: making.generation }, calendars, changes })
    }
  }

  /** `listener` is called within the unit of work, whenever what a lineage adds was made anew, with all that it adds. */
  function onLineage(listener: (lineage: Numbered, rows: readonly MetricRow[]) => void): void {
    listeners.push(listener)
  }

  const isDue = (): boolean => due.get(clock(), 1) !== undefined

  /** Shows rows whose time has come, a part of them; true while there are more. Inside a unit of work. */
  function ripen(): boolean {
    const rows = due.all(clock(), DUE_AT_ONCE)
    for (const row of rows) {
      show.run(row.lineage_id, row.position)
      addTo(row, row.lineage_id, [[row, 1]])
    }
    return rows.length === DUE_AT_ONCE
  }

  /**
   * Begins to make the next generation's sums of all lineages: each call takes so many on, all that they add made anew,
   * and says how many there were. What they come to gathers in `sums` until that is written.
   */
  function openMaking() {
    const sums = cube.openHeap()
    let after: LineageKey = { app_id: '', environment: 'production', original_transaction_id: '' }

    function some(limit: number): number {
      const making = generations.making()
      if (!making) return 0
      const known = following.all(making.made_up_to, limit)
      // Those that nobody has counted yet come last, and are counted by that.
      const others = known.length < limit ? unknown.all({ ...after, limit: limit - known.length }) : []
      after = others.at(-1) ?? after
      let last = making.made_up_to
      for (const key of [...known, ...others]) {
        const made = recompute(key)
        if (made === null) continue
        const now = clock()
        const changes: Change[] = made.rows.filter(({ known_at }) => known_at <= now).map((row) => [row, 1])
        const { app_id, environment } = key
        const place = { app_id, environment, generation: making.generation }
        sums.add({ place, calendars: settingsOf(app_id)?.calendars ?? [], changes })
        last = Math.max(last, made.id)
      }
      generations.reached(last)
      return known.length + others.length
    }

    return { some, sums }
  }

  /** Lineages that wait for a final rate, `limit` of them after the one numbered `after`. */
  const provisional = (after: number, limit: number): Numbered[] => waiting.all(after, limit)

  /** The lineages of an app, `limit` of them after the one numbered `after`. */
  const lineagesOf = (app_id: string, after: number, limit: number): Numbered[] =>
    ofApp.all(app_id, after, limit)

  const countLineages = (): number => count.get()?.lineages ?? 0

  return {
    recompute,
    onLineage,
    isDue,
    ripen,
    openMaking,
    provisional,
    lineagesOf,
    countLineages,
    rowsFromFacts,
    generations,
    onWritten: cube.onWritten,
  }
}

type Change = readonly [MetricRow, sign: 1 | -1]

/** What has to be written for `next` to stand where `before` did, and what changes in the days that are shown. */
function differences(before: readonly Kept[], next: readonly MetricRow[], now: number) {
  const written: Kept[] = []
  const changes: Change[] = before
    .slice(next.length)
    .filter(isShown)
    .map((old) => [old, -1] as const)
  for (const [position, row] of next.entries()) {
    const old = before[position]
    const shown = row.known_at <= now ? 1 : 0
    if (old?.shown === shown && isSame(old, row)) continue
    if (old?.shown) changes.push([old, -1])
    if (shown) changes.push([row, 1])
    written.push({ ...row, position, shown })
  }
  return { written, changes }
}

const isShown = ({ shown }: Kept): boolean => shown === 1
const isSame = (a: MetricRow, b: MetricRow): boolean => ROW.every((name) => a[name] === b[name])
