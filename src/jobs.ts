/** Everything that happens by the clock, and when it last did. */
import { Cron } from 'croner'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { openJobRuns } from './store/job_runs.ts'
import type { Store } from './store/store.ts'

/** `schedule` is a cron pattern in UTC. */
export type Job = { name: string; schedule: string; run: () => Promise<string> | string }

export type Jobs = ReturnType<typeof openJobs>

/** Opens the jobs and starts their schedules. A job never overlaps itself; one that fails is logged and tried again. */
export function openJobs(jobs: readonly Job[], deps: { store: Store; clock: Clock; log: Log }) {
  const { store, clock, log } = deps
  const runs = openJobRuns(store)

  async function run(job: Job): Promise<void> {
    try {
      await store.commit(() => runs.begin(job.name, clock()))
      const error = await attempt(job)
      await store.commit(() => runs.finish(job.name, clock(), error))
    } catch (fault) {
      log.error('a job could not be recorded', { job: job.name, error: fault })
    }
  }

  async function attempt(job: Job): Promise<string | null> {
    try {
      const outcome = await job.run()
      log.debug('job done', { job: job.name, outcome })
      return null
    } catch (error) {
      log.error('a job failed', { job: job.name, error })
      return error instanceof Error ? error.message : String(error)
    }
  }

  const schedules = jobs.map(
    (job) => new Cron(job.schedule, { protect: true, unref: true, timezone: 'UTC' }, () => run(job)),
  )

  /** Runs one now, as its schedule would. */
  async function runNow(name: string): Promise<void> {
    const job = jobs.find((one) => one.name === name)
    if (!job) throw new Error(`there is no job ${name}`)
    await run(job)
  }

  function close(): void {
    for (const schedule of schedules) schedule.stop()
  }

  return { runNow, runs: runs.list, close }
}
