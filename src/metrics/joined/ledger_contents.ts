/** Tells what the ledger has of an app at all. */
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import { openSeriesLists } from '../sums/series_lists.ts'
import type { LedgerQuery } from './amount_queries.ts'

export function openLedgerContents(store: Store) {
  const listSeries = openSeriesLists(store)

  const firstDayOf = store.prepare<[number], { day: DayNumber | null }>(
    'select min(day) as day from metric_days where series_id = ?',
  )

  type LedgerScope = Pick<LedgerQuery, 'shown' | 'app_id' | 'environment'>

  /** The stored totals of a measure in the ledger, in the organization’s days; empty if there is nothing of it. */
  function totalsInLedger({ shown, app_id, environment }: LedgerScope, measure: Measure) {
    const source = { generation: shown.id, app_id, environment, zone: shown.time_zone }
    return listSeries({ ...source, measure, dimension: 'all' })
  }

  /** Whether the ledger has anything of a measure of an app. */
  const isInLedger = (scope: LedgerScope, measure: Measure): boolean =>
    totalsInLedger(scope, measure).length > 0

  /** Whether the ledger knows a subscription that began before a day, or at an unknown time. */
  const hasOlder = (scope: LedgerScope, day: DayNumber): boolean =>
    isInLedger(scope, 'mrr.opening') ||
    (['mrr', 'trials'] as const).some((measure) =>
      totalsInLedger(scope, measure).some(({ id }) => (firstDayOf.get(id)?.day ?? Infinity) < day),
    )

  return { isInLedger, hasOlder }
}
