/** Computes the progress and the outcome of an import, as numbers and as text. */
import { utcMinuteText } from '../../days.ts'
import type { Stop } from './circuit_breaker.ts'
import type { DayResult, Outcome } from './import_day.ts'
import type { MissingDay } from './import_days.ts'
import type { ReportDay } from './received.ts'

/** The number of days by outcome, and the number of imported rows. */
export type ImportCounts = Record<Outcome, number> & { rows: number }

/** Why one organization's import stopped early. */
export type StoppedImport = Stop & { organization_id: string }

export type ImportRun = ImportCounts & {
  started_at: number
  finished_at: number
  first_day: string | null
  last_day: string | null
  /** Organizations whose import stopped early, and organizations that cannot import. */
  stopped: readonly StoppedImport[]
  skipped: readonly StoppedImport[]
  waits: PendingReports | null
}

/**
 * The reports that Apple had not published for the newest such day: their number, and when they are next requested (ms
 * since the epoch).
 */
type PendingReports = { reports: number; day: string; due_at: number }

/** The progress of a run. `of` is the number of planned days. The rates are null before the first day is done. */
export type ImportProgress = {
  started_at: number
  done: number
  of: number
  /** Whether the run reads the history of a vendor number for the first time. */
  is_first: boolean
  per_second: number | null
  seconds_left: number | null
  reading: ReportDay | null
  waiting_until: number | null
  tally: ImportCounts
}

export const emptyImportCounts = (): ImportCounts => ({
  read: 0,
  revised: 0,
  unchanged: 0,
  empty: 0,
  not_yet: 0,
  missing: 0,
  failed: 0,
  rows: 0,
})

export function addDayResult(tally: ImportCounts, { outcome, row_count }: DayResult): void {
  tally[outcome] += 1
  tally.rows += row_count
}

/** Adds several counts. */
export function sumCounts(counts: Iterable<ImportCounts>): ImportCounts {
  const sum = emptyImportCounts()
  for (const tally of counts)
    for (const key of Object.keys(sum) as (keyof ImportCounts)[]) sum[key] += tally[key]
  return sum
}

/** The first and the last requested day; null if no day was requested. */
export function spanOf(plan: readonly ReportDay[]) {
  const days = plan.map(({ day }) => day).sort()
  return { first_day: days[0] ?? null, last_day: days.at(-1) ?? null }
}

/** The unpublished reports of the newest day that has any; null if none is unpublished. */
export function pendingReports(missingDays: readonly MissingDay[]): PendingReports | null {
  const waiting = missingDays.flatMap(({ state, day_on, due_at }) =>
    state === 'not_yet' && due_at !== null ? [{ day_on, due_at }] : [],
  )
  const day = waiting.map(({ day_on }) => day_on).reduce((a, b) => (a > b ? a : b), '')
  const newest = waiting.filter(({ day_on }) => day_on === day)
  if (newest.length === 0) return null
  return { reports: newest.length, day, due_at: Math.min(...newest.map(({ due_at }) => due_at)) }
}

/** Whether a run changed any day. */
export const hasChanged = ({ read, revised, missing }: ImportCounts): boolean => read + revised + missing > 0

/** The days per second and the remaining seconds of a run. `elapsed_ms` is the time that the first `done` days took. */
export function paceOf(done: number, of: number, elapsed_ms: number) {
  if (done === 0 || elapsed_ms <= 0) return { per_second: null, seconds_left: null }
  const per_second = (done * 1000) / elapsed_ms
  return { per_second, seconds_left: Math.round((of - done) / per_second) }
}

const OUTCOME_LABELS: readonly (readonly [Outcome, string])[] = [
  ['read', 'read'],
  ['revised', 'revised by Apple'],
  ['unchanged', 'unchanged'],
  ['empty', 'without sales'],
  ['not_yet', 'not available yet'],
  ['missing', 'no longer available'],
  ['failed', 'failed'],
]

/** The outcome of a run, in one line. */
export function summaryText(run: ImportRun): string {
  const some =
    run.skipped.length > 0 && run.first_day !== null ? `Skipped others: ${reasonsOf(run.skipped)}` : null
  return [outcomeText(run), some, ...run.stopped.map(describeStop)].filter((part) => part !== null).join('. ')
}

/** The outcome without the reasons for an early stop; null if the run did nothing before it stopped. */
export function outcomeText(run: ImportRun): string | null {
  const counts = OUTCOME_LABELS.filter(([outcome]) => run[outcome] > 0).map(
    ([outcome, words]) => `${run[outcome]} ${words}`,
  )
  if (counts.length > 0) return `daily reports: ${counts.join(', ')}; ${run.rows} rows`
  if (run.stopped.length > 0) return null
  if (run.skipped.length > 0 && run.first_day === null) return `not asked: ${reasonsOf(run.skipped)}`
  return run.waits === null ? 'nothing was due' : `nothing was due: ${describePending(run.waits)}`
}

const reasonsOf = (skipped: readonly StoppedImport[]): string =>
  `${[...new Set(skipped.map(({ reason }) => reason))].join(', ')} (windfall connect)`

const describePending = ({ reports, day, due_at }: PendingReports): string =>
  `${reports} report${reports === 1 ? '' : 's'} of ${day} ${reports === 1 ? 'is' : 'are'} not available yet; next attempt at ${utcMinuteText(due_at)}`

export const describeStop = ({ reason, resumes_at }: StoppedImport): string =>
  resumes_at === null ? `Stopped: ${reason}` : `Stopped: ${reason}; resumes at ${utcMinuteText(resumes_at)}`

/** An import that stopped early. `retry_at` is when it can resume (ms since the epoch); null if a person must act. */
class ImportStopped extends Error {
  override readonly name = 'ImportStopped'
  readonly retry_at: number | null

  constructor(run: ImportRun) {
    super(summaryText(run))
    this.retry_at = run.stopped.map(({ resumes_at }) => resumes_at).find((at) => at !== null) ?? null
  }
}

/** Describes a run for its job. @throws ImportStopped when it stopped early. */
export function describeImport(run: ImportRun): string {
  if (run.stopped.length > 0) throw new ImportStopped(run)
  return summaryText(run)
}
