/** Decides and stores cutovers: the Pacific midnight from which an app’s metrics come from the ledger alone. */
import type { Clock } from '../../clock.ts'
import { HISTORY_DEPTH_MS } from '../../ledger/history/windows.ts'
import type { Store } from '../../store/store.ts'
import { type Calendar, type DayNumber, openCalendar } from '../lineage/calendar.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { ReportedDays } from '../reports/days.ts'
import type { ReportedSums } from '../reports/sums.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import type { Cutover, LevelMeasure } from './days.ts'
import type { LevelAgreement } from './level_agreement.ts'

/** `mrr` and `trials` are levels; `flows` are all measures counted by day. */
type CutoverMetric = 'mrr' | 'trials' | 'flows'

/** The number of consecutive days on which ledger and reports must agree. */
const DAYS_IN_AGREEMENT = 30

/** Tables that change whenever figures are recomputed or become due. */
const EVALUATION_TABLES = [
  'metric_generations',
  'metric_due',
  'metric_counted',
  'reported_days',
  'reported_apps',
]
const CUTOVER_METRICS = ['flows', 'mrr', 'trials'] as const satisfies CutoverMetric[]

type Deps = {
  store: Store
  clock: Clock
  generations: Generations
  days: ReportedDays
  sums: ReportedSums
  agreement: LevelAgreement
  /** Whether no lineage or report of an app is due in the shown generation. Also called inside units of work. */
  isCurrent: (app_id: string) => boolean
}
type ReportedApp = { id: string; organization_id: string }

export type Cutovers = ReturnType<typeof openCutovers>

export function openCutovers({ store, clock, generations, days, sums, agreement, isCurrent }: Deps) {
  const find = store.prepare<[string, string], Cutover>(
    'select day, at from metric_cutovers where app_id = ? and metric = ?',
  )
  const put = store.prepare<[string, string, number, number, number]>(
    'insert or ignore into metric_cutovers (app_id, metric, day, at, reached_at) values (?, ?, ?, ?, ?)',
  )
  const backfill = store.prepare<[string], { stage: string; until_at: number }>(
    "select stage, until_at from backfills where app_id = ? and environment = 'production'",
  )
  const ledgerStart = store.prepare<[string], { live_at: number | null; signed_at: number | null }>(`
    select min(received_at) filter (where origin = 'live') as live_at, min(signed_at) as signed_at
    from notifications where app_id = ? and environment = 'production'`)
  // Returns a new object after figures, reports or generations changed or became due.
  const revision = store.cached(EVALUATION_TABLES, () => ({}))
  const pacific: Calendar = openCalendar(PACIFIC)
  const cutoverOn = (day: DayNumber): Cutover => ({ day, at: pacific.startOf(day) })

  /** The cutover of an app’s metric; null while there is none. */
  function cutoverOf(app_id: string, metric: CutoverMetric): Cutover | null {
    const stored = find.get(app_id, metric)
    if (stored) return stored
    return metric === 'flows' ? firstCompleteDay(app_id) : null
  }

  /** The first Pacific day for which the ledger has all notifications, received or read from Apple’s history. */
  function firstCompleteDay(app_id: string): Cutover | null {
    const { live_at, signed_at } = ledgerStart.get(app_id) ?? { live_at: null, signed_at: null }
    const backfillRow = backfill.get(app_id)
    const isRead = backfillRow !== undefined && backfillRow.stage !== 'notifications'
    const read_at =
      isRead && signed_at !== null ? Math.max(backfillRow.until_at - HISTORY_DEPTH_MS, signed_at) : null
    const at = Math.min(live_at ?? Infinity, read_at ?? Infinity)
    if (at === Infinity) return null
    const day = pacific.dayOf(at)
    return cutoverOn(pacific.startOf(day) === at ? day : day + 1)
  }

  /**
   * The first Pacific day from which the ledger has all notifications of an app; Infinity without notifications.
   * -Infinity if earlier reports do not contain the app, because then no notification is missing.
   */
  function ledgerCompleteFrom({ id }: ReportedApp, shown: Generation): DayNumber {
    const day = cutoverOf(id, 'flows')?.day
    if (day === undefined) return Infinity
    const [reported = Infinity] = days.available(shown.id, 'subscription')
    const first = sums.firstDay({ generation: shown.id, app_id: id }) ?? Infinity
    return reported < day - 1 && first >= day - 1 ? -Infinity : day
  }

  /**
   * Stores the cutovers that an app has reached. Evaluates them only while no lineage or report of the app is due. A
   * change between evaluation and commit prevents storing and causes another evaluation.
   */
  async function advance(app: ReportedApp): Promise<void> {
    const openMetrics = CUTOVER_METRICS.filter((metric) => find.get(app.id, metric) === undefined)
    if (openMetrics.length === 0 || !isCurrent(app.id)) return
    const old_revision = revision('')
    const shown = generations.shown(app.organization_id)
    for (const metric of openMetrics) {
      const cutover = metric === 'flows' ? flowCutover(app.id) : await levelCutover(app, metric, shown)
      if (cutover) await save(app, metric, { cutover, old_revision, shown })
    }
  }

  type Evaluation = { cutover: Cutover; old_revision: object; shown: Generation }

  /** Stores a cutover, if the state that was evaluated has not changed by the commit. */
  const save = (
    app: ReportedApp,
    metric: CutoverMetric,
    { cutover, old_revision, shown }: Evaluation,
  ): Promise<void> =>
    store.commit(() => {
      const isSame = revision('') === old_revision && generations.shown(app.organization_id).id === shown.id
      const current = metric === 'flows' ? flowCutover(app.id) : cutover
      if (isSame && current?.day === cutover.day && isCurrent(app.id))
        put.run(app.id, metric, cutover.day, cutover.at, clock())
    })

  /** The cutover of flows; null while a backfill reads notifications. */
  const flowCutover = (app_id: string): Cutover | null =>
    backfill.get(app_id)?.stage === 'notifications' ? null : cutoverOf(app_id, 'flows')

  async function levelCutover(
    app: ReportedApp,
    metric: LevelMeasure,
    shown: Generation,
  ): Promise<Cutover | null> {
    const day =
      (await completeBeforeReports(app, metric, shown)) ?? (await recentAgreement(app, metric, shown))
    return day === null ? null : cutoverOn(day)
  }

  /** The ledger’s first complete day; null if it is after the first report, or if any of the first 30 differs. */
  async function completeBeforeReports(
    { id }: ReportedApp,
    metric: LevelMeasure,
    shown: Generation,
  ): Promise<DayNumber | null> {
    const reported = days.available(shown.id, 'subscription').slice(0, DAYS_IN_AGREEMENT)
    const ledgerStart = cutoverOf(id, 'flows')?.day ?? Infinity
    const [first, last] = [reported[0], reported.at(-1)]
    if (first === undefined || last === undefined || first < ledgerStart) return null
    if (!sums.isReported({ generation: shown.id, app_id: id }, 'subscription')) return null
    const agreesOn = await agreement.compareDays({ shown, app_id: id, from: first, until: last }, metric)
    return reported.every(agreesOn) ? ledgerStart : null
  }

  /** The day after the newest report, if ledger and reports agree on each of the last 30 days; null otherwise. */
  async function recentAgreement(
    { id }: ReportedApp,
    metric: LevelMeasure,
    shown: Generation,
  ): Promise<DayNumber | null> {
    const reported = days.available(shown.id, 'subscription')
    const last = reported.at(-1)
    const first = reported.at(-DAYS_IN_AGREEMENT)
    const ledgerStart = cutoverOf(id, 'flows')?.day ?? Infinity
    if (last === undefined || first !== last - DAYS_IN_AGREEMENT + 1 || first < ledgerStart) return null
    if (sums.seriesOf({ generation: shown.id, app_id: id }, metric, 'all').length === 0) return null
    const agreesOn = await agreement.compareDays({ shown, app_id: id, from: first, until: last }, metric)
    for (let day = first; day <= last; day += 1) if (!agreesOn(day)) return null
    return last + 1
  }

  return { cutoverOf, ledgerCompleteFrom, advance, at: cutoverOn }
}
