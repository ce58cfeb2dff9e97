/** Computes when a job runs next: from its schedule, with jitter, and after failures. */
import { Cron } from 'croner'

/** A cron pattern in UTC, or `off`. */
export type Schedule = string

export const OFF = 'off'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** The maximum delay after failures depends on the schedule and lies between these limits. */
const MIN_BACKOFF_CAP_MS = 15 * MINUTE_MS
const MAX_BACKOFF_CAP_MS = 360 * MINUTE_MS

/** The first instant after `from` that matches the schedule, in milliseconds; null if there is none. */
export function nextScheduled(schedule: Schedule, from: number): number | null {
  if (schedule === OFF) return null
  // An offset, not the time zone UTC: for a zone, croner opens a time format, the first of which takes 10 ms.
  return new Cron(schedule, { utcOffset: 0, mode: '5-part' }).nextRun(new Date(from))?.getTime() ?? null
}

/** The time between the next two runs after `from`, in milliseconds; null if there are fewer than two. */
function periodAt(schedule: Schedule, from: number): number | null {
  const first = nextScheduled(schedule, from)
  const second = first === null ? null : nextScheduled(schedule, first)
  return first === null || second === null ? null : second - first
}

/**
 * When a job runs next: the first instant after `from` that matches its schedule, plus a delay. The delay is the
 * fraction `jitter` (0 to 1) of the time until the following match. A random jitter prevents that all installations
 * send requests at the same time.
 */
export function nextRun(schedule: Schedule, from: number, jitter: number): number | null {
  const first = nextScheduled(schedule, from)
  if (first === null) return null
  return first + Math.floor((periodAt(schedule, from) ?? 0) * jitter)
}

/** Whether a run was scheduled between the start of the last run and now. */
export function isMissed(schedule: Schedule, last_started_at: number, now: number): boolean {
  const due = nextScheduled(schedule, last_started_at)
  return due !== null && due <= now
}

type FailedRun = {
  /** The number of consecutive failures, including the current one. */
  failures: number
  now: number
  schedule: Schedule
  /** As in `nextRun`. */
  jitter: number
  /** The earliest retry that the error states. A retry is delayed by at most a day. */
  retry_at?: number | null
}

/**
 * When a failed job runs again: after one minute, then after twice the previous delay. The maximum delay is the time
 * between two scheduled runs, but at least 15 minutes and at most six hours. So a failure for one app hardly delays the
 * other apps. Null if the schedule is `off`.
 */
export function retryAt({ failures, now, schedule, jitter, retry_at = null }: FailedRun): number | null {
  if (schedule === OFF) return null
  const period_ms = periodAt(schedule, now) ?? 0
  const cap_ms = Math.min(Math.max(period_ms, MIN_BACKOFF_CAP_MS), MAX_BACKOFF_CAP_MS)
  const wait_ms = Math.min(MINUTE_MS * 2 ** Math.min(failures - 1, 20), cap_ms)
  const earliest_at = retry_at === null ? 0 : Math.min(retry_at, now + DAY_MS)
  return Math.max(now + wait_ms, earliest_at) + Math.floor(wait_ms * jitter)
}
