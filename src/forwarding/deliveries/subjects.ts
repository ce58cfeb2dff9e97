/** The events that deliveries are of, and the deliveries that are about some customers. */
import type { Store } from '../../store/store.ts'
import type { Delivery } from './delivery.ts'

/**
 * The condition of deliveries about the customers in :customers, JSON of canonical ids: by the event, or for Apple’s
 * notifications by the purchase that they name.
 */
export const ABOUT_CUSTOMERS = `(
  event_id in (
    select events.id from customers join events on events.subject = customers.original_transaction_id
      and events.app_id = customers.app_id and events.environment = customers.environment
    where canonical_id in (select value from json_each(:customers)))
  or payload_id is not null and exists (
    select 1 from notifications join customers on customers.original_transaction_id = notifications.original_transaction_id
      and customers.app_id = notifications.app_id and customers.environment = notifications.environment
    where notifications.payload_id = deliveries.payload_id
      and canonical_id in (select value from json_each(:customers))))`

export function openSubjects(store: Pick<Store, 'prepare'>) {
  const selectOfNotification = store.prepare<[number], { id: string }>(`
    select events.id from notifications join events on events.subject = original_transaction_id
      and events.cause = uuid and events.app_id = notifications.app_id
    where payload_id = ? limit 1`)

  /** The id of the event of a delivery; null for a notification without an event. A test event is in no feed. */
  const eventIdOf = ({ event_id, payload_id }: Pick<Delivery, 'event_id' | 'payload_id'>): string | null =>
    payload_id === null ? event_id : (selectOfNotification.get(payload_id)?.id ?? null)

  return { eventIdOf }
}
