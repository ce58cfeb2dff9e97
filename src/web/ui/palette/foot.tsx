/** The end of the search: what is going on, what failed, and the keys. */
import type { JSX } from 'preact'
import { ErrorMessage } from '../parts/error_message.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty } from '../parts/query_view.tsx'
import { plural } from '../words.ts'
import type { Found, Gap } from './found.ts'

/** What came of an action. */
export type Outcome = { message: string; isFailure: boolean }

const GapNotice = ({ what, problem, retry }: Gap): JSX.Element => (
  <p class="notice warn" role="alert">
    <Icon name={problem.code === 'offline' ? 'offline' : 'warning'} />
    <span>
      {what} could not be searched: {problem.message}{' '}
      <button type="button" class="button plain" onClick={retry}>
        Try again
      </button>
    </span>
  </p>
)

/** What is shown and announced; a count is only announced. */
function Status({
  count,
  text,
  isSearching,
  gaps,
}: Pick<Found, 'isSearching' | 'gaps'> & StatusProps): JSX.Element {
  const typed = text.trim()
  const isEmpty = count === 0 && !isSearching && gaps.length === 0
  return (
    <div role="status" class={count > 0 && !isSearching ? 'spoken' : 'palette-status'}>
      {isSearching && 'Searching …'}
      {isEmpty && (
        <Empty icon="search" title={`Nothing found for “${typed}”`}>
          <p>Try another word, or the first letters of one.</p>
        </Empty>
      )}
      {!isSearching && count > 0 && typed !== '' && `${plural(count, 'result')}`}
    </div>
  )
}

type StatusProps = { count: number; text: string }
type Props = StatusProps & { found: Found; outcome: Outcome | null }

export const Foot = ({ found: { gaps, isSearching }, outcome, ...status }: Props): JSX.Element => (
  <>
    {gaps.map((gap) => (
      <GapNotice key={gap.what} {...gap} />
    ))}
    <Status {...status} gaps={gaps} isSearching={isSearching} />
    <ErrorMessage message={outcome?.isFailure ? outcome.message : null} />
    <div role="status">{outcome && !outcome.isFailure && <p class="notice good">{outcome.message}</p>}</div>
    <p class="palette-hint" aria-hidden="true">
      <kbd>↑</kbd> <kbd>↓</kbd> to choose <kbd>↵</kbd> to open <kbd>Esc</kbd> to close
    </p>
  </>
)
