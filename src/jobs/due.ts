/** What we compute: when a job is to run, by its schedule, by chance, and after it failed. */
import { Cron } from 'croner'

/** A cron pattern in UTC, or that no clock starts it. */
export type Schedule = string

export const OFF = 'off'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** However often a job runs, it comes to wait this long; and however seldom, never longer than that. */
const MIN_BACKOFF_MS = 15 * MINUTE_MS
const MAX_BACKOFF_MS = 360 * MINUTE_MS

/** The first instant after `from` that a pattern names; null where none does. */
export function nextScheduled(schedule: Schedule, from: number): number | null {
  if (schedule === OFF) return null
  return new Cron(schedule, { timezone: 'UTC', mode: '5-part' }).nextRun(new Date(from))?.getTime() ?? null
}

/** The time between two runs, from an instant on; null where there is no next one. */
function periodAt(schedule: Schedule, from: number): number | null {
  const first = nextScheduled(schedule, from)
  const second = first === null ? null : nextScheduled(schedule, first)
  return first === null || second === null ? null : second - first
}

/**
 * When a job is to run next: the first instant after `from` that its schedule names, and later by `part` (0 to 1) of
 * the time to the one after that. Every installation has a part of its own, so that they do not all call at once.
 */
export function nextRun(schedule: Schedule, from: number, part: number): number | null {
  const first = nextScheduled(schedule, from)
  if (first === null) return null
  return first + Math.floor((periodAt(schedule, from) ?? 0) * part)
}

/** Whether a run should have begun since the last one did. */
export function isMissed(schedule: Schedule, last_started_at: number, now: number): boolean {
  const due = nextScheduled(schedule, last_started_at)
  return due !== null && due <= now
}

type FailedRun = {
  /** How often in a row, this time included. */
  failures: number
  now: number
  schedule: Schedule
  /** As in `nextRun`. */
  part: number
  /** Not before this, as whoever refused it said; believed for a day at most. */
  retry_at?: number | null
}

/**
 * When a job that failed is to run again: after one minute, and after twice as long each time, up to the time between
 * two runs, where that lies between a quarter of an hour and six hours: what fails for one app is not to keep it from
 * the others for longer than usual. null where no clock starts it.
 */
export function retryAt({ failures, now, schedule, part, retry_at = null }: FailedRun): number | null {
  if (schedule === OFF) return null
  const period = periodAt(schedule, now) ?? 0
  const most = Math.min(Math.max(period, MIN_BACKOFF_MS), MAX_BACKOFF_MS)
  const wait = Math.min(MINUTE_MS * 2 ** Math.min(failures - 1, 20), most)
  const earliest = retry_at === null ? 0 : Math.min(retry_at, now + DAY_MS)
  return Math.max(now + wait, earliest) + Math.floor(wait * part)
}
