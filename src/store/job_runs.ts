/** What we remember: when each job last ran, and how it went. */
import type { Store } from './store.ts'

export type JobRun = { job: string; started_at: number; finished_at: number | null; error: string | null }

export function openJobRuns(store: Pick<Store, 'prepare'>) {
  const put = store.prepare<[string, number]>(`
    insert into job_runs (job, started_at) values (?, ?)
    on conflict (job) do update set started_at = excluded.started_at, finished_at = null, error = null`)
  const end = store.prepare<[number, string | null, string]>(
    'update job_runs set finished_at = ?, error = ? where job = ?',
  )
  const all = store.prepare<[], JobRun>('select * from job_runs order by job')

  const begin = (job: string, at: number): void => void put.run(job, at)
  const finish = (job: string, at: number, error: string | null): void => void end.run(at, error, job)

  /** The last run of each job that has ever run. */
  const list = (): JobRun[] => all.all()

  return { begin, finish, list }
}
