/** Stores which report days are summed in each generation, and which days are due. */
import type { Clock } from '../../clock.ts'
import { bound, type Store } from '../../store/store.ts'
import { type DayNumber, dayNumber } from '../lineage/calendar.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import { SUMMED_KINDS, type SummedKind } from './cells.ts'
import { IS_LACKING, IS_SUSPECT, openFaultyDays } from './faulty_days.ts'

/** One day of one report. */
type DayKey = { generation: number; kind: SummedKind; day_on: string }

type ReportedDay = DayKey & {
  organization_id: string
  is_there: number
  due_since: number | null
  touches: number
  is_provisional: number
  made_of: string
  lengths: string | null
}

/** A due day and its generation. */
export type DueDay = ReportedDay & { target: Generation }

/** The result of summing a day. `touches`: how often the day had been marked due when its reports were read. */
type SummedDay = DayKey & Pick<ReportedDay, 'touches' | 'is_there' | 'is_provisional' | 'made_of' | 'lengths'>

/**
 * The source of a day’s sums. `reports`: JSON of report ids. `holes`: the number of vendors whose report is not available.
 * `apps`: JSON of the connected apps in the reports.
 */
export type DaySource = { day_on: string; reports: string; holes: number; apps: string }

/** The number of due days, and the instant since which the first has been due; null if no day is due. */
export type DueCount = { count: number; since: number | null }

/** The sources of days. A part of its rows does not say the level of a day. */
const SOURCE = `
  select day_on, json_group_array(report_id) filter (where report_id is not null) as reports,
    sum(not ((state = 'done' and not (kind = 'subscription' and ${IS_LACKING})) or (state = 'empty' and not ${IS_SUSPECT}))) as holes,
    (select json_group_array(reported_app_id || ' ' || app_id) from
      (select reported_app_id, app_id from report_apps join reported_apps on reported_apps.id = reported_app_id
       where report_id in (select d.report_id from import_days d where d.organization_id = i.organization_id
         and d.kind = i.kind and d.day_on = i.day_on) and app_id is not null order by 1)) as apps
  from import_days i where organization_id = ? and kind = ?`

export type ReportedDays = ReturnType<typeof openReportedDays>

type Deps = { store: Store; clock: Clock; generations: Generations }

export function openReportedDays({ store, clock, generations }: Deps) {
  const touch = store.prepare<DayKey & { organization_id: string; now: number }>(`
    insert into reported_days ( generation,  organization_id,  kind,  day_on,  is_there,  due_since,  touches,  is_provisional,  made_of)
    values                    (:generation, :organization_id, :kind, :day_on,  0,        :now,        1,        0,               '')
    on conflict (generation, kind, day_on) do update set touches = touches + 1, due_since = ifnull(due_since, :now)`)
  const begin = store.prepare<{ id: number; organization_id: string; kinds: string; now: number }>(`
    insert or ignore into reported_days (generation, organization_id, kind, day_on, is_there, due_since, touches, is_provisional, made_of)
    select distinct :id, organization_id, kind, day_on, 0, :now, 1, 0, '' from import_days
    where organization_id = :organization_id and kind in (select value from json_each(:kinds))`)
  const due = store.prepare<[number, number], ReportedDay>(`
    select * from reported_days where generation = ${bound} and due_since is not null
    order by day_on, kind limit ${bound}`)
  const dueCount = store.prepare<[number], DueCount>(
    'select count(*) as count, min(due_since) as since from reported_days where generation = ? and due_since is not null',
  )
  const put = store.prepare<SummedDay>(`
    update reported_days set is_there = :is_there, is_provisional = :is_provisional, made_of = :made_of, lengths = :lengths,
      due_since = case when touches = :touches then null else due_since end
    where generation = :generation and kind = :kind and day_on = :day_on`)
  const markDue = 'update reported_days set touches = touches + 1, due_since = ifnull(due_since, :now)'
  const touchWaiting = store.prepare<{ id: number; now: number }>(
    `${markDue} where generation = :id and (is_provisional = 1 or due_since is not null)`,
  )
  const touchAllOf = store.prepare<{ id: number; now: number }>(`${markDue} where generation = :id`)
  const all = store.prepare<[number, string], ReportedDay>(
    'select * from reported_days where generation = ? and kind = ?',
  )
  const available = store.prepare<[number, string], { day_on: string }>(
    'select day_on from reported_days where generation = ? and kind = ? and is_there = 1 order by day_on',
  )
  const withLengths = store.prepare<[number], ReportedDay>(
    "select * from reported_days where generation = ? and kind = 'subscription' and lengths is not null",
  )
  const drop = store.prepare<[number, number, number]>(`
    delete from reported_days where generation = ? and (kind, day_on) in
      (select kind, day_on from reported_days where generation = ? limit ?)`)
  const sources = store.prepare<[string, string], DaySource>(`${SOURCE} group by day_on`)
  const sourceOn = store.prepare<[string, string, string], DaySource>(
    `${SOURCE} and day_on = ? group by day_on`,
  )
  const availableDays = store.cached(['reported_days'], (name) => {
    const [generation = '', kind = ''] = name.split('\n')
    return available.all(Number(generation), kind).map(({ day_on }) => dayNumber(day_on))
  })

  /** Generations that are not frozen, shown generations first. */
  function live(): Generation[] {
    const some = generations.all().filter(generations.isLive)
    return [
      ...some.filter(({ state }) => state === 'shown'),
      ...some.filter(({ state }) => state !== 'shown'),
    ]
  }

  /** Up to `limit` due days, of shown generations first, and the oldest first within a generation. */
  function dueDays(limit: number): DueDay[] {
    const found: DueDay[] = []
    for (const target of live()) {
      if (found.length === limit) break
      for (const day of due.all(target.id, limit - found.length)) found.push({ ...day, target })
    }
    return found
  }

  /** Marks a day due in a generation. Runs inside the unit of work that changes the day. */
  const touchIn = ({ id, organization_id }: Generation, kind: SummedKind, day_on: string): void =>
    void touch.run({ generation: id, organization_id, kind, day_on, now: clock() })

  /** Marks a day due in all generations of its organization. Runs inside the unit of work that changes the day. */
  function touchEverywhere(organization_id: string, kind: SummedKind, day_on: string): void {
    for (const target of generations.ofOrganization(organization_id).filter(generations.isLive))
      touchIn(target, kind, day_on)
  }

  return {
    live,
    due: dueDays,
    touchIn,
    touchEverywhere,
    /** Marks all days of a generation with reports as due. Runs inside a unit of work. */
    begin: ({ id, organization_id }: Generation): void =>
      void begin.run({ id, organization_id, kinds: JSON.stringify(SUMMED_KINDS), now: clock() }),
    /** Stores the result of summing a day. The day stays due if it was marked after its reports were read. */
    put: (day: SummedDay): void => void put.run(day),
    /** Marks days due that wait for a final rate or may be in progress. Runs inside a unit of work. */
    touchProvisional(): void {
      for (const { id } of live()) touchWaiting.run({ id, now: clock() })
    },
    /** Marks all days due. Runs inside a unit of work. */
    touchAll(): void {
      for (const { id } of live()) touchAllOf.run({ id, now: clock() })
    },
    /** The number of due days of a generation. */
    dueIn: (generation: number): DueCount => dueCount.get(generation) ?? { count: 0, since: null },
    /** Whether any day is due in a generation. */
    isDue: (generation: number): boolean => due.all(generation, 1).length > 0,
    /** Days with an upfront offer, and the length assumed for each. */
    withLengths: (generation: number): ReportedDay[] => withLengths.all(generation),
    all: (generation: number, kind: SummedKind): ReportedDay[] => all.all(generation, kind),
    sources: (organization_id: string, kind: SummedKind): DaySource[] => sources.all(organization_id, kind),
    sourceOn: (organization_id: string, kind: SummedKind, day_on: string): DaySource | null =>
      sourceOn.get(organization_id, kind, day_on) ?? null,
    /** The available days of a generation, in order. */
    available: (generation: number, kind: SummedKind): readonly DayNumber[] =>
      availableDays(`${generation}\n${kind}`),
    ...openFaultyDays(store),
    /** Deletes up to `limit` days of a generation and returns their number. Runs inside a unit of work. */
    drop: (generation: number, limit: number): number => drop.run(generation, generation, limit).changes,
  }
}
