/** Announces what was given up: one event for an endpoint and minute. */
import type { Clock } from '../../clock.ts'
import type { Feed } from '../../events/feed.ts'
import type { Stoppages } from '../../stoppages.ts'
import type { Store } from '../../store/store.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import { openEndpointEvents } from '../endpoints/endpoint_events.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'

/** What is given up within this time of the first is in one event. */
const GATHER_MS = 60_000

const WATCHED = {
  part: 'forwarding',
  name: 'losses',
  title: 'What was given up is not announced',
  message: 'the event of deliveries that were given up could not be recorded',
} as const

type Deps = {
  store: Store
  clock: Clock
  feed: Feed
  endpoints: Pick<Endpoints, 'get'>
  deliveries: Deliveries
  stoppages: Pick<Stoppages, 'watch'>
}

/**
 * Returns a function that announces what has been gathered for a minute. What was given up and not announced is stored with
 * the deliveries, so that no crash leaves it out, and the event is recorded in the commit that forgets it. Never rejects.
 */
export function openAnnouncing({ store, clock, feed, endpoints, deliveries, stoppages }: Deps) {
  const append = openEndpointEvents(feed)
  const watch = stoppages.watch(WATCHED)

  function announce(endpoint_id: string): void {
    const gathered = deliveries.takeUnannounced(endpoint_id)
    const endpoint = endpoints.get(endpoint_id)
    if (gathered === null || endpoint === null) return
    const { since, last_at: occurred_at, ...data } = gathered
    append(endpoint, { type: 'delivery.failed', cause: since, data, occurred_at })
  }

  /** An error of one endpoint does not stop the others. */
  async function announceAll(): Promise<void> {
    const now = clock()
    for (const { endpoint_id } of deliveries.unannounced(now - GATHER_MS, now))
      await store
        .commit(() => announce(endpoint_id))
        .then(
          () => watch.worked(endpoint_id),
          (error: unknown) => watch.failed(error, endpoint_id),
        )
  }

  return announceAll
}
