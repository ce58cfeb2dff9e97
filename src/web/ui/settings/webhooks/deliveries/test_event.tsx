/** The dialog that sends a test event and shows the result. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { eventLabel } from '../../../events/event_labels.ts'
import { nounTitle } from '../../../events/filter_bar.tsx'
import { TYPES_BY_NOUN } from '../../../events/filters.ts'
import { write } from '../../../http.ts'
import { Dialog, useMutation } from '../../../parts/dialog.tsx'
import { ErrorMessage } from '../../../parts/error_message.tsx'
import { TextField } from '../../../parts/text_field.tsx'
import { type Delivery, type Endpoint, endpointPath, refreshWebhooks } from '../webhook_queries.ts'
import { AttemptView, Body } from './delivery_parts.tsx'

const FIRST_TYPE = 'subscription.renewed'

type TypeSelectProps = { value: string; onPick: (type: string) => void }
const TypeSelect = ({ value, onPick }: TypeSelectProps): JSX.Element => (
  <label class="field">
    <span>Event</span>
    <select class="select" value={value} onChange={(event) => onPick(event.currentTarget.value)}>
      {TYPES_BY_NOUN.map(([noun, types]) => (
        <optgroup key={noun} label={nounTitle(noun)}>
          {types.map((type) => (
            <option key={type} value={type}>
              {eventLabel(type).title} ({type})
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  </label>
)

const Result = ({ delivery }: { delivery: Delivery }): JSX.Element => {
  const attempt = delivery.attempt_log.at(-1)
  return (
    <section class="stack webhook-test" aria-live="polite" aria-label="Result">
      {attempt ? <AttemptView attempt={attempt} /> : <p class="small">No attempt was made.</p>}
      <Body delivery={delivery} />
    </section>
  )
}

type TestEventProps = { endpoint: Endpoint; onClose: () => void }
export function TestEvent({ endpoint, onClose }: TestEventProps): JSX.Element {
  const [type, setType] = useState(endpoint.types?.[0] ?? FIRST_TYPE)
  const [user, setUser] = useState('')
  const [delivery, setDelivery] = useState<Delivery | null>(null)
  const { run, isBusy, problem } = useMutation(async () => {
    setDelivery(null)
    const body = { type, app_user_id: user.trim() === '' ? null : user.trim() }
    setDelivery(await write<Delivery>('POST', endpointPath(endpoint.id, 'test'), body))
    await refreshWebhooks()
  })
  return (
    <Dialog title="Send test event" onClose={onClose} isWide>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <TypeSelect value={type} onPick={setType} />
        <TextField label="User (optional)" value={user} hint="user_42" error={undefined} onInput={setUser}>
          <p class="small quiet">The id of a user of yours, to test a grant from end to end.</p>
        </TextField>
        <p class="small quiet">
          It is marked as a test and sandbox, has dates of now and an app and a product of yours, is sent
          once, and is never part of the feed. The endpoint’s filters do not apply.
        </p>
        <ErrorMessage message={problem} />
        <div>
          <button type="submit" class="button main" disabled={isBusy}>
            {isBusy ? 'Sending …' : 'Send'}
          </button>
        </div>
      </form>
      {delivery && <Result delivery={delivery} />}
    </Dialog>
  )
}
