/** Appends the events about endpoints: paused, disabled, recovered, and deliveries that were given up. */
import type { Feed } from '../../events/feed.ts'
import type { EventType } from '../../events/vocabulary.ts'
import type { Endpoint } from './endpoints.ts'

/** Types of events about endpoints begin with these. */
const PREFIXES = ['endpoint.', 'delivery.'] as const

/** `cause`: what tells the event apart from others of its type and endpoint. `data`: what it says beside the endpoint. */
type EndpointEvent = {
  type: Extract<EventType, `endpoint.${string}` | `delivery.${string}`>
  cause: string | number
  data: Record<string, unknown>
  occurred_at: number
}

/** Whether an event is about an endpoint. */
export const isAboutEndpoints = (type: string): boolean => PREFIXES.some((prefix) => type.startsWith(prefix))

/** The condition of events about the endpoint :id, by their cause. */
export const ABOUT_ENDPOINT = `((type glob 'endpoint.*' or type glob 'delivery.*') and substr(cause, 1, length(:id) + 1) = :id || '/')`

/** Returns a function that appends an event about an endpoint. It must run inside a unit of work. */
export function openEndpointEvents(feed: Pick<Feed, 'append'>) {
  return (
    { id, name, organization_id }: Pick<Endpoint, 'id' | 'name' | 'organization_id'>,
    { type, cause, data, occurred_at }: EndpointEvent,
  ): void => {
    feed.append({
      organization_id,
      app_id: null,
      environment: null,
      type,
      origin: 'live',
      customer_id: null,
      subject: null,
      cause: `${id}/${cause}`,
      data: () => ({ endpoint: { id, name }, ...data }),
      occurred_at,
      signed_at: null,
    })
  }
}
