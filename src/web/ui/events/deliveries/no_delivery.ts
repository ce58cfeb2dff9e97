/** Why an endpoint has no delivery of an event. */
import { FORWARDED_TYPES } from '../../../../events/vocabulary.ts'
import type { Endpoint } from '../../settings/webhooks/webhook_queries.ts'
import type { FeedEvent } from '../feed_event.ts'

/** How long finished deliveries are kept, in milliseconds. */
const KEPT_MS = 90 * 86_400_000

type Event = Pick<FeedEvent, 'type' | 'app_id' | 'environment' | 'recorded_at'>
type Filter = Pick<
  Endpoint,
  'kind' | 'apps' | 'environment' | 'types' | 'missing_types' | 'state' | 'created_at'
>

/** The reason in a sentence. The first that applies is the one to act on. */
export function whyNoDelivery(event: Event, endpoint: Filter, now: number): string {
  const { kind, apps, environment, types, missing_types, state, created_at } = endpoint
  if (kind === 'apple') return 'It gets Apple’s notifications, not events.'
  if (event.recorded_at < created_at) return 'The event is older than the endpoint. A replay can send it.'
  if (apps !== null && !apps.includes(event.app_id ?? '')) return 'It does not get events of this app.'
  if (environment !== null && environment !== event.environment)
    return `It gets only events from ${environment}.`
  const sent: readonly string[] = types ?? FORWARDED_TYPES.filter((type) => !missing_types.includes(type))
  const isTypeSent = sent.includes(event.type)
  if (!isTypeSent) return 'It does not get this type.'
  if (now - event.recorded_at > KEPT_MS) return 'Deliveries are kept for 90 days.'
  if (state === 'paused' || state === 'disabled') return `The endpoint is ${state}.`
  return 'Not sent yet.'
}
