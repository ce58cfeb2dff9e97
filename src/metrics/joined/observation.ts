/** Finds the days on which an app’s activity is known, from its notifications or because reports do not contain it. */
import type { Environment } from '../../apple/payloads.ts'
import { type Calendar, type DayNumber, openCalendar } from '../lineage/calendar.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { ReportedDays } from '../reports/days.ts'
import type { ReportedSums } from '../reports/sums.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { Zone } from './amount_queries.ts'
import { type Cutover, NEVER, type Observed } from './days.ts'
import type { openHearing } from './hearing.ts'

/** The longest day. */
const DAY_MS = 25 * 3_600_000

type Deps = {
  days: Pick<ReportedDays, 'available'>
  sums: Pick<ReportedSums, 'firstDay'>
  hearing: Pick<ReturnType<typeof openHearing>, 'since'>
  pacific: Calendar
  /** The cutover of an app’s flows; null while there is none. */
  cutoverOf: (app_id: string, metric: 'flows') => Cutover | null
}
type ObservedApp = {
  app: { id: string }
  environment: Environment
  shown: Pick<Generation, 'id' | 'time_zone'>
  zone: Zone
}

/** Returns the function that finds the days. */
export function openObservation({ days, sums, hearing, pacific, cutoverOf }: Deps) {
  const calendars = new Map<string, Calendar>()

  /** The first days, in a zone, on which any and all of an app’s activity is known, from notifications or from reports. */
  function observedFrom({ app, environment, shown, zone }: ObservedApp): Observed {
    const heard_at = hearing.since(app.id, environment)
    const cutover = environment === 'production' ? cutoverOf(app.id, 'flows') : null
    if (heard_at === null && cutover === null) return NEVER
    const calendar = calendarOf(zone === 'pacific' ? PACIFIC : shown.time_zone)
    const reportedDays = cutover && reportsWithout(app.id, shown, cutover)
    if (cutover && reportedDays) {
      const since = firstDaysFrom(pacific.startOf(reportedDays[0] ?? 0), calendar)
      return {
        ...since,
        is_new: true,
        unreported: unreportedDays(reportedDays, cutover, { calendar, pacific }),
      }
    }
    // A stored cutover does not move, even if older notifications become known.
    const at = Math.max(heard_at ?? -Infinity, cutover ? cutover.at - DAY_MS : -Infinity)
    return firstDaysFrom(at, calendar)
  }

  /**
   * The days with reports, if they begin before an app’s first notification, reach it, and do not contain the app before
   * it, so that no notification is missing; null otherwise.
   */
  function reportsWithout(app_id: string, shown: ObservedApp['shown'], { day }: Cutover) {
    const reportedDays = days.available(shown.id, 'subscription')
    const [from = Infinity, until = -Infinity] = [reportedDays[0], reportedDays.at(-1)]
    if (from >= day - 1 || until < day - 2) return null
    const first = sums.firstDay({ generation: shown.id, app_id }) ?? Infinity
    return first >= day - 1 ? reportedDays : null
  }

  function calendarOf(zone: string): Calendar {
    const calendar = calendars.get(zone) ?? openCalendar(zone)
    calendars.set(zone, calendar)
    return calendar
  }

  return observedFrom
}

/** The first days with any and all of what happens from an instant on. */
function firstDaysFrom(at: number, calendar: Calendar): Observed {
  const day = calendar.dayOf(at)
  return { any: day, all: calendar.startOf(day) === at ? day : day + 1 }
}

type Calendars = { calendar: Calendar; pacific: Calendar }

/** The days, in a calendar, that overlap a Pacific day without a report before that of the first notification. */
function unreportedDays(
  reportedDays: readonly DayNumber[],
  { day }: Cutover,
  { calendar, pacific }: Calendars,
) {
  const found = new Set<DayNumber>()
  for (const [index, reported] of reportedDays.entries()) {
    const next = Math.min(reportedDays[index + 1] ?? Infinity, day - 1)
    if (next <= reported + 1) continue
    const last = calendar.dayOf(pacific.startOf(next) - 1)
    for (let one = calendar.dayOf(pacific.startOf(reported + 1)); one <= last; one += 1) found.add(one)
  }
  return found
}
