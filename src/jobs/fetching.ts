/** Starts the jobs that fetch with Apple's keys, after a start or when keys changed. */
import type { Jobs } from './jobs.ts'

/** The jobs that need Apple's keys. */
const FETCHING_JOBS = ['import', 'backfill'] as const

/** Starts each fetching job, after its run in progress, which may have begun without the new keys. Checks the keys. */
export function restartFetching(jobs: Pick<Jobs, 'runNow' | 'hasten'>): void {
  jobs.hasten('checks')
  for (const job of FETCHING_JOBS) jobs.runNow(job).catch(() => jobs.hasten(job))
}

/** Starts each fetching job unless its last run failed. The keys or Apple's list of apps may have changed since. */
export function startFetching(jobs: Pick<Jobs, 'list' | 'runNow'>): void {
  for (const { job, failures } of jobs.list()) {
    // `jobs list` shows the outcome.
    if (FETCHING_JOBS.some((name) => name === job) && failures === 0) jobs.runNow(job).catch(() => undefined)
  }
}
