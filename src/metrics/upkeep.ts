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
  ...['revocation_percentage', 'billing_plan'],
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
  const listeners: ((lineage: Numbered) => void)[] = []
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
  const unknown = store.prepare<[number], LineageKey>(`
    select distinct app_id, environment, original_transaction_id from transactions t
    where not exists (select 1 from metric_lineages m where m.app_id = t.app_id and m.environment = t.environment
      and m.original_transaction_id = t.original_transaction_id) limit ?`)
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

  /** Makes what a lineage adds anew, inside the caller's unit of work; returns its number. */
  function recompute(key: LineageKey): number | null {
    const next = rowsFromFacts(key)
    if (next === null) return null
    const known = find.get(key)
    const lineage_id = known?.id ?? Number(insert.run(key).lastInsertRowid)
    const provisional = settingsOf(key.app_id)?.wasProvisional() ? 1 : 0
    if (provisional !== (known?.provisional ?? 0)) mark.run(provisional, lineage_id)
    const before = rowsOf.all(lineage_id)
    const { written, changes } = differences(before, next, clock())
    for (const row of written) put.run({ ...row, lineage_id })
    if (before.length > next.length) dropFrom.run(lineage_id, next.length)
    addTo(key, lineage_id, changes)
    for (const listener of listeners) listener({ ...key, id: lineage_id })
    return lineage_id
  }

  /** To the sums that are shown, and to those being made where these have the lineage already. */
  function addTo(key: LineageKey, lineage_id: number, changes: readonly Change[]): void {
    const calendars = settingsOf(key.app_id)?.calendars ?? []
    if (changes.length === 0) return
    cube.add({ ...key, generation: generations.shown() }, calendars, changes)
    const making = generations.making()
    if (making && lineage_id <= making.made_up_to) {
      cube.add({ ...key, generation: making.generation }, calendars, changes)
    }
  }

  /** `listener` is called within the unit of work, whenever what a lineage adds was made anew. */
  function onLineage(listener: (lineage: Numbered) => void): void {
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

  /** Puts so many lineages, all that they add made anew, into the sums being made; how many there were. */
  function remakeSome(limit: number): number {
    const making = generations.making()
    if (!making) return 0
    const some = following.all(making.made_up_to, limit)
    // Those that nobody has counted yet come last, and are counted by that.
    if (some.length < limit)
      for (const key of unknown.all(limit - some.length)) some.push({ ...key, id: recompute(key) ?? 0 })
    for (const key of some) {
      recompute(key)
      const shown: Change[] = rowsOf
        .all(key.id)
        .filter(isShown)
        .map((row) => [row, 1])
      cube.add({ ...key, generation: making.generation }, settingsOf(key.app_id)?.calendars ?? [], shown)
      generations.reached(key.id)
    }
    return some.length
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
    remakeSome,
    provisional,
    lineagesOf,
    countLineages,
    rowsFromFacts,
    generations,
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
