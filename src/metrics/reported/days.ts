/** What we remember: which days of which reports are summed, and which have to be summed again; a crash forgets none. */
import { SUSPECT } from '../../ledger/reports/answers.ts'
import { bound, type Store } from '../../store/store.ts'
import { type DayNumber, dayNumber } from '../calendar.ts'
import type { SummedKind } from './cells.ts'

export type ReportedDay = {
  organization_id: string
  kind: SummedKind
  day_on: string
  is_there: number
  is_due: number
  is_provisional: number
  made_of: string
  lengths: string | null
}

/** What a day's sums are of: its reports' numbers, and whether each vendor's is there. */
export type DaySource = { day_on: string; reports: string; holes: number; apps: string }

export type ReportedDays = ReturnType<typeof openReportedDays>

export function openReportedDays(store: Store) {
  const touch = store.prepare<[string, string, string]>(`
    insert into reported_days (organization_id, kind, day_on, is_there, is_due, is_provisional, made_of)
    values (?, ?, ?, 0, 1, 0, '')
    on conflict (organization_id, kind, day_on) do update set is_due = 1`)
  const due = store.prepare<[number], ReportedDay>(`
    select * from reported_days where is_due = 1 order by day_on, organization_id, kind limit ${bound}`)
  const put = store.prepare<ReportedDay>(`
    insert or replace into reported_days ( organization_id,  kind,  day_on,  is_there,  is_due,  is_provisional,  made_of,  lengths)
    values                               (:organization_id, :kind, :day_on, :is_there, :is_due, :is_provisional, :made_of, :lengths)`)
  const waiting = store.prepare('update reported_days set is_due = 1 where is_provisional = 1')
  const everything = store.prepare("update reported_days set is_due = 1, made_of = ''")
  const all = store.prepare<[string, string], ReportedDay>(
    'select * from reported_days where organization_id = ? and kind = ?',
  )
  const there = store.prepare<[string, string], { day_on: string }>(
    'select day_on from reported_days where organization_id = ? and kind = ? and is_there = 1 order by day_on',
  )
  const withLengths = store.prepare<[string], ReportedDay>(
    "select * from reported_days where organization_id = ? and kind = 'subscription' and lengths is not null",
  )
  const source = `
    select day_on, json_group_array(report_id) filter (where report_id is not null) as reports,
      sum(not (state = 'done' or (state = 'empty' and ifnull(reason, '') <> '${SUSPECT}'))) as holes,
      (select json_group_array(reported_app_id || ' ' || app_id) from
        (select reported_app_id, app_id from report_apps join reported_apps on reported_apps.id = reported_app_id
         where report_id in (select d.report_id from import_days d where d.organization_id = i.organization_id
           and d.kind = i.kind and d.day_on = i.day_on) and app_id is not null order by 1)) as apps
    from import_days i where organization_id = ? and kind = ?`
  const sources = store.prepare<[string, string], DaySource>(`${source} group by day_on`)
  const sourceOn = store.prepare<[string, string, string], DaySource>(
    `${source} and day_on = ? group by day_on`,
  )
  const thereOf = store.remembering(['reported_days'], (name) => {
    const [organization_id = '', kind = ''] = name.split('\n')
    return there.all(organization_id, kind).map(({ day_on }) => dayNumber(day_on))
  })

  return {
    /** Remembers that a day has to be summed again, within the unit of work that changes it. */
    touch: (organization_id: string, kind: SummedKind, day_on: string): void =>
      void touch.run(organization_id, kind, day_on),
    /** The oldest days that are due. */
    due: (limit: number): ReportedDay[] => due.all(limit),
    put: (day: ReportedDay): void => void put.run(day),
    /** Days with an amount that waits for a final rate are due. Inside a unit of work. */
    touchProvisional: (): void => void waiting.run(),
    /** All days are due. Inside a unit of work. */
    touchAll: (): void => void everything.run(),
    /** Days that counted an offer paid at once, with the length each was taken to have. */
    withLengths: (organization_id: string): ReportedDay[] => withLengths.all(organization_id),
    all: (organization_id: string, kind: SummedKind): ReportedDay[] => all.all(organization_id, kind),
    sources: (organization_id: string, kind: SummedKind): DaySource[] => sources.all(organization_id, kind),
    sourceOn: (organization_id: string, kind: SummedKind, day_on: string): DaySource | null =>
      sourceOn.get(organization_id, kind, day_on) ?? null,
    /** The days that are there, in order. */
    there: (organization_id: string, kind: SummedKind): readonly DayNumber[] =>
      thereOf(`${organization_id}\n${kind}`),
  }
}
