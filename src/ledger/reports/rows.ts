/** Writes and deletes the rows of reports in slices. Each slice has its own short commit. */
import type { Store } from '../../store/store.ts'
import type { SalesRow } from './formats/sales.ts'
import type { SubscriptionRow } from './formats/subscription.ts'
import type { SubscriptionEventRow } from './formats/subscription_event.ts'
import type { AppReference, ReportedApps } from './reported_apps.ts'

/** The number of rows that one commit deletes. */
const ROWS_PER_DELETE = 1_000

const SALES = [
  ...([
    'line',
    'class',
    'product_type',
    'sku',
    'apple_id',
    'title',
    'country',
    'units',
    'price_milli',
  ] as const),
  ...(['currency', 'gross_milli', 'unit_proceeds_milli', 'proceeds_milli', 'proceeds_currency'] as const),
  ...([
    'subscription',
    'period',
    'order_type',
    'promo_code',
    'proceeds_reason',
    'preserved_pricing',
  ] as const),
  ...(['cmb', 'client', 'device'] as const),
] satisfies (keyof SalesRow)[]

const SUBSCRIPTIONS = [
  ...(['line', 'subscription_apple_id', 'subscription_name', 'group_id', 'duration', 'offer_name'] as const),
  ...([
    'offer_id',
    'price_milli',
    'currency',
    'proceeds_milli',
    'proceeds_currency',
    'preserved_pricing',
  ] as const),
  ...([
    'proceeds_reason',
    'client',
    'device',
    'state',
    'country',
    'active_standard',
    'intro_free_trial',
  ] as const),
  ...(['intro_pay_up_front', 'intro_pay_as_you_go', 'promotional_free_trial'] as const),
  ...(['promotional_pay_up_front', 'promotional_pay_as_you_go', 'offer_code_free_trial'] as const),
  ...(['offer_code_pay_up_front', 'offer_code_pay_as_you_go', 'win_back_free_trial'] as const),
  ...(['win_back_pay_up_front', 'win_back_pay_as_you_go', 'marketing_opt_ins', 'billing_retry'] as const),
  ...(['grace_period', 'subscribers'] as const),
] satisfies (keyof SubscriptionRow)[]

const EVENTS = [
  ...([
    'line',
    'event_on',
    'event',
    'class',
    'subscription_apple_id',
    'subscription_name',
    'group_id',
  ] as const),
  ...(['duration', 'offer_type', 'offer_duration', 'offer_name', 'offer_id', 'marketing_opt_in'] as const),
  ...([
    'marketing_opt_in_duration',
    'preserved_pricing',
    'proceeds_reason',
    'consecutive_paid_periods',
  ] as const),
  ...([
    'original_start_on',
    'client',
    'device',
    'state',
    'country',
    'previous_subscription_apple_id',
  ] as const),
  ...([
    'previous_subscription_name',
    'days_before_canceling',
    'cancellation_reason',
    'days_canceled',
  ] as const),
  ...(['quantity', 'paid_service_days_recovered'] as const),
] satisfies (keyof SubscriptionEventRow)[]

type Cell = string | number | null
type InsertStatements = { singleRow: { run(cells: Cell[]): unknown }; batch: { run(cells: Cell[]): unknown } }

/** One statement for several rows takes a quarter of the time per row, because it is bound and stepped only once. */
const ROWS_PER_INSERT = 8

function insertInto(store: Store, table: string, columns: readonly string[]): InsertStatements {
  const row = `(?, ?${', ?'.repeat(columns.length)})`
  const prepareFor = (rows: number) =>
    store.prepare<[Cell[]]>(
      `insert into ${table} (report_id, reported_app_id, ${columns.join(', ')}) values ${Array(rows).fill(row).join(', ')}`,
    )
  return { singleRow: prepareFor(1), batch: prepareFor(ROWS_PER_INSERT) }
}

export type ReportRows = ReturnType<typeof openReportRows>

export function openReportRows(store: Store, reported: ReportedApps) {
  const sales = insertInto(store, 'sales_days', SALES)
  const subscriptions = insertInto(store, 'subscription_days', SUBSCRIPTIONS)
  const events = insertInto(store, 'subscription_event_days', EVENTS)
  const deleteStatements = [
    store.prepare<[number, number]>(
      'delete from sales_days where (report_id, line) in (select report_id, line from sales_days where report_id = ? limit ?)',
    ),
    store.prepare<[number, number]>(
      'delete from subscription_days where (report_id, line) in (select report_id, line from subscription_days where report_id = ? limit ?)',
    ),
    store.prepare<[number, number]>(
      'delete from subscription_event_days where (report_id, line) in (select report_id, line from subscription_event_days where report_id = ? limit ?)',
    ),
  ]
  const countApp = store.prepare<[number, number, number]>(
    'insert into report_apps (report_id, reported_app_id, row_count) values (?, ?, ?)',
  )
  const deleteApps = store.prepare<[number]>('delete from report_apps where report_id = ?')

  /** Opens the writer of one report. For each slice, call the function of the report's kind; at the end, `count`. */
  function writer(report_id: number, organization_id: string) {
    const idByReference = new Map<string, number>()
    const rowCountByApp = new Map<number, number>()
    let last: { reference: AppReference; id: number } | null = null

    /** The id of a row's app. Most rows name the same app as the previous row, so the last result is cached. */
    function appIdOf(reference: AppReference): number {
      if (last && isSame(last.reference, reference)) return last.id
      const key = `${reference.sku ?? ''}\t${reference.apple_id ?? ''}\t${reference.name ?? ''}`
      const id = idByReference.get(key) ?? reported.idOf(organization_id, reference)
      idByReference.set(key, id)
      last = { reference, id }
      return id
    }

    function put<Row extends { app: AppReference }>(
      insert: InsertStatements,
      columns: readonly (keyof Row)[],
      rows: readonly Row[],
    ): void {
      const width = columns.length + 2
      const batchedCount = rows.length - (rows.length % ROWS_PER_INSERT)
      // One array is reused for all rows, because there may be a million rows.
      const cells: Cell[] = new Array(width * ROWS_PER_INSERT).fill(report_id)
      const fillCells = (row: Row, offset: number): void => {
        cells[offset + 1] = countRow(row)
        for (let at = 0; at < columns.length; at += 1)
          cells[offset + at + 2] = row[columns[at] as keyof Row] as Cell
      }
      for (const [index, row] of rows.entries()) {
        const slot = index % ROWS_PER_INSERT
        fillCells(row, index < batchedCount ? slot * width : 0)
        if (index >= batchedCount) insert.singleRow.run(cells.slice(0, width))
        else if (slot === ROWS_PER_INSERT - 1) insert.batch.run(cells)
      }
    }

    /** Counts a row for its app, and returns the app's id. */
    function countRow({ app }: { app: AppReference }): number {
      const id = appIdOf(app)
      rowCountByApp.set(id, (rowCountByApp.get(id) ?? 0) + 1)
      return id
    }

    return {
      sales: (rows: readonly SalesRow[]) => put(sales, SALES, rows),
      subscription: (rows: readonly SubscriptionRow[]) => put(subscriptions, SUBSCRIPTIONS, rows),
      subscription_event: (rows: readonly SubscriptionEventRow[]) => put(events, EVENTS, rows),
      subscriber: (rows: readonly { app: AppReference }[]): void => {
        for (const row of rows) countRow(row)
      },
      /** Stores the number of rows of each app. */
      count(): void {
        for (const [id, count] of rowCountByApp) countApp.run(report_id, id, count)
      },
    }
  }

  /** Deletes every row of a report, in slices. */
  async function sweep(report_id: number): Promise<void> {
    for (const statement of deleteStatements) {
      while ((await store.commitBulk(() => statement.run(report_id, ROWS_PER_DELETE).changes)) > 0);
    }
    await store.commitBulk(() => deleteApps.run(report_id))
  }

  return { writer, sweep }
}

const isSame = (a: AppReference, b: AppReference): boolean =>
  a.sku === b.sku && a.apple_id === b.apple_id && a.name === b.name
