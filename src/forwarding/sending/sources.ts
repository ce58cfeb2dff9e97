/** What endpoints receive, in order: events of the feed, or Apple’s notifications as they came. */
import type { Feed, FeedEvent } from '../../events/feed.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Store } from '../../store/store.ts'
import type { Bodies } from '../bodies/bodies.ts'
import type { Item } from '../deliveries/deliveries.ts'
import type { Delivery } from '../deliveries/delivery.ts'
import { ABOUT_ENDPOINT, isAboutEndpoints } from '../endpoints/endpoint_events.ts'
import type { Endpoint } from '../endpoints/endpoints.ts'
import { mismatchOf, receivedTypes } from '../endpoints/matching.ts'

/** The number of items that are read before requests are served. */
const SLICE = 1_000

const NO_BACKLOG: Backlog = { count: 0, oldest_at: null }

/** A slice of a source. `reached`: the position up to which it was read, to continue from. */
export type Slice = { items: Item[]; reached: number }

/** `until`: the last position to read. `withBackfill`: also what the first import brought, which only a replay sends. */
type SliceQuery = { after: number; until: number; limit: number; withBackfill?: boolean }

/** `after` is exclusive, `until` inclusive. */
type Range = { after: number; until: number }
type Backlog = { count: number; oldest_at: number | null }
type Body = Pick<Delivery, 'event_id' | 'payload_id'>

/** Where the items of one kind of endpoint come from. */
export type Source = {
  /** The newest position. */
  head: () => number
  /**
   * Reads the items that an endpoint receives, oldest first. It reads at most 1,000 positions. Those that have a delivery
   * are left out, but not for a replay.
   */
  read: (endpoint: Endpoint, query: SliceQuery) => Slice
  /** Counts the items that an endpoint receives without reading them. `oldest_at`: when the first was recorded. */
  count: (endpoint: Endpoint, range: Range) => Backlog
  /** Whether a range has an item of a key that an endpoint receives. */
  isKeyIn: (endpoint: Endpoint, key: string, range: Range) => boolean
  /** The bytes to send for each item. `lost`: ids of items that follow a lost one of their key. */
  bodies: (items: readonly Body[], lost: ReadonlySet<string>) => Promise<Buffer[]>
}

/**
 * Whether an endpoint has a delivery of an event that is no replay. A failing endpoint has some beyond its cursor. What was
 * skipped there, because it became ordered, is made again.
 */
const IS_MADE = (event_id: string) => `exists (
  select 1 from deliveries where event_id = ${event_id} and endpoint_id = :id and replay_id is null
    and state <> 'skipped')`

/** The feed of events. */
export function openFeedSource(store: Store, feed: Feed, bodies: Bodies): Source {
  const waiting = `from events
    where seq > :after and seq <= :until and organization_id = :organization_id and origin <> 'backfill'
      and type in (select value from json_each(:types))
      and (:apps is null or app_id in (select value from json_each(:apps)))
      and (:environment is null or environment is null or environment = :environment)
      and not ${ABOUT_ENDPOINT} and not ${IS_MADE('events.id')}`
  const selectCount = store.prepare<object, Backlog>(
    `select count(*) as count, min(recorded_at) as oldest_at ${waiting}`,
  )
  const selectOfKey = store.prepare<object, object>(`select 1 ${waiting} and subject = :key limit 1`)
  const selectMade = store
    .prepare<object, string>(`select value from json_each(:ids) where ${IS_MADE('value')}`)
    .pluck()

  function filterOf(endpoint: Endpoint) {
    const { id, organization_id, environment } = endpoint
    const types = JSON.stringify(receivedTypes(endpoint))
    const apps = endpoint.apps === null ? null : JSON.stringify(endpoint.apps)
    return { id, organization_id, environment, types, apps }
  }

  const count = (endpoint: Endpoint, range: Range): Backlog =>
    selectCount.get({ ...range, ...filterOf(endpoint) }) ?? NO_BACKLOG

  const isKeyIn = (endpoint: Endpoint, key: string, range: Range): boolean =>
    selectOfKey.get({ ...range, ...filterOf(endpoint), key }) !== undefined

  /** Leaves out the events of which an endpoint has a delivery. */
  function withoutMade({ id }: Endpoint, events: readonly FeedEvent[]): readonly FeedEvent[] {
    const made = new Set(selectMade.all({ id, ids: JSON.stringify(events.map((event) => event.id)) }))
    return made.size === 0 ? events : events.filter((event) => !made.has(event.id))
  }

  function read(endpoint: Endpoint, { after, until, limit, withBackfill = false }: SliceQuery): Slice {
    const end = Math.min(until, after + SLICE)
    const { organization_id } = endpoint
    const range = { after, until: end, limit, organization_id }
    const events = feed.read({ ...range, types: receivedTypes(endpoint) })
    const received = events
      .filter((event) => withBackfill || event.origin !== 'backfill')
      .filter((event) => !isAbout(event, endpoint) && mismatchOf(endpoint, event) === null)
    const items = (withBackfill ? received : withoutMade(endpoint, received)).map((event) =>
      itemOf(event, endpoint.is_ordered),
    )
    const reached = events.length === limit ? (events.at(-1)?.seq ?? end) : end
    return { items, reached }
  }

  function bodiesOf(items: readonly Body[], previousLost: ReadonlySet<string>): Promise<Buffer[]> {
    const events = items.map(({ event_id }) => {
      const event = feed.byId(event_id)
      if (event === null) throw new Error(`there is no event ${event_id}`)
      return event
    })
    return bodies.make(events, { previousLost })
  }

  return { head: feed.head, read, count, isKeyIn, bodies: bodiesOf }
}

/** Whether an event is about the endpoint itself. */
function isAbout({ type, data }: FeedEvent, { id }: Endpoint): boolean {
  if (!isAboutEndpoints(type)) return false
  const { endpoint } = data
  return typeof endpoint === 'object' && endpoint !== null && 'id' in endpoint && endpoint.id === id
}

const itemOf = (event: FeedEvent, is_ordered: boolean): Item => ({
  event_id: event.id,
  seq: event.seq,
  payload_id: null,
  type: event.type,
  app_id: event.app_id,
  environment: event.environment,
  key: is_ordered ? (event.subject ?? event.id) : null,
  occurred_at: event.occurred_at,
})

type Row = {
  payload_id: number
  uuid: string
  type: string
  app_id: string
  environment: string
  origin: string
  signed_at: number
}

/** Apple’s notifications in the order of their arrival; the position is the id of the signed payload. */
export function openNotificationSource(store: Store, ledger: Pick<Ledger, 'raw'>): Source {
  const selectHead = store.prepare<[], { id: number | null }>(
    'select max(payload_id) as id from notifications',
  )
  const selectSlice = store.prepare<[number, number, string, number], Row>(`
    select payload_id, uuid, type, app_id, environment, origin, signed_at from notifications
    where payload_id > ? and payload_id <= ? and app_id in (select id from apps where organization_id = ?)
    order by payload_id limit ?`)
  // Apple may sign a notification again. Its row then has a new payload_id, and a delivery can have the one before.
  const selectKnown = store.prepare<[string, string], object>(
    'select 1 from deliveries where endpoint_id = ? and event_id = ? limit 1',
  )

  const selectCount = store.prepare<object, Backlog>(`
    select count(*) as count, min(received_at) as oldest_at from notifications
    where payload_id > :after and payload_id <= :until and origin <> 'backfill'
      and app_id in (select id from apps where organization_id = :organization_id)
      and (:apps is null or app_id in (select value from json_each(:apps)))
      and (:environment is null or environment = :environment) and not ${IS_MADE('notifications.uuid')}`)

  function count({ id, organization_id, environment, apps }: Endpoint, range: Range) {
    const listed = apps === null ? null : JSON.stringify(apps)
    return selectCount.get({ ...range, id, organization_id, environment, apps: listed }) ?? NO_BACKLOG
  }

  function read(endpoint: Endpoint, { after, until, limit, withBackfill = false }: SliceQuery): Slice {
    const end = Math.min(until, after + SLICE)
    const rows = selectSlice.all(after, end, endpoint.organization_id, limit)
    const items = rows
      .filter(({ origin }) => withBackfill || origin !== 'backfill')
      .filter((row) => mismatchOf(endpoint, row) === null)
      .filter(({ uuid }) => withBackfill || selectKnown.get(endpoint.id, uuid) === undefined)
      .map(({ uuid, signed_at, payload_id, type, app_id, environment }) => {
        const item = { payload_id, type, app_id, environment, occurred_at: signed_at }
        return { ...item, event_id: uuid, seq: null, key: null }
      })
    const reached = rows.length === limit ? (rows.at(-1)?.payload_id ?? end) : end
    return { items, reached }
  }

  async function bodies(items: readonly Body[]): Promise<Buffer[]> {
    return items.map(({ payload_id }) => {
      const signedPayload = payload_id === null ? null : ledger.raw.read(payload_id)
      if (signedPayload === null) throw new Error(`the signed payload ${payload_id} is not stored`)
      return Buffer.from(JSON.stringify({ signedPayload }))
    })
  }

  return { head: () => selectHead.get()?.id ?? 0, read, count, isKeyIn: () => false, bodies }
}
