/** Joins Apple’s reports and the ledger by day, without a jump where the source changes. */
import type { DayNumber } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import { kindOfMeasure, type ReportedMeasure, SUMMED_KINDS } from '../reports/cells.ts'
import type { ReportedDays } from '../reports/days.ts'
import type { Commission } from '../reports/proceeds.ts'
import type { ReportedSums } from '../reports/sums.ts'
import type { AmountSources } from './amount_sources.ts'
import type { Cutovers } from './cutovers.ts'
import {
  dayIn,
  daysOf,
  GRACE_DAYS,
  isLevel,
  isOfGrace,
  isPointInTime,
  type Joined,
  type JoinedDay,
  type JoinedMeasure,
  type JoinedQuery,
  lacksProceeds,
  ledgerDay,
  MAX_PERIOD_DAYS,
  NO_AMOUNTS,
  NO_BASIS,
  type Observed,
  sourceChangesAt,
  unknownDay,
  valuesOf,
} from './days.ts'
import { openJoinedFlows, reportDay, reportDaysOf } from './flows.ts'
import type { LevelAgreement } from './level_agreement.ts'
import { openJoinedLevels } from './levels.ts'

type Deps = {
  days: ReportedDays
  sums: ReportedSums
  sources: AmountSources
  cutovers: Cutovers
  agreement: LevelAgreement
  commission: Commission
}

type AppRange = Pick<JoinedQuery, 'shown' | 'app' | 'environment' | 'zone' | 'from' | 'until'>
type LedgerDays = Omit<Joined, 'values'>
type ReportsOnlyQuery = Omit<JoinedQuery, 'environment' | 'zone'> & Partial<Pick<JoinedQuery, 'environment'>>
type ReportedApp = Pick<JoinedQuery, 'shown' | 'app'> & Partial<Pick<JoinedQuery, 'environment'>>

const NO_REPORTS = { reportDays: new Set<DayNumber>(), lackingDays: new Set<DayNumber>() }

export type JoinedSeries = ReturnType<typeof openJoined>

export function openJoined(deps: Deps) {
  const { days, sums, sources, cutovers } = deps
  const levels = openJoinedLevels(deps)
  const flows = openJoinedFlows(deps)

  /** Whether any report contains an app. */
  const isInReports = ({ shown, app, environment = 'production' }: ReportedApp): boolean =>
    environment === 'production' &&
    SUMMED_KINDS.some((kind) => sums.isReported({ generation: shown.id, app_id: app.id }, kind))

  /**
   * Whether reports contain a measure of an app. Of an app that other reports contain, and whose ledger has nothing of the
   * measure, they say that there is nothing.
   */
  function isReported(query: ReportedApp, measure: JoinedMeasure): boolean {
    const { shown, app, environment = 'production' } = query
    const kind = kindOfMeasure(measure)
    if (environment !== 'production' || days.available(shown.id, kind).length === 0) return false
    if (sums.isReported({ generation: shown.id, app_id: app.id }, kind)) return true
    return isInReports(query) && !sources.isInLedger({ shown, app_id: app.id, environment }, measure)
  }

  /** Reads a measure of an app by day, each day from the best source. */
  async function read(query: JoinedQuery, measure: JoinedMeasure): Promise<Joined> {
    const isOptional = !cutovers.isHeard(query.app.id, query.environment) && { is_optional: true as const }
    if (measure === 'downloads') return { ...readReportsOnly(query, measure), ...isOptional }
    if (isReported(query, measure)) {
      const found = isLevel(measure) ? await levels.read(query, measure) : await flows.read(query, measure)
      return { ...found, ...isOptional }
    }
    const { days: all, joins: _, ...rest } = ledgerOnly(query)(measure)
    const ledgerDays = lacksProceeds(query, measure) ? all.map(withoutProceeds) : all
    const found = isLevel(measure)
      ? await levels.readLedger(query, measure, ledgerDays)
      : await flows.readLedgerDays(query, measure, ledgerDays)
    return { ...rest, days: ledgerDays, ...found, joins: [] }
  }

  /** Whether `read` returns something else for a measure than the ledger’s daily sums. */
  const needsJoin = (
    query: Pick<JoinedQuery, 'shown' | 'app' | 'environment' | 'basis'>,
    measure: JoinedMeasure,
  ): boolean => query.basis === 'proceeds' || measure === 'downloads' || isReported(query, measure)

  /** Reads a measure that only reports have. Unknown: days without a report, the sandbox, and apps that none contains. */
  function readReportsOnly(query: ReportsOnlyQuery, measure: ReportedMeasure): Joined {
    const hasReports = isInReports(query)
    const reported = hasReports ? reportDaysOf(days, query, measure) : NO_REPORTS
    const lines = hasReports ? sources.reports({ ...query, app_id: query.app.id }, measure) : NO_AMOUNTS
    return {
      days: daysOf(query).map((day) => reportDay(day, reported)),
      values: valuesOf(lines.keys(), query, dayIn(lines)),
      joins: [],
      basis: NO_BASIS,
      ...(!hasReports && { is_optional: true, is_alone: true }),
    }
  }

  /**
   * Returns a function with the states of the days of a measure that is read from the ledger alone: unknown before
   * anything was heard of the app, partial until the ledger has all of the measure. This decides it for every figure.
   */
  function ledgerOnly(range: AppRange): (measure: Measure) => LedgerDays {
    const { app } = range
    const observed = cutovers.observedFrom(range)
    const isReportedApp = isInReports(range)
    const joins = isReportedApp ? sourceChangesAt(cutovers.cutoverOf(app.id, 'flows')) : []
    // Measures that are complete from the same day share their days, of which a chart has thousands.
    const daysByStart = new Map<string, JoinedDay[]>()
    return (measure) => {
      const from = completeFrom(range, observed, measure)
      const reason = isOfGrace(measure) ? 'grace' : 'older_unknown'
      const key = `${from} ${reason}`
      const all =
        daysByStart.get(key) ??
        daysOf(range).map((day) => ledgerDay(day, observed, { completeFrom: from, reason }))
      daysByStart.set(key, all)
      return {
        days: all,
        joins,
        basis: NO_BASIS,
        is_optional: true,
        ...(!isReportedApp && { is_alone: true }),
      }
    }
  }

  /**
   * The day from which a measure is complete. A level may lack subscriptions until it agrees with the reports or, without
   * reports, until each that is older than the ledger had to renew. A renewal status may be missing until the renewal,
   * because Apple sent it before the first notification. A sandbox year lasts an hour. A new app has nothing older.
   */
  function completeFrom(
    { app, environment, shown }: AppRange,
    { all: ledgerFrom, is_new }: Observed,
    measure: Measure,
  ): DayNumber {
    if (environment === 'sandbox' || is_new) return ledgerFrom
    if (isOfGrace(measure)) return ledgerFrom + GRACE_DAYS
    if (!isPointInTime(measure)) return ledgerFrom
    const scope = { shown, app_id: app.id, environment }
    if (sums.isReported({ generation: shown.id, app_id: app.id }, 'subscription'))
      return Math.max(cutovers.cutoverOf(app.id, 'mrr')?.day ?? Infinity, ledgerFrom + MAX_PERIOD_DAYS)
    return sources.hasOlder(scope, ledgerFrom) ? ledgerFrom + MAX_PERIOD_DAYS : ledgerFrom
  }

  const { currenciesWithoutRate } = sources
  const knownFrom = (range: AppRange): DayNumber => cutovers.observedFrom(range).any
  return { read, needsJoin, readReportsOnly, ledgerOnly, knownFrom, currenciesWithoutRate }
}

/** A day of which an earlier version stored no proceeds. */
const withoutProceeds = (one: JoinedDay): JoinedDay =>
  one.is_known ? unknownDay(one.day, 'ledger', 'behind') : one
