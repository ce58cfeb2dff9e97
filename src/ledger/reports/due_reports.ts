/** Lists the daily reports to request from Apple. */
import type { Account } from '../../apps/accounts.ts'
import { pacificDayOf } from '../../days.ts'
import { expectedDays, isDue } from './due.ts'
import { type ImportDays, REPORT_KINDS } from './import_days.ts'
import type { ReportDay } from './received.ts'

/**
 * The reports of an account that are due at `now` (milliseconds), oldest first. Covers the last `count` days (a year by
 * default) and older days that are not settled.
 */
export function dueReports(
  { organization_id, vendor_numbers }: Account,
  days: Pick<ImportDays, 'ofVendor'>,
  now: number,
  count?: number,
): ReportDay[] {
  const expected = expectedDays(now, count)
  const plan = vendor_numbers.flatMap((vendor_number) => {
    const known = days.ofVendor(organization_id, vendor_number)
    const byKey = new Map(known.map((row) => [`${row.kind} ${row.day_on}`, row]))
    const unsettled = known.filter((row) => row.due_at !== null).map((row) => row.day_on)
    return [...new Set([...unsettled, ...expected])].flatMap((day) =>
      REPORT_KINDS.filter((kind) => {
        const row = byKey.get(`${kind} ${day}`)
        return row === undefined ? expected.includes(day) : isDue(row, now)
      }).map((kind) => ({ organization_id, vendor_number, kind, day })),
    )
  })
  return plan.sort((one, other) => (one.day < other.day ? -1 : one.day > other.day ? 1 : 0))
}

/**
 * Whether these due reports belong to the first import of a vendor number: one of them was never requested although its
 * day is before the day of the first request. So the run that continues an interrupted first import belongs to it.
 */
export function isFirstImport(reports: readonly ReportDay[], days: Pick<ImportDays, 'ofVendor'>): boolean {
  const byVendor = Map.groupBy(reports, ({ vendor_number }) => vendor_number)
  return [...byVendor].some(([vendor_number, ofVendor]) => {
    const known = days.ofVendor(ofVendor[0]?.organization_id ?? '', vendor_number)
    const first_asked_at = known.reduce((first, { asked_at }) => Math.min(first, asked_at), Infinity)
    if (first_asked_at === Infinity) return true
    const requested = new Set(known.map(({ kind, day_on }) => `${kind} ${day_on}`))
    const startDay = pacificDayOf(first_asked_at)
    return ofVendor.some(({ kind, day }) => day < startDay && !requested.has(`${kind} ${day}`))
  })
}
