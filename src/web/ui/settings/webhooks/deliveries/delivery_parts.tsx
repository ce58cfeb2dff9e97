/** Parts of a delivery: its state, one attempt, the body. */
import type { JSX } from 'preact'
import { Json } from '../../../evidence/json.tsx'
import { CopyButton } from '../../../parts/copy.tsx'
import { count, duration, instantWithSeconds } from '../../../words.ts'
import type { Attempt, Delivery, DeliverySummary } from '../webhook_queries.ts'
import { attemptTitle, bodyNote, DELIVERY_STATES } from './delivery_words.ts'

export const DeliveryState = ({ state }: Pick<DeliverySummary, 'state'>): JSX.Element => (
  <span class={`badge ${DELIVERY_STATES[state].tone}`}>{DELIVERY_STATES[state].title}</span>
)

/** One attempt with its result and the beginning of the response. */
export const AttemptView = ({ attempt }: { attempt: Attempt }): JSX.Element => {
  const isSuccess = attempt.kind === 'delivered'
  return (
    <div class="attempt stack-s">
      <div class="row small">
        <span class={`badge ${isSuccess ? 'good' : 'bad'}`}>{attemptTitle(attempt)}</span>
        <strong>Attempt {count(attempt.number)}</strong>
        <time dateTime={new Date(attempt.at).toISOString()} class="quiet">
          {instantWithSeconds(attempt.at)}
        </time>
        {attempt.ms !== null && <span class="quiet">{duration(attempt.ms)}</span>}
        {attempt.address !== null && <span class="quiet mono">{attempt.address}</span>}
      </div>
      <p class="small">{attempt.words}</p>
      {attempt.excerpt && <pre class="excerpt">{attempt.excerpt}</pre>}
    </div>
  )
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** The body as it was sent, formatted. The copy has the bytes that were sent. */
export const Body = ({ delivery }: { delivery: Delivery }): JSX.Element => (
  <section class="stack-s">
    <h3>Body</h3>
    {delivery.body === null ? (
      <p class="small quiet">{bodyNote(delivery)}</p>
    ) : (
      <div class="copy">
        <Json value={parsed(delivery.body)} label="Body" />
        <CopyButton text={delivery.body} label="the body as sent" />
      </div>
    )}
    {delivery.body_sha256 !== null && (
      <p class="tiny quiet mono webhook-url">SHA-256 {delivery.body_sha256}</p>
    )}
  </section>
)
