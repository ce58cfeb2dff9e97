/** Reads deliveries and attempts for people: the log of endpoints, and their health. */
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { Endpoint, EndpointKind } from '../endpoints/endpoints.ts'
import type { Filling } from '../sending/filling.ts'
import type { Source } from '../sending/sources.ts'
import type { Deliveries, Delivery } from './deliveries.ts'

/** An attempt. schema.sql documents the fields. */
export type AttemptRow = {
  number: number
  at: number
  ms: number | null
  kind: string
  status: number | null
  words: string
  address: string | null
  excerpt: string | null
  clock_ms: number | null
  is_probe: number
}

/** Filters; null is all. `apps`: the apps that the reader may see. `before`: an id, exclusive. */
export type LogQuery = {
  organization_id: string | null
  apps: readonly string[] | null
  endpoint_id: string | null
  state: string | null
  type: string | null
  event_id: string | null
  before: number | null
  limit: number
}

/** The health of an endpoint. Attempts are those of the last seven days. */
export type Health = {
  attempts: number
  succeeded: number
  last_success_at: number | null
  last_failure_at: number | null
  waiting: number
  is_waiting_capped: boolean
  oldest_waiting_at: number | null
  next_attempt_at: number | null
}

const WEEK_MS = 7 * 86_400_000
/** Waiting deliveries and events are counted up to this number. */
const MAX_COUNTED = 10_000
/** The positions behind the cursor that are looked through. */
const MAX_SCANNED = 20_000

type Deps = {
  store: Store
  clock: Clock
  deliveries: Deliveries
  filling: Filling
  sources: Readonly<Record<EndpointKind, Source>>
}

/** Opens the log. */
export const openLog = (deps: Deps) => ({ ...openPages(deps), ...openHealth(deps) })

function openPages({ store, deliveries }: Deps) {
  const selectPage = store.prepare<object, Delivery>(`
    select deliveries.* from deliveries join endpoints on endpoints.id = endpoint_id
    where deliveries.id < :before
      and (:endpoint_id is null or endpoint_id = :endpoint_id)
      and (:organization_id is null or organization_id = :organization_id)
      and (:apps is null or app_id in (select value from json_each(:apps)))
      and (:state is null or deliveries.state = :state)
      and (:type is null or type = :type)
      and (:event_id is null or event_id = :event_id)
    order by deliveries.id desc limit :limit`)
  const selectAttempts = store.prepare<[number], AttemptRow>(
    'select * from delivery_attempts where delivery_id = ? order by number',
  )

  /** Deliveries, newest first. */
  const page = ({ before, apps, ...query }: LogQuery): Delivery[] =>
    selectPage.all({
      ...query,
      before: before ?? Number.MAX_SAFE_INTEGER,
      apps: apps === null ? null : JSON.stringify(apps),
    })

  /** The attempts of a delivery, oldest first. */
  const attemptsOf = (id: number): AttemptRow[] => selectAttempts.all(id)

  return { page, attemptsOf, delivery: deliveries.get, body: deliveries.body }
}

function openHealth({ store, clock, filling, sources }: Deps) {
  const countAttempts = store.prepare<[string, number], { attempts: number; succeeded: number }>(`
    select count(*) as attempts, ifnull(sum(kind = 'delivered'), 0) as succeeded from delivery_attempts
    where endpoint_id = ? and at >= ?`)
  const selectWaiting = store.prepare<
    [string, number],
    { count: number; oldest: number | null; next_at: number | null }
  >(`
    select count(*) as count, min(created_at) as oldest, min(next_at) as next_at from (
      select created_at, next_at from deliveries where endpoint_id = ? and state = 'waiting' limit ?)`)

  /** The health of an endpoint. */
  function healthOf(endpoint: Endpoint): Health {
    const { id, state, last_success_at, last_failure_at, next_probe_at } = endpoint
    const { attempts, succeeded } = countAttempts.get(id, clock() - WEEK_MS) ?? { attempts: 0, succeeded: 0 }
    const rows = selectWaiting.get(id, MAX_COUNTED) ?? { count: 0, oldest: null, next_at: null }
    const after = filling.positionOf(endpoint)
    const head = sources[endpoint.kind].head()
    const behind = sources[endpoint.kind].count(endpoint, {
      after,
      until: Math.min(head, after + MAX_SCANNED),
    })
    const count = rows.count + behind.count
    const is_waiting_capped = count > MAX_COUNTED || head - after > MAX_SCANNED
    const backlog = { waiting: Math.min(count, MAX_COUNTED), is_waiting_capped }
    const oldest_waiting_at = earliest(rows.oldest, behind.oldest_at)
    const nextByState = { active: rows.next_at, failing: next_probe_at, paused: null, disabled: null }
    const next_attempt_at = nextByState[state]
    return {
      attempts,
      succeeded,
      last_success_at,
      last_failure_at,
      ...backlog,
      oldest_waiting_at,
      next_attempt_at,
    }
  }

  return { healthOf }
}

const earliest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)
