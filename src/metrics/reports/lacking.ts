/** Reads on which days a report was imported without rows that could not be read. */
import type { Store } from '../../store/store.ts'
import { type DayNumber, dayNumber } from '../lineage/calendar.ts'
import type { SummedKind } from './cells.ts'

/** Whether the report of a row `i` of import_days lacks rows, in SQL. */
export const IS_LACKING =
  'exists (select 1 from reports r where r.id = i.report_id and r.problem is not null)'

/** Opens the days of an organization whose report of a kind lacks rows. */
export function openLackingDays(
  store: Store,
): (organization_id: string, kind: SummedKind) => ReadonlySet<DayNumber> {
  const lacking = store.prepare<[string, string], { day_on: string }>(
    `select distinct day_on from import_days i where organization_id = ? and kind = ? and ${IS_LACKING}`,
  )
  const lackingDays = store.cached(['import_days', 'reports'], (name): ReadonlySet<DayNumber> => {
    const [organization_id = '', kind = ''] = name.split('\n')
    return new Set(lacking.all(organization_id, kind).map(({ day_on }) => dayNumber(day_on)))
  })
  return (organization_id, kind) => lackingDays(`${organization_id}\n${kind}`)
}
