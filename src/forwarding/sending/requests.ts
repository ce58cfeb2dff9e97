/** The headers of a request to an endpoint. */
import type { Delivery } from '../deliveries/delivery.ts'
import type { EndpointKind } from '../endpoints/endpoints.ts'
import { signaturesOf } from './signature.ts'

type Signed = {
  kind: EndpointKind
  delivery: Pick<Delivery, 'event_id' | 'attempts' | 'replay_id'>
  body: Buffer
  secrets: readonly string[]
  ownHeaders: Readonly<Record<string, string>>
  now: number
}

const NAMES = {
  events: { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' },
  apple: { id: 'windfall-id', timestamp: 'windfall-timestamp', signature: 'windfall-signature' },
}

/** The headers of the next attempt of a delivery at `now`. Each attempt is signed again. */
export function headersOf({
  kind,
  delivery,
  body,
  secrets,
  ownHeaders,
  now,
}: Signed): Record<string, string> {
  const names = NAMES[kind]
  const { event_id: id, attempts, replay_id } = delivery
  const timestamp = Math.floor(now / 1_000)
  return {
    'user-agent': 'Windfall',
    ...ownHeaders,
    'content-type': 'application/json',
    [names.id]: id,
    [names.timestamp]: String(timestamp),
    [names.signature]: signaturesOf(secrets, { id, timestamp, body }),
    'windfall-attempt': String(attempts + 1),
    ...(replay_id !== null && { 'windfall-replay': replay_id }),
  }
}
