/** Computes when a job runs next: from its schedule, with jitter, and after failures. */
import { Cron } from 'croner'

/** A cron pattern in UTC, or `off`. */
export type Schedule = string

export const OFF = 'off'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** The longest wait after failures lies between these, whatever the schedule. */
const MIN_BACKOFF_CAP_MS = 15 * MINUTE_MS
const MAX_BACKOFF_CAP_MS = 360 * MINUTE_MS

/** The first instant after `from` that matches a pattern; null if there is none. */
export function nextScheduled(schedule: Schedule, from: number): number | null {
  if (schedule === OFF) return null
  return new Cron(schedule, { timezone: 'UTC', mode: '5-part' }).nextRun(new Date(from))?.getTime() ?? null
}

/** The time between the next two runs after an instant, in milliseconds; null if there are fewer. */
function periodAt(schedule: Schedule, from: number): number | null {
  const first = nextScheduled(schedule, from)
  const second = first === null ? null : nextScheduled(schedule, first)
  return first === null || second === null ? null : second - first
}

/**
 * When a job runs next: the first instant after `from` that matches its schedule, delayed by `part` (0 to 1) of the
 * time to the following one. `part` is random, so installations do not all send requests at the same time.
 */
export function nextRun(schedule: Schedule, from: number, part: number): number | null {
  const first = nextScheduled(schedule, from)
  if (first === null) return null
  return first + Math.floor((periodAt(schedule, from) ?? 0) * part)
}

/** Whether a run was scheduled between the start of the last one and now. */
export function isMissed(schedule: Schedule, last_started_at: number, now: number): boolean {
  const due = nextScheduled(schedule, last_started_at)
  return due !== null && due <= now
}

type FailedRun = {
  /** Consecutive failures, including this one. */
  failures: number
  now: number
  schedule: Schedule
  /** As in `nextRun`. */
  part: number
  /** The earliest retry, from the error; at most a day ahead counts. */
  retry_at?: number | null
}

/**
 * When a failed job runs again: after one minute, then after twice as long each time, up to the time between two
 * scheduled runs, but at least 15 minutes and at most six hours. A failure for one app thus delays the others little
 * more than usual. Null if the schedule is `off`.
 */
export function retryAt({ failures, now, schedule, part, retry_at = null }: FailedRun): number | null {
  if (schedule === OFF) return null
  const period = periodAt(schedule, now) ?? 0
  const most = Math.min(Math.max(period, MIN_BACKOFF_CAP_MS), MAX_BACKOFF_CAP_MS)
  const wait = Math.min(MINUTE_MS * 2 ** Math.min(failures - 1, 20), most)
  const earliest = retry_at === null ? 0 : Math.min(retry_at, now + DAY_MS)
  return Math.max(now + wait, earliest) + Math.floor(wait * part)
}
