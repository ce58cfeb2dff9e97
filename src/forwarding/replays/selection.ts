/** Finds the items of a replay: events of a range, deliveries that were given up, or one delivery. */
import { Refusal } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import type { Item } from '../deliveries/deliveries.ts'
import type { Delivery } from '../deliveries/delivery.ts'
import type { Endpoint, EndpointKind } from '../endpoints/endpoints.ts'
import type { Source } from '../sending/sources.ts'

/** Which events to replay. `until_at` is exclusive, the other limits inclusive. Null is no limit. */
export type ReplayFilter = {
  delivery_id: number | null
  failed: boolean
  from_seq: number | null
  until_seq: number | null
  from_at: number | null
  until_at: number | null
  types: readonly string[] | null
  apps: readonly string[] | null
  environment: string | null
}

/** The filter of a replay of everything. */
export const EVERY_EVENT: ReplayFilter = {
  delivery_id: null,
  failed: false,
  from_seq: null,
  until_seq: null,
  from_at: null,
  until_at: null,
  types: null,
  apps: null,
  environment: null,
}

/** feed: positions of the endpoint’s source. failed: ids of deliveries. `first` is exclusive, `until` inclusive. */
export type ReplayRange = { source: 'feed' | 'failed'; first: number; until: number }

/** The number of deliveries that are looked through at once. */
const SLICE = 1_000

export type Selection = ReturnType<typeof openSelection>

const SELECT_ONE = 'select * from deliveries where endpoint_id = ? and id = ?'

type Deps = { store: Store; sources: Readonly<Record<EndpointKind, Source>> }

/** Opens the selection. */
export const openSelection = (deps: Deps) => ({ rangeOf: openRanges(deps), read: openReading(deps) })

/**
 * Returns a function that finds the range of a replay.
 *
 * @throws Refusal 404 `unknown_delivery`, 409 `delivery_waiting`, 409 `test_delivery`.
 */
function openRanges({ store, sources }: Deps) {
  const selectOne = store.prepare<[string, number], Delivery>(SELECT_ONE)
  const selectHead = store.prepare<[string], { id: number | null }>(
    'select max(id) as id from deliveries where endpoint_id = ?',
  )

  function rangeOfOne({ id, kind }: Endpoint, delivery_id: number): ReplayRange {
    const delivery = selectOne.get(id, delivery_id)
    // A declared endpoint may have received something else before.
    if (!delivery || (delivery.payload_id !== null) !== (kind === 'apple'))
      throw new Refusal(404, 'unknown_delivery', `this endpoint has no delivery ${delivery_id}`)
    if (delivery.is_test === 1)
      throw new Refusal(409, 'test_delivery', 'a test event cannot be replayed; send another one')
    if (delivery.state === 'waiting')
      throw new Refusal(409, 'delivery_waiting', 'this delivery is not finished; it is tried again by itself')
    return { source: 'failed', first: delivery_id - 1, until: delivery_id }
  }

  return (endpoint: Endpoint, filter: ReplayFilter): ReplayRange => {
    const { delivery_id, from_seq, until_seq } = filter
    if (delivery_id !== null) return rangeOfOne(endpoint, delivery_id)
    if (filter.failed) return { source: 'failed', first: 0, until: selectHead.get(endpoint.id)?.id ?? 0 }
    const head = sources[endpoint.kind].head()
    return {
      source: 'feed',
      first: Math.max(0, (from_seq ?? 1) - 1),
      until: Math.min(until_seq ?? head, head),
    }
  }
}

/** Where a slice begins, and the maximum number of its items. */
type Position = { after: number; limit: number }

/** Returns a function that reads the next items of a range. `reached`: how far it was read. */
function openReading({ store, sources }: Deps) {
  const selectOne = store.prepare<[string, number], Delivery>(SELECT_ONE)
  // Only the newest delivery of an event counts: a later replay may have delivered it, unless it was stopped. A declared
  // endpoint may have received something else before. What the owner dismissed need not be sent.
  const selectFailed = store.prepare<object, Delivery>(`
    select * from deliveries where endpoint_id = :id and id > :after and id <= :until and state = 'failed'
      and is_test = 0 and (payload_id is not null) = :isApple and loss is not 'dismissed' and not exists (
        select 1 from deliveries as later
        where later.event_id = deliveries.event_id and later.endpoint_id = :id and later.id > deliveries.id
          and later.state in ('waiting', 'delivered', 'failed'))
    order by id limit :limit`)

  const failedOf = ({ id, kind }: Endpoint) => ({ id, isApple: kind === 'apple' ? 1 : 0 })

  return (endpoint: Endpoint, filter: ReplayFilter, { source, until }: ReplayRange, position: Position) => {
    const { after, limit } = position
    const matches = (item: Item) => isSelected(item, filter)
    if (source === 'feed') {
      const slice = sources[endpoint.kind].read(endpoint, { after, until, limit, withBackfill: true })
      return { items: slice.items.filter(matches), reached: slice.reached }
    }
    if (filter.delivery_id !== null) {
      const one = selectOne.get(endpoint.id, filter.delivery_id)
      return { items: one ? [itemOf(one, endpoint)] : [], reached: until }
    }
    const end = Math.min(until, after + SLICE)
    const rows = selectFailed.all({ ...failedOf(endpoint), after, until: end, limit })
    const items = rows.map((row) => itemOf(row, endpoint)).filter(matches)
    return { items, reached: rows.length === limit ? (rows.at(-1)?.id ?? end) : end }
  }
}

function isSelected(item: Item, filter: ReplayFilter): boolean {
  const { from_at, until_at, types, apps, environment } = filter
  if (from_at !== null && item.occurred_at < from_at) return false
  if (until_at !== null && item.occurred_at >= until_at) return false
  if (types !== null && !types.includes(item.type)) return false
  if (apps !== null && (item.app_id === null || !apps.includes(item.app_id))) return false
  return environment === null || item.environment === null || item.environment === environment
}

/** The key depends on the endpoint now, not on the endpoint at the time of the first delivery. */
function itemOf(delivery: Delivery, { is_ordered }: Endpoint): Item {
  const { event_id, seq, payload_id, type, app_id, environment, occurred_at, key } = delivery
  return { event_id, seq, payload_id, type, app_id, environment, occurred_at, key: is_ordered ? key : null }
}
