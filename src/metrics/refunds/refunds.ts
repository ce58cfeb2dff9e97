/** Lists the refunds of a range of days, with totals by reason and by product. */
import type { Clock } from '../../clock.ts'
import { customerId } from '../../ledger/customers.ts'
import type { LineageKey } from '../../ledger/ledger.ts'
import type { Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../turns.ts'
import { openLineageFacts } from '../effects/lineage_facts.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import { type CountingSettings, PACIFIC } from '../lineage/settings.ts'
import type { Reported } from '../reports/reported.ts'
import type { SeriesScope } from '../series/series.ts'
import type { Generations } from '../upkeep/generations.ts'
import { type RefundRow, refundRowsOf } from './refund_rows.ts'
import { openRequestReasons } from './request_reasons.ts'
import { openRefundTotals } from './totals.ts'

type Days = { from: DayNumber; until: DayNumber }
type Deps = {
  store: Store
  clock: Clock
  generations: Generations
  settings: CountingSettings
  reported: Pick<Reported, 'ledgerOnlyIn'>
}

/** The lineages that are read before other requests are served. */
const SLICE = 50
/** How long a list is kept for its further pages, and the most lists. */
const RECENT_MS = 60_000
const MAX_RECENT = 4

function openStatements(store: Store) {
  const refunded = store.prepare<
    { app_id: string; environment: string; from: number; until: number },
    LineageKey
  >(`
    select distinct t.app_id, t.environment, t.original_transaction_id from (
      select transaction_id from refunds indexed by refunds_by_date
        where app_id = :app_id and environment = :environment and revoked_at >= :from and revoked_at < :until
      union
      select transaction_id from refund_reversals indexed by reversals_by_date
        where app_id = :app_id and environment = :environment and reversed_at >= :from and reversed_at < :until
    ) r cross join transactions t on t.app_id = :app_id and t.environment = :environment
      and t.transaction_id = r.transaction_id`)
  const customers = store.prepare<[string], { id: string; canonical_id: string }>(
    'select id, canonical_id from customers where id in (select value from json_each(?))',
  )
  return { refunded, customers }
}

export type RefundLists = ReturnType<typeof openRefundLists>

export function openRefundLists({ store, clock, generations, settings, reported }: Deps) {
  const lineageFacts = openLineageFacts(store)
  const { refunded, customers } = openStatements(store)
  const requestReasonsOf = openRequestReasons(store)
  /** Lists that were read, so that the pages of one list do not read it again. */
  const recent = new Map<string, { rows: readonly RefundRow[]; read_at: number }>()

  /**
   * The refunds and reversals of a range of days, in no order. With `mayBeRecent`, for a page after the first, they can be
   * up to a minute old.
   */
  async function rowsOf(scope: SeriesScope, days: Days, mayBeRecent: boolean): Promise<readonly RefundRow[]> {
    const { organization, apps, environment, zone } = scope
    const shown = generations.shown(organization.id)
    const key = JSON.stringify([shown.id, apps.map(({ id }) => id), environment, zone, days])
    const known = recent.get(key)
    if (mayBeRecent && known && clock() - known.read_at < RECENT_MS) return known.rows
    const calendar = settings.calendarOf(zone === 'pacific' ? PACIFIC : shown.time_zone)
    const [from, until] = [calendar.startOf(days.from), calendar.startOf(days.until + 1)]
    const keys = apps.flatMap(({ id }) => refunded.all({ app_id: id, environment, from, until }))
    const all: RefundRow[] = []
    for (let start = 0; start < keys.length; start += SLICE) {
      if (start > 0) await yieldToEventLoop()
      all.push(...rowsOfLineages(keys.slice(start, start + SLICE)))
    }
    const rows = all.filter(({ at }) => at >= from && at < until)
    if (recent.size >= MAX_RECENT) recent.clear()
    recent.set(key, { rows, read_at: clock() })
    return rows
  }

  function rowsOfLineages(keys: readonly LineageKey[]): RefundRow[] {
    const requestReasons = requestReasonsOf(keys)
    return lineageFacts(keys).flatMap((facts, at) => {
      const { app_id = '', original_transaction_id = '' } = keys[at] ?? {}
      const own = settings.settingsOf(app_id)
      const reasons = requestReasons[at] ?? new Map()
      const context = { app_id, original_transaction_id, requestReasons: reasons }
      return own === null ? [] : refundRowsOf(facts, { ...context, settings: own })
    })
  }

  /** Adds the customers to a page of refunds. */
  function withCustomers(rows: readonly RefundRow[], environment: LineageKey['environment']) {
    const idOf = (row: RefundRow) => customerId(row.app_id, environment, row.original_transaction_id)
    const found = customers.all(JSON.stringify([...new Set(rows.map(idOf))]))
    const canonicalIds = new Map(found.map(({ id, canonical_id }) => [id, canonical_id]))
    return rows.map((row) => ({ ...row, customer_id: canonicalIds.get(idOf(row)) ?? null }))
  }

  return { rowsOf, totalsIn: openRefundTotals({ clock, generations, settings, reported }), withCustomers }
}
