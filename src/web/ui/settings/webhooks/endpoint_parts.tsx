/** Parts of an endpoint that the list and its page show. */
import type { JSX } from 'preact'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { instant } from '../../words.ts'
import { lostWords, stateWords, waitingWords } from './endpoint_state.ts'
import type { Endpoint } from './webhook_queries.ts'

export const StateBadge = ({ endpoint }: { endpoint: Endpoint }): JSX.Element => {
  const { title, tone } = stateWords(endpoint)
  return <span class={`badge ${tone}`}>{title}</span>
}

/** How many events wait, and since when, and how many were given up. */
export const Waiting = ({ endpoint }: { endpoint: Endpoint }): JSX.Element => (
  <>
    {endpoint.health.waiting === 0 ? <span class="quiet">None</span> : waitingWords(endpoint)}
    {endpoint.health.oldest_waiting_at !== null && (
      <div class="tiny quiet">
        oldest <RelativeTime at={endpoint.health.oldest_waiting_at} />
      </div>
    )}
    {endpoint.health.hold_until_at !== null && (
      <div class="tiny">The receiver asked to wait until {instant(endpoint.health.hold_until_at)}</div>
    )}
    {endpoint.health.lost > 0 && <div class="tiny">{lostWords(endpoint)} given up</div>}
  </>
)
