/** What we remember: from which Pacific midnight on an app's metrics come from the ledger alone; moved forward, never back. */
import type { Clock } from '../../clock.ts'
import { REACH_MS } from '../../ledger/history/windows.ts'
import type { Store } from '../../store/store.ts'
import { type Calendar, type DayNumber, openCalendar } from '../calendar.ts'
import { PACIFIC } from '../settings.ts'
import type { ReportedDays } from './days.ts'
import { type Amount, NOTHING, standingOf } from './lines.ts'
import type { Sources } from './sources.ts'

/** `mrr` and `trials` are levels; `flows` are all that is counted day by day. */
type SeamMetric = 'mrr' | 'trials' | 'flows'
/** `day`: the first Pacific day that is the ledger's; `at`: the instant it begins. */
export type Seam = { day: DayNumber; at: number }

/** The ledger has to give as much as the reports on so many days in a row, but for half a percent. */
const DAYS_ALIKE = 30
const PARTS_UNLIKE = 0.005

type Deps = { store: Store; clock: Clock; days: ReportedDays; sources: Sources }
type Reported = { id: string; organization_id: string }

export type Seams = ReturnType<typeof openSeams>

export function openSeams({ store, clock, days, sources }: Deps) {
  const find = store.prepare<[string, string], Seam>(
    'select day, at from metric_seams where app_id = ? and metric = ?',
  )
  const put = store.prepare<[string, string, number, number, number]>(
    'insert or ignore into metric_seams (app_id, metric, day, at, reached_at) values (?, ?, ?, ?, ?)',
  )
  const backfill = store.prepare<[string], { stage: string; until_at: number }>(
    "select stage, until_at from backfills where app_id = ? and environment = 'production'",
  )
  const heard = store.prepare<[string], { live_at: number | null; signed_at: number | null }>(`
    select min(received_at) filter (where origin = 'live') as live_at, min(signed_at) as signed_at
    from notifications where app_id = ? and environment = 'production'`)
  const pacific: Calendar = openCalendar(PACIFIC)
  const seamOn = (day: DayNumber): Seam => ({ day, at: pacific.startOf(day) })

  /** Where a metric of an app changes over to the ledger alone; null while it does not. */
  function of(app_id: string, metric: SeamMetric): Seam | null {
    const kept = find.get(app_id, metric)
    if (kept) return kept
    return metric === 'flows' ? firstWholeDay(app_id) : null
  }

  /** The first Pacific day of which every notification reached the ledger, by itself or out of Apple's history. */
  function firstWholeDay(app_id: string): Seam | null {
    const { live_at, signed_at } = heard.get(app_id) ?? { live_at: null, signed_at: null }
    const begun = backfill.get(app_id)
    const isRead = begun !== undefined && begun.stage !== 'notifications'
    const read_at = isRead && signed_at !== null ? Math.max(begun.until_at - REACH_MS, signed_at) : null
    const at = Math.min(live_at ?? Infinity, read_at ?? Infinity)
    if (at === Infinity) return null
    const day = pacific.dayOf(at)
    return seamOn(pacific.startOf(day) === at ? day : day + 1)
  }

  /** Writes down what has been reached. The flows' seam waits for a reading of Apple's history that is under way. */
  async function advance(app: Reported): Promise<void> {
    const flows = backfill.get(app.id)?.stage === 'notifications' ? null : of(app.id, 'flows')
    if (flows && !find.get(app.id, 'flows')) await write(app.id, 'flows', flows)
    for (const metric of ['mrr', 'trials'] as const) {
      if (find.get(app.id, metric)) continue
      const last = await lastAlike(app, metric)
      if (last !== null) await write(app.id, metric, seamOn(last + 1))
    }
  }

  const write = (app_id: string, metric: SeamMetric, { day, at }: Seam): Promise<unknown> =>
    store.commit(() => put.run(app_id, metric, day, at, clock()))

  /** The last day of so many in a row, up to now, on which ledger and reports were alike; null where they are not. */
  async function lastAlike({ id, organization_id }: Reported, metric: 'mrr' | 'trials') {
    const there = days.there(organization_id, 'subscription')
    const last = there.at(-1)
    const first = there.at(-DAYS_ALIKE)
    const heard = of(id, 'flows')?.day ?? Infinity
    if (last === undefined || first !== last - DAYS_ALIKE + 1 || first < heard) return null
    const whole = { app_id: id, filters: {}, split: null, currency: null, until: last }
    const reported = sources.reports({ ...whole, from: first }, metric).get('')
    if (!reported) return null
    const ask = {
      ...{ ...whole, from: first, has_before: true },
      ...({ environment: 'production', zone: 'pacific' } as const),
    }
    const own = standingOf((await sources.ledger(ask, { [metric]: 1 })).get(''))
    for (let day = first; day <= last; day += 1)
      if (!isAlike(reported.get(day) ?? NOTHING, own(day))) return null
    return last
  }

  return { of, advance, pacific }
}

/** Money and count within half a percent, above or below: a change over draws no cliff. */
export function isAlike(reported: Amount, own: Amount): boolean {
  const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= Math.abs(a) * PARTS_UNLIKE
  return isNear(reported.milli, own.milli) && isNear(reported.count, own.count)
}
