/**
 * Losses: deliveries that were given up, until a replay sends their event again or the owner dismisses them. All writing
 * functions must run inside a unit of work.
 */
import type { Store } from '../../store/store.ts'
import { isAboutEndpoints } from '../endpoints/endpoint_events.ts'
import type { Delivery } from './delivery.ts'

/** The open losses of an endpoint. `first_at` and `last_at`: when the first and the last were given up, in milliseconds. */
export type LossCount = { count: number; first_at: number | null; last_at: number | null }

/** Losses of an endpoint without an event. `since` and `last_at`: when the first and the last were given up, in milliseconds. */
type Unannounced = {
  count: number
  first_event_id: string
  last_event_id: string
  reason: string
  since: number
  last_at: number
}

/** The number of losses that one unit of work dismisses. */
const SLICE = 1_000

/** Opens the losses. */
export function openLosses(store: Pick<Store, 'prepare'>) {
  const { gather, ...announcements } = openAnnouncements(store)
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

  /** Notes that a delivery was given up. One of an event about endpoints is not announced by another such event. */
  function lose(delivery: Delivery, reason: string, now: number): void {
    const { id, event_id, endpoint_id, type } = delivery
    markOpen.run(id)
    refresh.run(event_id, endpoint_id)
    if (!isAboutEndpoints(type)) gather(delivery, reason, now)
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

  return { lose, follow, unqueueAll, dismiss, lost, ...announcements }
}

/** What was given up and has no event yet. */
function openAnnouncements(store: Pick<Store, 'prepare'>) {
  const insert = store.prepare<{ endpoint_id: string; event_id: string; reason: string; now: number }>(`
    insert into unannounced_losses (endpoint_id, count, first_event_id, last_event_id, reason, since, last_at)
    values (:endpoint_id, 1, :event_id, :event_id, :reason, :now, :now)
    on conflict (endpoint_id) do update set count = count + 1, last_event_id = excluded.last_event_id,
      reason = excluded.reason, last_at = excluded.last_at`)
  const selectDue = store.prepare<[number, number], { endpoint_id: string }>(
    'select endpoint_id from unannounced_losses where since <= ? or since > ?',
  )
  const take = store.prepare<[string], Unannounced>(`
    delete from unannounced_losses where endpoint_id = ?
    returning count, first_event_id, last_event_id, reason, since, last_at`)

  const gather = ({ endpoint_id, event_id }: Delivery, reason: string, now: number): void =>
    void insert.run({ endpoint_id, event_id, reason, now })

  /** The endpoints whose first loss without an event was at `until` or before, or, as the clock was set back, after `now`. */
  const unannounced = (until: number, now: number): { endpoint_id: string }[] => selectDue.all(until, now)

  /** Removes and returns what is to be announced of an endpoint; null if nothing is. */
  const takeUnannounced = (endpoint_id: string): Unannounced | null => take.get(endpoint_id) ?? null

  return { gather, unannounced, takeUnannounced }
}
