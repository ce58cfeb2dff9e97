/** Findings about jobs: failed runs, a missing vendor number, and reports that an import could not read. */
import type { Clock } from '../clock.ts'
import type { Reader } from '../store/reader.ts'
import { ago, type Finding, fault, ok, warning } from './findings.ts'
import { connectedApps, FIRST_DAY_MS } from './notification_findings.ts'

type Run = {
  job: string
  finished_at: number | null
  outcome: string | null
  error: string | null
  failures: number
}

type JobOptions = {
  /** Whether a server runs, which ends what it began. */
  isServed: boolean
  /** Whether jobs that wait for the same key or app have one finding each, or one together. */
  isEachWaiting: boolean
}

/** Yields the finding for the last run of each job, and one for reports that could not be read. */
export function* examineJobs(
  reader: Reader,
  clock: Clock,
  { isServed, isEachWaiting }: JobOptions,
): Generator<Finding> {
  const runs = reader
    .prepare<[], Run>('select job, finished_at, outcome, error, failures from job_runs order by job')
    .all()
  if (runs.length === 0)
    yield warning('jobs', 'none has run yet. Jobs run while the server runs.', { id: 'jobs' })
  const needKeys = runs.filter(isWaiting).filter(isReported(connectedApps(reader), clock))
  const waiting = isEachWaiting ? [] : needKeys
  for (const run of runs)
    if (!waiting.includes(run)) yield runFinding(run, clock, { isServed, needsKey: needKeys.includes(run) })
  yield* waitingFindings(waiting)
  yield* examineImport(reader)
}

/** What a job did that lacks a key or an app: nothing, because of the reason that follows. */
const WAITING = 'not asked'
const isWaiting = ({ error, outcome }: Run): boolean =>
  error === null && outcome?.startsWith(WAITING) === true

/**
 * Whether a waiting job is reported. Until an app has been connected for a day, the first steps ask for the keys; a vendor
 * number is missing only once there is a key.
 */
function isReported(apps: ReturnType<typeof connectedApps>, clock: Clock): (run: Run) => boolean {
  const isNew = apps.every(({ created_at }) => clock() - created_at < FIRST_DAY_MS)
  return ({ outcome }) => !isNew || outcome?.includes('vendor number') === true
}

/** A warning for each reason why jobs wait. Its id is that of the first of them. */
function* waitingFindings(runs: readonly Run[]): Generator<Finding> {
  for (const [outcome, some] of Map.groupBy(runs, (run) => run.outcome ?? '')) {
    const [, reason = outcome] = /^not asked: (.*?)(?: \(windfall connect\))?$/.exec(outcome) ?? []
    const names = some.map(({ job }) => job).join(', ')
    const since = Math.min(...some.map(({ finished_at }) => finished_at ?? Number.POSITIVE_INFINITY))
    yield warning('jobs', `${some.length === 1 ? 'this job waits' : 'these jobs wait'}: ${names}.`, {
      id: `job:${some[0]?.job}`,
      title: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`,
      since: Number.isFinite(since) ? since : null,
      action: CONNECT,
    })
  }
}

const CONNECT = { label: 'Connect', href: '/settings#apple' }

function runFinding(
  run: Run,
  clock: Clock,
  { isServed, needsKey }: { isServed: boolean; needsKey: boolean },
): Finding {
  const { job, finished_at, outcome, error, failures } = run
  const when = finished_at === null ? '' : ` (${ago(finished_at, clock())})`
  const about = { id: `job:${job}`, title: `Job ${job}: the last run failed`, since: finished_at }
  const again = { label: 'Run it now', command: `windfall jobs run ${job}` }
  if (error !== null)
    return fault(job, `failed ${times(failures)}${when}: ${error}`, { ...about, action: again })
  if (needsKey)
    return warning(job, `${outcome}${when}`, {
      ...about,
      title: `Job ${job}: needs an Apple key`,
      action: CONNECT,
    })
  if (finished_at !== null) return ok(job, `${outcome ?? 'done'}${when}`)
  if (!isServed) return warning(job, 'the process ended during the run.', { ...about, remedy: RUNS_AGAIN })
  // A run counts as failed until it has succeeded.
  if (failures > 1)
    return warning(job, `running, after it failed ${times(failures - 1)}.`, { ...about, remedy: RUNS_AGAIN })
  return ok(job, 'running')
}

const RUNS_AGAIN = 'Windfall runs the job again. If it keeps failing, see the log.'

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

function* examineImport(reader: Reader): Generator<Finding> {
  yield* examineFailedReports(reader)
  yield* examineLeftOutRows(reader)
}

function* examineFailedReports(reader: Reader): Generator<Finding> {
  const failed = reader
    .prepare<[], { count: number; reason: string | null }>(
      "select count(*) as count, max(reason) as reason from import_days where state = 'failed'",
    )
    .get()
  if (!failed || failed.count === 0) return
  yield warning(
    'reports',
    `${failed.count} could not be read. Windfall tries again. One error: ${failed.reason ?? ''}`,
    {
      id: 'import:failed',
      title: 'Some reports could not be read',
      action: { label: 'Try again', command: 'windfall import' },
    },
  )
}

type LackingReport = { count: number; kind: string; day_on: string; problem: string }

/** A warning for reports that were imported without some of their rows. It names a row and its cell. */
function* examineLeftOutRows(reader: Reader): Generator<Finding> {
  const newest = reader
    .prepare<[], LackingReport>(`
      select count(*) over () as count, d.kind, d.day_on, r.problem
      from import_days d join reports r on r.id = d.report_id where r.problem is not null
      order by d.day_on desc, d.kind limit 1`)
    .get()
  if (newest === undefined) return
  const { count, kind, day_on, problem } = newest
  const [reports, days] = count === 1 ? ['1 was', 'its day'] : [`${count} were`, 'their days']
  yield warning(
    'reports',
    `${reports} imported without rows that could not be read: the figures of ${days} are incomplete.`,
    {
      id: 'import:rows',
      title: 'Some rows of reports could not be read',
      quote: `${kind.toUpperCase()} of ${day_on}: ${problem}.`,
      remedy: 'Windfall asks Apple again, which may correct them.',
    },
  )
}
