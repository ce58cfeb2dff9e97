/** Which reasons leave a figure not wholly known, so that a change from or to it would say nothing. */

/** The others change little of a figure, or are those of every day that is not over. */
const UNKNOWN: ReadonlySet<string> = new Set([
  'never_heard',
  'before_ledger',
  'no_reports',
  'suspect_report',
  'unread_rows',
  'older_unknown',
  'not_converted',
])

/** Whether a figure with these reasons is wholly known, given that it is not null. */
export const isWhollyKnown = (reasons: readonly string[]): boolean =>
  !reasons.some((reason) => UNKNOWN.has(reason))
