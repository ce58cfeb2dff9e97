/** Reads on which days a report was imported without rows that could not be read, or is empty and cannot be true. */
import { SUSPECT_REASONS } from '../../ledger/reports/suspicion.ts'
import type { Store } from '../../store/store.ts'
import { type DayNumber, dayNumber } from '../lineage/calendar.ts'
import type { SummedKind } from './cells.ts'

/** Whether the report of a row `i` of import_days lacks rows, in SQL. */
export const IS_LACKING =
  'exists (select 1 from reports r where r.id = i.report_id and r.problem is not null)'

const suspect = SUSPECT_REASONS.map((reason) => `'${reason}'`).join(', ')
/** Whether an empty report, a row of import_days, cannot be true, in SQL. */
export const IS_SUSPECT = `ifnull(reason, '') in (${suspect})`

/** Opens the days of an organization with such a report. */
export const openFaultyDays = (store: Store) => ({
  /** The days whose report was imported without rows that could not be read. */
  lacking: openLackingDays(store),
  /** The days whose SUBSCRIPTION report is empty and cannot be true. */
  suspectDays: openSuspectDays(store),
})

function openLackingDays(
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

function openSuspectDays(store: Store): (organization_id: string) => ReadonlySet<DayNumber> {
  const suspectOf = store.prepare<[string], { day_on: string }>(`
    select distinct day_on from import_days
    where organization_id = ? and kind = 'subscription' and state = 'empty' and ${IS_SUSPECT}`)
  return store.cached(
    ['import_days'],
    (organization_id) => new Set(suspectOf.all(organization_id).map(({ day_on }) => dayNumber(day_on))),
  )
}
