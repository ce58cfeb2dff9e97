/** Stores Apple's answer for each day of each report. */
import type { ReportKind } from '../../apple/api/connect.ts'
import type { Store } from '../../store/store.ts'
import type { DayState } from './due.ts'
import type { ReportDay } from './received.ts'

/** The reports of a day in the order of import. SALES comes first, because other reports are checked against it. */
export const REPORT_KINDS = ['sales', 'subscription', 'subscription_event', 'subscriber'] as const

export type ImportDay = {
  organization_id: string
  vendor_number: string
  kind: ReportKind
  day_on: string
  state: DayState
  reason: string | null
  report_id: number | null
  tries: number
  asked_at: number
  changed_at: number
  due_at: number | null
}

/** A day without a whole report: not yet available, no longer available, not readable, lacking rows, or empty despite sales. */
export type MissingDay = Omit<ImportDay, 'report_id'>
type StateCount = { kind: ReportKind; state: DayState; days: number; first_day: string; last_day: string }

export type ImportDays = ReturnType<typeof openImportDays>

export function openImportDays(store: Store) {
  const byKey = store.prepare<[string, string, string, string], ImportDay>(
    'select * from import_days where organization_id = ? and vendor_number = ? and kind = ? and day_on = ?',
  )
  const ofVendor = store.prepare<[string, string], ImportDay>(
    'select * from import_days where organization_id = ? and vendor_number = ?',
  )
  const replace = store.prepare<ImportDay>(`
    insert or replace into import_days ( organization_id,  vendor_number,  kind,  day_on,  state,  reason,  report_id,  tries,  asked_at,  changed_at,  due_at)
    values                             (:organization_id, :vendor_number, :kind, :day_on, :state, :reason, :report_id, :tries, :asked_at, :changed_at, :due_at)`)
  const selectCounts = store.prepare<[string], StateCount>(`
    select kind, state, count(*) as days, min(day_on) as first_day, max(day_on) as last_day
    from import_days where organization_id = ? group by kind, state order by kind, state`)
  const selectMissing = store.prepare<[string, number], MissingDay>(`
    select organization_id, vendor_number, kind, day_on, state, reason, tries, asked_at, changed_at, due_at
    from import_days
    where organization_id = ? and (state in ('failed', 'not_yet', 'missing') or (state = 'empty' and reason is not null)
      or report_id in (select id from reports where problem is not null))
    order by day_on desc, kind, vendor_number limit ?`)
  const between = store.prepare<[string, string, string, string], ImportDay>(`
    select * from import_days
    where organization_id = ? and kind in (select value from json_each(?)) and day_on >= ? and day_on <= ?
    order by day_on desc, kind, vendor_number`)

  /** The state of a day of a report; null if it was never requested. */
  const get = ({ organization_id, vendor_number, kind, day }: ReportDay): ImportDay | null =>
    byKey.get(organization_id, vendor_number, kind, day) ?? null

  return {
    get,
    /** Stores a day, within the caller's unit of work. */
    put: (day: ImportDay): void => void replace.run(day),
    ofVendor: (organization_id: string, vendor_number: string): ImportDay[] =>
      ofVendor.all(organization_id, vendor_number),
    /** The number of days of each report in each state, over all vendor numbers. */
    counts: (organization_id: string): StateCount[] => selectCounts.all(organization_id),
    /** The newest missing days, at most `limit`. */
    missingDays: (organization_id: string, limit: number): MissingDay[] =>
      selectMissing.all(organization_id, limit),
    /** All rows of these reports between two days, both inclusive, newest first. */
    between: (organization_id: string, kinds: readonly ReportKind[], from: string, until: string) =>
      between.all(organization_id, JSON.stringify(kinds), from, until),
  }
}
