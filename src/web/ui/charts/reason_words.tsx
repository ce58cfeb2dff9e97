/** Says in words why figures are null or incomplete. It loads late, because few charts need it. */
import type { JSX } from 'preact'
import type { Reason } from '../../../metrics/series/reasons.ts'
import { count, span } from '../words.ts'

export const REASON_WORDS: Readonly<Record<Reason, string>> = {
  never_heard: 'Nothing was heard of the app',
  before_ledger: 'Apple’s notifications began later',
  no_reports: 'Apple’s report is missing',
  suspect_report: 'Apple’s report looks incomplete',
  unread_rows: 'Apple’s report has rows that cannot be read',
  not_in_reports: 'Apple’s reports do not have this figure',
  joined: 'The source of the figures changes',
  older_unknown: 'Subscriptions from before the first notification may be missing',
  grace: 'A grace period may have been running at the first notification',
  not_one_interval: 'The days are not one whole interval, of which a churn rate is',
  behind: 'Some purchases or reports are not counted yet',
  not_converted: 'An exchange rate is missing',
  unfinished: 'Not over yet',
  provisional_rate: 'An exchange rate is not final',
  pending: 'An outcome is still open',
}

/** The newest figures almost always have these, so that a note on their days would be under every chart. */
const USUAL: ReadonlySet<Reason> = new Set(['unfinished', 'provisional_rate', 'pending', 'not_one_interval'])
const MAX_STRETCHES = 3

/** Days for one reason; both ends are `YYYY-MM-DD`. */
type Stretch = { reason: Reason; from_on: string; until_on: string }

/** A sentence for each unusual reason, with its days in the range `from_on` to `until_on`. */
export function reasonNotes(
  series: readonly { reasons: readonly Stretch[] }[],
  { from_on, until_on }: { from_on: string; until_on: string },
): string[] {
  const stretches = series
    .flatMap(({ reasons }) => reasons)
    .filter((one) => !USUAL.has(one.reason) && one.from_on <= until_on && one.until_on >= from_on)
    .map((one) => ({
      reason: one.reason,
      days: span(
        one.from_on < from_on ? from_on : one.from_on,
        one.until_on > until_on ? until_on : one.until_on,
        'day',
      ),
    }))
  return [...Map.groupBy(stretches, ({ reason }) => reason)].map(([reason, own]) => {
    const days = [...new Set(own.map((one) => one.days))]
    const more = days.length - MAX_STRETCHES
    const shown = days.slice(0, MAX_STRETCHES).join(', ')
    return `${shown}${more > 0 ? ` and ${count(more)} more` : ''}: ${REASON_WORDS[reason]}.`
  })
}

/** Why a point is null or incomplete. */
export const ReasonTexts = ({ reasons }: { reasons: readonly Reason[] }): JSX.Element => (
  <>{reasons.map((reason) => REASON_WORDS[reason]).join('. ')}</>
)

type NotesProps = { series: Parameters<typeof reasonNotes>[0]; from_on: string; until_on: string }
export const ReasonNotes = ({ series, ...range }: NotesProps): JSX.Element => (
  <>
    {reasonNotes(series, range).map((note) => (
      <span key={note}>{note}</span>
    ))}
  </>
)
