/** Starts the jobs that fetch with Apple's keys, after a start or when keys changed. */
import type { Jobs } from './jobs.ts'

/** The jobs that need Apple's keys. */
const FETCHING_JOBS = ['import', 'backfill']

type RunningJobs = Pick<Jobs, 'list' | 'runNow'>

/** Starts each fetching job. A job that already runs uses the new keys from its next request on. */
export function restartFetching(jobs: Pick<Jobs, 'runNow'>): void {
  for (const job of FETCHING_JOBS) startJob(jobs, job)
}

/** Starts each fetching job unless its last run failed. The keys or Apple's list of apps may have changed since. */
export function startFetching(jobs: RunningJobs): void {
  for (const { job, failures } of jobs.list()) {
    if (FETCHING_JOBS.includes(job) && failures === 0) startJob(jobs, job)
  }
}

/** Starts a job. `jobs list` shows the outcome. */
function startJob(jobs: Pick<Jobs, 'runNow'>, job: string): void {
  jobs.runNow(job).catch(() => undefined)
}
