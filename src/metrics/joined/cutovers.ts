/** Decides and stores cutovers: the Pacific midnight from which an app’s metrics come from the ledger alone. */
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import { type DayNumber, openCalendar } from '../lineage/calendar.ts'
import { PACIFIC } from '../lineage/settings.ts'
import type { ReportedDays } from '../reports/days.ts'
import type { ReportedSums } from '../reports/sums.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import type { AmountSources } from './amount_sources.ts'
import { type Cutover, type LevelMeasure, MAX_PERIOD_DAYS } from './days.ts'
import { openHearing } from './hearing.ts'
import type { LevelAgreement } from './level_agreement.ts'
import { openObservation } from './observation.ts'

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
  sources: Pick<AmountSources, 'ledger'>
  agreement: LevelAgreement
  /** Whether no lineage or report of an app is due in the shown generation. Also called inside units of work. */
  isCurrent: (app_id: string) => boolean
}
type ReportedApp = { id: string; organization_id: string }

export type Cutovers = ReturnType<typeof openCutovers>

export function openCutovers({ store, clock, generations, days, sums, ...rest }: Deps) {
  const { sources, agreement, isCurrent } = rest
  const find = store.prepare<[string, string], Cutover>(
    'select day, at from metric_cutovers where app_id = ? and metric = ?',
  )
  const put = store.prepare<[string, string, number, number, number]>(
    'insert or ignore into metric_cutovers (app_id, metric, day, at, reached_at) values (?, ?, ?, ?, ?)',
  )
  const hearing = openHearing(store)
  // Returns a new object after figures, reports or generations changed or became due.
  const revision = store.cached(EVALUATION_TABLES, () => ({}))
  const pacific = openCalendar(PACIFIC)
  const observedFrom = openObservation({ days, sums, hearing, pacific, cutoverOf })
  const cutoverOn = (day: DayNumber): Cutover => ({ day, at: pacific.startOf(day) })

  /** The cutover of an app’s metric; null while there is none. */
  function cutoverOf(app_id: string, metric: CutoverMetric): Cutover | null {
    const stored = find.get(app_id, metric)
    if (stored) return stored
    return metric === 'flows' ? firstCompleteDay(app_id) : null
  }

  /** The first Pacific day for which the ledger has all notifications, received or read from Apple’s history. */
  function firstCompleteDay(app_id: string): Cutover | null {
    const at = hearing.since(app_id, 'production')
    if (at === null) return null
    const day = pacific.dayOf(at)
    return cutoverOn(pacific.startOf(day) === at ? day : day + 1)
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
    hearing.isReading(app_id, 'production') ? null : cutoverOf(app_id, 'flows')

  async function levelCutover(
    app: ReportedApp,
    metric: LevelMeasure,
    shown: Generation,
  ): Promise<Cutover | null> {
    const day = (await wholeBeforeReports(app, metric, shown)) ?? (await recentAgreement(app, metric, shown))
    return day === null ? null : cutoverOn(day)
  }

  /**
   * The day from which the ledger has the whole level, if it is not after the first report. Completeness decides, because
   * of few subscriptions one is more than the tolerance. Until completeness can be told, agreement with each of the first
   * 30 reports does.
   */
  async function wholeBeforeReports(
    { id }: ReportedApp,
    metric: LevelMeasure,
    shown: Generation,
  ): Promise<DayNumber | null> {
    const reported = days.available(shown.id, 'subscription').slice(0, DAYS_IN_AGREEMENT)
    const ledgerStart = cutoverOf(id, 'flows')?.day ?? Infinity
    const [first, last] = [reported[0], reported.at(-1)]
    if (first === undefined || last === undefined || first < ledgerStart) return null
    if (!sums.isReported({ generation: shown.id, app_id: id }, 'subscription')) return null
    const whole = await wholeFrom(id, shown, ledgerStart)
    if (whole !== null && whole <= first) return whole
    const agreesOn = await agreement.compareDays({ shown, app_id: id, from: first, until: last }, metric)
    return reported.every(agreesOn) ? ledgerStart : null
  }

  /**
   * The day from which the ledger has all subscriptions of an app: the day after the last on which it found one that is
   * older than itself. Null until each older one had to renew.
   */
  async function wholeFrom(
    app_id: string,
    shown: Generation,
    ledgerStart: DayNumber,
  ): Promise<DayNumber | null> {
    const today = pacific.dayOf(clock())
    if (today < ledgerStart + MAX_PERIOD_DAYS) return null
    const query = { shown, app_id, filters: {}, split: null, currency: null, from: ledgerStart, until: today }
    const found = await sources.ledger(
      { ...query, environment: 'production', zone: 'pacific' },
      { 'mrr.opening': 1 },
    )
    return Math.max(ledgerStart, ...[...(found.get('')?.keys() ?? [])].map((day) => day + 1))
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

  /** Whether anything was heard of an app, from which its figures could be known. */
  const isHeard = (app_id: string, environment: Environment): boolean =>
    hearing.since(app_id, environment) !== null

  return { cutoverOf, observedFrom, isHeard, advance, at: cutoverOn }
}
