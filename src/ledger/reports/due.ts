/** What we compute: when a day of a report is to be asked for, by what Apple said of it last. */
import { addDays, pacificDay, pacificDayOf } from '../../days.ts'

export type DayState = 'done' | 'empty' | 'not_yet' | 'missing' | 'failed'

/** What a row of import_days tells of a day. */
type KnownDay = { state: DayState; asked_at: number; due_at: number | null }

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Apple keeps daily reports for a year. */
export const REPORT_RETENTION_DAYS = 365
/** For so long after its end Apple may still revise a day, and says at times that there were no sales when there were. */
const FRESH_MS = 3 * DAY
const FRESH_AGAIN_MS = 6 * HOUR
/** How often Apple may say that nothing was sold where other reports show it was, before it is believed. */
const SUSPECT_TRIES = 8

/** The days to have, oldest first: they are the next that Apple lets go of. The last is yesterday's, in Pacific time. */
export function expectedDays(now: number, days: number = REPORT_RETENTION_DAYS): string[] {
  const today = pacificDayOf(now)
  return Array.from({ length: days }, (_, index) => addDays(today, index - days))
}

/** Whether to ask for a day now. A day asked in the future was asked while the clock was ahead, and is due. */
export const isDue = (known: KnownDay | undefined, now: number): boolean =>
  known === undefined || (known.due_at !== null && (known.due_at <= now || known.asked_at > now))

export const isFresh = (day: string, now: number): boolean => now < pacificDay(day).until + FRESH_MS

/** When to look again at a day that Apple answered; null when it is settled: read, no longer fresh, and not revised. */
export function dueAfterAnswer(day: string, now: number, isRevised: boolean): number | null {
  if (isFresh(day, now)) return now + FRESH_AGAIN_MS
  return isRevised ? now + DAY : null
}

/**
 * When to ask again after `tries` answers, this one included, of “not yet”. A fresh day is made in the morning, at no
 * certain time: whoever looks every hour asks every time.
 */
export const dueAfterNotYet = (day: string, now: number, tries: number): number =>
  now + (isFresh(day, now) ? HOUR / 2 : backOff(HOUR, tries))

/** When to ask again after `tries` failures, this one included. */
export const dueAfterFailure = (now: number, tries: number): number => now + backOff(5 * MINUTE, tries)

/** When to ask again for a day said to be empty that cannot be; null when it was said too often to go on. */
export const dueAfterSuspicion = (now: number, tries: number): number | null =>
  tries >= SUSPECT_TRIES ? null : now + backOff(HOUR, tries)

const backOff = (first: number, tries: number): number => Math.min(DAY, first * 2 ** Math.min(tries - 1, 10))
