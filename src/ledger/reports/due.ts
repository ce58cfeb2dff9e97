/** Computes from Apple's last answer when to request a day of a report again. All instants are in milliseconds. */
import { addDays, pacificDay, pacificDayOf } from '../../days.ts'

export type DayState = 'done' | 'empty' | 'not_yet' | 'missing' | 'failed'

/** The columns of an import_days row that determine when the day is due. */
type KnownDay = { state: DayState; asked_at: number; due_at: number | null }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Apple provides daily reports for a year. */
export const REPORT_RETENTION_DAYS = 365
/**
 * A day is fresh for this long after its end. Apple may revise a fresh day, or report no sales although it had some.
 */
const FRESH_MS = 3 * DAY_MS
const FRESH_RECHECK_MS = 6 * HOUR_MS
/** Apple's answer that a day is empty although SALES has sales is accepted after this number of requests. */
const MAX_SUSPECT_TRIES = 8

/** The last `days` days in Pacific time up to yesterday. The oldest come first, because Apple deletes them next. */
export function expectedDays(now: number, days: number = REPORT_RETENTION_DAYS): string[] {
  const today = pacificDayOf(now)
  return Array.from({ length: days }, (_, index) => addDays(today, index - days))
}

/** Whether to request a day now. If it was requested in the future, the clock was ahead then, and the day is due. */
export const isDue = (known: KnownDay | undefined, now: number): boolean =>
  known === undefined || (known.due_at !== null && (known.due_at <= now || known.asked_at > now))

export const isFresh = (day: string, now: number): boolean => now < pacificDay(day).until + FRESH_MS

/** When to request an answered day again; null if the day is settled: no longer fresh, and not just revised. */
export function dueAfterAnswer(day: string, now: number, isRevised: boolean): number | null {
  if (isFresh(day, now)) return now + FRESH_RECHECK_MS
  return isRevised ? now + DAY_MS : null
}

/**
 * When to request a day again after `tries` answers of “not yet”, including the current one. Apple publishes a fresh
 * day in the morning, at no fixed time, so the day is due at every hourly run.
 */
export const dueAfterNotYet = (day: string, now: number, tries: number): number =>
  now + (isFresh(day, now) ? HOUR_MS / 2 : backOffMs(HOUR_MS, tries))

/** When to request a day again after `tries` failures, including the current one. */
export const dueAfterFailure = (now: number, tries: number): number => now + backOffMs(5 * MINUTE_MS, tries)

/** When to request a day again that is empty although SALES has sales; null if Apple has repeated the answer. */
export const dueAfterSuspicion = (now: number, tries: number): number | null =>
  tries >= MAX_SUSPECT_TRIES ? null : now + backOffMs(HOUR_MS, tries)

const backOffMs = (first_ms: number, tries: number): number =>
  Math.min(DAY_MS, first_ms * 2 ** Math.min(tries - 1, 10))
