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
  basisOf,
  dayIn,
  daysOf,
  GRACE_DAYS,
  isLevel,
  isOfGrace,
  isPointInTime,
  type Joined,
  type JoinedMeasure,
  type JoinedQuery,
  knownDay,
  ledgerDays,
  ledgerOnlyDay,
  NO_AMOUNTS,
  NO_BASIS,
  sourceChangesAt,
  valuesOf,
} from './days.ts'
import { type FlowMeasure, openJoinedFlows, reportDaysOf } from './flows.ts'
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

/** The longest subscription period. */
const MAX_PERIOD_DAYS = 366

type AppRange = Pick<JoinedQuery, 'shown' | 'app' | 'environment' | 'from' | 'until'>
type LedgerDays = Pick<Joined, 'days' | 'joins' | 'basis'>
type ReportsOnlyQuery = Omit<JoinedQuery, 'environment' | 'zone'> & Partial<Pick<JoinedQuery, 'environment'>>

export type JoinedSeries = ReturnType<typeof openJoined>

export function openJoined(deps: Deps) {
  const { days, sums, sources, cutovers } = deps
  const levels = openJoinedLevels(deps)
  const flows = openJoinedFlows(deps)

  /** Whether reports contain a measure of an app. */
  function isReported(
    { shown, app, environment }: Pick<JoinedQuery, 'shown' | 'app' | 'environment'>,
    measure: JoinedMeasure,
  ) {
    const kind = kindOfMeasure(measure)
    return (
      environment === 'production' &&
      sums.isReported({ generation: shown.id, app_id: app.id }, kind) &&
      days.available(shown.id, kind).length > 0
    )
  }

  /** Reads a measure of an app by day, each day from the best source. */
  function read(query: JoinedQuery, measure: JoinedMeasure): Promise<Joined> {
    if (measure === 'downloads') return Promise.resolve(readReportsOnly(query, measure))
    const hasReports = isReported(query, measure)
    if (isLevel(measure)) return hasReports ? levels.read(query, measure) : levels.readLedger(query, measure)
    return hasReports ? flows.read(query, measure) : readLedger(query, measure)
  }

  /** Whether `read` returns something else for a measure than the ledger’s daily sums. */
  const needsJoin = (
    query: Pick<JoinedQuery, 'shown' | 'app' | 'environment' | 'basis'>,
    measure: JoinedMeasure,
  ): boolean => query.basis === 'proceeds' || measure === 'downloads' || isReported(query, measure)

  async function readLedger(query: JoinedQuery, measure: FlowMeasure): Promise<Joined> {
    const { lines, basis } = await flows.readLedger({ ...query, app_id: query.app.id }, measure)
    const all = ledgerDays(query, measure)
    const values = valuesOf(lines.keys(), query, dayIn(lines))
    return { days: all, values, joins: [], basis: basisOf(all, basis) }
  }

  /** Reads a measure that only reports have. Days without a report are unknown, as are all days of the sandbox. */
  function readReportsOnly(query: ReportsOnlyQuery, measure: ReportedMeasure): Joined {
    const hasReports = query.environment !== 'sandbox'
    const { reportDays, lackingDays } = reportDaysOf(days, query, measure)
    const lines = hasReports ? sources.reports({ ...query, app_id: query.app.id }, measure) : NO_AMOUNTS
    const dayStates = daysOf(query).map((day) => ({
      ...knownDay(day, 'reports'),
      is_known: hasReports && reportDays.has(day),
      is_complete: hasReports && reportDays.has(day) && !lackingDays.has(day),
    }))
    return {
      days: dayStates,
      values: valuesOf(lines.keys(), query, dayIn(lines)),
      joins: [],
      basis: NO_BASIS,
    }
  }

  /** The states of days of a ledger-only measure; null for an app without reports, whose days are all complete. */
  function ledgerOnly({ shown, app, environment, ...range }: AppRange, measure: Measure): LedgerDays | null {
    const scope = { generation: shown.id, app_id: app.id }
    const hasReports =
      environment === 'production' && SUMMED_KINDS.some((kind) => sums.isReported(scope, kind))
    if (!hasReports) return null
    const from = cutovers.ledgerCompleteFrom(app, shown)
    const all = daysOf(range).map((day) => ledgerOnlyDay(day, from, completeFrom(app.id, from, measure)))
    return { days: all, joins: sourceChangesAt(cutovers.cutoverOf(app.id, 'flows')), basis: NO_BASIS }
  }

  /**
   * The day from which a measure is complete. A level may lack subscriptions until it agrees with the reports. A renewal
   * status may be missing until the renewal, because Apple may have sent it before the first notification.
   */
  function completeFrom(app_id: string, ledgerFrom: DayNumber, measure: Measure): DayNumber {
    if (isOfGrace(measure)) return ledgerFrom + GRACE_DAYS
    if (!isPointInTime(measure) || ledgerFrom === -Infinity) return ledgerFrom
    return Math.max(cutovers.cutoverOf(app_id, 'mrr')?.day ?? Infinity, ledgerFrom + MAX_PERIOD_DAYS)
  }

  return { read, needsJoin, readReportsOnly, ledgerOnly }
}
