/** Recognizes empty SUBSCRIPTION days that cannot be true. Apple has answered “no sales” for a retired report version. */
import type { Clock } from '../../clock.ts'
import { addDays } from '../../days.ts'
import { bound, type Store } from '../../store/store.ts'
import { dueAfterAnswer, dueAfterSuspicion, isFresh } from './due.ts'
import type { ImportDay, ImportDays } from './import_days.ts'
import type { ReceivedReports, ReportDay } from './received.ts'

const DESPITE_SALES = 'Apple says that nothing was sold, but SALES has subscriptions of this day'
const DESPITE_ACTIVE =
  'Apple says that nothing was sold, but the subscriptions of the day before were not canceled or refunded'
/** The reasons of suspect days. */
export const SUSPECT_REASONS = [DESPITE_SALES, DESPITE_ACTIVE] as const
/** Without any report for so long, an empty day is accepted. */
const MAX_DAYS_BACK = 31

export const isSuspect = ({ state, reason }: Pick<ImportDay, 'state' | 'reason'>): boolean =>
  state === 'empty' && SUSPECT_REASONS.some((one) => one === reason)

type Deps = {
  store: Store
  clock: Clock
  received: Pick<ReceivedReports, 'get'>
  days: Pick<ImportDays, 'get' | 'put'>
  /** Called within the unit of work that changes a day. */
  notifyChanged: (reportDay: ReportDay) => void
}

export function openSuspicion({ clock, days, notifyChanged, ...deps }: Deps) {
  const contradictionOf = openContradictions({ ...deps, days })

  /** Flags an empty SUBSCRIPTION day that other reports contradict, and empty days after it, which depend on it. */
  function checkEmpty(reportDay: ReportDay): void {
    checkEmptyOn(reportDay)
    for (let day = addDays(reportDay.day, 1); checkEmptyOn({ ...reportDay, day }); ) day = addDays(day, 1)
  }

  /** Flags one day, which is requested again, up to a limit. Returns whether it changed. */
  function checkEmptyOn(reportDay: ReportDay): boolean {
    const row = days.get({ ...reportDay, kind: 'subscription' })
    if (row?.state !== 'empty') return false
    const reason = contradictionOf(reportDay)
    if (reason === (isSuspect(row) ? row.reason : null)) return false
    const due_at = reason === null ? dueAfterAnswer(row.day_on, clock(), false) : dueOfSuspectEmpty(row)
    days.put({ ...row, reason, due_at })
    notifyChanged({ ...reportDay, kind: 'subscription' })
    return true
  }

  const dueOfSuspectEmpty = ({ day_on, tries }: ImportDay): number | null =>
    isFresh(day_on, clock()) ? dueAfterAnswer(day_on, clock(), false) : dueAfterSuspicion(clock(), tries)

  return { checkEmpty }
}

function openContradictions({ store, days, received }: Pick<Deps, 'store' | 'days' | 'received'>) {
  const active = store.prepare<[number], { count: number }>(`
    select total(active_standard + intro_free_trial + intro_pay_up_front + intro_pay_as_you_go
      + promotional_free_trial + promotional_pay_up_front + promotional_pay_as_you_go
      + offer_code_free_trial + offer_code_pay_up_front + offer_code_pay_as_you_go
      + win_back_free_trial + win_back_pay_up_front + win_back_pay_as_you_go) as count
    from subscription_days where report_id = ${bound}`)
  const canceled = store.prepare<[number], { count: number }>(`
    select total(quantity) as count from subscription_event_days
    where report_id = ${bound} and class = 'cancellation'`)
  const refunded = store.prepare<[number], { count: number }>(`
    select total(-units) as count from sales_days
    where report_id = ${bound} and class = 'subscription' and units < 0`)

  const reportOf = (reportDay: ReportDay): number | null => days.get(reportDay)?.report_id ?? null
  const countIn = (counted: typeof active, reportDay: ReportDay): number => {
    const report_id = reportOf(reportDay)
    return report_id === null ? 0 : (counted.get(report_id)?.count ?? 0)
  }

  /** Why an empty SUBSCRIPTION day cannot be true; null if nothing contradicts it. */
  function contradictionOf(reportDay: ReportDay): string | null {
    const sales = reportOf({ ...reportDay, kind: 'sales' })
    if (sales !== null && (received.get(sales)?.subscription_units ?? 0) > 0) return DESPITE_SALES
    return remaining(reportDay) > 0 ? DESPITE_ACTIVE : null
  }

  /** How many subscriptions of the last day with a SUBSCRIPTION report were not canceled or refunded since. */
  function remaining(reportDay: ReportDay): number {
    let lost = 0
    for (let back = 0; back < MAX_DAYS_BACK; back += 1) {
      const on = { ...reportDay, day: addDays(reportDay.day, -back) }
      lost +=
        countIn(canceled, { ...on, kind: 'subscription_event' }) + countIn(refunded, { ...on, kind: 'sales' })
      const before: ReportDay = { ...on, kind: 'subscription', day: addDays(on.day, -1) }
      const row = days.get(before)
      if (row?.state === 'done') return countIn(active, before) - lost
      if (row === null || (row.state === 'empty' && !isSuspect(row))) return 0
    }
    return 0
  }

  return contradictionOf
}
