/** Stores the outcome of a request for a day of a report. */
import type { Clock } from '../../clock.ts'
import { dueAfterAnswer, dueAfterFailure } from './due.ts'
import type { ImportDay, ImportDays } from './import_days.ts'
import type { ReportDay } from './received.ts'

type Deps = {
  clock: Clock
  days: ImportDays
  /** Called within the unit of work that changes a day. */
  notifyChanged: (reportDay: ReportDay) => void
}

type DayUpdate = Pick<ImportDay, 'state' | 'reason' | 'report_id' | 'tries' | 'due_at'>

export function openDayUpdates({ clock, days, notifyChanged }: Deps) {
  /** The update for a day with a report. While rows are left out, the day is requested again: Apple may correct them. */
  function doneWith(
    reportDay: ReportDay,
    report_id: number,
    { problem, isRevised }: { problem: string | null; isRevised: boolean },
  ): DayUpdate {
    const tries = problem === null ? 0 : (days.get(reportDay)?.tries ?? 0) + 1
    const usual = dueAfterAnswer(reportDay.day, clock(), isRevised)
    const due_at = usual ?? (problem === null ? null : dueAfterFailure(clock(), tries))
    return { state: 'done', reason: problem, report_id, tries, due_at }
  }

  /** `isReread`: the rows of the same report have changed, because more of them are read. */
  function saveDay(
    { organization_id, vendor_number, kind, day }: ReportDay,
    update: DayUpdate,
    { isReread = false } = {},
  ): void {
    const before = days.get({ organization_id, vendor_number, kind, day })
    const isSame = !isReread && before?.state === update.state && before.report_id === update.report_id
    const { state, reason, report_id, tries, due_at } = update
    days.put({
      organization_id,
      vendor_number,
      kind,
      day_on: day,
      state,
      reason,
      report_id,
      tries,
      due_at,
      asked_at: clock(),
      changed_at: isSame ? before.changed_at : clock(),
    })
    if (!isSame) notifyChanged({ organization_id, vendor_number, kind, day })
  }

  return { doneWith, saveDay }
}
