/** Finds what endpoints should have got, and did not: events of the feed, or Apple's notifications. */
import type Database from 'better-sqlite3'
import { FORWARDED_TYPES } from '../../../src/events/vocabulary.ts'

type Endpoint = { id: string; name: string; kind: string; state: string; cursor: number }

/** The heads of the feed before and after an endpoint was added. It begins with an event between them. */
export type Began = { least: number; most: number }

/** An item that endpoints of a kind get. */
type Item = { id: string; position: number; type: string }

/** What no process of the world can know exactly: events about forwarding itself have rules of their own. */
const OWN_TYPES = /^(endpoint|delivery)\./
const TYPES = FORWARDED_TYPES.filter((type) => !OWN_TYPES.test(type))

/** What an endpoint of each kind gets, and what it lacks. */
const ITEMS: Record<string, string> = {
  events: `select id, seq as position, type from events
    where origin <> 'backfill' and recorded_at < :until and type in (select value from json_each(:types))`,
  apple: `select uuid as id, payload_id as position, type from notifications
    where origin <> 'backfill' and received_at < :until`,
}

const itemsOf = (db: Database.Database, { kind }: Endpoint, until: number): Item[] =>
  db
    .prepare<object, Item>(`${ITEMS[kind]} order by position`)
    .all(kind === 'events' ? { until, types: JSON.stringify(TYPES) } : { until })

/** What is behind the cursor waits for an endpoint that does not work, or that is slow. */
const isUpToDate = ({ state, name }: Endpoint): boolean => state === 'active' && name !== 'slow'

/**
 * What the deliveries of all endpoints lack of what was recorded before `until` (ms), and deliveries of what is older than
 * their endpoint. `began`: the endpoints that do not begin with the first event.
 */
export function missingDeliveries(
  db: Database.Database,
  { began, until }: { began: Readonly<Record<string, Began>>; until: number },
): string[] {
  const endpoints = db.prepare<[], Endpoint>('select id, name, kind, state, cursor from endpoints').all()
  return endpoints.flatMap((endpoint) =>
    missingOf(db, endpoint, { ...(began[endpoint.name] ?? { least: 0, most: 0 }), until }).map(
      (fault) => `${endpoint.name}: ${fault}`,
    ),
  )
}

function missingOf(
  db: Database.Database,
  endpoint: Endpoint,
  { least, most, until }: Began & { until: number },
): string[] {
  const delivered = db
    .prepare<[string], { event_id: string; position: number }>(
      'select event_id, coalesce(seq, payload_id) as position from deliveries where endpoint_id = ? and is_test = 0',
    )
    .all(endpoint.id)
  const known = new Set(delivered.map(({ event_id }) => event_id))
  const last = isUpToDate(endpoint) ? Number.POSITIVE_INFINITY : endpoint.cursor
  return [
    ...itemsOf(db, endpoint, until)
      .filter(({ id, position }) => position > most && position <= last && !known.has(id))
      .map(({ type, id, position }) => `${type} ${id} (${position}) has no delivery`),
    ...delivered
      .filter(({ position }) => position <= least)
      .map(({ event_id, position }) => `${event_id} (${position}) is older than the endpoint`),
  ]
}
