/** The dialogs that pause, resume and retry an endpoint. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../http.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { instant } from '../../words.ts'
import { waitingWords } from './endpoint_state.ts'
import { type Endpoint, endpointPath, refreshWebhooks } from './webhook_queries.ts'

type PausingProps = { endpoint: Endpoint; onClose: () => void }

export const Pause = ({ endpoint, onClose }: PausingProps): JSX.Element => (
  <Confirm
    title={`Pause “${endpoint.name}”`}
    verb="Pause"
    isDanger={false}
    onClose={onClose}
    action={async () => {
      await write('POST', endpointPath(endpoint.id, 'pause'))
      await refreshWebhooks()
    }}
  >
    <p>
      Nothing is sent until you resume. What arrives meanwhile waits, and you choose then whether to send it.
    </p>
  </Confirm>
)

export const Retry = ({ endpoint, onClose }: PausingProps): JSX.Element => (
  <Confirm
    title={`Retry “${endpoint.name}” now`}
    verb="Retry now"
    isDanger={false}
    onClose={onClose}
    action={async () => {
      await write('POST', endpointPath(endpoint.id, 'retry'))
      await refreshWebhooks()
    }}
  >
    <p>
      {endpoint.state === 'failing'
        ? 'One of the waiting events is tried now. Its success makes the endpoint active, and the others follow.'
        : 'Everything that waits is sent now, also if the receiver asked to wait. These attempts use up none of the ten.'}
    </p>
  </Confirm>
)

/** What waits, with its age: `3 events, since Nov 20, 2026, 2:00 PM`. */
function waitingSince(endpoint: Endpoint): string {
  const { waiting, oldest_waiting_at } = endpoint.health
  if (waiting === 0) return 'nothing waits'
  return oldest_waiting_at === null
    ? waitingWords(endpoint)
    : `${waitingWords(endpoint)}, since ${instant(oldest_waiting_at)}`
}

export function Resume({ endpoint, onClose }: PausingProps): JSX.Element {
  const [from, setFrom] = useState<'waiting' | 'now'>('waiting')
  return (
    <Confirm
      title={`Resume “${endpoint.name}”`}
      verb="Resume"
      isDanger={false}
      onClose={onClose}
      action={async () => {
        await write('POST', endpointPath(endpoint.id, 'resume'), { from })
        await refreshWebhooks()
      }}
    >
      <fieldset class="plain-set choices">
        <legend class="spoken">Where to continue</legend>
        <label>
          <input type="radio" name="from" checked={from === 'waiting'} onClick={() => setFrom('waiting')} />
          <span>
            Send what waited <span class="quiet">({waitingSince(endpoint)})</span>
          </span>
        </label>
        <label>
          <input type="radio" name="from" checked={from === 'now'} onClick={() => setFrom('now')} />
          Continue from now
        </label>
      </fieldset>
      <p class="quiet">
        {from === 'waiting'
          ? 'Everything is sent, oldest first.'
          : 'What waited is skipped. You can still replay it later.'}
      </p>
    </Confirm>
  )
}
