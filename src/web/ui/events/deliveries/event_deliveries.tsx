/** The webhook deliveries of one event: each endpoint with its deliveries, or why it has none. */
import type { JSX } from 'preact'
import { useNow } from '../../now.ts'
import { QueryView } from '../../parts/query_view.tsx'
import { useQuery } from '../../queries.ts'
import { useScope } from '../../scope.ts'
import { DeliveryState } from '../../settings/webhooks/deliveries/delivery_parts.tsx'
import { attemptTitle } from '../../settings/webhooks/deliveries/delivery_words.ts'
import {
  type Deliveries,
  type DeliverySummary,
  type Endpoint,
  useEndpoints,
} from '../../settings/webhooks/webhook_queries.ts'
import { instant } from '../../words.ts'
import type { FeedEvent } from '../feed_event.ts'
import { whyNoDelivery } from './no_delivery.ts'

type EventDeliveriesProps = { event: FeedEvent; Title: 'h2' | 'h3' }

export function EventDeliveries({ event, Title }: EventDeliveriesProps): JSX.Element {
  const endpoints = useEndpoints()
  const deliveries = useQuery<Deliveries>('/api/v1/deliveries', { event: event.id, limit: 100 })
  return (
    <section class="stack-s">
      <Title>Webhook deliveries</Title>
      <QueryView result={endpoints} height={60}>
        {({ endpoints: all }) => {
          const own = all.filter(({ organization_id }) => organization_id === event.organization_id)
          if (own.length === 0) return <p class="small quiet">No webhook endpoint is set up.</p>
          return (
            <QueryView result={deliveries} height={60}>
              {({ deliveries: sent }) => (
                <dl class="facts">
                  {own.map((endpoint) => (
                    <EndpointFact
                      key={endpoint.id}
                      event={event}
                      endpoint={endpoint}
                      sent={sent.filter(({ endpoint_id }) => endpoint_id === endpoint.id)}
                    />
                  ))}
                </dl>
              )}
            </QueryView>
          )
        }}
      </QueryView>
    </section>
  )
}

type FactProps = { event: FeedEvent; endpoint: Endpoint; sent: readonly DeliverySummary[] }

function EndpointFact({ event, endpoint, sent }: FactProps): JSX.Element {
  const { href } = useScope()
  const now = useNow()
  const path = `/settings/webhooks/${endpoint.id}`
  return (
    <>
      <dt>{endpoint.name}</dt>
      <dd>
        {sent.length === 0 && <span class="quiet">{whyNoDelivery(event, endpoint, now)}</span>}
        {sent.map(({ id, state, last_attempt: last, created_at, replay_id }) => (
          <div key={id}>
            <DeliveryState state={state} />{' '}
            <a href={href(path, { event: event.id, delivery: id })}>{instant(last?.at ?? created_at)}</a>{' '}
            <span class="quiet">
              {last && attemptTitle(last)}
              {replay_id !== null && ' · replay'}
            </span>
          </div>
        ))}
      </dd>
    </>
  )
}
