/** Schedules the next request for a day of a report, by Apple's last answer. */
import { addDays, pacificDay, pacificDayOf } from '../../days.ts'

export type DayState = 'done' | 'empty' | 'not_yet' | 'missing' | 'failed'

/** The part of an import_days row that decides when a day is due. */
type KnownDay = { state: DayState; asked_at: number; due_at: number | null }

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Apple keeps daily reports for a year. */
export const REPORT_RETENTION_DAYS = 365
/** For this long after its end Apple may revise a day, and sometimes answers that a day with sales had none. */
const FRESH_MS = 3 * DAY
const FRESH_AGAIN_MS = 6 * HOUR
/** How often Apple may answer that a day is empty although other reports have sales, before the answer is accepted. */
const SUSPECT_TRIES = 8

/** The days to import, oldest first: Apple deletes those next. The last is yesterday's, in Pacific time. */
export function expectedDays(now: number, days: number = REPORT_RETENTION_DAYS): string[] {
  const today = pacificDayOf(now)
  return Array.from({ length: days }, (_, index) => addDays(today, index - days))
}

/** Whether to request a day now. A day requested in the future was requested while the clock was ahead, and is due. */
export const isDue = (known: KnownDay | undefined, now: number): boolean =>
  known === undefined || (known.due_at !== null && (known.due_at <= now || known.asked_at > now))

export const isFresh = (day: string, now: number): boolean => now < pacificDay(day).until + FRESH_MS

/** When to check a day again that Apple answered; null when it is settled: read, no longer fresh, and not revised. */
export function dueAfterAnswer(day: string, now: number, isRevised: boolean): number | null {
  if (isFresh(day, now)) return now + FRESH_AGAIN_MS
  return isRevised ? now + DAY : null
}

/**
 * When to retry after `tries` answers of “not yet”, this one included. A fresh day is published in the morning, at no
 * fixed time, so it is due at every hourly run.
 */
export const dueAfterNotYet = (day: string, now: number, tries: number): number =>
  now + (isFresh(day, now) ? HOUR / 2 : backOff(HOUR, tries))

/** When to retry after `tries` failures, this one included. */
export const dueAfterFailure = (now: number, tries: number): number => now + backOff(5 * MINUTE, tries)

/** When to request a day again that is empty but cannot be; null when Apple has repeated it often enough. */
export const dueAfterSuspicion = (now: number, tries: number): number | null =>
  tries >= SUSPECT_TRIES ? null : now + backOff(HOUR, tries)

const backOff = (first: number, tries: number): number => Math.min(DAY, first * 2 ** Math.min(tries - 1, 10))
