/** The "Show more" button of a paged list. */
import type { JSX } from 'preact'
import type { Paged } from '../paged_queries.ts'

type Props = Pick<Paged<never>, 'more' | 'isBusy' | 'problem'> & { label?: string }

export const ShowMore = ({ more, isBusy, problem, label = 'Show more' }: Props): JSX.Element | null =>
  more === null ? null : (
    <div class="show-more">
      {problem && (
        <p class="bad small" role="alert">
          {problem.message}
        </p>
      )}
      <button type="button" class="button" disabled={isBusy} onClick={more}>
        {isBusy ? 'Loading …' : problem ? 'Try again' : label}
      </button>
    </div>
  )
