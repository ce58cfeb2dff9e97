/** What we remember: from which Pacific midnight on an app's metrics come from the ledger alone; moved forward, never back. */
import type { Clock } from '../../clock.ts'
import { REACH_MS } from '../../ledger/history/windows.ts'
import type { Store } from '../../store/store.ts'
import { type Calendar, type DayNumber, openCalendar } from '../lineage/calendar.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { ReportedDays } from '../reports/days.ts'
import type { ReportedSums } from '../reports/sums.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import type { Alike } from './alike.ts'
import type { Level, Seam } from './days.ts'

/** `mrr` and `trials` are levels; `flows` are all that is counted day by day. */
type SeamMetric = 'mrr' | 'trials' | 'flows'

/** The ledger has to give as much as the reports on so many days in a row. */
const DAYS_ALIKE = 30

/** What says of figures whether they are due, and is written whenever they are counted. */
const JUDGED_BY = ['metric_generations', 'metric_due', 'metric_counted', 'reported_days', 'reported_apps']
const METRICS = ['flows', 'mrr', 'trials'] as const satisfies SeamMetric[]

type Deps = {
  store: Store
  clock: Clock
  generations: Generations
  days: ReportedDays
  sums: ReportedSums
  alike: Alike
  /** Whether nothing of an app is due in the generation that is shown. Also called inside of units of work. */
  isCurrent: (app_id: string) => boolean
}
type Reported = { id: string; organization_id: string }

export type Seams = ReturnType<typeof openSeams>

export function openSeams({ store, clock, generations, days, sums, alike, isCurrent }: Deps) {
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
  // Another one whenever anything was counted, or became due: of facts, of reports, or in another generation.
  const state = store.remembering(JUDGED_BY, () => ({}))
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

  /**
   * The first Pacific day from which on nothing that an app did escaped the ledger; Infinity where there is none. Where
   * reports that were there before tell nothing of the app, there was nothing to be heard of.
   */
  function heardFrom({ id }: Reported, shown: Generation): DayNumber {
    const day = of(id, 'flows')?.day
    if (day === undefined) return Infinity
    const [there = Infinity] = days.there(shown.id, 'subscription')
    const first = sums.firstDay({ generation: shown.id, app_id: id }) ?? Infinity
    return there < day - 1 && first >= day - 1 ? -Infinity : day
  }

  /**
   * Stores the seams that an app has reached. They are judged only while nothing of the app is due, by the generation that is
   * shown. What changes until they are stored leaves them to be judged again.
   */
  async function advance(app: Reported): Promise<void> {
    const open = METRICS.filter((metric) => find.get(app.id, metric) === undefined)
    if (open.length === 0 || !isCurrent(app.id)) return
    const judged_by = state('')
    const shown = generations.shown(app.organization_id)
    for (const metric of open) {
      const seam = metric === 'flows' ? flowsReached(app.id) : await levelReached(app, metric, shown)
      if (seam) await keep(app, metric, { seam, judged_by, shown })
    }
  }

  type Judged = { seam: Seam; judged_by: object; shown: Generation }

  /** Stores a seam if it would be judged the same within the unit of work. */
  const keep = (app: Reported, metric: SeamMetric, { seam, judged_by, shown }: Judged): Promise<void> =>
    store.commit(() => {
      const isSame = state('') === judged_by && generations.shown(app.organization_id).id === shown.id
      const now = metric === 'flows' ? flowsReached(app.id) : seam
      if (isSame && now?.day === seam.day && isCurrent(app.id))
        put.run(app.id, metric, seam.day, seam.at, clock())
    })

  /** The flows' seam waits for a reading of Apple's history that is under way. */
  const flowsReached = (app_id: string): Seam | null =>
    backfill.get(app_id)?.stage === 'notifications' ? null : of(app_id, 'flows')

  async function levelReached(app: Reported, metric: Level, shown: Generation): Promise<Seam | null> {
    const day = (await wholeBefore(app, metric, shown)) ?? (await alikeLately(app, metric, shown))
    return day === null ? null : seamOn(day)
  }

  /** The first whole day of a ledger that was whole before the first report, and had what that has; null of another. */
  async function wholeBefore({ id }: Reported, metric: Level, shown: Generation): Promise<DayNumber | null> {
    const there = days.there(shown.id, 'subscription').slice(0, DAYS_ALIKE)
    const heard = of(id, 'flows')?.day ?? Infinity
    const [first, last] = [there[0], there.at(-1)]
    if (first === undefined || last === undefined || first < heard) return null
    if (!sums.isReported({ generation: shown.id, app_id: id }, 'subscription')) return null
    const isAlikeOn = await alike.on({ shown, app_id: id, from: first, until: last }, metric)
    return there.every(isAlikeOn) ? heard : null
  }

  /** The day after so many in a row, up to now, on which ledger and reports were alike; null where they are not. */
  async function alikeLately({ id }: Reported, metric: Level, shown: Generation): Promise<DayNumber | null> {
    const there = days.there(shown.id, 'subscription')
    const last = there.at(-1)
    const first = there.at(-DAYS_ALIKE)
    const heard = of(id, 'flows')?.day ?? Infinity
    if (last === undefined || first !== last - DAYS_ALIKE + 1 || first < heard) return null
    if (sums.seriesOf({ generation: shown.id, app_id: id }, metric, 'all').length === 0) return null
    const isAlikeOn = await alike.on({ shown, app_id: id, from: first, until: last }, metric)
    for (let day = first; day <= last; day += 1) if (!isAlikeOn(day)) return null
    return last + 1
  }

  return { of, heardFrom, advance, at: seamOn }
}
