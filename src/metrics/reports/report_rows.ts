/** Reads the rows of reports in slices, because a whole report may not fit in memory. */
import { setImmediate } from 'node:timers/promises'
import { bound, type Store } from '../../store/store.ts'
import type { SummedKind } from './cells.ts'
import type { EventRow } from './event_cells.ts'
import type { LevelRow } from './levels.ts'
import type { MoneyRow } from './money.ts'

type RowPosition = { line: number; reported_app_id: number }
export type SubscriptionRows = { kind: 'subscription'; rows: (LevelRow & RowPosition)[] }
export type SalesRows = { kind: 'sales'; rows: (MoneyRow & RowPosition)[] }
export type EventRows = { kind: 'subscription_event'; rows: (EventRow & RowPosition)[] }

const SLICE_ROWS = 2_000

export type ReportRowsRead = ReturnType<typeof openReportRowsRead>

export function openReportRowsRead(store: Store) {
  const slice = `where report_id = ${bound} and line > ${bound} order by line limit ${SLICE_ROWS}`
  const levels = store.prepare<[number, number], LevelRow & RowPosition>(`
    select line, reported_app_id, subscription_apple_id, duration, offer_name, price_milli, currency,
      proceeds_milli, proceeds_currency, country, active_standard, intro_free_trial, intro_pay_up_front, intro_pay_as_you_go, promotional_pay_up_front,
      promotional_pay_as_you_go, offer_code_pay_up_front, offer_code_pay_as_you_go, win_back_pay_up_front,
      win_back_pay_as_you_go, billing_retry, grace_period
    from subscription_days ${slice}`)
  const money = store.prepare<[number, number], MoneyRow & RowPosition>(`
    select line, reported_app_id, class, sku, apple_id, country, units, price_milli, currency, gross_milli,
      unit_proceeds_milli, proceeds_milli, proceeds_currency, subscription, period, order_type, proceeds_reason
    from sales_days ${slice}`)
  const eventRows = store.prepare<[number, number], EventRow & RowPosition>(`
    select line, reported_app_id, event_on, event, class, subscription_apple_id, duration, offer_type,
      offer_duration, offer_name, country, original_start_on, consecutive_paid_periods, cancellation_reason,
      days_canceled, quantity
    from subscription_event_days ${slice}`)

  function readSlice(kind: SummedKind, id: number, line: number): SubscriptionRows | SalesRows | EventRows {
    if (kind === 'subscription') return { kind, rows: levels.all(id, line) }
    if (kind === 'sales') return { kind, rows: money.all(id, line) }
    return { kind, rows: eventRows.all(id, line) }
  }

  /** Reads all rows of a report in slices, and yields to the event loop between slices. */
  async function* rowsOf(
    kind: SummedKind,
    id: number,
  ): AsyncGenerator<SubscriptionRows | SalesRows | EventRows> {
    for (let line: number | undefined = -1; line !== undefined; ) {
      const slice = readSlice(kind, id, line)
      if (slice.rows.length > 0) yield slice
      line = slice.rows.length < SLICE_ROWS ? undefined : slice.rows.at(-1)?.line
      if (line !== undefined) await setImmediate()
    }
  }

  return { rowsOf }
}
