/** Computes when digests are due, and which days they are about. */
import { type Calendar, type DayNumber, weekOf } from '../../metrics/lineage/calendar.ts'
import type { DigestKind } from './figures.ts'

/** A digest that is due: the local date of its key, and since when. */
export type DueDigest = Readonly<{ kind: DigestKind; day: DayNumber; due_at: number }>

/** The days of a digest, both included. */
type DigestPeriod = Readonly<{ from: DayNumber; until: DayNumber }>

const isMonday = (day: DayNumber): boolean => weekOf(day) !== weekOf(day - 1)

/**
 * The digests of a kind that became due today or yesterday, by the calendar of the owner’s zone. `minutes` is the wall
 * time after midnight. A time that the clocks skip is the next valid instant, and of a doubled one the first counts.
 */
export function dueDigests(kind: DigestKind, minutes: number, calendar: Calendar, now: number): DueDigest[] {
  const today = calendar.dayOf(now)
  return [today - 1, today]
    .filter((day) => kind === 'daily' || isMonday(day))
    .map((day) => ({ kind, day, due_at: calendar.instantOf(day, minutes) }))
    .filter(({ due_at }) => due_at <= now)
}

/** The day of the digest that is the newest on a day: the day itself, or the Monday of its week. */
export function newestDigestDay(kind: DigestKind, today: DayNumber): DayNumber {
  if (kind === 'daily') return today
  return [0, 1, 2, 3, 4, 5, 6].map((back) => today - back).find(isMonday) ?? today
}

/** The days that the digest of a day is about. */
export const periodOf = (kind: DigestKind, day: DayNumber): DigestPeriod => ({
  from: day - (kind === 'daily' ? 1 : 7),
  until: day - 1,
})
