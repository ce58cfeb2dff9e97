/** What we compute: how far an import is, and what came of it, in numbers and in words. */
import { minuteText } from '../../days.ts'
import type { Stop } from './circuit_breaker.ts'
import type { Outcome, Taken } from './import_day.ts'
import type { Hole } from './import_days.ts'
import type { ReportDay } from './received.ts'

/** How many days came out how, and the rows read. */
export type Tally = Record<Outcome, number> & { rows: number }

/** Why one organization's import ended before its time. */
export type Stopped = Stop & { organization_id: string }

export type ImportRun = Tally & {
  started_at: number
  finished_at: number
  first_day: string | null
  last_day: string | null
  /** Organizations whose import ended before its time, and those that reports cannot be asked for. */
  stopped: readonly Stopped[]
  skipped: readonly Stopped[]
  waits: Waits | null
}

/** Reports of the newest day that Apple had not made yet: how many, and when they are asked for again (ms). */
type Waits = { reports: number; day: string; due_at: number }

/** How far a run is. `per_second` and `seconds_left` are null until there is something to tell by. */
export type Progress = {
  started_at: number
  done: number
  of: number
  per_second: number | null
  seconds_left: number | null
  reading: ReportDay | null
  waiting_until: number | null
  tally: Tally
}

export const emptyTally = (): Tally => ({
  read: 0,
  revised: 0,
  unchanged: 0,
  empty: 0,
  not_yet: 0,
  missing: 0,
  failed: 0,
  rows: 0,
})

export function count(tally: Tally, { outcome, row_count }: Taken): void {
  tally[outcome] += 1
  tally.rows += row_count
}

/** What several came to together. */
export function sumOf(tallies: Iterable<Tally>): Tally {
  const sum = emptyTally()
  for (const tally of tallies) for (const key of Object.keys(sum) as (keyof Tally)[]) sum[key] += tally[key]
  return sum
}

/** The first and the last day asked for, null where nothing was. */
export function spanOf(plan: readonly ReportDay[]) {
  const days = plan.map(({ day }) => day).sort()
  return { first_day: days[0] ?? null, last_day: days.at(-1) ?? null }
}

/** What is waited for, among days that we do not have. */
export function waitsOf(holes: readonly Hole[]): Waits | null {
  const waiting = holes.flatMap(({ state, day_on, due_at }) =>
    state === 'not_yet' && due_at !== null ? [{ day_on, due_at }] : [],
  )
  const day = waiting.map(({ day_on }) => day_on).reduce((a, b) => (a > b ? a : b), '')
  const newest = waiting.filter(({ day_on }) => day_on === day)
  if (newest.length === 0) return null
  return { reports: newest.length, day, due_at: Math.min(...newest.map(({ due_at }) => due_at)) }
}

/** Whether a run brought anything that was not known before. */
export const hasChanged = ({ read, revised, missing }: Tally): boolean => read + revised + missing > 0

/** Days a second and the seconds left, from how long the first `done` took. */
export function paceOf(done: number, of: number, elapsed_ms: number) {
  if (done === 0 || elapsed_ms <= 0) return { per_second: null, seconds_left: null }
  const per_second = (done * 1000) / elapsed_ms
  return { per_second, seconds_left: Math.round((of - done) / per_second) }
}

const WORDS: readonly (readonly [Outcome, string])[] = [
  ['read', 'read'],
  ['revised', 'revised by Apple'],
  ['unchanged', 'unchanged'],
  ['empty', 'without sales'],
  ['not_yet', 'not to be had yet'],
  ['missing', 'not to be had any more'],
  ['failed', 'failed'],
]

/** What came of a run, in one line. */
export function summaryOf(run: ImportRun): string {
  const some =
    run.skipped.length > 0 && run.first_day !== null ? `Not asked of others: ${reasonsOf(run.skipped)}` : null
  return [resultOf(run), some, ...run.stopped.map(stopInWords)].filter((part) => part !== null).join('. ')
}

/** The same without why it stopped; null where that is all there is to tell. */
export function resultOf(run: ImportRun): string | null {
  const counts = WORDS.filter(([outcome]) => run[outcome] > 0).map(
    ([outcome, words]) => `${run[outcome]} ${words}`,
  )
  if (counts.length > 0) return `daily reports: ${counts.join(', ')}; ${run.rows} rows`
  if (run.stopped.length > 0) return null
  if (run.skipped.length > 0 && run.first_day === null) return `not asked: ${reasonsOf(run.skipped)}`
  return run.waits === null ? 'nothing was due' : `nothing was due: ${waitsInWords(run.waits)}`
}

const reasonsOf = (skipped: readonly Stopped[]): string =>
  `${[...new Set(skipped.map(({ reason }) => reason))].join(', ')} (windfall connect)`

const waitsInWords = ({ reports, day, due_at }: Waits): string =>
  `${reports} report${reports === 1 ? '' : 's'} of ${day} ${reports === 1 ? 'is' : 'are'} not made yet; asked again ${minuteText(due_at)}`

export const stopInWords = ({ reason, resumes_at }: Stopped): string =>
  resumes_at === null ? `Stopped: ${reason}` : `Stopped: ${reason}; it goes on at ${minuteText(resumes_at)}`

/** An import that ended before its time. `retry_at`: when it can go on (ms), null when that needs a person. */
class ImportStopped extends Error {
  override readonly name = 'ImportStopped'
  readonly retry_at: number | null

  constructor(run: ImportRun) {
    super(summaryOf(run))
    this.retry_at = run.stopped.map(({ resumes_at }) => resumes_at).find((at) => at !== null) ?? null
  }
}

/** What a job says of a run. @throws ImportStopped when it ended before its time. */
export function toldOfImport(run: ImportRun): string {
  if (run.stopped.length > 0) throw new ImportStopped(run)
  return summaryOf(run)
}
