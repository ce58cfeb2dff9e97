/** What an endpoint gave up, with the two ways out: send it again, or dismiss it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../http.ts'
import { Confirm, useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { Icon } from '../../parts/icons.tsx'
import { instant } from '../../words.ts'
import { lostWords } from './endpoint_state.ts'
import { type Endpoint, endpointPath, refreshWebhooks } from './webhook_queries.ts'

type LossesProps = { endpoint: Endpoint }

const Dismiss = ({ endpoint, onClose }: LossesProps & { onClose: () => void }): JSX.Element => (
  <Confirm
    title={`Dismiss ${lostWords(endpoint)}`}
    verb="Dismiss"
    isDanger={false}
    onClose={onClose}
    action={async () => {
      // What was given up since this page was read is not dismissed unseen.
      await write('POST', endpointPath(endpoint.id, 'dismiss'), { until_at: endpoint.health.last_lost_at })
      await refreshWebhooks()
    }}
  >
    <p>
      Dismissed events are no longer reported, and a replay of all that failed leaves them out. The log keeps
      them.
    </p>
  </Confirm>
)

/** Nothing if nothing is lost. */
export function Losses({ endpoint }: LossesProps): JSX.Element | null {
  const [isDismissing, setDismissing] = useState(false)
  const { run, isBusy, problem } = useMutation(async () => {
    await write('POST', endpointPath(endpoint.id, 'replay'), { failed: true })
    await refreshWebhooks()
  })
  const { lost, first_lost_at, is_unsteady } = endpoint.health
  if (lost === 0 || first_lost_at === null) return null
  return (
    <div class="notice warn" role="status">
      <div class="stack-s">
        <p>
          The receiver does not have {lostWords(endpoint)}
          {lost > 1 && `, the first`} given up {instant(first_lost_at)}.
          {is_unsteady && ' Fewer than 90 % of the attempts succeed.'} Repair the receiver, then send{' '}
          {lost > 1 ? 'them again with the same ids' : 'it again with the same id'}.
        </p>
        <ErrorMessage message={problem} />
        <div class="row">
          <button type="button" class="button" disabled={isBusy} onClick={run}>
            <Icon name="undo" /> Replay all that failed
          </button>
          <button type="button" class="button" onClick={() => setDismissing(true)}>
            Dismiss
          </button>
        </div>
      </div>
      {isDismissing && <Dismiss endpoint={endpoint} onClose={() => setDismissing(false)} />}
    </div>
  )
}
