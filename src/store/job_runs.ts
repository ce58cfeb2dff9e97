/** What we remember: when each job last ran, how it went, and when it is to run next. */
import type { Store } from './store.ts'

/**
 * The last run of a job. `outcome` is what came of it in words, `error` why it failed; both are null while it runs, and
 * for ever when the process ended meanwhile. `failures` in a row count a run from its beginning until it went well.
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

  /** Writes down how a job stands. To be called inside a unit of work. */
  const write = (run: JobRun): void => void put.run(run)

  /** The last run of each job that has ever run. */
  const list = (): JobRun[] => all.all()

  return { write, list }
}
