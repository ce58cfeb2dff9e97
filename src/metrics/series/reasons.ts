/** Why figures are null or incomplete: the codes, and the ranges of days to which they apply. */
import { DAY_REASONS } from '../joined/days.ts'
import type { Bucket } from '../sums/tallies.ts'
import { isWhollyKnown } from '../unknown_reasons.ts'
import { daysOfBucket } from './buckets.ts'

/** The codes. A later version may add some. */
export const REASONS = [
  ...DAY_REASONS,
  'not_converted',
  'not_one_interval',
  'unfinished',
  'provisional_rate',
  'pending',
] as const
export type Reason = (typeof REASONS)[number]

/** What each code says. */
export const REASON_TEXTS: Readonly<Record<Reason, string>> = {
  never_heard: 'Nothing was heard of the app in this environment.',
  before_ledger: 'Notifications arrive since a later day, or since a time of this day.',
  no_reports: 'A report of Apple is missing, and the ledger did not have all notifications then.',
  suspect_report: 'Apple’s report of the day is empty and cannot be true.',
  unread_rows: 'Apple’s report of the day has rows that cannot be read and are left out.',
  not_in_reports: 'Apple’s reports do not have it, such as the day of the charge of a refund.',
  joined: 'The source changes within the day.',
  older_unknown: 'Subscriptions that are older than the ledger may be missing, or their status.',
  grace: 'A grace period may have been running when the first notification arrived.',
  behind: 'Some subscriptions could not be computed, or their proceeds are not recomputed yet.',
  not_converted: 'There is no exchange rate for an amount; the point lists it.',
  not_one_interval: 'A churn rate is of one interval, and the days are part of one, or several.',
  unfinished: 'The interval is not over.',
  provisional_rate: 'An exchange rate is not final.',
  pending: 'The outcome is open, or the start of a subscription is not known.',
}

/** Days of a series whose points are null or incomplete for one reason. Ranges of several reasons may overlap. */
export type ReasonRange = { reason: Reason; from_on: string; until_on: string }

/** The ranges of each reason, given the reasons of each bucket, ordered by their first day. */
export function reasonRanges(
  buckets: readonly Bucket[],
  reasons: readonly (readonly Reason[])[],
): ReasonRange[] {
  const ranges: (Bucket & { reason: Reason })[] = []
  const open = new Map<Reason, Bucket>()
  for (const [at, bucket] of buckets.entries())
    for (const reason of reasons[at] ?? []) {
      const last = open.get(reason)
      if (last?.until === bucket.from - 1) last.until = bucket.until
      else {
        const range = { ...bucket, reason }
        ranges.push(range)
        open.set(reason, range)
      }
    }
  return ranges.map(({ reason, ...bucket }) => ({ reason, ...daysOfBucket(bucket) }))
}

/** The reasons of the point that begins on a day. */
export const reasonsOn = (ranges: readonly ReasonRange[], on: string): Reason[] =>
  ranges.filter(({ from_on, until_on }) => from_on <= on && on <= until_on).map(({ reason }) => reason)

/** Whether the point that begins on a day is wholly known, so that it can be compared with others. */
export const isKnownOn = (series: { reasons: readonly ReasonRange[] } | undefined, on: string): boolean =>
  isWhollyKnown(reasonsOn(series?.reasons ?? [], on))
