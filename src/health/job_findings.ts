/** Findings about jobs: failed runs, a missing vendor number, and reports that an import could not read. */
import type { Clock } from '../clock.ts'
import type { Reader } from '../store/reader.ts'
import { ago, type Finding, fault, ok, warning } from './findings.ts'

type Run = {
  job: string
  finished_at: number | null
  outcome: string | null
  error: string | null
  failures: number
}

/** Yields the finding for the last run of each job, and one for reports that could not be read. */
export function* examineJobs(
  reader: Reader,
  clock: Clock,
  { isServed }: { isServed: boolean },
): Generator<Finding> {
  const runs = reader
    .prepare<[], Run>('select job, finished_at, outcome, error, failures from job_runs order by job')
    .all()
  if (runs.length === 0)
    yield warning('jobs', 'none has run yet. Jobs run while the server runs.', { id: 'jobs' })
  for (const run of runs) yield runFinding(run, clock, isServed)
  yield* examineImport(reader)
}

function runFinding(run: Run, clock: Clock, isServed: boolean): Finding {
  const { job, finished_at, outcome, error, failures } = run
  const when = finished_at === null ? '' : ` (${ago(finished_at, clock())})`
  const about = { id: `job:${job}`, title: `Job ${job}: the last run failed`, since: finished_at }
  const again = { label: 'Run it now', command: `windfall jobs run ${job}` }
  if (error !== null)
    return fault(job, `failed ${times(failures)}${when}: ${error}`, { ...about, action: again })
  // Without a key or an app, a job has nothing to do. The first steps ask for both.
  if (outcome?.startsWith('not asked') && outcome.includes('vendor number')) {
    const action = { label: 'Enter it', href: '/settings#apple' }
    return warning(job, `${outcome}${when}`, { ...about, title: `Job ${job}: needs a vendor number`, action })
  }
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
