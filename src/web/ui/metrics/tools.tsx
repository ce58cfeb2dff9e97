/** Controls and notes of a metric card. */
import type { JSX } from 'preact'
import { ReasonNotes } from '../charts/reasons.ts'
import { type MetricAnswer, SPLIT_TITLES } from './metric_answer.ts'
import {
  behindNote,
  differenceNotes,
  noPeriodNote,
  passingNote,
  proceedsNote,
  unconvertedNote,
  unpricedNote,
} from './origins.ts'

/** What a reader must know of these figures. The definition of a card names their source. */
export const Notes = ({ answer }: { answer: MetricAnswer }): JSX.Element => (
  <>
    {differenceNotes(answer).map((label) => (
      <span key={label}>{label}</span>
    ))}
    {[proceedsNote, unconvertedNote, unpricedNote, noPeriodNote, passingNote].map((noteOf) => {
      const note = noteOf(answer)
      return note && <span key={note}>{note}</span>
    })}
    {answer.series.some(({ reasons }) => reasons.length > 0) && <ReasonNotes {...answer} />}
    {answer.cutovers.some(({ on }) => on >= answer.from_on && on <= answer.until_on) && (
      <span>Dotted line: the data source changes.</span>
    )}
    {behindNote(answer) && <span class="warn">{behindNote(answer)}</span>}
    {answer.rebuilding && (
      <span class="warn">
        Recomputing: {answer.rebuilding.done} of {answer.rebuilding.of}. Until then, the previous figures are
        shown.
      </span>
    )}
  </>
)

type SelectProps = {
  label: string
  /** Title of the empty choice. */
  none: string
  choices: readonly { value: string; title: string }[]
  value: string | null
  onPick: (value: string | null) => void
}

/** A select with an empty choice. */
export const ChoiceMenu = ({ label, none, choices, value, onPick }: SelectProps): JSX.Element => (
  <label>
    <span class="spoken">{label}</span>
    <select
      class="select slim"
      value={value ?? ''}
      onChange={(event) => onPick(event.currentTarget.value || null)}
    >
      <option value="">{none}</option>
      {choices.map((one) => (
        <option key={one.value} value={one.value}>
          {one.title}
        </option>
      ))}
    </select>
  </label>
)

type SplitProps = { splits: readonly string[]; value: string | null; onPick: (split: string | null) => void }

export const SplitPick = ({ splits, value, onPick }: SplitProps): JSX.Element | null =>
  splits.length === 0 ? null : (
    <ChoiceMenu
      label="Breakdown"
      none="No breakdown"
      choices={splits.map((split) => ({ value: split, title: SPLIT_TITLES[split] ?? split }))}
      value={value}
      onPick={onPick}
    />
  )

type RefundProps = { value: string | null; onPick: (value: string | null) => void }

/** Selects whether a refund counts on its own date or on the date of the purchase. */
export const RefundDays = ({ value, onPick }: RefundProps): JSX.Element => (
  <ChoiceMenu
    label="Refund date"
    none="Refunds by refund date"
    choices={[{ value: 'purchase_day', title: 'Refunds by purchase date' }]}
    value={value}
    onPick={onPick}
  />
)
