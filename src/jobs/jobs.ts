/** Runs scheduled jobs, retries failed ones, and stores the last run of each. */
import { Cron } from 'croner'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import { Refusal } from '../errors.ts'
import type { Log } from '../log.ts'
import { type JobRun, openJobRuns } from '../store/job_runs.ts'
import type { Store } from '../store/store.ts'
import { isMissed, nextRun, OFF, retryAt, type Schedule } from './due.ts'

/** The schedule of each job by its name, and the jitter of runs. */
export type Schedules = Config['jobs'] & { backup: Config['backup']['schedule'] }

/** The schedules of a configuration. */
export const schedulesOf = ({ jobs, backup }: Config): Schedules => ({ ...jobs, backup: backup.schedule })

type JobName = Exclude<keyof Schedules, 'jitter_percent'>

/**
 * `run` returns its outcome as text. It ends soon after `signal` is aborted, and throws an Error whose message is for a
 * person. The job is not retried before the error's `retry_at` (ms since the epoch), if it has one.
 */
export type Job = { name: JobName; run: (signal: AbortSignal) => Promise<string> | string }

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

/** A job with its state. `last` is its stored last run, `under_way` the current one. */
type JobEntry = Job & { last: JobRun | null; next_at: number | null; under_way: RunningJob | null }
type RunningJob = { started_at: number; done: Promise<void>; stop: AbortController }
type JobOutcome = { outcome: string } | { error: string; retry_at: number | null } | 'stopped'

/** How often Windfall looks for due jobs. */
const TICK_SCHEDULE = '*/5 * * * * *'
const CUT_OFF = 'the process ended during the run'
const STOPPED = 'stopped by the shutdown of the server'

/**
 * Opens the jobs. No job runs on its schedule before `start`. A job never overlaps itself. A failed job is logged and
 * retried after growing delays.
 */
export function openJobs(jobs: readonly Job[], deps: Deps) {
  const { store, clock, log, random = Math.random, shutdown_ms = 10_000 } = deps
  const runs = openJobRuns(store)
  let schedules = deps.schedules
  let timer: Cron | null = null
  let isClosing = false
  let looked_at = 0
  const written = new Map(runs.list().map((run) => [run.job, run]))
  const known: readonly JobEntry[] = jobs.map((job) => ({
    ...job,
    last: written.get(job.name) ?? null,
    next_at: null,
    under_way: null,
  }))

  /** The jitter of a run, 0 to 1. A backup sends no requests to other servers, so it runs exactly on schedule. */
  const part = (job: JobName): number => (job === 'backup' ? 0 : (random() * schedules.jitter_percent) / 100)

  /** Schedules every job and starts the timer. Jobs that missed a run are due immediately. */
  function start(): void {
    const now = clock()
    for (const job of known) job.next_at = firstRun(job, now)
    timer = new Cron(TICK_SCHEDULE, { unref: true }, () => void tick())
  }

  function firstRun({ name, last }: JobEntry, now: number): number | null {
    const schedule = schedules[name]
    if (schedule === OFF) return null
    if (last === null || isOfFuture(last, now)) return now
    if (last.failures > 0) return last.next_at ?? now
    const isDue = (last.next_at ?? now) <= now || isMissed(schedule, last.started_at, now)
    return isDue ? now : nextRun(schedule, now, part(name))
  }

  /** Starts the due jobs that are not running. Resolves when they have ended. */
  async function tick(): Promise<void> {
    const now = clock()
    if (now < looked_at) shiftSchedules(looked_at - now)
    looked_at = now
    const due = known.filter(({ next_at, under_way }) => next_at !== null && next_at <= now && !under_way)
    if (!isClosing) await Promise.all(due.map(begin))
  }

  /** The clock was set back: without this, scheduled jobs would wait until it catches up. */
  function shiftSchedules(by_ms: number): void {
    for (const job of known) if (job.next_at !== null) job.next_at -= by_ms
  }

  function begin(job: JobEntry): Promise<void> {
    const stop = new AbortController()
    const done = perform(job, stop.signal)
    job.under_way = { started_at: clock(), done, stop }
    return done
  }

  async function perform(job: JobEntry, signal: AbortSignal): Promise<void> {
    const failures = job.last?.failures ?? 0
    const started_at = clock()
    try {
      // A run counts as failed until it succeeds, so a job that crashes the process is not run at every start.
      await write(job, {
        ...failed(job, failures, started_at, null),
        started_at,
        finished_at: null,
        error: null,
      })
      const ended = await attempt(job, signal)
      await write(job, { ...endedRun(job, ended, failures), started_at })
    } catch (error) {
      job.next_at = failed(job, failures, started_at, null).next_at
      log.error('a job could not be recorded', { job: job.name, error })
    } finally {
      job.under_way = null
    }
  }

  async function write(job: JobEntry, run: Omit<JobRun, 'job'>): Promise<void> {
    const whole = { ...run, job: job.name }
    await store.commit(() => runs.write(whole))
    job.last = whole
    job.next_at = whole.next_at
  }

  async function attempt(job: JobEntry, signal: AbortSignal): Promise<JobOutcome> {
    try {
      if (signal.aborted) return 'stopped'
      const outcome = await job.run(signal)
      if (signal.aborted) return 'stopped'
      log.debug('job done', { job: job.name, outcome })
      return { outcome }
    } catch (error) {
      if (signal.aborted) return 'stopped'
      log.error('a job failed', { job: job.name, ...errorFields(error) })
      return { error: error instanceof Error ? error.message : String(error), retry_at: retryOf(error) }
    }
  }

  /** The stored run of a job that ended, without `started_at`. */
  function endedRun(job: JobEntry, ended: JobOutcome, failures: number): Omit<JobRun, 'job' | 'started_at'> {
    const now = clock()
    const schedule = schedules[job.name]
    if (ended === 'stopped')
      return {
        finished_at: now,
        outcome: STOPPED,
        error: null,
        failures,
        next_at: schedule === OFF ? null : now,
      }
    if ('error' in ended) return failed(job, failures, now, ended.error, ended.retry_at)
    if (failures > 0) log.info('a job works again', { job: job.name, failures })
    const next_at = nextRun(schedule, now, part(job.name))
    return { finished_at: now, outcome: ended.outcome, error: null, failures: 0, next_at }
  }

  /** The stored run of a job that failed. */
  function failed(
    job: JobEntry,
    before: number,
    now: number,
    error: string | null,
    retry_at: number | null = null,
  ) {
    const failures = before + 1
    const next_at = retryAt({ failures, now, schedule: schedules[job.name], part: part(job.name), retry_at })
    return { finished_at: now, outcome: null, error, failures, next_at }
  }

  /**
   * Runs a job now and resolves with its state afterwards.
   *
   * @throws Refusal 404 `unknown_job`; 409 `job_running` if it is already running.
   */
  async function runNow(name: string): Promise<JobState> {
    const job = known.find((one) => one.name === name)
    const names = known.map((one) => one.name).join(', ')
    if (!job) throw new Refusal(404, 'unknown_job', `there is no job ${name}; the jobs are: ${names}`)
    if (job.under_way || isClosing) throw new Refusal(409, 'job_running', `${name} is already running`)
    await begin(job)
    return stateOf(job)
  }

  function stateOf({ name, last, next_at, under_way }: JobEntry): JobState {
    const { started_at = null, finished_at = null, outcome = null, error = null } = last ?? {}
    const isCutOff = last !== null && finished_at === null && !under_way
    const shared = { job: name, schedule: schedules[name], running: under_way !== null, next_at }
    return {
      ...shared,
      started_at: under_way?.started_at ?? started_at,
      finished_at,
      duration_ms: started_at === null || finished_at === null ? null : finished_at - started_at,
      outcome,
      error: isCutOff ? CUT_OFF : error,
      failures: (last?.failures ?? 0) - (under_way && last?.finished_at === null ? 1 : 0),
    }
  }

  /** The state of every job, in the order of `jobList`. */
  const list = (): JobState[] => known.map(stateOf)

  /** Applies new schedules. Jobs whose schedule changed are rescheduled, except those that wait for a retry. */
  function reschedule(next: Schedules): void {
    const before = schedules
    schedules = next
    if (timer === null) return
    for (const job of known) {
      const isFailing = (job.last?.failures ?? 0) > 0 && next[job.name] !== OFF && before[job.name] !== OFF
      if (next[job.name] === before[job.name] || isFailing) continue
      job.next_at = nextRun(next[job.name], clock(), part(job.name))
    }
  }

  /** Starts no more jobs, aborts the running ones, and waits up to `shutdown_ms` for them. */
  async function close(): Promise<void> {
    isClosing = true
    timer?.stop()
    const under_way = known.flatMap((job) => job.under_way ?? [])
    for (const { stop } of under_way) stop.abort(new Error(STOPPED))
    if (under_way.length === 0) return
    const timeout = AbortSignal.timeout(shutdown_ms)
    const waited = new Promise((resolve) => timeout.addEventListener('abort', resolve))
    await Promise.race([Promise.all(under_way.map(({ done }) => done)), waited])
  }

  return { start, tick, runNow, list, runs: runs.list, reschedule, close }
}

/** Whether the clock was ahead when a run was recorded: its `next_at` may be years away. */
const isOfFuture = ({ started_at, finished_at }: JobRun, now: number): boolean =>
  (finished_at ?? started_at) > now

/** A plain Error has a message for a person, so its stack is not logged. Unexpected errors keep theirs. */
function errorFields(error: unknown): { reason: string } | { error: unknown } {
  const isLogged = error instanceof Error && (error.constructor === Error || 'retry_at' in error)
  return isLogged ? { reason: error.message } : { error }
}

/** The error's `retry_at`, before which a retry is useless; null without one. */
const retryOf = (error: unknown): number | null =>
  error instanceof Error && 'retry_at' in error && typeof error.retry_at === 'number' ? error.retry_at : null
