/** The deliveries of an endpoint, newest first. The first page is read again while it is visible. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { productName } from '../../../../../apps/product_name.ts'
import { appName, useApps } from '../../../apps.ts'
import { customerName, nameLabel, ReportedName } from '../../../customers/person.tsx'
import { eventLabel } from '../../../events/event_labels.ts'
import { Card } from '../../../parts/card.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { Empty, QueryView } from '../../../parts/query_view.tsx'
import { RelativeTime } from '../../../parts/relative_time.tsx'
import { useDebounced } from '../../../parts/use_debounced.ts'
import { useQueryParams, useScope } from '../../../scope.ts'
import { duration } from '../../../words.ts'
import { type DeliverySummary, type Endpoint, useDeliveries } from '../webhook_queries.ts'
import { DeliveryFilters, deliveryFilters, isFiltered } from './delivery_filters.tsx'
import { DeliveryState } from './delivery_parts.tsx'
import { attemptsWords, attemptTitle } from './delivery_words.ts'

/** The name of the customer as in the list of customers; null for an event about none. */
export const DeliveryCustomer = ({
  delivery: { customer_id: id, display_name_verified, ...named },
}: {
  delivery: DeliverySummary
}): JSX.Element | null =>
  id === null ? null : (
    <ReportedName class="cut" label={nameLabel(display_name_verified)}>
      {customerName({ ...named, id })}
    </ReportedName>
  )

/** While the endpoint is not active, only a probe is sent. */
type RowProps = { delivery: DeliverySummary; isActive: boolean }
function Row({ delivery, isActive }: RowProps): JSX.Element {
  const { href } = useScope()
  const [params] = useQueryParams()
  const apps = useApps().data?.apps
  const { last_attempt: last } = delivery
  const path = `/settings/webhooks/${delivery.endpoint_id}`
  return (
    <li>
      <a class="delivery" href={href(path, { ...params, delivery: delivery.id })}>
        <span class="delivery-state">
          <DeliveryState state={delivery.state} />
        </span>
        <span class="delivery-title">
          <strong>{eventLabel(delivery.type).title}</strong>
          {delivery.product_id !== null && (
            <span title={delivery.product_id}>{productName(delivery.product_id, undefined)}</span>
          )}
          <DeliveryCustomer delivery={delivery} />
          {delivery.app_id !== null && <span class="quiet">{appName(apps, delivery.app_id)}</span>}
          {delivery.is_test && <span class="badge">Test</span>}
          {delivery.replay_id !== null && <span class="badge">Replay</span>}
          {delivery.environment === 'sandbox' && !delivery.is_test && <span class="badge warn">Sandbox</span>}
        </span>
        <span class="delivery-result quiet">
          {last && (
            <>
              <span class={last.kind === 'delivered' ? 'good' : 'bad'}>{attemptTitle(last)}</span>
              {last.ms !== null && ` · ${duration(last.ms)}`}
            </>
          )}
          {delivery.attempts > 1 && ` · ${attemptsWords(delivery.attempts)}`}
          {isActive && delivery.next_at !== null && (
            <>
              {' '}
              · next <RelativeTime at={delivery.next_at} />
            </>
          )}
        </span>
        <span class="delivery-id mono quiet">{delivery.event_id}</span>
        <span class="delivery-time quiet">
          <RelativeTime at={delivery.created_at} />
        </span>
      </a>
    </li>
  )
}

type NoDeliveriesProps = { endpoint: Endpoint; onTest: () => void }
function NoDeliveries({ endpoint, onTest }: NoDeliveriesProps): JSX.Element {
  const [params] = useQueryParams()
  if (isFiltered(deliveryFilters(params)))
    return (
      <Empty icon="send" title="No matching deliveries">
        <p>No delivery matches these filters.</p>
      </Empty>
    )
  return endpoint.kind === 'events' ? (
    <Empty icon="send" title="No deliveries yet">
      <p>
        Events appear here as they are sent. A test event shows whether the receiver verifies and responds.
      </p>
      <button type="button" class="button" onClick={onTest}>
        Send test event
      </button>
    </Empty>
  ) : (
    <Empty icon="send" title="No deliveries yet">
      <p>
        Apple’s notifications appear here as they are sent. To try it, request a test notification in
        Settings, Apple.
      </p>
    </Empty>
  )
}

type PagesProps = {
  next: number | null
  pages: (number | null)[]
  setPages: (pages: (number | null)[]) => void
}
const Pages = ({ next, pages, setPages }: PagesProps): JSX.Element => (
  <div class="row">
    {pages.length > 1 && (
      <button type="button" class="button" onClick={() => setPages(pages.slice(0, -1))}>
        <Icon name="left" /> Newer
      </button>
    )}
    {next !== null && (
      <button type="button" class="button" onClick={() => setPages([...pages, next])}>
        Older <Icon name="right" />
      </button>
    )}
  </div>
)

type DeliveryLogProps = { endpoint: Endpoint; onTest: () => void }
export function DeliveryLog({ endpoint, onTest }: DeliveryLogProps): JSX.Element {
  const [params] = useQueryParams()
  const filters = deliveryFilters(params)
  const [pages, setPages] = useState<(number | null)[]>([null])
  const key = JSON.stringify(filters)
  useEffect(() => setPages([null]), [key])
  const before = pages.at(-1) ?? null
  const customer = useDebounced(filters.customer)
  const result = useDeliveries({ endpoint: endpoint.id, ...filters, customer }, before)
  return (
    <Card
      title="Deliveries"
      tools={
        <span class={`pulse tiny quiet ${result.problem ? 'is-lost' : before === null ? 'is-live' : ''}`}>
          <span class="pulse-dot" /> {before === null ? 'Live' : 'Older deliveries'}
        </span>
      }
    >
      <div class="stack">
        <DeliveryFilters kind={endpoint.kind} />
        <QueryView result={result} height={320}>
          {({ deliveries, next }) => (
            <>
              {deliveries.length === 0 && pages.length === 1 ? (
                <NoDeliveries endpoint={endpoint} onTest={onTest} />
              ) : (
                <ol class="deliveries" aria-label="Deliveries, newest first">
                  {deliveries.map((delivery) => (
                    <Row key={delivery.id} delivery={delivery} isActive={endpoint.state === 'active'} />
                  ))}
                </ol>
              )}
              <Pages next={next} pages={pages} setPages={setPages} />
            </>
          )}
        </QueryView>
      </div>
    </Card>
  )
}
