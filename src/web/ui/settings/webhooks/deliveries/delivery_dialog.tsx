/** One delivery in a dialog: what was sent, each attempt, and its replay. */
import '../../../loading/event_views.ts'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { productName } from '../../../../../apps/product_name.ts'
import { appName, useApps } from '../../../apps.ts'
import { eventLabel } from '../../../events/event_labels.ts'
import { write } from '../../../http.ts'
import { Copy } from '../../../parts/copy.tsx'
import { Dialog, useMutation } from '../../../parts/dialog.tsx'
import { ErrorMessage } from '../../../parts/error_message.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { Empty, QueryView } from '../../../parts/query_view.tsx'
import { RelativeTime } from '../../../parts/relative_time.tsx'
import { useScope } from '../../../scope.ts'
import { instant } from '../../../words.ts'
import {
  type Delivery,
  deliveryPath,
  endpointPath,
  refreshWebhooks,
  useDelivery,
} from '../webhook_queries.ts'
import { DeliveryCustomer } from './delivery_log.tsx'
import { AttemptView, Body, DeliveryState } from './delivery_parts.tsx'
import { attemptsWords, deliveryClockNote, stateAbout } from './delivery_words.ts'

function EventFact({ delivery }: { delivery: Delivery }): JSX.Element {
  const { href } = useScope()
  return (
    <>
      <dt>Event</dt>
      <dd>
        {delivery.seq === null ? (
          <span class="mono tiny">{delivery.event_id}</span>
        ) : (
          <>
            <a href={href(`/events/${delivery.event_id}`)} class="mono tiny">
              {delivery.event_id}
            </a>
            <div class="quiet">seq {delivery.seq}</div>
          </>
        )}
      </dd>
    </>
  )
}

type FactsProps = { delivery: Delivery; isActive: boolean }
function Facts({ delivery, isActive }: FactsProps): JSX.Element {
  const apps = useApps().data?.apps
  const { href } = useScope()
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <DeliveryState state={delivery.state} /> {delivery.is_test && <span class="badge">Test</span>}{' '}
        {delivery.replay_id !== null && <span class="badge">Replay</span>}{' '}
        {delivery.is_remade && <span class="badge">Made again</span>}{' '}
        {delivery.loss === 'dismissed' && <span class="badge">Dismissed</span>}{' '}
        <span class="quiet">{stateAbout(delivery, isActive)}</span>
      </dd>
      {isActive && delivery.next_at !== null && (
        <>
          <dt>Next attempt</dt>
          <dd>
            <RelativeTime at={delivery.next_at} />
          </dd>
        </>
      )}
      <dt>Occurred</dt>
      <dd>{instant(delivery.occurred_at)}</dd>
      <dt>App</dt>
      <dd>
        {appName(apps, delivery.app_id)}{' '}
        {delivery.environment === 'sandbox' && <span class="badge warn">Sandbox</span>}
      </dd>
      <dt>Type</dt>
      <dd>
        <code>{delivery.type}</code>
      </dd>
      {delivery.product_id !== null && (
        <>
          <dt>Product</dt>
          <dd title={delivery.product_id}>{productName(delivery.product_id, undefined)}</dd>
        </>
      )}
      {delivery.customer_id !== null && (
        <>
          <dt>Customer</dt>
          <dd>
            <a href={href(`/customers/${delivery.customer_id}`)}>
              <DeliveryCustomer delivery={delivery} />
            </a>
          </dd>
        </>
      )}
      <EventFact delivery={delivery} />
      {delivery.is_remade && (
        <>
          <dt>Body</dt>
          <dd>Made again, because the first one was no longer stored.</dd>
        </>
      )}
    </dl>
  )
}

/** Sends a delivery once more. */
function ReplayOne({ delivery }: { delivery: Delivery }): JSX.Element {
  const [isSent, setSent] = useState(false)
  const { run, isBusy, problem } = useMutation(async () => {
    await write('POST', endpointPath(delivery.endpoint_id, 'replay'), { delivery_id: delivery.id })
    setSent(true)
    await refreshWebhooks()
  })
  return (
    <div class="stack-s">
      <ErrorMessage message={problem} />
      {isSent ? (
        <p class="notice good" role="status">
          It is sent again with the same id. The log shows the new delivery.
        </p>
      ) : (
        <div class="row">
          <button type="button" class="button" disabled={isBusy} onClick={run}>
            <Icon name="undo" /> Replay this delivery
          </button>
          <span class="tiny quiet">
            The id stays the same: receivers that keep ids skip it if they have it.
          </span>
        </div>
      )}
    </div>
  )
}

/** Tries a delivery now that waits for a later attempt. */
function RetryOne({ delivery }: { delivery: Delivery }): JSX.Element {
  const { run, isBusy, problem } = useMutation(async () => {
    await write('POST', `${deliveryPath(String(delivery.id))}/retry`)
    await refreshWebhooks()
  })
  return (
    <div class="stack-s">
      <ErrorMessage message={problem} />
      <div class="row">
        <button type="button" class="button" disabled={isBusy} onClick={run}>
          <Icon name="send" /> Retry now
        </button>
        <span class="tiny quiet">The attempt uses up none of the ten.</span>
      </div>
    </div>
  )
}

function Attempts({ delivery }: { delivery: Delivery }): JSX.Element {
  const clock = deliveryClockNote(delivery)
  return (
    <section class="stack-s">
      <h3>{attemptsWords(delivery.attempts)}</h3>
      {clock && (
        <p class="notice warn">
          <Icon name="clock" />
          <span>{clock}</span>
        </p>
      )}
      {delivery.attempt_log.length === 0 && <p class="small quiet">No attempt yet.</p>}
      {delivery.attempt_log
        .toSorted((one, other) => other.number - one.number)
        .map((attempt) => (
          <AttemptView key={attempt.number} attempt={attempt} />
        ))}
    </section>
  )
}

function Headers({ headers }: { headers: Record<string, string> }): JSX.Element {
  const text = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <section class="stack-s">
      <h3>Request headers</h3>
      <Copy isBlock label="the request headers" text={text.join('\n')} />
    </section>
  )
}

/** `isActive`: whether the endpoint is active, so that deliveries are sent when they are due. */
type DeliveryDialogProps = { id: string; isActive: boolean; onClose: () => void }
export function DeliveryDialog({ id, isActive, onClose }: DeliveryDialogProps): JSX.Element {
  const result = useDelivery(id)
  const title = result.data ? eventLabel(result.data.type).title : 'Delivery'
  return (
    <Dialog title={title} onClose={onClose} isWide>
      {result.problem?.status === 404 ? (
        <Empty icon="search" title="Delivery not found">
          <p>Deliveries are kept for 90 days.</p>
        </Empty>
      ) : (
        <QueryView result={result} height={420}>
          {(delivery) => (
            <div class="stack">
              <Facts delivery={delivery} isActive={isActive} />
              {delivery.state === 'waiting' && <RetryOne delivery={delivery} />}
              {!delivery.is_test && delivery.state !== 'waiting' && <ReplayOne delivery={delivery} />}
              <Attempts delivery={delivery} />
              {delivery.request_headers && <Headers headers={delivery.request_headers} />}
              <Body delivery={delivery} />
            </div>
          )}
        </QueryView>
      )}
    </Dialog>
  )
}
