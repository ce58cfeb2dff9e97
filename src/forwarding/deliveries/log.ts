/** Reads deliveries and attempts for people: the log of endpoints, and their health. */
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../turns.ts'
import type { Endpoint, EndpointKind, Endpoints } from '../endpoints/endpoints.ts'
import type { Filling } from '../sending/filling.ts'
import { isReached } from '../sending/schedule.ts'
import type { Source } from '../sending/sources.ts'
import type { Deliveries } from './deliveries.ts'
import type { Delivery } from './delivery.ts'
import { ABOUT_CUSTOMERS, openSubjects } from './subjects.ts'

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

/**
 * Filters; null is all. `apps`: the apps that the reader may see. `customers`: canonical ids. `before`: an id, exclusive.
 */
type LogQuery = {
  organization_id: string | null
  apps: readonly string[] | null
  endpoint_id: string | null
  state: string | null
  type: string | null
  event_id: string | null
  customers: readonly string[] | null
  before: number | null
  limit: number
}

/** The health of an endpoint. Attempts are those of the last seven days. */
export type Health = {
  attempts: number
  succeeded: number
  /** Whether the endpoint is active, but fewer than 90 % of at least ten attempts since then succeeded. */
  is_unsteady: boolean
  last_success_at: number | null
  last_failure_at: number | null
  /** What the last failed attempt met, as sentences, while the state of the endpoint is due to failures; null otherwise. */
  last_failure_words: string | null
  waiting: number
  is_waiting_capped: boolean
  oldest_waiting_at: number | null
  next_attempt_at: number | null
  /** Until when the receiver asked to wait; null if it did not, or the time has come. */
  hold_until_at: number | null
  lost: number
  first_lost_at: number | null
  last_lost_at: number | null
}

const WEEK_MS = 7 * 86_400_000
/** The reasons of a state that failed attempts caused. */
const BY_FAILURES: ReadonlySet<Endpoint['reason']> = new Set(['no_success', 'five_days', 'gone_410'])
/** From this number of attempts on, an active endpoint of which fewer than 90 % succeeded is unsteady. */
const MIN_JUDGED = 10
/** Waiting deliveries and events are counted up to this number. */
const MAX_COUNTED = 10_000
/** The positions behind the cursor, or rows of the log, that are looked through at once. */
const MAX_SCANNED = 20_000

type Deps = {
  store: Store
  clock: Clock
  deliveries: Deliveries
  endpoints: Pick<Endpoints, 'get'>
  filling: Filling
  sources: Readonly<Record<EndpointKind, Source>>
}

/** Opens the log. */
export const openLog = (deps: Deps) => ({ ...openPages(deps), ...openHealth(deps) })

function openPages({ store, deliveries, endpoints }: Deps) {
  const selectHead = store.prepare<[], { id: number | null }>('select max(id) as id from deliveries')
  const selectPage = store.prepare<object, Delivery>(`
    select deliveries.* from deliveries join endpoints on endpoints.id = endpoint_id
    where deliveries.id < :before and deliveries.id >= :from
      and (:endpoint_id is null or endpoint_id = :endpoint_id)
      and (:organization_id is null or organization_id = :organization_id)
      and (:apps is null or app_id in (select value from json_each(:apps)))
      and (:state is null or deliveries.state = :state)
      and (:type is null or type = :type)
      and (:event_id is null or event_id = :event_id)
      and (:customers is null or ${ABOUT_CUSTOMERS})
    order by deliveries.id desc limit :limit`)
  const selectAttempts = store.prepare<[number], AttemptRow>(
    'select * from delivery_attempts where delivery_id = ? order by number',
  )
  const selectLastAttempt = store.prepare<[number], AttemptRow>(
    'select * from delivery_attempts where delivery_id = ? order by number desc limit 1',
  )

  /** Deliveries, newest first. Rows are looked through in slices, because few may match. */
  async function page({ before, limit, ...filter }: LogQuery): Promise<Delivery[]> {
    const listed = (ids: readonly string[] | null) => (ids === null ? null : JSON.stringify(ids))
    const query = { ...filter, apps: listed(filter.apps), customers: listed(filter.customers) }
    const found: Delivery[] = []
    const head = (selectHead.get()?.id ?? 0) + 1
    let end = Math.min(before ?? head, head)
    for (;;) {
      const from = end - MAX_SCANNED
      found.push(...selectPage.all({ ...query, before: end, from, limit: limit - found.length }))
      if (found.length === limit || from <= 0) return found
      end = from
      await yieldToEventLoop()
    }
  }

  /** The attempts of a delivery, oldest first. */
  const attemptsOf = (id: number): AttemptRow[] => selectAttempts.all(id)

  /** The last attempt of a delivery; null before the first. */
  const lastAttempt = (id: number): AttemptRow | null => selectLastAttempt.get(id) ?? null

  const { get: delivery, body } = deliveries
  // The log of a deleted endpoint stays.
  return { page, attemptsOf, lastAttempt, delivery, body, endpoint: endpoints.get, ...openSubjects(store) }
}

/** `judged`: the attempts since the endpoint has its state that the receiver did not abort. `good` of them succeeded. */
type AttemptCounts = { attempts: number; succeeded: number; judged: number; good: number }
const NO_ATTEMPTS: AttemptCounts = { attempts: 0, succeeded: 0, judged: 0, good: 0 }

const isUnsteady = ({ judged, good }: AttemptCounts): boolean =>
  judged >= MIN_JUDGED && 10 * good < 9 * judged

function openHealth({ store, clock, deliveries, filling, sources }: Deps) {
  const countAttempts = store.prepare<{ id: string; since: number; state_since: number }, AttemptCounts>(`
    select count(*) as attempts, ifnull(sum(kind = 'delivered'), 0) as succeeded,
      ifnull(sum(at >= :state_since and kind <> 'aborted'), 0) as judged, ifnull(sum(at >= :state_since and kind = 'delivered'), 0) as good
    from delivery_attempts where endpoint_id = :id and at >= :since and kind <> 'stopped'
      and delivery_id not in (select id from deliveries where event_id glob 'evt_test_*' and is_test = 1)`)
  const selectWaiting = store.prepare<
    [string, number],
    { count: number; oldest: number | null; next_at: number | null }
  >(`
    select count(*) as count, min(created_at) as oldest, min(next_at) as next_at from (
      select created_at, next_at from deliveries where endpoint_id = ? and state = 'waiting' limit ?)`)
  const selectFailure = store.prepare<[string], { words: string }>(`
    select words from delivery_attempts where endpoint_id = ? and kind not in ('delivered', 'stopped')
    order by at desc limit 1`)

  /** The health of an endpoint. */
  function healthOf(endpoint: Endpoint): Health {
    const { id, state, reason, state_since, last_success_at, last_failure_at, next_probe_at } = endpoint
    const counts = countAttempts.get({ id, since: clock() - WEEK_MS, state_since }) ?? NO_ATTEMPTS
    const { attempts, succeeded } = counts
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
    const hold_until_at = isReached(endpoint.hold_until_at, clock()) ? null : endpoint.hold_until_at
    const nextByState = { active: rows.next_at, failing: next_probe_at, paused: null, disabled: null }
    const next_at = nextByState[state]
    const next_attempt_at = next_at && Math.max(next_at, hold_until_at ?? 0)
    const { count: lost, first_at: first_lost_at, last_at: last_lost_at } = deliveries.lost(id)
    return {
      attempts,
      succeeded,
      is_unsteady: state === 'active' && isUnsteady(counts),
      last_success_at,
      last_failure_at,
      // Otherwise many attempts that succeeded could follow the last failure.
      last_failure_words: BY_FAILURES.has(reason) ? (selectFailure.get(id)?.words ?? null) : null,
      ...backlog,
      oldest_waiting_at,
      next_attempt_at,
      hold_until_at,
      lost,
      first_lost_at,
      last_lost_at,
    }
  }

  return { healthOf }
}

const earliest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)
