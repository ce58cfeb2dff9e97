/** Stores the last run of each job, its result, and when the job runs next. */
import type { Store } from './store.ts'

/**
 * The last run of a job. `outcome` is its result as text, `error` is why it failed. Both are null while the job runs,
 * and stay null if the process ends during the run. `failures` counts consecutive runs without success. It includes a
 * run that has not ended.
 */
export type JobRun = {
  job: string
  started_at: number
  finished_at: number | null
  outcome: string | null
  error: string | null
  failures: number
  next_at: number | null
}

export function openJobRuns(store: Pick<Store, 'prepare'>) {
  const columns = 'job, started_at, finished_at, outcome, error, failures, next_at'
  const put = store.prepare<JobRun>(`
    insert into job_runs (${columns}) values (:job, :started_at, :finished_at, :outcome, :error, :failures, :next_at)
    on conflict (job) do update set
      started_at = excluded.started_at, finished_at = excluded.finished_at, outcome = excluded.outcome,
      error = excluded.error, failures = excluded.failures, next_at = excluded.next_at`)
  const all = store.prepare<[], JobRun>(`select ${columns} from job_runs order by job`)

  /** Records the state of a job. Call it inside a unit of work. */
  const write = (run: JobRun): void => void put.run(run)

  /** The last run of each job that has run. */
  const list = (): JobRun[] => all.all()

  return { write, list }
}
