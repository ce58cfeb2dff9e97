/** The feed: events, appended once and read in order. */
import type { Clock } from '../clock.ts'
import { openHook } from '../hooks.ts'
import { derivedId } from '../ids.ts'
import type { Store } from '../store/store.ts'
import { decodeBody, encodeBody } from './codec.ts'
import type { EventType, Origin } from './vocabulary.ts'
import { QUIET_TYPES } from './vocabulary.ts'

/**
 * A row of the feed. `data` is a snapshot: money, product, user and the state of the subscription after the event. The
 * customer's lifetime figures are not in it; they are added when the event is sent.
 */
export type FeedEvent = {
  seq: number
  id: string
  organization_id: string
  app_id: string | null
  environment: string | null
  type: string
  origin: Origin
  customer_id: string | null
  subject: string | null
  cause: string
  occurred_at: number
  signed_at: number | null
  recorded_at: number
  data: Record<string, unknown>
}

/** An event to append. The feed adds the id, the seq and the time. */
export type NewEvent = {
  organization_id: string
  app_id: string | null
  environment: string | null
  type: EventType
  origin: Origin
  customer_id: string | null
  subject: string | null
  cause: string
  /** Returns the snapshot. It is called only if the event does not exist yet. */
  data: () => Record<string, unknown>
  occurred_at: number
  signed_at: number | null
}

export type EventFilter = {
  organization_id?: string | null
  /** Ids of apps; null is all. */
  apps?: readonly string[] | null
  /** Event types; null is all except `QUIET_TYPES`. */
  types?: readonly string[] | null
  environment?: string | null
  origin?: Origin | null
  /** The range of `occurred_at`, in milliseconds: `from_at` inclusive, `until_at` exclusive. */
  from_at?: number | null
  until_at?: number | null
}

/** A range of seqs: `after` exclusive, `until` inclusive. With `newest_first`, `after` is higher than `until`. */
type Query = EventFilter & { after: number; until?: number; limit: number; newest_first?: boolean }

type Row = Omit<FeedEvent, 'data'> & { body: Buffer }
export type Feed = ReturnType<typeof openFeed>

/** Opens the feed. */
export function openFeed(store: Store, clock: Clock) {
  const selectSeq = store.prepare<[string], { seq: number }>('select seq from events where id = ?')
  const insert = store.prepare<Omit<Row, 'seq'>>(`
    insert into events ( id,  organization_id,  app_id,  environment,  type,  origin,  customer_id,  subject,  cause,  body,  occurred_at,  signed_at,  recorded_at)
    values             (:id, :organization_id, :app_id, :environment, :type, :origin, :customer_id, :subject, :cause, :body, :occurred_at, :signed_at, :recorded_at)`)
  const filters = `
    (:organization_id is null or organization_id = :organization_id)
    and (:apps is null or app_id in (select value from json_each(:apps)))
    and (:environment is null or environment = :environment)
    and (:origin is null or origin = :origin)
    and (:from_at is null or occurred_at >= :from_at)
    and (:until_at is null or occurred_at < :until_at)
    and case when :types is null then type not in (select value from json_each(:quiet))
             else type in (select value from json_each(:types)) end`
  const forwards = store.prepare<object, Row>(
    `select * from events where seq > :after and seq <= :until and ${filters} order by seq limit :limit`,
  )
  const backwards = store.prepare<object, Row>(
    `select * from events where seq < :after and seq >= :until and ${filters} order by seq desc limit :limit`,
  )
  const selectById = store.prepare<[string], Row>('select * from events where id = ?')
  const selectHead = store.prepare<[], { seq: number | null }>('select max(seq) as seq from events')
  const quiet = JSON.stringify(QUIET_TYPES)
  const appended = openHook<[event: FeedEvent]>()

  /**
   * Appends an event, inside the caller's unit of work. Idempotent by (organization, environment, cause, type): returns
   * null and writes nothing if the event exists.
   */
  function append(newEvent: NewEvent): FeedEvent | null {
    const { organization_id, app_id, environment, type, origin, customer_id, subject, cause } = newEvent
    const id = derivedId('evt', organization_id, environment ?? '', cause, type)
    if (selectSeq.get(id)) return null
    const data = newEvent.data()
    const fields = {
      id,
      organization_id,
      app_id,
      environment,
      type,
      origin,
      customer_id,
      subject,
      cause,
      occurred_at: newEvent.occurred_at,
      signed_at: newEvent.signed_at,
      recorded_at: clock(),
    }
    const { lastInsertRowid } = insert.run({ ...fields, body: encodeBody(data) })
    const event: FeedEvent = { seq: Number(lastInsertRowid), ...fields, data }
    store.afterCommit(() => appended.call(event))
    return event
  }

  /** The matching events of a range of seqs, oldest or newest first. For long ranges use pages.ts. */
  function read(query: Query): FeedEvent[] {
    const statement = query.newest_first ? backwards : forwards
    const rows = statement.all({
      after: query.after,
      until: query.until ?? (query.newest_first ? 0 : Number.MAX_SAFE_INTEGER),
      limit: query.limit,
      organization_id: query.organization_id ?? null,
      apps: query.apps ? JSON.stringify(query.apps) : null,
      types: query.types ? JSON.stringify(query.types) : null,
      environment: query.environment ?? null,
      origin: query.origin ?? null,
      from_at: query.from_at ?? null,
      until_at: query.until_at ?? null,
      quiet,
    })
    return rows.map(eventOf)
  }

  /** An event by its id; null if there is none. */
  function byId(id: string): FeedEvent | null {
    const row = selectById.get(id)
    return row ? eventOf(row) : null
  }

  /** The newest seq; 0 if the feed is empty. */
  const head = (): number => selectHead.get()?.seq ?? 0

  return {
    append,
    read,
    byId,
    head,
    /** Calls the listener with each event that is on disk, until the returned function is called. */
    listen: appended.add,
  }
}

function eventOf({ body, ...row }: Row): FeedEvent {
  return { ...row, data: decodeBody(body) }
}
