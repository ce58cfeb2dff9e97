/**
 * Losses: deliveries that were given up, until a replay sends their event again or the owner dismisses them. All writing
 * functions must run inside a unit of work.
 */
import type { Store } from '../../store/store.ts'
import type { Delivery } from './delivery.ts'

/** The open losses of an endpoint. `first_at` and `last_at`: when the first and the last were given up, in milliseconds. */
export type LossCount = { count: number; first_at: number | null; last_at: number | null }

/** The number of losses that one unit of work dismisses. */
const SLICE = 1_000

/** Opens the losses. */
export function openLosses(store: Pick<Store, 'prepare'>) {
  const markOpen = store.prepare<[number]>("update deliveries set loss = 'open' where id = ?")
  // A later delivery decides: one that was given up is the loss then.
  const refresh = store.prepare<[string, string]>(`
    update deliveries set loss = case
      when exists (
        select 1 from deliveries as later
        where later.event_id = deliveries.event_id and later.endpoint_id = deliveries.endpoint_id
          and later.id > deliveries.id and later.state in ('delivered', 'failed')) then null
      when exists (
        select 1 from deliveries as later
        where later.event_id = deliveries.event_id and later.endpoint_id = deliveries.endpoint_id
          and later.id > deliveries.id and later.state = 'waiting') then 'queued'
      else 'open' end
    where event_id = ? and endpoint_id = ? and loss in ('open', 'queued')`)
  const reopenQueued = store.prepare<[string]>(
    "update deliveries set loss = 'open' where endpoint_id = ? and loss = 'queued'",
  )
  const dismissOldest = store.prepare<[string, number, number]>(`
    update deliveries set loss = 'dismissed' where id in (
      select id from deliveries where endpoint_id = ? and loss = 'open' and finished_at <= ? limit ?)`)
  const countOpen = store.prepare<[string], LossCount>(`
    select count(*) as count, min(finished_at) as first_at, max(finished_at) as last_at from deliveries
    where endpoint_id = ? and loss = 'open'`)

  /** Notes that a delivery was given up. */
  function lose({ id, event_id, endpoint_id }: Pick<Delivery, 'id' | 'event_id' | 'endpoint_id'>): void {
    markOpen.run(id)
    refresh.run(event_id, endpoint_id)
  }

  /** Compares the losses of an event with its deliveries, after a delivery of a replay was added or finished. */
  const follow = ({ event_id, endpoint_id }: Pick<Delivery, 'event_id' | 'endpoint_id'>): void =>
    void refresh.run(event_id, endpoint_id)

  /** Opens the losses that replays were about to send, when everything that waits for an endpoint is finished unsent. */
  const unqueueAll = (endpoint_id: string): void => void reopenQueued.run(endpoint_id)

  /**
   * Dismisses up to 1,000 open losses of an endpoint that were given up until `until_at`, inclusive. Returns how many, which
   * is 0 when none is left.
   */
  const dismiss = (endpoint_id: string, until_at: number): number =>
    dismissOldest.run(endpoint_id, until_at, SLICE).changes

  /** The open losses of an endpoint. */
  const lost = (endpoint_id: string): LossCount =>
    countOpen.get(endpoint_id) ?? { count: 0, first_at: null, last_at: null }

  return { lose, follow, unqueueAll, dismiss, lost }
}
