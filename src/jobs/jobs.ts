/** Runs scheduled jobs, retries failed ones, and stores the last run of each. */
import { Cron } from 'croner'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import { Refusal } from '../errors.ts'
import type { Log } from '../log.ts'
import { type JobRun, openJobRuns } from '../store/job_runs.ts'
import type { Store } from '../store/store.ts'
import { isMissed, nextRun, OFF, retryAt, type Schedule } from './due.ts'

/** The schedule of each job by its name, and the jitter of runs in percent. */
export type Schedules = Config['jobs'] & { backup: Config['backup']['schedule'] }

/** The schedules of a configuration. */
export const schedulesOf = ({ jobs, backup }: Config): Schedules => ({ ...jobs, backup: backup.schedule })

type JobName = Exclude<keyof Schedules, 'jitter_percent'>

/**
 * A job. `run` returns its outcome as text, or throws an Error whose message a person can understand. It ends soon
 * after `signal` is aborted. `isAgain`: the last run failed or was stopped, and nobody asked for this one. If the error has a `retry_at` (ms since the epoch), the job is not retried before then.
 */
export type Job = {
  name: JobName
  run: (signal: AbortSignal, isAgain: boolean) => Promise<string> | string
  /** When the job runs again at the latest, in milliseconds since the epoch; null if its schedule alone decides. */
  againAt?: () => number | null
  /** The job that runs soon after each run of this one. */
  followedBy?: JobName
}

/** The state of a job. `next_at` is null if its schedule is off. */
export type JobState = {
  job: string
  schedule: Schedule
  running: boolean
  started_at: number | null
  finished_at: number | null
  duration_ms: number | null
  outcome: string | null
  error: string | null
  failures: number
  next_at: number | null
}

export type Jobs = ReturnType<typeof openJobs>

type Deps = {
  store: Store
  clock: Clock
  log: Log
  schedules: Schedules
  /** Returns a number from 0 to below 1, as Math.random does. */
  random?: () => number
  /** How long a shutdown waits for running jobs, in milliseconds. */
  shutdown_ms?: number
}

/** A job with its state. `last` is the stored last run; `currentRun` is null while the job is not running. */
type JobEntry = Job & { last: JobRun | null; next_at: number | null; currentRun: RunningJob | null }
type RunningJob = { started_at: number; done: Promise<void>; stop: AbortController }
type JobOutcome = { outcome: string } | { error: string; retry_at: number | null } | 'stopped'

/** How often due jobs are started: every five seconds. */
const TICK_SCHEDULE = '*/5 * * * * *'
const INTERRUPTED = 'the process ended during the run'
const STOPPED = 'stopped by the shutdown of the server'

/**
 * Opens the jobs. No job runs on its schedule before `start`. Two runs of a job never overlap. A failure is logged, and
 * the job is retried after growing delays.
 */
export function openJobs(jobs: readonly Job[], deps: Deps) {
  const { store, clock, log, random = Math.random, shutdown_ms = 10_000 } = deps
  const runs = openJobRuns(store)
  let schedules = deps.schedules
  let timer: Cron | null = null
  let isClosing = false
  let ticked_at = 0
  const hastened = new Set<JobName>()
  const lastRunByJob = new Map(runs.list().map((run) => [run.job, run]))
  const entries: readonly JobEntry[] = jobs.map((job) => ({
    ...job,
    last: lastRunByJob.get(job.name) ?? null,
    next_at: null,
    currentRun: null,
  }))

  /** A random jitter for a run, 0 to 1. A backup sends no requests to other servers, so it runs exactly on schedule. */
  const jitterOf = (job: JobName) => (job === 'backup' ? 0 : random() * schedules.jitter_percent) / 100

  const nextOf = ({ name, againAt }: Job, now: number): number | null =>
    earlier(nextRun(schedules[name], now, jitterOf(name)), againAt?.() ?? null)

  /** Schedules every job and starts the timer. Jobs that missed a run are due immediately. */
  function start(): void {
    const now = clock()
    for (const job of entries) job.next_at = firstRun(job, now)
    timer = new Cron(TICK_SCHEDULE, { unref: true }, () => void tick())
  }

  function firstRun(job: JobEntry, now: number): number | null {
    const { name, last } = job
    const schedule = schedules[name]
    if (schedule === OFF) return null
    if (hastened.delete(name) || last === null || isInFuture(last, now)) return now
    if (last.failures > 0) return last.next_at ?? now
    const isDue = (last.next_at ?? now) <= now || isMissed(schedule, last.started_at, now)
    return isDue ? now : nextOf(job, now)
  }

  /** Starts the due jobs that are not running. Resolves when they have ended. */
  async function tick(): Promise<void> {
    const now = clock()
    if (now < ticked_at) shiftSchedules(ticked_at - now)
    ticked_at = now
    const due = entries.filter(({ next_at, currentRun }) => next_at !== null && next_at <= now && !currentRun)
    if (!isClosing) await Promise.all(due.map((job) => begin(job, isUnfinished(job))))
  }

  /** Moves all schedules after the clock was set back. Otherwise jobs would wait until the clock catches up. */
  function shiftSchedules(by_ms: number): void {
    for (const job of entries) if (job.next_at !== null) job.next_at -= by_ms
  }

  function begin(job: JobEntry, isAgain: boolean): Promise<void> {
    const stop = new AbortController()
    const done = runRecorded(job, stop.signal, isAgain)
    job.currentRun = { started_at: clock(), done, stop }
    return done
  }

  async function runRecorded(job: JobEntry, signal: AbortSignal, isAgain: boolean): Promise<void> {
    const failures = job.last?.failures ?? 0
    const started_at = clock()
    try {
      // A run is stored as failed until it succeeds, so a job that crashes the process does not run at every start.
      await write(job, {
        ...failedRun(job, failures, started_at, null),
        started_at,
        finished_at: null,
        error: null,
      })
      const ended = await attempt(job, signal, isAgain)
      await write(job, { ...endedRun(job, ended, failures), started_at })
    } catch (error) {
      job.next_at = failedRun(job, failures, started_at, null).next_at
      log.error('a job could not be recorded', { job: job.name, error })
    } finally {
      job.currentRun = null
      startHastened(job)
      if (job.followedBy) hasten(job.followedBy)
    }
  }

  async function write(job: JobEntry, run: Omit<JobRun, 'job'>): Promise<void> {
    const jobRun = { ...run, job: job.name }
    await store.commit(() => runs.write(jobRun))
    job.last = jobRun
    job.next_at = jobRun.next_at
  }

  async function attempt(job: JobEntry, signal: AbortSignal, isAgain: boolean): Promise<JobOutcome> {
    try {
      if (signal.aborted) return 'stopped'
      const outcome = await job.run(signal, isAgain)
      if (signal.aborted) return 'stopped'
      log.debug('job done', { job: job.name, outcome })
      return { outcome }
    } catch (error) {
      if (signal.aborted) return 'stopped'
      log.error('a job failed', { job: job.name, ...errorFields(error) })
      return { error: error instanceof Error ? error.message : String(error), retry_at: retryOf(error) }
    }
  }

  /** The run to store for a job that ended, without `started_at`. */
  function endedRun(job: JobEntry, ended: JobOutcome, failures: number): Omit<JobRun, 'job' | 'started_at'> {
    const now = clock()
    if (ended === 'stopped') {
      const next_at = schedules[job.name] === OFF ? null : now
      return { finished_at: now, outcome: STOPPED, error: null, failures, next_at }
    }
    if ('error' in ended) return failedRun(job, failures, now, ended.error, ended.retry_at)
    if (failures > 0) log.info('a job works again', { job: job.name, failures })
    const next_at = nextOf(job, now)
    return { finished_at: now, outcome: ended.outcome, error: null, failures: 0, next_at }
  }

  /** The run to store for a job that failed. `before` is the number of failures before this one. */
  function failedRun(
    { name }: JobEntry,
    before: number,
    now: number,
    error: string | null,
    retry_at: number | null = null,
  ) {
    const failures = before + 1
    const next_at = retryAt({ failures, now, schedule: schedules[name], jitter: jitterOf(name), retry_at })
    return { finished_at: now, outcome: null, error, failures, next_at }
  }

  /**
   * Runs a job now and resolves with its state afterwards.
   *
   * @throws Refusal 404 `unknown_job`; 409 `job_running` if it is already running.
   */
  async function runNow(name: string): Promise<JobState> {
    const job = entries.find((one) => one.name === name)
    const names = entries.map((one) => one.name).join(', ')
    if (!job) throw new Refusal(404, 'unknown_job', `there is no job ${name}; the jobs are: ${names}`)
    if (job.currentRun || isClosing) throw new Refusal(409, 'job_running', `${name} is already running`)
    await begin(job, false)
    return stateOf(job, schedules[job.name])
  }

  /** Makes jobs due now, or at `start`, unless their schedules are off. */
  function hasten(...names: JobName[]): void {
    for (const name of names) hastened.add(name)
    for (const job of entries) if (names.includes(job.name) && job.currentRun === null) startHastened(job)
  }

  /** A run in progress began before the reason to run now, and stores the next run by its schedule when it ends. */
  function startHastened(job: JobEntry): void {
    if (timer !== null && hastened.has(job.name)) job.next_at = firstRun(job, clock())
  }

  /** The state of every job, in the order of `jobList`. */
  const list = (): JobState[] => entries.map((job) => stateOf(job, schedules[job.name]))

  /** Applies new schedules. A job whose schedule changed is rescheduled, unless it waits for a retry. */
  function reschedule(next: Schedules): void {
    const before = schedules
    schedules = next
    if (timer === null) return
    for (const job of entries) {
      const isFailing = (job.last?.failures ?? 0) > 0 && next[job.name] !== OFF && before[job.name] !== OFF
      if (next[job.name] === before[job.name] || isFailing) continue
      job.next_at = nextOf(job, clock())
    }
  }

  /** Stops starting jobs, aborts the running jobs, and waits up to `shutdown_ms` for them. */
  async function close(): Promise<void> {
    isClosing = true
    timer?.stop()
    const currentRun = entries.flatMap((job) => job.currentRun ?? [])
    for (const { stop } of currentRun) stop.abort(new Error(STOPPED))
    if (currentRun.length === 0) return
    const timeout = AbortSignal.timeout(shutdown_ms)
    const waited = new Promise((resolve) => timeout.addEventListener('abort', resolve))
    await Promise.race([Promise.all(currentRun.map(({ done }) => done)), waited])
  }

  return { start, tick, runNow, hasten, list, runs: runs.list, reschedule, close }
}

function stateOf({ name, last, next_at, currentRun }: JobEntry, schedule: Schedule): JobState {
  const { started_at = null, finished_at = null, outcome = null, error = null } = last ?? {}
  const wasInterrupted = last !== null && finished_at === null && !currentRun
  const shared = { job: name, schedule, running: currentRun !== null, next_at }
  return {
    ...shared,
    started_at: currentRun?.started_at ?? started_at,
    finished_at,
    duration_ms: started_at === null || finished_at === null ? null : finished_at - started_at,
    outcome,
    error: wasInterrupted ? INTERRUPTED : error,
    failures: (last?.failures ?? 0) - (currentRun && last?.finished_at === null ? 1 : 0),
  }
}

/** The earlier of a scheduled run and another; null if none is scheduled, because then the job is off. */
const earlier = (scheduled_at: number | null, again_at: number | null): number | null =>
  scheduled_at === null || again_at === null ? scheduled_at : Math.min(scheduled_at, again_at)

/** Whether the last run failed, or was stopped by a shutdown. */
const isUnfinished = ({ last }: JobEntry): boolean =>
  last !== null && (last.failures > 0 || last.outcome === STOPPED)

/** Whether a run was recorded while the clock was ahead. Its `next_at` may then be years away. */
const isInFuture = ({ started_at, finished_at }: JobRun, now: number): boolean =>
  (finished_at ?? started_at) > now

/** The log fields of an error: the message of an expected error, but an unexpected error with its stack. */
function errorFields(error: unknown): { reason: string } | { error: unknown } {
  const isLogged = error instanceof Error && (error.constructor === Error || 'retry_at' in error)
  return isLogged ? { reason: error.message } : { error }
}

/** The error's `retry_at`, the earliest useful retry; null if the error has none. */
const retryOf = (error: unknown): number | null =>
  error instanceof Error && 'retry_at' in error && typeof error.retry_at === 'number' ? error.retry_at : null
