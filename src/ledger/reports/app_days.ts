/** Lists the state of each report for each app and day. */
import type { ReportKind } from '../../apple/api/connect.ts'
import type { App } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import { addDays, pacificDayOf } from '../../days.ts'
import type { Store } from '../../store/store.ts'
import { type DayState, REPORT_RETENTION_DAYS } from './due.ts'
import type { ImportDay, ImportDays } from './import_days.ts'

/** The state of a report for an app and day. `not_asked`: never requested. `empty`: read, without rows of the app. */
type AppDay = {
  app_id: string
  report: ReportKind
  day_on: string
  state: DayState | 'not_asked'
  reason: string | null
  rows: number
  asked_at: number | null
  due_at: number | null
}

/** Selects `days` days before the day `before`, or the newest days if it is null. */
type AppDaysQuery = {
  apps: readonly App[]
  reports: readonly ReportKind[]
  before: string | null
  days: number
}

type AppRowCount = { report_id: number; app_id: string; row_count: number }

export function openAppDays({ store, days, clock }: { store: Store; days: ImportDays; clock: Clock }) {
  const rowCountsOf = store.prepare<[string], AppRowCount>(`
    select report_apps.report_id, reported_apps.app_id, sum(report_apps.row_count) as row_count
    from report_apps join reported_apps on reported_apps.id = report_apps.reported_app_id
    where report_apps.report_id in (select value from json_each(?)) and reported_apps.app_id is not null
    group by report_apps.report_id, reported_apps.app_id`)

  /** A page of all reports and apps, newest day first. `next` is the `before` of the next page; null at the end. */
  function page({ apps, reports, before, days: count }: AppDaysQuery): {
    days: AppDay[]
    next: string | null
  } {
    const end = before ?? pacificDayOf(clock())
    const from = addDays(end, -count)
    const organizationIds = [...new Set(apps.map((app) => app.organization_id))]
    const oldest = oldestOf(organizationIds)
    const dayList = Array.from({ length: count }, (_, index) => addDays(end, -1 - index)).filter(
      (day_on) => day_on >= oldest,
    )
    const importDays = organizationIds.flatMap((organizationId) =>
      days.between(organizationId, reports, from, addDays(end, -1)),
    )
    const byKey = Map.groupBy(importDays, (row) => `${row.organization_id} ${row.kind} ${row.day_on}`)
    const rowsOf = rowCounts(importDays)
    const appDays = dayList.flatMap((day_on) =>
      reports.flatMap((report) =>
        apps.map(({ id, organization_id }) => {
          const rows = byKey.get(`${organization_id} ${report} ${day_on}`) ?? []
          return { app_id: id, report, day_on, ...stateOf(rows, (report_id) => rowsOf(report_id, id)) }
        }),
      ),
    )
    return { days: appDays, next: from > oldest ? from : null }
  }

  /** The oldest day to list: the first day that was requested, or the first that Apple still has if that is earlier. */
  const oldestOf = (organizationIds: readonly string[]): string =>
    [
      addDays(pacificDayOf(clock()), -REPORT_RETENTION_DAYS),
      ...organizationIds.flatMap((organizationId) =>
        days.counts(organizationId).map(({ first_day }) => first_day),
      ),
    ].reduce((oldest, day) => (day < oldest ? day : oldest))

  function rowCounts(importDays: readonly ImportDay[]) {
    const ids = importDays.flatMap(({ report_id }) => (report_id === null ? [] : [report_id]))
    const counts = new Map(
      rowCountsOf.all(JSON.stringify(ids)).map((row) => [`${row.report_id} ${row.app_id}`, row.row_count]),
    )
    return (report_id: number, app_id: string): number => counts.get(`${report_id} ${app_id}`) ?? 0
  }

  return { page }
}

/**
 * The states of a day whose rows are unknown. With several vendor numbers, each may have rows of the app, so one
 * uncertain report makes the day uncertain.
 */
const UNCERTAIN_STATES: readonly DayState[] = ['failed', 'not_yet', 'missing']

function stateOf(vendors: readonly ImportDay[], rowsIn: (report_id: number) => number) {
  const rows = vendors.reduce((sum, { report_id }) => sum + (report_id === null ? 0 : rowsIn(report_id)), 0)
  const [first] = vendors
  if (first === undefined)
    return { state: 'not_asked' as const, reason: null, rows, asked_at: null, due_at: null }
  const uncertain = UNCERTAIN_STATES.map((state) => vendors.find((row) => row.state === state)).find(Boolean)
  const { reason, asked_at, due_at, state } = uncertain ?? vendors.find((row) => row.reason !== null) ?? first
  if (rows > 0) return { state: 'done' as const, reason, rows, asked_at, due_at }
  return { state: uncertain ? state : ('empty' as const), reason, rows, asked_at, due_at }
}
