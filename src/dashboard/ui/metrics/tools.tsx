/** What can be done with a metric on a card: split it, take it along. And what is said under it. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { Popover } from '../parts/popover.tsx'
import { type MetricAnswer, SPLIT_TITLES } from './answer.ts'
import { wholesOf } from './lines.ts'
import { estimateOf, originOf, unconvertedOf, unpricedOf } from './origins.ts'

export const Notes = ({ answer }: { answer: MetricAnswer }): JSX.Element => (
  <>
    <span>{originOf(answer)}</span>
    {[estimateOf(answer), unconvertedOf(answer), unpricedOf(answer)].map(
      (note) => note && <span key={note}>{note}</span>,
    )}
    {answer.rebuilding && (
      <span class="warn">
        Being counted anew: {answer.rebuilding.done} of {answer.rebuilding.of}. What is shown is from before.
      </span>
    )}
    {wholesOf(answer)[0]?.points.some(({ complete }) => !complete) && (
      <span>Dashed: not all of its data is there yet.</span>
    )}
  </>
)

export function SplitPick({
  splits,
  value,
  onPick,
}: {
  splits: readonly string[]
  value: string | null
  onPick: (split: string | null) => void
}): JSX.Element | null {
  if (splits.length === 0) return null
  return (
    <label>
      <span class="spoken">Split</span>
      <select
        class="select slim"
        value={value ?? ''}
        onChange={(event) => onPick(event.currentTarget.value || null)}
      >
        <option value="">Not split</option>
        {splits.map((split) => (
          <option key={split} value={split}>
            {SPLIT_TITLES[split] ?? split}
          </option>
        ))}
      </select>
    </label>
  )
}

export const TakeAlong = ({ csv, picture }: { csv: string; picture: (() => void) | null }): JSX.Element => (
  <Popover buttonClass="button plain icon" class="menu" title="Take along" label={<Icon name="download" />}>
    {(close) => (
      <>
        <a class="item" href={csv} download onClick={close}>
          <Icon name="table" class="small-icon" /> CSV of these figures
        </a>
        {picture && (
          <button
            type="button"
            class="item"
            onClick={() => {
              picture()
              close()
            }}
          >
            <Icon name="image" class="small-icon" /> PNG of this chart
          </button>
        )}
      </>
    )}
  </Popover>
)
